/** Reads the hash of a request leniently, so that a hash in a wrong format can still be compared. */
import { DIGEST_DIGITS, DIGEST_NAMES, type HashDigest, SHA1_DIGITS } from '../../lib/crypto/hash.ts';

export interface Claim {
  /** The digest; undefined when the value is not a digest in any known format. */
  digest: Buffer | undefined;
  /** What is wrong with the format of the value. */
  mistakes: readonly { mistake: string; sentence: string }[];
}

const HEX = /^(?:[\da-f]{2})+$/i;
const BASE64 = /^[\w+/-]{22,88}={0,2}$/;
/** The lengths of MD5, SHA-1 and SHA-256 in bytes. */
const LENGTHS = [16, 20, 32];

const lengthOf = (text: string): string => `${text.length} ${text.length === 1 ? 'character' : 'characters'}`;

const HAS_SHA1 = `${SHA1_DIGITS} hex digits, as a SHA-1 has`;

/** With the recipe `reversed_md5` an account takes the digest itself as well, without an outer SHA-1. */
export function readClaim(value: string, inner?: HashDigest): Claim {
  const digits = inner === undefined ? [SHA1_DIGITS] : [DIGEST_DIGITS[inner], SHA1_DIGITS];
  if (value.trim() === '') {
    const sentence = 'The request has no hash: send it in the field hash.';
    return { digest: undefined, mistakes: [{ mistake: 'hash_missing', sentence }] };
  }
  const mistakes: { mistake: string; sentence: string }[] = [];
  const text = value.trim();
  if (text !== value) {
    const sentence = 'The field hash contains white space before or after the hash: remove it.';
    mistakes.push({ mistake: 'hash_whitespace', sentence });
  }
  const hex = HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  if (hex && LENGTHS.includes(hex.length)) {
    if (!digits.includes(text.length)) {
      const expected =
        inner === undefined
          ? HAS_SHA1
          : `${DIGEST_DIGITS[inner]} hex digits, as the ${DIGEST_NAMES[inner]} of this account has, or ${HAS_SHA1}`;
      const sentence = `The hash should have ${expected}; it has ${text.length}.`;
      mistakes.push({ mistake: 'hash_length', sentence });
    }
    return { digest: hex, mistakes };
  }
  const decoded = BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (decoded && LENGTHS.includes(decoded.length)) {
    mistakes.push({ mistake: 'hash_base64', sentence: 'The hash is in base64: send it in hex.' });
    return { digest: decoded, mistakes };
  }
  const sentence = `The hash should have ${digits.join(' or ')} hex digits; the value has ${lengthOf(text)}, and is not a digest.`;
  return { digest: undefined, mistakes: [...mistakes, { mistake: 'hash_format', sentence }] };
}
