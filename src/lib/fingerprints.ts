/** Marks and digests that only this installation can make. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

const TAG_BYTES = 16;

export interface Fingerprints {
  /** A digest that nobody without the secret can look for the text of, or make again. */
  digest(text: string, purpose: string): string;
  /** A mark of 128 bits that nobody can guess; links carry one. */
  tag(text: string, purpose: string): string;
  isTag(tag: string, text: string, purpose: string): boolean;
}

/** `derive` makes the key of each purpose, from a secret that stays: what was marked keeps its mark. */
export function createFingerprints(derive: (purpose: string) => Buffer): Fingerprints {
  const keyTexts = new Map<string, string>();
  const keyText = (purpose: string): string => {
    const known = keyTexts.get(purpose) ?? derive(purpose).toString('hex');
    keyTexts.set(purpose, known);
    return known;
  };
  const tag = (text: string, purpose: string): string =>
    createHmac('sha256', derive(purpose)).update(text).digest().subarray(0, TAG_BYTES).toString('base64url');
  return {
    digest: (text, purpose) => hash('sha256', keyText(purpose) + text),
    tag,
    isTag(given, text, purpose) {
      // As text: of the several spellings of the same bytes only ours is right.
      const [right, claimed] = [Buffer.from(tag(text, purpose)), Buffer.from(given)];
      return right.length === claimed.length && timingSafeEqual(right, claimed);
    },
  };
}
