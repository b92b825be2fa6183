/** The request hash of the wire: SHA1 of the hex MD5 of the upper-cased fields followed by the password. */
import { hash as digest, timingSafeEqual } from 'node:crypto';

const HEX_SHA1 = /^[0-9a-f]{40}$/i;
const LOWER_CASE = /[a-z]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const ASCII_ONLY = /^[\u0000-\u007f]*$/;

const asciiUpper = (text: string): string => text.replace(LOWER_CASE, (letters) => letters.toUpperCase());

const twice = (text: string): Buffer => digest('sha1', digest('md5', text, 'hex'), 'buffer');

/** The canonical hash: only a to z are upper-cased, so that every language computes the same one. */
export function wireHash(values: readonly string[], password: string): string {
  return twice(asciiUpper(values.join('') + password)).toString('hex');
}

/** Whether `given` is the hash of these values under one of the passwords, with either upper-casing. */
export function isWireHash(given: string, values: readonly string[], passwords: readonly string[]): boolean {
  if (!HEX_SHA1.test(given)) return false;
  const claimed = Buffer.from(given, 'hex');
  let matches = false;
  for (const password of passwords) {
    const text = values.join('') + password;
    const candidates = ASCII_ONLY.test(text) ? [text.toUpperCase()] : [asciiUpper(text), text.toUpperCase()];
    for (const candidate of candidates) {
      matches = timingSafeEqual(twice(candidate), claimed) || matches;
    }
  }
  return matches;
}
