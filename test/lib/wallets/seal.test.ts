/** Tokens of the sandbox: the gateway opens them, under the roots that the sandbox publishes only. */
import { expect, test } from 'vitest';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { readCertificate } from '../../../src/lib/wallets/keys.ts';
import { readWalletRoots, rootKeysIn } from '../../../src/lib/wallets/roots.ts';
import { newWalletAAuthority, sealWalletA } from '../../../src/lib/wallets/seal-a.ts';
import { newWalletBAuthority, publishedKeys, sealWalletB } from '../../../src/lib/wallets/seal-b.ts';
import { missingInWalletA, missingInWalletB } from '../../../src/lib/wallets/token.ts';
import { openWalletA } from '../../../src/lib/wallets/wallet-a.ts';
import { openWalletB } from '../../../src/lib/wallets/wallet-b.ts';
import { keysA, keysB, revealed, verdictOf } from './vectors.ts';

const now = Date.UTC(2026, 5, 1);
const card = { number: new Secret('4111111111111111'), month: '03', year: '2031', network: 'visa' };

test('wallet-a: the gateway opens a token of the sandbox', async () => {
  const authority = newWalletAAuthority(now);
  const payment = { ...card, holder: 'Ada Lovelace', amount: 1999n, currency: 'EUR' };
  const [processingKey] = keysA.processingKeys;
  const merchant = { merchantIdentifier: keysA.merchantIdentifier, processingKey: processingKey as never };
  const token = sealWalletA(authority, merchant, payment, now);
  expect(missingInWalletA(token)).toBeUndefined();
  const opened = await openWalletA(token, keysA, [readCertificate(authority.root)], now);
  expect(revealed(opened)).toMatchObject({
    ...{ number: '4111111111111111', month: '03', year: '2031', holder: 'Ada Lovelace', network: 'visa' },
    ...{ kind: 'CRYPTOGRAM_3DS', eci: '05', amount: '1999', currency: 'EUR', validUntil: now + 300_000 },
  });
  expect(await verdictOf(openWalletA(token, keysA, readWalletRoots().walletA.PRODUCTION, now))).toBe('chain');
});

test.each([
  ['ECv1', 'PAN_ONLY'],
  ['ECv1', 'CRYPTOGRAM_3DS'],
  ['ECv2', 'PAN_ONLY'],
  ['ECv2', 'CRYPTOGRAM_3DS'],
] as const)('wallet-b: the gateway opens a token of the sandbox, %s with %s', async (version, kind) => {
  const authority = newWalletBAuthority(now);
  const [key] = keysB.privateKeys;
  const token = sealWalletB(authority, { ...keysB, key: key as never, version }, { ...card, kind }, now);
  expect(missingInWalletB(token)).toBeUndefined();
  const roots = { TEST: rootKeysIn(publishedKeys(authority)), PRODUCTION: [] };
  const opened = await openWalletB(token, keysB, roots, now);
  expect(revealed(opened)).toMatchObject({
    number: '4111111111111111',
    month: '03',
    year: '2031',
    network: 'visa',
    kind,
  });
  expect(opened.cryptogram !== undefined).toBe(kind === 'CRYPTOGRAM_3DS');
  expect(await verdictOf(openWalletB(token, keysB, readWalletRoots().walletB, now))).toBe('rootKey');
});
