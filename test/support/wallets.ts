/** Payment tokens of both wallets, sealed under roots that only the tests trust. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { pretendWalletSettings } from '../../src/core/wallets/pretend-wallet.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { newWalletAAuthority, sealWalletA } from '../../src/lib/wallets/seal-a.ts';
import { newWalletBAuthority, publishedKeys, sealWalletB } from '../../src/lib/wallets/seal-b.ts';

export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
export const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }) as string;

export const DEVICE_NUMBER = '4895370012003478';
export const CARD_NUMBER = '4111111111111111';

const vectors = JSON.parse(readFileSync(join(import.meta.dirname, '../../vectors/wallets/wallet-a.json'), 'utf8'));

/** A merchant of wallet-a, with a processing certificate that was issued for it. */
export const MERCHANT = {
  identifier: vectors.merchantIdentifier as string,
  key: createPrivateKey(vectors.processingKeys[0]),
  processingCertificate: vectors.processingCertificate as string,
};

/** The settings of an account with both wallets on its payment page. */
export const walletSettings = (): Record<string, unknown> => pretendWalletSettings(Date.now());

interface CardInToken {
  /** `MM/YY`. */
  expiry?: string;
  sealedAt?: number;
}

export interface TokenA extends CardInToken {
  merchantIdentifier?: string;
  key?: KeyObject;
  amount?: bigint;
  currency?: string;
}

export interface TokenB extends CardInToken {
  gatewayMerchantId: string;
  key: KeyObject;
  recipient?: string;
  kind?: 'PAN_ONLY' | 'CRYPTOGRAM_3DS';
  number?: string;
}

function cardOf(number: string, expiry = '01/38') {
  const [month = '', year = ''] = expiry.split('/');
  return { number: new Secret(number), month, year: `20${year}`, network: 'Visa' };
}

/** `roots` is the folder for `TURNPIKE_WALLET_ROOTS`. */
export function openWallets() {
  const authorityA = newWalletAAuthority(Date.now());
  const authorityB = newWalletBAuthority(Date.now());
  const roots = mkdtempSync(join(tmpdir(), 'wallet-roots-'));
  afterAll(() => rmSync(roots, { recursive: true }));
  writeFileSync(join(roots, 'wallet-a.pem'), authorityA.root);
  writeFileSync(join(roots, 'wallet-b.json'), publishedKeys(authorityB));
  return {
    roots,
    tokenA({ merchantIdentifier = MERCHANT.identifier, key = MERCHANT.key, ...token }: TokenA = {}): string {
      const { amount = 1000n, currency = 'USD', expiry, sealedAt = Date.now() } = token;
      const payment = { ...cardOf(DEVICE_NUMBER, expiry), amount, currency };
      return JSON.stringify(sealWalletA(authorityA, { merchantIdentifier, processingKey: key }, payment, sealedAt));
    },
    tokenB({
      kind = 'CRYPTOGRAM_3DS',
      recipient = 'gateway:turnpike',
      gatewayMerchantId,
      key,
      ...token
    }: TokenB): string {
      const { number = kind === 'PAN_ONLY' ? CARD_NUMBER : DEVICE_NUMBER } = token;
      const payment = { ...cardOf(number, token.expiry), kind };
      const { sealedAt = Date.now() } = token;
      return JSON.stringify(sealWalletB(authorityB, { recipient, gatewayMerchantId, key }, payment, sealedAt));
    },
  };
}
