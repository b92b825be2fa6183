/** The script of the payment pages: its minified text, and its hash for the content security policy. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const source = readFileSync(new URL('./script.js', import.meta.url), 'utf8');

/** Without comments and indentation. */
export const SCRIPT = source.replace(/^\s*\/\/.*\n/gm, '').replace(/^\s+/gm, '');
export const SCRIPT_HASH = `'sha256-${hash('sha256', SCRIPT, 'base64')}'`;
