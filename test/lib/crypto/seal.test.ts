/** Sealed secrets open only in their own row, only unchanged, and only with a configured key. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundTo, createSeal, newMasterKey, SealBroken } from '../../../src/lib/crypto/seal.ts';

const KEY = newMasterKey();
const OTHER_KEY = newMasterKey();
const HERE = boundTo('accounts', 'password', 'row-1');
const seal = createSeal(KEY);

test('property: every text opens as it was sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, row) => {
      const bound = boundTo('accounts', 'password', row);
      expect(seal.open(seal.seal(text, bound), bound)).toBe(text);
    }),
  );
});

test('an empty text opens as an empty text', () => {
  expect(seal.open(seal.seal('', HERE), HERE)).toBe('');
});

test('sealing a text twice gives different values, and neither contains the text', () => {
  const first = seal.seal('a secret of some length', HERE);
  const second = seal.seal('a secret of some length', HERE);
  expect(first.equals(second)).toBe(false);
  expect(first.includes('secret')).toBe(false);
});

describe('a sealed value copied elsewhere does not open', () => {
  test.each([
    ['another row', boundTo('accounts', 'password', 'row-2')],
    ['another column', boundTo('accounts', 'callback_secret', 'row-1')],
    ['another table', boundTo('installation', 'password', 'row-1')],
    ['no associated data', ''],
  ])('%s', (_, there) => {
    expect(() => seal.open(seal.seal('secret', HERE), there)).toThrow(SealBroken);
  });
});

test('every flipped bit is detected', () => {
  const sealed = seal.seal('secret', HERE);
  for (let at = 0; at < sealed.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
      expect(() => seal.open(changed, HERE), `bit ${bit} of byte ${at}`).toThrow(SealBroken);
    }
  }
});

test('every truncation and every addition is detected', () => {
  const sealed = seal.seal('secret', HERE);
  for (let length = 0; length < sealed.length; length++) {
    expect(() => seal.open(sealed.subarray(0, length), HERE), `${length} bytes`).toThrow(SealBroken);
  }
  expect(() => seal.open(Buffer.concat([sealed, Buffer.alloc(1)]), HERE)).toThrow(SealBroken);
});

test('the error message contains neither key nor text', () => {
  const sealed = seal.seal('secret text', HERE);
  const failure = (): unknown => seal.open(sealed, 'elsewhere');
  expect(failure).toThrow('The secret does not belong to this row or was changed.');
});

describe('keys', () => {
  test('another key does not open the value, and the error says that the key is missing', () => {
    const sealed = createSeal(OTHER_KEY).seal('secret', HERE);
    expect(() => seal.open(sealed, HERE)).toThrow('a master key that is not configured');
  });

  test('with several keys the first one seals and each of them opens', () => {
    const both = createSeal(`${OTHER_KEY}, ${KEY}`);
    const old = seal.seal('old', HERE);
    const renewed = both.seal('new', HERE);
    expect(both.open(old, HERE)).toBe('old');
    expect(both.open(renewed, HERE)).toBe('new');
    expect(createSeal(OTHER_KEY).open(renewed, HERE)).toBe('new');
    expect(() => seal.open(renewed, HERE)).toThrow(SealBroken);
  });

  test('every sealed value begins with the version of its key', () => {
    expect(seal.version).toMatch(/^[0-9a-f]{8}$/);
    expect(seal.seal('x', HERE).toString('hex').startsWith(seal.version)).toBe(true);
    expect(createSeal(`${OTHER_KEY},${KEY}`).version).toBe(createSeal(OTHER_KEY).version);
    expect(createSeal(OTHER_KEY).version).not.toBe(seal.version);
  });

  test.each([0, 1, 16, 24, 31, 33, 64])('a key of %i bytes is refused', (bytes) => {
    const key = Buffer.alloc(bytes, 7).toString('base64');
    expect(() => createSeal(key)).toThrow('A master key is 32 bytes, written in base64.');
    expect(() => createSeal(`${KEY},${key}`)).toThrow(TypeError);
  });

  test('new keys are 32 bytes in base64 and never repeat', () => {
    expect(newMasterKey()).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(newMasterKey()).not.toBe(newMasterKey());
  });
});

describe('derived keys', () => {
  test('are deterministic, have 32 bytes, and differ from the master key', () => {
    expect(seal.derive('payer link')).toEqual(createSeal(KEY).derive('payer link'));
    expect(seal.derive('payer link')).toHaveLength(32);
    expect(seal.derive('payer link').toString('base64')).not.toBe(KEY);
  });

  test('depend on the purpose and on the master key', () => {
    const made = [
      seal.derive('payer link'),
      seal.derive('payer link '),
      seal.derive('fingerprint'),
      seal.derive(''),
      createSeal(OTHER_KEY).derive('payer link'),
    ].map((key) => key.toString('hex'));
    expect(new Set(made).size).toBe(made.length);
  });

  test('are derived from the first of several master keys', () => {
    expect(createSeal(`${OTHER_KEY},${KEY}`).derive('a')).toEqual(createSeal(OTHER_KEY).derive('a'));
  });

  test('are HKDF-SHA256 of the master key, without salt, as another program can compute them', () => {
    const master = Buffer.from(KEY, 'base64');
    const inner = createHmac('sha256', Buffer.alloc(32)).update(master).digest();
    const expected = createHmac('sha256', inner)
      .update('provider key')
      .update(Buffer.from([1]))
      .digest();
    expect(seal.derive('provider key')).toEqual(expected);
  });
});
