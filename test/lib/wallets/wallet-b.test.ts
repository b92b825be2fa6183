/** Opening tokens of wallet-b: vectors sealed by another implementation, each rule broken, every byte changed. */
import { describe, expect, test } from 'vitest';
import { TOKEN_RULES, TokenRefused } from '../../../src/lib/wallets/opened.ts';
import { readWalletRoots } from '../../../src/lib/wallets/roots.ts';
import { openWalletB } from '../../../src/lib/wallets/wallet-b.ts';
import { sized } from '../../support/size.ts';
import { flipped, keysB, openB, revealed, rootsB, vectorNamed, vectorsB, verdictOf, walletB } from './vectors.ts';

const base = vectorNamed(vectorsB, 'ECv2 with a cryptogram');
const refused = vectorsB.filter(({ rule }) => rule !== undefined);
const accepted = vectorsB.filter(({ rule }) => rule === undefined);

test('the vectors break every rule of this wallet', () => {
  const rules = ['shape', 'version', 'rootKey', 'intermediateKey', 'signature', 'ephemeralKey', 'decryption'];
  expect(new Set(refused.map(({ rule }) => rule))).toEqual(new Set([...rules, 'age', 'merchant', 'content']));
});

test.each(refused.map((vector) => [vector.rule, vector.name, vector] as const))(
  '%s: refuses %s',
  async (...[rule, , vector]) => {
    expect(await verdictOf(openB(vector.token, vector))).toBe(rule);
  },
);

test.each(accepted.map((vector) => [vector.name, vector] as const))('opens %s', async (_name, vector) => {
  const { number, month, year, holder, ...rest } = revealed(await openB(vector.token, vector));
  expect({ number, month, year, holder, ...rest }).toEqual(vector.expected);
});

test('opens the JSON text of the payment data', async () => {
  expect(revealed(await openB(JSON.stringify(base.token)))).toEqual(base.expected);
});

test.each([[undefined], [null], [1], ['{'], ['[]'], [[]], [{}], [{ paymentMethodData: {} }]])(
  'refuses %j',
  async (value) => {
    expect(await verdictOf(openB(value))).toBe('shape');
  },
);

test('a message is refused from its expiry on, which is validUntil', async () => {
  const { validUntil } = await openB(base.token);
  expect(validUntil).toBe(base.expected?.validUntil);
  // The root key and the intermediate key of this vector expire at the same time, and are checked first.
  expect(await verdictOf(openB(base.token, { now: validUntil - 1 }))).toBe('accepted');
  expect(await verdictOf(openB(base.token, { now: validUntil }))).toBe('rootKey');
});

describe('keys and roots', () => {
  const forSecond = vectorNamed(vectorsB, 'the second private key').token;
  const openWith = (token: object, keys: Partial<typeof keysB>, roots = rootsB) =>
    verdictOf(openWalletB(token, { ...keysB, ...keys }, roots, walletB.now));

  test('two keys are live while a key is replaced', async () => {
    const [first, second] = keysB.privateKeys as [never, never];
    for (const token of [base.token, forSecond]) {
      expect(await openWith(token, { privateKeys: [first, second] })).toBe('accepted');
      expect(await openWith(token, { privateKeys: [second, first] })).toBe('accepted');
    }
    expect(await openWith(base.token, { privateKeys: [second] })).toBe('decryption');
    expect(await openWith(forSecond, { privateKeys: [first] })).toBe('decryption');
    expect(await openWith(base.token, { privateKeys: [] })).toBe('decryption');
  });

  test('another recipient and another merchant do not open a token', async () => {
    expect(await openWith(base.token, { recipient: 'gateway:other' })).toBe('signature');
    expect(await openWith(base.token, { gatewayMerchantId: 'other' })).toBe('merchant');
  });

  test.each(['TEST', 'PRODUCTION'] as const)(
    'the pinned roots of %s do not accept the roots of the vectors',
    async (environment) => {
      expect(await openWith(base.token, { environment }, readWalletRoots().walletB)).toBe('rootKey');
    },
  );
});

describe('one changed bit in each byte', { timeout: 300_000 }, () => {
  const stride = sized(16, 1);
  const inner = (name: string): Record<string, never> => {
    const { paymentMethodData } = vectorNamed(vectorsB, name).token as { paymentMethodData: never };
    return JSON.parse((paymentMethodData as { tokenizationData: { token: string } }).tokenizationData.token);
  };
  const opened = (token: object) => verdictOf(openB({ paymentMethodData: { tokenizationData: { token } } }));

  test.each(['ECv1 with a cryptogram', 'ECv2 with a cryptogram'])('%s: none is accepted', async (name) => {
    const token = inner(name);
    expect(await opened(token)).toBe('accepted');
    const key = token.intermediateSigningKey as { signedKey: string; signatures: [string] } | undefined;
    const message = JSON.parse(token.signedMessage as never);
    const utf8 = (text: string): string => Buffer.from(text).toString('hex');
    const back = (hex: string): string => Buffer.from(hex, 'hex').toString();
    const fields: [string, string, 'base64' | 'hex', (text: string) => object][] = [
      ['signature', token.signature as never, 'base64', (signature) => ({ ...token, signature })],
      ['version', utf8(token.protocolVersion as never), 'hex', (hex) => ({ ...token, protocolVersion: back(hex) })],
      ['message', utf8(token.signedMessage as never), 'hex', (hex) => ({ ...token, signedMessage: back(hex) })],
      ...Object.keys(message).map((member): (typeof fields)[0] => [
        member,
        message[member],
        'base64',
        (text) => ({ ...token, signedMessage: JSON.stringify({ ...message, [member]: text }) }),
      ]),
    ];
    if (key) {
      const withKey = (change: object) => ({ ...token, intermediateSigningKey: { ...key, ...change } });
      fields.push(['signed key', utf8(key.signedKey), 'hex', (hex) => withKey({ signedKey: back(hex) })]);
      fields.push(['key signature', key.signatures[0], 'base64', (text) => withKey({ signatures: [text] })]);
    }
    for (const [field, text, encoding, build] of fields) {
      for (const { at, text: mutant } of flipped(text, encoding)) {
        if (at % stride === 0) expect(await opened(build(mutant)), `${field} ${at}`).not.toBe('accepted');
      }
    }
  });
});

test('a refusal says nothing about the token', async () => {
  for (const vector of refused) {
    const error = await openB(vector.token, vector).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TokenRefused);
    expect(error.message).toBe(TOKEN_RULES[vector.rule as keyof typeof TOKEN_RULES]);
    expect(error.cause).toBeUndefined();
  }
});
