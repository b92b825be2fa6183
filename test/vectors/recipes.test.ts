/** Hashes of every kind of request and callback in every recipe and digest, computed by Python. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isReversedHash, isWireHash, reversedHash, wireHash } from '../../src/lib/crypto/hash.ts';
import { CALLBACK_HASH_FIELDS } from '../../src/rules/callbacks.ts';
import {
  CARD_DIGITS,
  callbackParts,
  cardDigits,
  PASSWORD,
  partsOf,
  REVERSED_CARD_CALLBACK,
  REVERSED_REQUESTS,
  type ReversedText,
} from '../../src/rules/hash-recipes.ts';
import { type ApiOperation, DIALECT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import vectors from '../../vectors/recipes.json' with { type: 'json' };

type Fields = Record<string, string>;

interface Vector {
  request?: keyof typeof REVERSED_REQUESTS;
  callback?: 'checkout' | 's2s';
  payment?: 'card' | 'apm';
  recipe: 'specified' | 'reversed_md5';
  digest: 'md5' | 'sha256';
  values?: Fields;
  fields?: Fields;
  payer_email?: string;
  password: string;
  hash: string;
  accepted_only?: boolean;
  note: string;
}

const all = vectors as unknown as Vector[];
const requests = all.filter(({ request }) => request !== undefined);
const callbacks = all.filter(({ callback }) => callback !== undefined);
const nameOf = ({ request, callback, payment, recipe, digest, note }: Vector): string =>
  `${request ?? callback} ${payment ?? ''} ${recipe} ${digest}, ${note}`;

test('there are vectors of every request, recipe and digest, also with letters beyond ASCII in every upper-casing', () => {
  for (const [request, texts] of Object.entries(REVERSED_REQUESTS)) {
    for (const recipe of ['specified', 'reversed_md5']) {
      for (const digest of ['md5', 'sha256']) {
        const of = requests.filter((one) => one.request === request && one.recipe === recipe && one.digest === digest);
        const notes = new Set(of.map(({ note }) => note));
        expect([...notes], `${request} ${recipe}`).toEqual(
          expect.arrayContaining(['ASCII', 'letters beyond ASCII', 'upper-casing unicode', 'upper-casing simple']),
        );
        const kinds = new Set(Object.values(texts)).size === 1 ? 1 : Object.keys(texts).length;
        expect(new Set(of.map(({ payment }) => payment)).size, `${request} ${recipe}`).toBe(kinds);
      }
    }
  }
});

function operationOf({ request, payment }: Vector): ApiOperation {
  const name = request as string;
  const table: Record<string, ApiOperation> = { ...DIALECT_OPERATIONS, ...S2S_OPERATIONS };
  return name === 'SALE' && payment === 'card' ? DIALECT_OPERATIONS.SALE : (table[name] as ApiOperation);
}

test.each(requests.map((vector) => [nameOf(vector), vector] as const))('%s', (_, vector) => {
  const { recipe, digest, values = {}, password, hash, accepted_only } = vector;
  if (recipe === 'specified') {
    const signed = operationOf(vector).signs.map((name) => values[name] ?? '');
    expect(isWireHash(hash, signed, [password], digest)).toBe(true);
    expect(isWireHash(hash, signed, [password], digest === 'md5' ? 'sha256' : 'md5')).toBe(false);
    if (!accepted_only) expect(wireHash(signed, password, 'ascii', digest)).toBe(hash);
    return;
  }
  const texts = REVERSED_REQUESTS[vector.request as keyof typeof REVERSED_REQUESTS];
  const text = texts[vector.payment as 'card'] as ReversedText;
  const parts = partsOf(text, (name) => (name === PASSWORD ? password : (values[name] ?? '')));
  expect(isReversedHash(hash, [parts], digest)).toBe(true);
  if (!accepted_only) expect(reversedHash(parts, digest)).toBe(hash);
});

test.each(callbacks.map((vector) => [nameOf(vector), vector] as const))('callback %s', (_, vector) => {
  const { callback = 's2s', payment, recipe, digest, fields = {}, password, hash, payer_email = '' } = vector;
  if (recipe === 'specified' || callback === 'checkout') {
    const signed = CALLBACK_HASH_FIELDS[callback].map((name) => fields[name] ?? '');
    return expect(wireHash(signed, password, 'ascii', digest)).toBe(hash);
  }
  const facts: Fields = { payer_email, [CARD_DIGITS]: cardDigits(fields.card ?? ''), [PASSWORD]: password };
  const parts =
    payment === 'card'
      ? partsOf(REVERSED_CARD_CALLBACK, (name) => facts[name] ?? fields[name] ?? '')
      : callbackParts(Object.entries(fields), password);
  expect(reversedHash(parts, digest)).toBe(hash);
});

const python = (...args: string[]) => spawnSync('python3', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });

test.skipIf(python('--version').status !== 0)('Python computes the same file again', () => {
  const folder = join(import.meta.dirname, '../../vectors');
  expect(python(join(folder, 'recipes.py')).stdout).toBe(readFileSync(join(folder, 'recipes.json'), 'utf8'));
});
