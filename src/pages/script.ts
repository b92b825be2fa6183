/** The scripts of the payment pages: their minified texts, and the hash of the common one for the content security policy. */
import { readFileSync } from 'node:fs';
import { sourceHash } from './source-hash.ts';

/** A script without comments and indentation. */
export const readScript = (file: URL): string =>
  readFileSync(file, 'utf8')
    .replace(/^\s*\/\/.*\n/gm, '')
    .replace(/^\s+/gm, '');

export const SCRIPT = readScript(new URL('./script.js', import.meta.url));
export const SCRIPT_HASH = sourceHash(SCRIPT);
/** For the page of a challenge only, and for pages with a code to scan only. */
export const CHALLENGE_SCRIPT = readScript(new URL('./pay/challenge.js', import.meta.url));
export const SHARE_SCRIPT = readScript(new URL('./pay/share.js', import.meta.url));
