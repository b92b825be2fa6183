/** Keyed digests and tags that only this installation can compute. */
import { hash, timingSafeEqual } from 'node:crypto';
import { createHmacOf } from './hmac.ts';

const TAG_BYTES = 16;

export interface Fingerprints {
  /** A keyed digest: without the key the text can be neither guessed from it nor matched to it. */
  digest(text: string, purpose: string): string;
  /** A whole HMAC, for what an attacker may see and try to continue. */
  mac(text: string, purpose: string): Buffer;
  /** An unguessable HMAC tag of 128 bits, used in links. */
  tag(text: string, purpose: string): string;
  isTag(tag: string, text: string, purpose: string): boolean;
}

/** Makes what belongs to a purpose once; there are few purposes. */
function remembered<Made>(make: (purpose: string) => Made): (purpose: string) => Made {
  const made = new Map<string, Made>();
  return (purpose) => {
    const known = made.get(purpose) ?? make(purpose);
    made.set(purpose, known);
    return known;
  };
}

/** `derive` returns the key of a purpose. It must not change, because stored digests and sent links stay in use. */
export function createFingerprints(derive: (purpose: string) => Buffer): Fingerprints {
  const keyText = remembered((purpose) => derive(purpose).toString('hex'));
  const hmacOf = remembered((purpose) => createHmacOf(derive(purpose)));
  const mac = (text: string, purpose: string): Buffer => Buffer.from(hmacOf(purpose)(text), 'hex');
  const tag = (text: string, purpose: string): string =>
    mac(text, purpose).subarray(0, TAG_BYTES).toString('base64url');
  return {
    digest: (text, purpose) => hash('sha256', keyText(purpose) + text),
    mac,
    tag,
    isTag(candidate, text, purpose) {
      // Compared as text: base64url has several spellings of the same bytes, and only the canonical one is accepted.
      const [expected, claimed] = [Buffer.from(tag(text, purpose)), Buffer.from(candidate)];
      return expected.length === claimed.length && timingSafeEqual(expected, claimed);
    },
  };
}
