/** The script of the payment pages: its minified text, and its hash for the content security policy. */
import { readFileSync } from 'node:fs';
import { sourceHash } from './source-hash.ts';

const source = readFileSync(new URL('./script.js', import.meta.url), 'utf8');

/** Without comments and indentation. */
export const SCRIPT = source.replace(/^\s*\/\/.*\n/gm, '').replace(/^\s+/gm, '');
export const SCRIPT_HASH = sourceHash(SCRIPT);
