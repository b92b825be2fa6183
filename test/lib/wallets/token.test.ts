/** Wallet tokens: a complete token is accepted, and every missing or invalid member is named. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missingInWalletA, missingInWalletB } from '../../../src/lib/wallets/token.ts';

const walletA = {
  paymentData: {
    data: 'ZGF0YQ==',
    signature: 'c2lnbmF0dXJl',
    header: { publicKeyHash: 'aGFzaA==', ephemeralPublicKey: 'a2V5', transactionId: '0a1b' },
    version: 'EC_v1',
  },
  paymentMethod: { displayName: 'Visa 0492', network: 'Visa', type: 'debit' },
  transactionIdentifier: '0A1B',
};

const signedMessage = { encryptedMessage: 'bWVzc2FnZQ==', ephemeralPublicKey: 'a2V5', tag: 'dGFn' };
const token = {
  signature: 'c2lnbmF0dXJl',
  protocolVersion: 'ECv2',
  intermediateSigningKey: { signedKey: '{"keyValue":"a2V5"}', signatures: ['c2ln'] },
  signedMessage: signedMessage as unknown,
};
const { intermediateSigningKey: _, ...tokenWithoutKey } = token;

const walletBWith = (it: unknown) => ({
  apiVersionMinor: 0,
  apiVersion: 2,
  paymentMethodData: {
    description: 'Visa •••• 0492',
    tokenizationData: { type: 'PAYMENT_GATEWAY', token: it },
    type: 'CARD',
    info: { cardNetwork: 'VISA', cardDetails: '0492' },
  },
});
const walletB = walletBWith(token);
const TOKEN = 'paymentMethodData.tokenizationData.token';

/** The paths of all members, each parent before its children. */
const pathsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, member]) => [`${path}${name}`, ...pathsOf(member, `${path}${name}.`)])
    : [];

/** A copy in which the member at the path is replaced or removed. */
function changed(original: object, path: string, value?: unknown): object {
  const copy = structuredClone(original);
  const names = path.split('.');
  const last = names.pop() as string;
  const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, copy as Record<string, unknown>);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const WALLETS = [
  ['wallet a', missingInWalletA, walletA],
  ['wallet b', missingInWalletB, walletB],
] as const;

const members = WALLETS.flatMap(([name, missing, whole]) =>
  pathsOf(whole).map((path) => [name, path, missing, whole] as const),
);

test('the tables name these members', () => {
  expect(pathsOf(walletA)).toHaveLength(13);
  expect(pathsOf(walletB)).toHaveLength(20);
});

test.each(WALLETS)('accepts a complete token of %s with additional members', (_name, missing, whole) => {
  expect(missing(whole)).toBeUndefined();
  expect(missing({ ...whole, more: 1 })).toBeUndefined();
});

test.each(members)('%s: %s is named when it is missing', (_name, path, missing, whole) => {
  expect(missing(changed(whole, path))).toBe(path);
});

test.each(members)('%s: %s is named when it has the wrong type', (_name, path, missing, whole) => {
  for (const wrong of [null, true, [], [1], '', '\0', '\ud800']) {
    expect(missing(changed(whole, path, wrong)), JSON.stringify(wrong)).toBe(path);
  }
});

test.each(WALLETS)('%s: the first of several missing members is named', (_name, missing, whole) => {
  const [first = '', ...others] = Object.keys(whole);
  for (const other of others) expect(missing(changed(changed(whole, other), first))).toBe(first);
});

test.each([[undefined], [null], [1], ['text'], ['{}'], [true], [[]], [{}]])('%j lacks the first member', (nothing) => {
  expect(missingInWalletA(nothing)).toBe('paymentData');
  expect(missingInWalletB(nothing)).toBe('apiVersionMinor');
});

test.each([
  ['an object with an object inside', token],
  ['an object with JSON inside', { ...token, signedMessage: JSON.stringify(signedMessage) }],
  ['JSON with an object inside', JSON.stringify(token)],
  ['JSON with JSON inside', JSON.stringify({ ...token, signedMessage: JSON.stringify(signedMessage) })],
  ['the first protocol, which has no intermediate key', { ...tokenWithoutKey, protocolVersion: 'ECv1' }],
  ['the first protocol in JSON', JSON.stringify({ ...tokenWithoutKey, protocolVersion: 'ECv1' })],
  ['several signatures', { ...token, intermediateSigningKey: { signedKey: 'key', signatures: ['one', 'two'] } }],
])('wallet b accepts a token that is %s', (_name, it) => {
  expect(missingInWalletB(walletBWith(it))).toBeUndefined();
});

const withSignatures = (signatures: unknown) => ({
  ...token,
  intermediateSigningKey: { signedKey: 'key', signatures },
});

test.each([
  ['broken JSON', '{"signature":', TOKEN],
  ['JSON that is not an object', '[1]', TOKEN],
  ['JSON of JSON', JSON.stringify(JSON.stringify(token)), TOKEN],
  ['JSON without a signature', JSON.stringify({ ...token, signature: '' }), `${TOKEN}.signature`],
  ['another protocol without its key', tokenWithoutKey, `${TOKEN}.intermediateSigningKey`],
  ['no signatures', withSignatures([]), `${TOKEN}.intermediateSigningKey.signatures`],
  ['an empty signature', withSignatures(['one', '']), `${TOKEN}.intermediateSigningKey.signatures`],
  ['signatures that are not a list', withSignatures('one'), `${TOKEN}.intermediateSigningKey.signatures`],
  ['a message that is not JSON', { ...token, signedMessage: 'message' }, `${TOKEN}.signedMessage`],
  [
    'a message without a tag',
    { ...token, signedMessage: '{"encryptedMessage":"a","ephemeralPublicKey":"b"}' },
    `${TOKEN}.signedMessage.tag`,
  ],
])('wallet b refuses a token with %s', (_name, it, path) => {
  expect(missingInWalletB(walletBWith(it))).toBe(path);
});

test.each([['1'], [Number.NaN], [true], [Number.POSITIVE_INFINITY]])('%j is not a version number', (version) => {
  expect(missingInWalletB({ ...walletB, apiVersion: version })).toBe('apiVersion');
});

test.each(WALLETS)('property: no JSON value makes %s throw', (_name, missing) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => missing(value) !== undefined));
  fc.assert(fc.property(fc.json(), (text) => missingInWalletB(walletBWith(text))?.startsWith(TOKEN) === true));
});
