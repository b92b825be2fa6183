/** Keyed tags and digests are deterministic, and cannot be forged. */
import { expect, test } from 'vitest';
import { createFingerprints } from '../../../src/lib/crypto/fingerprints.ts';
import { createSeal, newMasterKey } from '../../../src/lib/crypto/seal.ts';

const { derive } = createSeal(newMasterKey());
const fingerprints = createFingerprints(derive);
const others = createFingerprints(createSeal(newMasterKey()).derive);

const tag = fingerprints.tag('payment-1', 'payer link');

test('a tag has 128 bits in URL-safe characters and is deterministic', () => {
  expect(tag).toMatch(/^[\w-]{22}$/);
  expect(fingerprints.tag('payment-1', 'payer link')).toBe(tag);
  expect(fingerprints.isTag(tag, 'payment-1', 'payer link')).toBe(true);
});

test.each([
  ['another text', tag, 'payment-2', 'payer link'],
  ['another purpose', tag, 'payment-1', 'fingerprint'],
  ['a moved boundary between text and purpose', tag, 'payment-1payer', ' link'],
  ['the tag of another installation', others.tag('payment-1', 'payer link'), 'payment-1', 'payer link'],
  ['an empty tag', '', 'payment-1', 'payer link'],
  ['a truncated tag', tag.slice(0, 20), 'payment-1', 'payer link'],
  ['a longer tag', `${tag}AAAA`, 'payment-1', 'payer link'],
  ['the tag twice', tag + tag, 'payment-1', 'payer link'],
  ['zeros', 'A'.repeat(22), 'payment-1', 'payer link'],
  ['text that is not base64', '€'.repeat(22), 'payment-1', 'payer link'],
])('%s is refused', (_, candidate, text, purpose) => {
  expect(fingerprints.isTag(candidate, text, purpose)).toBe(false);
});

test('every flipped bit is refused', () => {
  const bytes = Buffer.from(tag, 'base64url');
  expect(bytes).toHaveLength(16);
  for (let bit = 0; bit < 128; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(fingerprints.isTag(changed.toString('base64url'), 'payment-1', 'payer link'), `bit ${bit}`).toBe(false);
  }
});

test('a digest has 256 bits, is deterministic, and depends on the text, the purpose and the secret', () => {
  const digest = fingerprints.digest('content', 'fingerprint');
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(createFingerprints(derive).digest('content', 'fingerprint')).toBe(digest);
  const different = [
    fingerprints.digest('content ', 'fingerprint'),
    fingerprints.digest('content', 'payer link'),
    others.digest('content', 'fingerprint'),
  ];
  expect(new Set([digest, ...different]).size).toBe(4);
});
