/** The script of the payment pages: its minified text, and its hash for the content security policy. */
import { readFileSync } from 'node:fs';
import { sourceHash } from './source-hash.ts';

/** A script without comments and indentation. */
export const readScript = (file: URL): string =>
  readFileSync(file, 'utf8')
    .replace(/^\s*\/\/.*\n/gm, '')
    .replace(/^\s+/gm, '');

export const SCRIPT = readScript(new URL('./script.js', import.meta.url));
export const SCRIPT_HASH = sourceHash(SCRIPT);
