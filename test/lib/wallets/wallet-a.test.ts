/** Opening tokens of wallet-a: vectors sealed by another implementation, each rule broken, every byte changed. */
import { describe, expect, test } from 'vitest';
import { readCertificate } from '../../../src/lib/wallets/keys.ts';
import { TOKEN_RULES, TokenRefused } from '../../../src/lib/wallets/opened.ts';
import { readWalletRoots } from '../../../src/lib/wallets/roots.ts';
import { openWalletA } from '../../../src/lib/wallets/wallet-a.ts';
import { sized } from '../../support/size.ts';
import {
  copyWith,
  flipped,
  keysA,
  openA,
  revealed,
  rootsA,
  type Vector,
  vectorNamed,
  vectorsA,
  verdictOf,
  walletA,
} from './vectors.ts';

const { now } = walletA;
const { token } = vectorNamed(vectorsA, 'indefinite lengths');
const refused = vectorsA.filter(({ rule }) => rule !== undefined);
const accepted = vectorsA.filter(({ rule }) => rule === undefined);

test('the vectors break every rule of this wallet', () => {
  const elsewhere = ['rootKey', 'intermediateKey', 'merchant', 'applicationData'];
  const broken = new Set([...refused.map(({ rule }) => rule), ...elsewhere]);
  expect([...broken].toSorted()).toEqual(Object.keys(TOKEN_RULES).toSorted());
});

test.each(refused.map((vector) => [vector.rule, vector.name, vector] as const))(
  '%s: refuses %s',
  async (...[rule, , vector]) => {
    expect(await verdictOf(openA(vector.token, vector.now))).toBe(rule);
  },
);

test.each(accepted.map((vector) => [vector.name, vector] as const))('opens a token with %s', async (_name, vector) => {
  const { header } = vector.token.paymentData as { header: { transactionId: string } };
  const opened = await openA(vector.token, vector.now);
  expect(revealed(opened)).toMatchObject(vector.expected as object);
  expect(opened.replayKey).toBe(header.transactionId.toLowerCase());
});

test('opens the JSON text of a token', async () => {
  expect(revealed(await openA(JSON.stringify(token)))).toMatchObject(
    vectorNamed(vectorsA, 'indefinite lengths').expected as object,
  );
});

test.each([[undefined], [null], [1], ['{'], ['[]'], [[]], [{}], [{ paymentData: { header: {} } }]])(
  'refuses %j',
  async (value) => {
    expect(await verdictOf(openA(value))).toBe('shape');
  },
);

describe('the age of a token', () => {
  test.each([
    ['the last moment', now + 299_999, 'accepted'],
    ['too old', now + 300_000, 'age'],
    ['a clock that is 60 seconds ahead', now - 60_000, 'accepted'],
    ['a clock that is further ahead', now - 60_001, 'future'],
  ])('%s', async (_name, at, verdict) => {
    expect(await verdictOf(openA(token, at))).toBe(verdict);
  });

  test('validUntil is the first moment at which the token is refused', async () => {
    const { validUntil } = await openA(token);
    expect(await verdictOf(openA(token, validUntil - 1))).toBe('accepted');
    expect(await verdictOf(openA(token, validUntil))).toBe('age');
  });

  test('the limits can be set', async () => {
    expect(await verdictOf(openA(token, now + 1000, { ageMostMs: 1000 }))).toBe('age');
    expect(await verdictOf(openA(token, now + 400_000, { ageMostMs: 500_000 }))).toBe('accepted');
    expect(await verdictOf(openA(token, now - 1000, { skewMostMs: 999 }))).toBe('future');
  });
});

describe('application data', () => {
  const applicationData = Buffer.from(walletA.applicationData);
  const { token: bound } = vectorNamed(vectorsA, 'application data');

  test.each([
    ['that of the order', bound, applicationData, 'accepted'],
    ['that of another order', bound, Buffer.from('order-1002'), 'applicationData'],
    ['none in the token', token, applicationData, 'applicationData'],
    ['unknown to the gateway', bound, undefined, 'accepted'],
  ])('%s', async (_name, it, data, verdict) => {
    expect(await verdictOf(openA(it, now, data === undefined ? {} : { applicationData: data }))).toBe(verdict);
  });
});

describe('keys and roots', () => {
  const [first, second] = keysA.processingKeys as [(typeof keysA.processingKeys)[0], (typeof keysA.processingKeys)[0]];
  const forSecond = vectorNamed(vectorsA, 'the second processing key').token;
  const openWith = (it: object, keys: Partial<typeof keysA>, roots = rootsA, at = now) =>
    verdictOf(openWalletA(it, { ...keysA, ...keys }, roots, at));

  test('two keys are live while a key is replaced', async () => {
    for (const it of [token, forSecond]) {
      expect(await openWith(it, { processingKeys: [first, second] })).toBe('accepted');
      expect(await openWith(it, { processingKeys: [second, first] })).toBe('accepted');
    }
    expect(await openWith(token, { processingKeys: [second] })).toBe('processingKey');
    expect(await openWith(forSecond, { processingKeys: [first] })).toBe('processingKey');
    expect(await openWith(token, { processingKeys: [] })).toBe('processingKey');
  });

  test('the identifier of another merchant does not open a token', async () => {
    expect(await openWith(token, { merchantIdentifier: 'merchant.example.other' })).toBe('decryption');
  });

  test.each([
    ['the pinned production root', readWalletRoots().walletA.PRODUCTION],
    ['another root of the same name', [readCertificate(walletA.otherRoot)]],
    ['no root', []],
  ])('a token under a test root is refused with %s', async (_name, roots) => {
    expect(await openWith(token, {}, roots)).toBe('chain');
  });

  test('a chain that was verified before is refused when its certificates have expired', async () => {
    const roots = [...rootsA];
    expect(await openWith(token, {}, roots)).toBe('accepted');
    expect(await openWith(token, {}, roots, Date.UTC(2051, 0, 1))).toBe('chain');
    expect(await openWith(token, {}, roots)).toBe('accepted');
  });
});

describe('one changed bit in each byte', { timeout: 300_000 }, () => {
  const stride = sized(16, 1);
  const definite = vectorNamed(vectorsA, 'definite lengths').token;
  const HEADER = ['paymentData', 'header'];
  test.each([
    ['data', token, ['paymentData', 'data'], 'base64'],
    ['signature', token, ['paymentData', 'signature'], 'base64'],
    ['signature with definite lengths', definite, ['paymentData', 'signature'], 'base64'],
    ['ephemeralPublicKey', token, [...HEADER, 'ephemeralPublicKey'], 'base64'],
    ['publicKeyHash', token, [...HEADER, 'publicKeyHash'], 'base64'],
    ['transactionId', token, [...HEADER, 'transactionId'], 'hex'],
  ] as const)(
    'none is accepted in %s, the framing of the CMS structure included',
    async (_name, it, path, encoding) => {
      const text = path.reduce<unknown>((value, name) => (value as Vector['token'])[name], it) as string;
      const survivors: number[] = [];
      for (const { at, text: mutant } of flipped(text, encoding)) {
        if (at % stride !== 0) continue;
        const verdict = await verdictOf(openA(copyWith(it, [...path], () => mutant)));
        if (verdict === 'accepted') survivors.push(at);
      }
      expect(survivors).toEqual([]);
    },
  );
});

test('a refusal says nothing about the token', async () => {
  for (const vector of refused) {
    const error = await openA(vector.token, vector.now).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TokenRefused);
    expect(error.message).toBe(TOKEN_RULES[vector.rule as keyof typeof TOKEN_RULES]);
    expect(error.cause).toBeUndefined();
  }
});
