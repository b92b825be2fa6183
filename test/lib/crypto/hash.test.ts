/** The request hash: vectors computed by other tools, and hashes that must be refused. */
import { expect, test } from 'vitest';
import { isWireHash, wireHash } from '../../../src/lib/crypto/hash.ts';
import vectors from '../../../vectors/hash.json' with { type: 'json' };

interface Vector {
  fields: string[];
  password: string;
  hash: string;
  note: string;
  accepted_only?: boolean;
}

const all: Vector[] = vectors;
const canonical = all.filter((vector) => !vector.accepted_only);
const accepted = all.filter((vector) => vector.accepted_only);

test('there are enough vectors of both kinds', () => {
  expect(canonical.length).toBeGreaterThanOrEqual(12);
  expect(accepted.length).toBeGreaterThanOrEqual(1);
});

test.each(canonical)('$note', ({ fields, password, hash }) => {
  expect(wireHash(fields, password)).toBe(hash);
  expect(isWireHash(hash, fields, [password])).toBe(true);
});

test.each(accepted)('also accepted: $note', ({ fields, password, hash }) => {
  expect(isWireHash(hash, fields, [password])).toBe(true);
  expect(wireHash(fields, password)).not.toBe(hash);
});

const FIELDS = ['order-1001', '10.00', 'USD', 'Test order'];
const HASH = '82b3d0dfa28a7b62268243abb19e2b514539a2fe';

test('accepts hex in upper and lower case', () => {
  expect(isWireHash(HASH.toUpperCase(), FIELDS, ['Secret123'])).toBe(true);
  expect(isWireHash('82B3d0dfa28a7b62268243abb19e2b514539a2fe', FIELDS, ['Secret123'])).toBe(true);
});

test('accepts the hash of any one of several passwords', () => {
  expect(isWireHash(HASH, FIELDS, ['Secret123', 'another'])).toBe(true);
  expect(isWireHash(HASH, FIELDS, ['another', 'Secret123'])).toBe(true);
  expect(isWireHash(HASH, FIELDS, ['another', 'third'])).toBe(false);
  expect(isWireHash(HASH, FIELDS, [])).toBe(false);
});

test.each([
  ['nothing', ''],
  ['one digit too few', HASH.slice(1)],
  ['one digit too many', `${HASH}0`],
  ['a letter that is not a hex digit', `g${HASH.slice(1)}`],
  ['a space before it', ` ${HASH}`],
  ['a line break after it', `${HASH}\n`],
  ['the digest of an empty text', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ['full-width digits', HASH.replace('8', '８')],
])('%s is not a hash', (_, candidate) => {
  expect(isWireHash(candidate, FIELDS, ['Secret123'])).toBe(false);
});

test.each([
  ['without upper-casing', 'ed717b6b5860ef8424b0464b62343eb3c3e759b9'],
  ['with the password first', '4d224a4a0b22533a8ad6a6dd34952b44c431a384'],
  ['over the bytes of the MD5 instead of its hex text', '373bde76996ce2bb9c0f7d43335c2ca41bddef28'],
])('refuses a hash computed %s', (_, candidate) => {
  expect(isWireHash(candidate, FIELDS, ['Secret123'])).toBe(false);
});

test('as specified, the hash covers neither the boundaries of fields nor the case of letters', () => {
  expect(isWireHash(HASH, ['order-10011', '0.00', 'USD', 'Test order'], ['Secret123'])).toBe(true);
  expect(isWireHash(HASH, ['ORDER-1001', '10.00', 'usd', 'test ORDER'], ['Secret123'])).toBe(true);
});
