/** Measures how many wallet tokens one process opens, for each wallet and version. */
import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '../src/lib/crypto/secret.ts';
import { readCertificate } from '../src/lib/wallets/keys.ts';
import { rootKeysIn } from '../src/lib/wallets/roots.ts';
import { newWalletAAuthority, sealWalletA } from '../src/lib/wallets/seal-a.ts';
import { newWalletBAuthority, publishedKeys, sealWalletB } from '../src/lib/wallets/seal-b.ts';
import { openWalletA } from '../src/lib/wallets/wallet-a.ts';
import { openWalletB } from '../src/lib/wallets/wallet-b.ts';
import { progress, rows, SECONDS } from './harness.ts';

/** Enough different tokens that nothing about one of them stays in a cache. */
const TOKENS = 200;

const now = Date.now();
const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const card = { number: new Secret('4111111111111111'), month: '12', year: '2030', network: 'visa' };

async function measureOpening(
  name: string,
  seal: () => object,
  open: (token: object) => Promise<unknown>,
): Promise<void> {
  const tokens = Array.from({ length: TOKENS }, seal);
  for (const token of tokens) await open(token);
  progress(`${name}: measuring ${SECONDS} s`);
  const times: number[] = [];
  const before = process.cpuUsage();
  const started = performance.now();
  for (let at = started; at < started + SECONDS * 1000; ) {
    await open(tokens[times.length % TOKENS] as object);
    const end = performance.now();
    times.push(end - at);
    at = end;
  }
  const { user, system } = process.cpuUsage(before);
  const ordered = times.toSorted((one, other) => one - other);
  rows.push({
    name,
    perSecond: times.length / ((performance.now() - started) / 1000),
    p50: ordered[Math.floor(times.length / 2)] as number,
    p99: ordered[Math.floor(times.length * 0.99)] as number,
    perCore: times.length / ((user + system) / 1e6),
  });
}

export async function measureWallets(): Promise<void> {
  const authority = newWalletAAuthority(now);
  const merchant = { merchantIdentifier: 'merchant.example.shop', processingKey: key };
  const keysA = { merchantIdentifier: merchant.merchantIdentifier, processingKeys: [key] };
  const rootsA = [readCertificate(authority.root)];
  await measureOpening(
    '(w) wallet-a, EC_v1',
    () => sealWalletA(authority, merchant, { ...card, amount: 1999n, currency: 'EUR' }, now),
    (token) => openWalletA(token, keysA, rootsA, now),
  );
  const rootKey = newWalletBAuthority(now);
  const roots = { TEST: rootKeysIn(publishedKeys(rootKey)), PRODUCTION: [] };
  const shop = { recipient: 'gateway:turnpike', gatewayMerchantId: 'client-key' };
  for (const version of ['ECv1', 'ECv2'] as const) {
    await measureOpening(
      `(w) wallet-b, ${version}`,
      () => sealWalletB(rootKey, { ...shop, key, version }, { ...card, kind: 'CRYPTOGRAM_3DS' }, now),
      (token) => openWalletB(token, { ...shop, privateKeys: [key], environment: 'TEST' }, roots, now),
    );
  }
}
