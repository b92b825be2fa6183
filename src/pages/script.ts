/** The one script of the payer's pages: its text as it is sent, and the hash by which browsers know it. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const written = readFileSync(new URL('./script.js', import.meta.url), 'utf8');

/** Comments and indents stay at home. */
export const SCRIPT = written.replace(/^\s*\/\/.*\n/gm, '').replace(/^\s+/gm, '');
export const SCRIPT_HASH = `'sha256-${hash('sha256', SCRIPT, 'base64')}'`;
