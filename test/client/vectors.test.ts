/** The clients sign and verify like everyone else: hashes and callbacks that were computed elsewhere. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CallbackError,
  isReversedCallback,
  type RawCallback,
  sign,
  signReversed,
  Turnpike,
  verifyCallback,
} from '../../client/src/index.ts';
import callbacks from '../../vectors/callbacks.json' with { type: 'json' };
import hashes from '../../vectors/hash.json' with { type: 'json' };
import recipes from '../../vectors/recipes.json' with { type: 'json' };
import { hasPhp } from '../support/php.ts';

interface CallbackVector {
  note: string;
  password: string;
  secret: string;
  now: number;
  headers: Record<string, string>;
  body: string;
  fields: Record<string, string>;
  hash_is_valid: boolean;
  signature_is_valid: boolean;
}

interface RecipeVector {
  request?: string;
  callback?: string;
  payment?: string;
  recipe: string;
  digest: 'md5' | 'sha256';
  values: Record<string, string>;
  fields: Record<string, string>;
  payer_email?: string;
  password: string;
  hash: string;
  accepted_only?: boolean;
}

/** The requests and callbacks over `/post` that a client signs or verifies with `reversed_md5`. */
const reversed = (recipes as unknown as RecipeVector[]).filter(
  ({ recipe, accepted_only, callback }) => recipe === 'reversed_md5' && !accepted_only && callback !== 'checkout',
);

const vectors = callbacks as unknown as CallbackVector[];
const isRight = ({ hash_is_valid, signature_is_valid }: CallbackVector): boolean => hash_is_valid && signature_is_valid;
const keysOf = ({ secret, password, now }: CallbackVector) => ({
  secrets: [secret],
  passwords: [password],
  now: () => now * 1000,
});

/** What the verification says: `right`, or the reason of the refusal. */
function verdict(raw: RawCallback, keys: Parameters<typeof verifyCallback>[1]): string {
  try {
    verifyCallback(raw, keys);
    return 'right';
  } catch (error) {
    expect(error).toBeInstanceOf(CallbackError);
    return (error as CallbackError).reason;
  }
}

test.each(hashes.filter((vector) => !('accepted_only' in vector)))('hash: $note', ({ fields, password, hash }) => {
  expect(sign(fields, password)).toBe(hash);
});

test.each(vectors)('callback: $note', (vector) => {
  const expected = isRight(vector)
    ? ['right']
    : vector.signature_is_valid
      ? ['hash']
      : ['headers', 'timestamp', 'signature'];
  expect(expected).toContain(verdict(vector, keysOf(vector)));
});

describe('the recipe reversed_md5', () => {
  test('signs every request as the vectors do', () => {
    const requests = reversed.filter(({ request }) => request !== undefined);
    expect(requests.length).toBeGreaterThan(100);
    for (const { request = '', payment, digest, values, password, hash } of requests) {
      const card = { payerEmail: values.payer_email ?? '', card: values.card ?? '' };
      expect(signReversed(request, values, password, digest, payment === 'card' ? card : undefined)).toBe(hash);
    }
  });

  test('verifies callbacks of both kinds of payments', () => {
    for (const { callback, payment, digest, fields, payer_email = '', password, hash } of reversed) {
      if (callback === undefined) continue;
      const card = payment === 'card' ? { payerEmail: payer_email, card: '4111111111' } : undefined;
      expect(isReversedCallback(hash, fields, password, digest, card)).toBe(true);
      expect(isReversedCallback(hash, { ...fields, trans_id: 'x' }, password, digest, card)).toBe(false);
    }
  });
});

describe('a verified callback', () => {
  const right = vectors.filter(isRight);
  const withNote = (note: string): CallbackVector => right.find((vector) => vector.note === note) as CallbackVector;

  test('has the fields of the vector, and the same summary in both protocols', () => {
    for (const vector of right) {
      const event = verifyCallback(vector, keysOf(vector));
      const { fields } = vector;
      expect(event).toMatchObject({
        id: vector.headers['webhook-id'],
        sequence: Number(vector.headers['turnpike-sequence']),
        paymentId: fields.trans_id ?? fields.id,
        orderId: fields.order_id ?? fields.order_number,
        operationId: fields.operation_id,
        state: fields.trans_id ? fields.status : fields.order_status?.replace('decline', 'declined').toUpperCase(),
      });
      const flat = Object.entries(fields).filter(([name]) => !name.startsWith('custom_data'));
      expect(event.fields).toMatchObject(Object.fromEntries(flat));
    }
  });

  test('has the same custom_data from a form and from JSON', () => {
    const [form, json] = ['custom_data in a form: names in brackets', 'custom_data in JSON: an object'].map((note) => {
      const vector = withNote(note);
      return { ...verifyCallback(vector, keysOf(vector)).fields.custom_data };
    });
    expect(form).toEqual({ colour: 'red & blue', Größe: 'a=b;c', 'a.b-c_d': '1+1=2' });
    expect(json).toEqual(form);
  });

  test('may have been signed with either secret, and hashed with either password', () => {
    const vector = withNote('a sale over /post, as a form');
    const { now } = keysOf(vector);
    const [secrets, passwords] = [
      ['whsec_b3RoZXI=', vector.secret],
      ['other', vector.password],
    ];
    expect(verdict(vector, { secrets, passwords, now })).toBe('right');
    expect(verdict(vector, { secrets: ['whsec_b3RoZXI='], passwords, now })).toBe('signature');
    expect(verdict(vector, { secrets, passwords: ['other'], now })).toBe('hash');
  });

  test('has headers in any case, as lists, or as a Headers object, and a body of bytes', () => {
    const vector = withNote('letters beyond ASCII in JSON, as they are and not escaped');
    const entries = Object.entries(vector.headers);
    const body = new TextEncoder().encode(vector.body);
    for (const headers of [
      new Headers(vector.headers),
      Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])),
      Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
    ]) {
      expect(verdict({ headers, body }, keysOf(vector))).toBe('right');
    }
  });

  test('is refused when its body was parsed, or when no key could have signed it', () => {
    const vector = withNote('a sale over /post, as JSON');
    const body = JSON.parse(vector.body);
    expect(verdict({ ...vector, body }, keysOf(vector))).toBe('body');
    expect(verdict(vector, { ...keysOf(vector), secrets: [] })).toBe('signature');
    expect(verdict(vector, { ...keysOf(vector), secrets: ['whsec_'] })).toBe('signature');
    expect(verdict(vector, { ...keysOf(vector), passwords: [] })).toBe('hash');
    expect(() => new Turnpike({ url: 'https://pay.example', password: 'x' }).callbacks.verify(vector)).toThrow(
      'The option `callbackSecret` is missing.',
    );
  });

  test('is refused outside a stricter tolerance', () => {
    const vector = withNote('300 seconds old: still within the tolerance');
    expect(verdict(vector, { ...keysOf(vector), toleranceSeconds: 299 })).toBe('timestamp');
  });
});

test.skipIf(!hasPhp)('the PHP client agrees with all vectors', () => {
  const { stdout, stderr } = spawnSync('php', [join(import.meta.dirname, 'vectors.php')], { encoding: 'utf8' });
  const count = hashes.filter((vector) => !('accepted_only' in vector)).length;
  expect(stdout + stderr).toBe(
    `${count} hashes, ${vectors.length} callbacks, ${reversed.length} of reversed_md5, 0 failed\n`,
  );
});
