/** Reads the hash of a request leniently, so that a hash in a wrong format can still be compared. */

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
const SHA1_LENGTH = 20;

const lengthOf = (text: string): string => `${text.length} ${text.length === 1 ? 'character' : 'characters'}`;

export function readClaim(value: string): Claim {
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
    if (hex.length !== SHA1_LENGTH) {
      const sentence = `The hash should have 40 hex digits, as a SHA-1 has; it has ${text.length}.`;
      mistakes.push({ mistake: 'hash_length', sentence });
    }
    return { digest: hex, mistakes };
  }
  const decoded = BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (decoded && LENGTHS.includes(decoded.length)) {
    mistakes.push({ mistake: 'hash_base64', sentence: 'The hash is in base64: send it in hex.' });
    return { digest: decoded, mistakes };
  }
  const sentence = `The hash should have 40 hex digits; the value has ${lengthOf(text)}, and is not a digest.`;
  return { digest: undefined, mistakes: [...mistakes, { mistake: 'hash_format', sentence }] };
}
