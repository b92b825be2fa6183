/** Published tokens with known private keys, most of them signed by the wallets themselves. */
import { expect, test } from 'vitest';
import { maskedNumber } from '../../../src/lib/cards/card.ts';
import { isIssuedTo, readCertificate, readPrivateKey } from '../../../src/lib/wallets/keys.ts';
import type { WalletEnvironment } from '../../../src/lib/wallets/opened.ts';
import { readWalletRoots, rootKeysIn } from '../../../src/lib/wallets/roots.ts';
import { openWalletA } from '../../../src/lib/wallets/wallet-a.ts';
import { decryptWalletB, openWalletB } from '../../../src/lib/wallets/wallet-b.ts';
import { readVectors, verdictOf } from './vectors.ts';

interface PublishedA {
  source: string;
  merchantIdentifier: string;
  privateKey: string;
  certificate: string;
  now: string;
  token: unknown;
  expected: object;
}
interface PublishedB {
  note: string;
  recipient: string;
  privateKeys: string[];
  now: number;
  /** The keys that signed it, or `pinned`. */
  roots: unknown;
  token: unknown;
  contains: string;
}
const published = readVectors('published.json') as { 'wallet-a': PublishedA[]; 'wallet-b': PublishedB[] };
const pinned = readWalletRoots();

test.each(published['wallet-a'])('wallet-a: $source', async ({ token, now, expected, certificate, ...entry }) => {
  const { merchantIdentifier, privateKey } = entry;
  const keys = { merchantIdentifier, processingKeys: [readPrivateKey(privateKey)] };
  const open = (at: number) => openWalletA(token, keys, pinned.walletA.PRODUCTION, at);
  const { card, amount, currency, kind } = await open(Date.parse(now));
  const { number, month, year } = card;
  expect({ masked: maskedNumber(number.reveal()), month, year, amount: String(amount), currency }).toEqual(expected);
  expect(kind).toBe('CRYPTOGRAM_3DS');
  expect(isIssuedTo(readCertificate(certificate), merchantIdentifier)).toBe(true);
  expect(await verdictOf(open(Date.parse(now) + 300_000))).toBe('age');
});

test.each(published['wallet-b'])('wallet-b: $note', async ({ token, recipient, now, contains, ...entry }) => {
  const own = entry.roots === 'pinned' ? undefined : rootKeysIn(JSON.stringify({ keys: entry.roots }));
  const roots = own ? { TEST: own, PRODUCTION: [] } : pinned.walletB;
  const keys = { recipient, gatewayMerchantId: 'client-key', privateKeys: entry.privateKeys.map(readPrivateKey) };
  expect(await decryptWalletB(token, { ...keys, environment: 'TEST' }, roots, now)).toContain(contains);
  // None is for one of our merchants, and a token of the test environment is not one of production.
  const open = (environment: WalletEnvironment) =>
    verdictOf(
      openWalletB({ paymentMethodData: { tokenizationData: { token } } }, { ...keys, environment }, roots, now),
    );
  expect(await open('TEST')).toBe(own ? 'content' : 'merchant');
  expect(await open('PRODUCTION')).toBe('rootKey');
});
