/** Opens the payment token of a device wallet, and the payment that it pays. */
import { hash } from 'node:crypto';
import { maskedNumber } from '../../lib/cards/card.ts';
import { networkOf } from '../../lib/cards/networks.ts';
import { newId } from '../../lib/crypto/id.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { type OpenedToken, TokenRefused } from '../../lib/wallets/opened.ts';
import { objectIn } from '../../lib/wallets/reading.ts';
import { openWalletA } from '../../lib/wallets/wallet-a.ts';
import { openWalletB } from '../../lib/wallets/wallet-b.ts';
import { TOKEN_FIELD, type WalletBrand } from '../../rules/brands.ts';
import { makesSessions } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { SettingName } from '../../rules/settings.ts';
import type { PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import { liveKeys } from '../accounts/secret-settings.ts';
import type { Account, AccountRoute, Gateway } from '../context.ts';
import { findRepeat, type Order, openPayment } from '../payments/open.ts';
import type { OpenedWallet, PassedWallet } from './card.ts';

/** How each wallet opens its tokens, and the settings without which it cannot. */
interface Wallet {
  needs: readonly SettingName[];
  open(gateway: Gateway, account: Account, token: unknown, now: number): Promise<OpenedToken>;
}

const WALLETS: Readonly<Record<WalletBrand, Wallet>> = {
  'wallet-a': {
    needs: ['wallets.wallet-a.processing_private_key', 'wallets.wallet-a.merchant_identifier'],
    async open(gateway, { mid, settings }, token, now) {
      const processingKeys = await liveKeys(gateway, mid, 'wallets.wallet-a.processing_private_key');
      const merchantIdentifier = settings['wallets.wallet-a.merchant_identifier'];
      // The token does not say its environment.
      const roots = gateway.wallets.roots.walletA[gateway.environment === 'sandbox' ? 'TEST' : 'PRODUCTION'];
      return openWalletA(token, { merchantIdentifier, processingKeys }, roots, now);
    },
  },
  'wallet-b': {
    needs: ['wallets.wallet-b.private_key'],
    async open(gateway, { mid, clientKey, settings }, token, now) {
      const privateKeys = await liveKeys(gateway, mid, 'wallets.wallet-b.private_key');
      const environment = settings['wallets.wallet-b.environment'] === 'PRODUCTION' ? 'PRODUCTION' : 'TEST';
      const { recipient, roots } = gateway.wallets;
      const keys = { recipient, gatewayMerchantId: clientKey, privateKeys, environment } as const;
      return openWalletB(token, keys, roots.walletB, now);
    },
  },
};

const OTHER_AMOUNT = 'The amount of the token is not that of the order.';
const OTHER_CURRENCY = 'The currency of the token is not that of the order.';

/** The refusal of a token; it says which rule the token broke, and nothing of its content. */
const refusedToken = (sentence: string): Refusal => invalidField(TOKEN_FIELD, sentence);

/** Whether the account has the keys that open the tokens of a wallet. */
export const hasTokenKeys = ({ settings }: Account, brand: WalletBrand): boolean =>
  WALLETS[brand].needs.every((name) => settings[name] !== '');

/** What a payment stores of an opened token, and what is used up with it. */
interface OpenedForOrder {
  stored: Required<Pick<PaymentDetails, 'card' | 'wallet'>>;
  wallet: OpenedWallet;
}

type TokenOrder = Pick<Order, 'amountText' | 'currency' | 'details'> & { brand: WalletBrand };

/** Opens the token that pays an order; throws `TokenRefused`, or a refusal if the payer agreed to another amount. */
export async function openToken(
  gateway: Gateway,
  account: Account,
  order: TokenOrder,
  token: string,
): Promise<OpenedForOrder> {
  // By the real time, which device and vendor use, too; the sandbox clock may be ahead.
  const opened = await WALLETS[order.brand].open(gateway, account, JSON.parse(token), gateway.clock.real());
  refuseOtherAmount(opened, order);
  return withCard(order, opened);
}

/** Opens the payment of an order with a wallet token; a repeat of the same request gets the payment of the first one. */
export async function openWalletPayment(
  gateway: Gateway,
  account: Account,
  order: Order & { brand: WalletBrand },
  token: string,
): Promise<PaymentWithDetails> {
  if (!hasTokenKeys(account, order.brand)) return openPassedToken(gateway, account, order, token);
  try {
    const { stored, wallet } = await openToken(gateway, account, order, token);
    return await openPayment(gateway, account, { ...order, details: { ...order.details, ...stored }, wallet });
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    // The token may have expired since the first request.
    const repeat = await findRepeat(gateway, account, order);
    if (repeat) return repeat;
    gateway.log.info({ mid: account.mid, brand: order.brand, rule: error.rule }, 'wallet token refused');
    throw refusedToken(error.message);
  }
}

/**
 * Opens the payment of an order whose token the provider opens: without keys of its own, the account can only pass it on.
 * The provider checks the amount in the token.
 */
function openPassedToken(
  gateway: Gateway,
  account: Account,
  order: Order & { brand: WalletBrand },
  token: string,
): Promise<PaymentWithDetails> {
  const routes = passingRoutes(account, order.brand);
  if (routes.length === 0) throw new Refusal('actionNotSupported');
  const wallet = passToken(gateway, order.brand, token);
  return openPayment(gateway, { ...account, routes }, { ...order, wallet });
}

/** The routes of an account to providers that open the tokens of a wallet; the last one takes what is in no other share. */
export function passingRoutes({ routes }: Account, brand: WalletBrand): AccountRoute[] {
  const takes = ({ share, brands, connection }: AccountRoute): boolean =>
    share > 0 &&
    connection?.passesTokens === true &&
    Object.hasOwn(connection.methods, brand) &&
    (brands.length === 0 || brands.includes(brand));
  const passing = routes.filter(takes);
  return passing.map((route, index) => (index === passing.length - 1 ? { ...route, share: 100 } : route));
}

/** Those of them for which the page can make tokens. A token of `wallet-b` has one recipient: that of the first route. */
export function pageRoutes(account: Account, brand: WalletBrand): AccountRoute[] {
  const routes = passingRoutes(account, brand);
  if (brand === 'wallet-a') return routes.filter(({ connection }) => makesSessions(connection?.connector ?? ''));
  return routes
    .filter(({ connection }) => connection?.tokenRecipient)
    .slice(0, 1)
    .map((route) => ({ ...route, share: 100 }));
}

/** A token for a provider that opens it; its form has been checked. */
export function passToken({ clock }: Gateway, brand: WalletBrand, token: string): PassedWallet {
  const { passed, encrypted } = passedToken(brand, token);
  return {
    passed: new Secret(passed),
    token: {
      replayKey: `${brand} ${hash('sha256', canonicalBase64(encrypted))}`,
      forgetAt: clock.real() + LIMITS.walletTokenKeptMs,
    },
  };
}

/** The same text for all spellings of the same bytes: with or without padding, and in either alphabet. */
const canonicalBase64 = (text: string): string => Buffer.from(text, 'base64').toString('base64');

/** The part of a token that its vendor calls the payment token, as a text, and its encrypted content, which identifies it. */
function passedToken(brand: WalletBrand, token: string): { passed: string; encrypted: string } {
  const sent = JSON.parse(token);
  if (brand === 'wallet-a') return { passed: JSON.stringify(sent), encrypted: sent.paymentData.data };
  const { token: inner } = sent.paymentMethodData.tokenizationData;
  const passed = typeof inner === 'string' ? inner : JSON.stringify(inner);
  return { passed, encrypted: objectIn(objectIn(passed).signedMessage).encryptedMessage as string };
}

/** Some tokens state what the payer agreed to. */
function refuseOtherAmount({ amount, currency }: OpenedToken, order: TokenOrder): void {
  if (currency !== undefined && currency !== order.currency) throw refusedToken(OTHER_CURRENCY);
  const exponent = exponentOf(order.currency);
  if (amount !== undefined && amount !== minorUnits(order.amountText, exponent, 'number')) {
    throw refusedToken(OTHER_AMOUNT);
  }
}

/** The wallet's name of the network, which is not signed: a merchant could send anything there. */
const networkName = (name: string): string => (/^[a-z]{1,20}$/.test(name) ? name : '');

function withCard(order: TokenOrder, opened: OpenedToken): OpenedForOrder {
  const { first_name, last_name } = order.details.payer;
  const { number, month, year } = opened.card;
  const holder = opened.card.holder || [first_name, last_name].filter(Boolean).join(' ');
  const digits = number.reveal();
  return {
    stored: {
      card: { id: newId(), masked: maskedNumber(digits), network: networkOf(digits), expiry: `${month}/${year}` },
      wallet: { type: opened.kind, network: networkName(opened.network) },
    },
    wallet: {
      card: { number, month, year, holder },
      cryptogram: opened.cryptogram,
      eci: opened.eci,
      token: {
        replayKey: `${order.brand} ${opened.replayKey}`,
        forgetAt: opened.validUntil + LIMITS.walletTokenKeptMs,
      },
    },
  };
}

/** Deletes used tokens that are refused for their age by now. */
export async function forgetExpiredTokens({ walletTokens }: Pick<Gateway, 'walletTokens'>): Promise<void> {
  while ((await walletTokens.forget(LIMITS.walletTokensForgotten)) === LIMITS.walletTokensForgotten);
}
