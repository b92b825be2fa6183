/** The hashes of the API: of upper-cased fields followed by the password, and of texts that are partly reversed. */
import { hash as digestOf, timingSafeEqual } from 'node:crypto';

const LOWER_CASE = /[a-z]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const ASCII_ONLY = /^[\u0000-\u007f]*$/;

/** Upper-cases a to z only. */
export const asciiUpper = (text: string): string =>
  ASCII_ONLY.test(text) ? text.toUpperCase() : text.replace(LOWER_CASE, (letters) => letters.toUpperCase());

const upperOfEach = (character: string): string => {
  const upper = character.toUpperCase();
  if (upper.length <= character.length) return upper;
  // Greek letters with an iota below have a capital of their own besides the pair of letters.
  const code = character.codePointAt(0) as number;
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8);
  return [0x1fb3, 0x1fc3, 0x1ff3].includes(code) ? String.fromCodePoint(code + 9) : character;
};

/** Upper-cases each letter to one letter, as C# and Go do: ß stays. */
export const simpleUpper = (text: string): string =>
  ASCII_ONLY.test(text) ? text.toUpperCase() : Array.from(text, upperOfEach).join('');

const unicodeUpper = (text: string): string => text.toUpperCase();

/** Which letters are upper-cased: a to z only, so that every language computes the same hash; all; or all one to one. */
export type HashCase = 'ascii' | 'unicode' | 'simple';

const UPPER: Readonly<Record<HashCase, (text: string) => string>> = {
  ascii: asciiUpper,
  unicode: unicodeUpper,
  simple: simpleUpper,
};

/** The upper-casings of a text that the gateway accepts, each different text once. */
const upperCasings = (text: string): string[] =>
  ASCII_ONLY.test(text) ? [text.toUpperCase()] : [...new Set(Object.values(UPPER).map((upper) => upper(text)))];

/** The digest of the text; the specified recipe adds an outer SHA-1. */
export type HashDigest = 'md5' | 'sha256';

/** In hex, because Node takes longer to make a Buffer than to compute the digest. */
const specifiedDigest = (text: string, digest: HashDigest): string =>
  digestOf('sha1', digestOf(digest, text, 'hex'), 'hex');

export const wireHash = (
  values: readonly string[],
  password: string,
  letters: HashCase = 'ascii',
  digest: HashDigest = 'md5',
): string => specifiedDigest(UPPER[letters](values.join('') + password), digest);

const HEX = /^[0-9a-f]+$/i;
export const SHA1_DIGITS = 40;
/** How many hex digits each digest has. */
export const DIGEST_DIGITS: Readonly<Record<HashDigest, number>> = { md5: 32, sha256: 64 };
export const DIGEST_NAMES: Readonly<Record<HashDigest, string>> = { md5: 'MD5', sha256: 'SHA-256' };

/** Whether the claimed hash has this many hex digits and is one of the candidates; all of them are compared. */
function isOneOf(claimedHash: string, digits: number, candidates: Iterable<string>): boolean {
  if (claimedHash.length !== digits || !HEX.test(claimedHash)) return false;
  const claimed = Buffer.from(claimedHash.toLowerCase(), 'latin1');
  let matches = false;
  for (const candidate of candidates) {
    matches = timingSafeEqual(Buffer.from(candidate, 'latin1'), claimed) || matches;
  }
  return matches;
}

/**
 * Whether `claimedHash` is the hash of these values with one of the passwords. All three ways of upper-casing are
 * accepted: ASCII only, and the two that the functions of many languages do by default.
 */
export const isWireHash = (
  claimedHash: string,
  values: readonly string[],
  passwords: readonly string[],
  digest: HashDigest = 'md5',
): boolean => isOneOf(claimedHash, SHA1_DIGITS, specifiedHashes(values, passwords, digest));

function* specifiedHashes(
  values: readonly string[],
  passwords: readonly string[],
  digest: HashDigest,
): Generator<string> {
  for (const password of passwords) {
    for (const text of upperCasings(values.join('') + password)) yield specifiedDigest(text, digest);
  }
}

/** A part of a text that is hashed without an outer digest. */
export interface HashedPart {
  text: string;
  isReversed?: boolean | undefined;
  /** The part is not upper-cased. */
  isRaw?: boolean | undefined;
}

const isAscii = (parts: readonly HashedPart[]): boolean => parts.every(({ text }) => ASCII_ONLY.test(text));

const reversedText = (text: string): string => Array.from(text).reverse().join('');

const byCodePoints = (parts: readonly HashedPart[], upper: (text: string) => string): string =>
  parts
    .map(({ text, isReversed, isRaw }) => {
      const turned = isReversed ? reversedText(text) : text;
      return isRaw ? turned : upper(turned);
    })
    .join('');

/** Reversed byte by byte, a letter that is not ASCII is no longer UTF-8. */
const byBytes = (parts: readonly HashedPart[]): Buffer =>
  Buffer.concat(
    parts.map(({ text, isReversed, isRaw }) => {
      const bytes = Buffer.from(isRaw ? text : asciiUpper(text));
      return isReversed ? bytes.reverse() : bytes;
    }),
  );

/** The hash of a text with reversed parts, as callbacks have it: upper-cased in ASCII, reversed by bytes. */
export const reversedHash = (parts: readonly HashedPart[], digest: HashDigest): string =>
  digestOf(digest, isAscii(parts) ? byCodePoints(parts, unicodeUpper) : byBytes(parts), 'hex');

/** Whether `claimedHash` is the hash of one of these texts, reversed by bytes or by code points. */
export const isReversedHash = (
  claimedHash: string,
  texts: Iterable<readonly HashedPart[]>,
  digest: HashDigest,
): boolean => isOneOf(claimedHash, DIGEST_DIGITS[digest], reversedHashes(texts, digest));

function* reversedHashes(texts: Iterable<readonly HashedPart[]>, digest: HashDigest): Generator<string> {
  for (const parts of texts) {
    yield reversedHash(parts, digest);
    if (isAscii(parts)) continue;
    for (const upper of Object.values(UPPER)) yield digestOf(digest, byCodePoints(parts, upper), 'hex');
  }
}
