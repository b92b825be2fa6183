/** The pretend wallet of the sandbox: an authority that only this sandbox trusts, and the tokens that it seals. */
import { generateKeyPairSync } from 'node:crypto';
import { boundTo } from '../../lib/crypto/seal.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { readCertificate } from '../../lib/wallets/keys.ts';
import { rootKeysIn, type WalletRoots } from '../../lib/wallets/roots.ts';
import { newIdentity, newWalletAAuthority, sealWalletA } from '../../lib/wallets/seal-a.ts';
import { newWalletBAuthority, publishedKeys, sealWalletB } from '../../lib/wallets/seal-b.ts';
import type { WalletBrand } from '../../rules/brands.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { PRETEND_CARDS } from '../../rules/pretend-wallet.ts';
import type { AccountRow } from '../../store/accounts/accounts.ts';
import { liveKeys } from '../accounts/secret-settings.ts';
import type { Account, Gateway, WalletAuthorities } from '../context.ts';

const NAME = 'wallet_authorities';

/** Reads the authorities of this sandbox; created on first use, and shared by all processes. */
export async function openAuthorities({
  seal,
  installation,
  clock,
}: Pick<Gateway, 'seal' | 'installation' | 'clock'>): Promise<WalletAuthorities> {
  const bound = boundTo('installation', 'value', NAME);
  const create = (): Promise<Buffer> => {
    const now = clock.real();
    const made: WalletAuthorities = { walletA: newWalletAAuthority(now), walletB: newWalletBAuthority(now) };
    return installation.writeOnce(NAME, seal.seal(JSON.stringify(made), bound));
  };
  return JSON.parse(seal.open((await installation.read(NAME)) ?? (await create()), bound));
}

/** The roots with those of the sandbox's authorities, which count for tests only. */
export const withAuthorities = ({ walletA, walletB }: WalletRoots, authorities: WalletAuthorities): WalletRoots => ({
  walletA: { ...walletA, TEST: [...walletA.TEST, readCertificate(authorities.walletA.root)] },
  walletB: { ...walletB, TEST: [...walletB.TEST, ...rootKeysIn(publishedKeys(authorities.walletB))] },
});

/** What the payer agreed to on the sheet of the pretend wallet. */
export interface PretendPayment {
  wallet: WalletBrand;
  /** A name in the table of test cards. */
  card: string;
  amount: string;
  currency: string;
}

/** Seals a token as the wallet's vendor would do; undefined if the wallet does not have the card. */
export async function sealPretendToken(
  gateway: Gateway,
  account: Account,
  { wallet, card: name, amount, currency }: PretendPayment,
): Promise<Record<string, unknown> | undefined> {
  const card = Object.hasOwn(PRETEND_CARDS, name) ? PRETEND_CARDS[name] : undefined;
  const { walletAuthorities } = gateway;
  const [processingKey] = await liveKeys(gateway, account.mid, KEY_OF[wallet]);
  if (!walletAuthorities || !card?.wallets.includes(wallet) || !processingKey) return undefined;
  const [month = '', year = ''] = card.expiry.split('/');
  const sealed = { number: new Secret(card.number), month, year: `20${year}`, network: 'Visa' };
  const now = gateway.clock.real();
  if (wallet === 'wallet-b') {
    const to = { recipient: gateway.wallets.recipient, gatewayMerchantId: account.clientKey, key: processingKey };
    return sealWalletB(walletAuthorities.walletB, to, { ...sealed, kind: card.kind }, now);
  }
  const units = minorUnits(amount, exponentOf(currency), 'number');
  if (typeof units !== 'bigint') return undefined;
  const merchantIdentifier = account.settings['wallets.wallet-a.merchant_identifier'];
  const merchant = { merchantIdentifier, processingKey };
  return sealWalletA(walletAuthorities.walletA, merchant, { ...sealed, amount: units, currency }, now);
}

const KEY_OF = {
  'wallet-a': 'wallets.wallet-a.processing_private_key',
  'wallet-b': 'wallets.wallet-b.private_key',
} as const;

const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString();

/** Settings with new keys, with which both wallets work in the sandbox. */
export function pretendWalletSettings(now: number): AccountRow['settings'] {
  const identity = newIdentity('Sandbox Merchant', now);
  return {
    'wallets.wallet-a.merchant_identifier': 'merchant.sandbox.turnpike',
    'wallets.wallet-a.country': 'NL',
    'wallets.wallet-a.certificate': identity.certificate,
    'wallets.wallet-a.private_key': identity.key,
    'wallets.wallet-a.processing_private_key': newKey(),
    'wallets.wallet-b.private_key': newKey(),
  };
}
