/** Callbacks: vectors computed by Python, and the gateway's callbacks checked by a verifier in Python. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsOf, isHashValid, isSignatureValid } from '../../src/core/sandbox/callback-inbox.ts';
import { wireHash } from '../../src/lib/crypto/hash.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import { CALLBACK_HASH_FIELDS } from '../../src/rules/callbacks.ts';
import vectors from '../../vectors/callbacks.json' with { type: 'json' };

interface Vector {
  note: string;
  password: string;
  /** The receiver's secret, and all secrets that the sender signed with. */
  secret: string;
  signed_with: string[];
  now: number;
  headers: Record<string, string>;
  body: string;
  fields?: Record<string, unknown>;
  hashed: string[];
  hash: string;
  hash_is_valid: boolean;
  signature_is_valid: boolean;
}

const all = vectors as unknown as Vector[];
const right = all.filter(({ hash_is_valid, signature_is_valid }) => hash_is_valid && signature_is_valid);
const wrong = all.filter((vector) => !right.includes(vector));
const rawOf = ({ headers, body }: Vector) => ({ headers, body: Buffer.from(body) });

test('there are enough vectors of both kinds, formats and body types, each with a note', () => {
  expect(right.length).toBeGreaterThanOrEqual(20);
  expect(wrong.length).toBeGreaterThanOrEqual(12);
  for (const part of ['x-www-form-urlencoded', 'application/json']) {
    for (const shape of Object.values(CALLBACK_HASH_FIELDS)) {
      const isThis = ({ headers, hashed }: Vector) =>
        headers['content-type']?.includes(part) && hashed.join() === shape.join();
      expect(right.filter(isThis).length, `${part} ${shape}`).toBeGreaterThanOrEqual(2);
    }
  }
  expect(new Set(all.map(({ note }) => note)).size).toBe(all.length);
  for (const { note } of wrong) expect(note).toMatch(/^WRONG: /);
});

test.each(all)('$note', (vector) => {
  const { password, secret, now, hashed, hash, headers, body } = vector;
  const fields = fieldsOf(rawOf(vector));
  if (vector.fields) expect(fields).toEqual(vector.fields);
  expect(
    wireHash(
      hashed.map((name) => String(fields?.[name] ?? '')),
      password,
    ),
  ).toBe(hash);
  expect(isHashValid(fields, [password])).toBe(vector.hash_is_valid);
  expect(isSignatureValid(rawOf(vector), [secret], now * 1000)).toBe(vector.signature_is_valid);
  if (!right.includes(vector)) return;
  const id = headers['webhook-id'] as string;
  const signed = signatureOf(id, Number(headers['webhook-timestamp']) * 1000, body, vector.signed_with);
  expect(headers).toMatchObject(signed);
  expect(CALLBACK_HASH_FIELDS).toHaveProperty('trans_id' in (fields ?? {}) ? 's2s' : 'checkout', hashed);
});

const VERIFIER = join(import.meta.dirname, 'verify_callbacks.py');
const python = (args: string[], input = '') =>
  spawnSync('python3', [VERIFIER, ...args], { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)('a verifier in Python (skipped where there is no python3)', () => {
  test('agrees on every vector', () => {
    const { stdout, status } = python([join(import.meta.dirname, '../../vectors/callbacks.json')]);
    expect([stdout.trim(), status]).toEqual([`${all.length} callbacks checked, 0 problems`, 0]);
  });

  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('', 'a b+c%20d', 'a/b\\c"', '\n\t\r', 'İıßŉ', '👩‍👩‍👧', '=&;[]', "~!*()'"),
  );
  const callback = fc.record({
    shape: fc.constantFrom('s2s' as const, 'checkout' as const),
    isJson: fc.boolean(),
    fields: fc.dictionary(fc.constantFrom('order_status', 'card', 'reason', 'customer_name'), text),
    signed: fc.array(text, { minLength: 5, maxLength: 5 }),
    custom: fc.dictionary(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).map((name) => `n${name}`),
      text,
      {
        maxKeys: 3,
      },
    ),
    password: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }),
    keys: fc.array(fc.uint8Array({ minLength: 24, maxLength: 64 }), { minLength: 1, maxLength: 2 }),
    isLast: fc.boolean(),
  });

  type Wish = typeof callback extends fc.Arbitrary<infer Value> ? Value : never;

  /** A callback of the gateway with every possible field. */
  function sent({ shape, isJson, fields, signed, custom, password, keys, isLast }: Wish, n: number) {
    const hashed = CALLBACK_HASH_FIELDS[shape];
    const values = hashed.map((_, index) => (index === 0 ? `id ${n} ${signed[0]}` : (signed[index] as string)));
    const hash = wireHash(values, password);
    const named = Object.entries({
      ...fields,
      ...Object.fromEntries(hashed.map((name, i) => [name, values[i]])),
      hash,
    });
    const filled = named.filter((entry): entry is [string, string] => entry[1] !== '');
    const body = isJson
      ? JSON.stringify({ ...Object.fromEntries(filled), custom_data: custom })
      : String(new URLSearchParams([...filled, ...Object.entries(custom)]));
    const secrets = keys.map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
    const now = 1_794_182_400 + n;
    const type = isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded';
    return {
      note: `callback ${n}`,
      password,
      secret: secrets.at(isLast ? -1 : 0),
      now,
      headers: { 'content-type': type, ...signatureOf(`x-${n}`, now * 1000, body, secrets) },
      body,
      hashed,
      hash,
      hash_is_valid: true,
      signature_is_valid: true,
    };
  }

  test('accepts two thousand random callbacks that the gateway hashed and signed', () => {
    const made = fc.sample(callback, 2000).map(sent);
    const { stdout, stderr, status } = python([], made.map((one) => JSON.stringify(one)).join('\n'));
    expect([stdout.trim(), stderr, status]).toEqual(['2000 callbacks checked, 0 problems', '', 0]);
  });

  test('finds a callback that was changed', () => {
    const made = fc.sample(callback, 50).map(sent);
    const changed = made.map((one, index) => (index === 17 ? { ...one, body: `${one.body} ` } : one));
    const { stdout, status } = python([], changed.map((one) => JSON.stringify(one)).join('\n'));
    expect(stdout).toContain('callback 17: signature_is_valid should be True, but is False');
    expect(status).toBe(1);
  });
});
