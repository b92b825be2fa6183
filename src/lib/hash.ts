/** The request hash of the API: SHA1 of the hex MD5 of the upper-cased fields followed by the password. */
import { hash as digest, timingSafeEqual } from 'node:crypto';

const HEX_SHA1 = /^[0-9a-f]{40}$/i;
const LOWER_CASE = /[a-z]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const ASCII_ONLY = /^[\u0000-\u007f]*$/;

/** Upper-cases a to z only. */
export const asciiUpper = (text: string): string =>
  ASCII_ONLY.test(text) ? text.toUpperCase() : text.replace(LOWER_CASE, (letters) => letters.toUpperCase());

/** In hex, because Node takes longer to make a Buffer than to compute the digest. */
const sha1OfMd5 = (text: string): string => digest('sha1', digest('md5', text, 'hex'), 'hex');

/** Which letters are upper-cased: a to z only, so that every language computes the same hash, or all. */
export type HashCase = 'ascii' | 'unicode';

export function wireHash(values: readonly string[], password: string, letters: HashCase = 'ascii'): string {
  const text = values.join('') + password;
  return sha1OfMd5(letters === 'unicode' ? text.toUpperCase() : asciiUpper(text));
}

/**
 * Whether `claimedHash` is the hash of these values with one of the passwords. Both ways of upper-casing are accepted:
 * ASCII only, and Unicode, which many languages' functions do by default.
 */
export function isWireHash(claimedHash: string, values: readonly string[], passwords: readonly string[]): boolean {
  if (!HEX_SHA1.test(claimedHash)) return false;
  const claimed = Buffer.from(claimedHash.toLowerCase(), 'latin1');
  let matches = false;
  for (const password of passwords) {
    const text = values.join('') + password;
    const candidates = ASCII_ONLY.test(text) ? [text.toUpperCase()] : [asciiUpper(text), text.toUpperCase()];
    for (const candidate of candidates) {
      matches = timingSafeEqual(Buffer.from(sha1OfMd5(candidate), 'latin1'), claimed) || matches;
    }
  }
  return matches;
}
