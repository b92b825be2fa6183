/** The device wallets of the payment page: which are offered for a payment, and what their payment sheets are asked for. */
import { amountText } from '../../lib/money/money.ts';
import { WALLET_BRANDS, type WalletBrand } from '../../rules/brands.ts';
import { makesSessions } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { SettingName } from '../../rules/settings.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName } from '../accounts/accounts.ts';
import { candidates, factsOf } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { isOffered } from '../payments/choose.ts';
import { hasTokenKeys, passingRoutes } from './token.ts';

/** A wallet that is offered if the payer's browser has it. */
export interface PageWallet {
  label: WalletBrand;
  /** The connection that makes the merchant session; without one, the merchant's certificate does. */
  sessionsBy?: string | undefined;
  /** The payment request, in the terms of the vendor's script. */
  request: Readonly<Record<string, unknown>>;
}

/** What the payment page needs besides the keys that open tokens. */
const PAGE_NEEDS: readonly SettingName[] = [
  'wallets.wallet-a.certificate',
  'wallets.wallet-a.private_key',
  'wallets.wallet-a.country',
];

/** Whether the page uses the pretend wallet of the sandbox in place of the vendors' wallets. */
export const usesPretendWallet = ({ walletAuthorities }: Gateway, { settings }: Account): boolean =>
  walletAuthorities !== undefined && settings['wallets.pretend'];

/** Whether the account has what the page needs to make tokens for the gateway. */
function isReady(gateway: Gateway, account: Account, brand: WalletBrand): boolean {
  const { settings } = account;
  if (brand === 'wallet-a') return PAGE_NEEDS.every((name) => settings[name] !== '');
  if (settings['wallets.wallet-b.environment'] === 'TEST') return true;
  // The vendor wants its merchant id in production only, and does not know the pretend wallet.
  return settings['wallets.wallet-b.merchant_id'] !== '' && !usesPretendWallet(gateway, account);
}

/** The wallets that the account and the session allow for this payment. */
export function walletsFor(gateway: Gateway, payment: PaymentWithDetails, account: Account): PageWallet[] {
  // The payer agrees in a form, which the payment sheet of a wallet does not have.
  if (payment.details.session?.needsConsent || payment.details.session?.isTelephoneOrder) return [];
  return WALLET_BRANDS.flatMap((label): PageWallet[] => {
    const isOpenedHere = hasTokenKeys(account, label);
    const sessionsBy = isOpenedHere ? undefined : sessionMaker(gateway, payment, account, label);
    if (isOpenedHere ? !isReady(gateway, account, label) : sessionsBy === undefined) return [];
    // A provider that opens tokens itself cannot use those that are made for the gateway.
    const routes = isOpenedHere
      ? account.routes.filter(({ connection }) => !connection?.passesTokens)
      : passingRoutes(account, label);
    if (!isOffered(gateway, payment, { ...account, routes }, label)) return [];
    return [{ label, sessionsBy, request: REQUESTS[label](gateway, payment, account) }];
  });
}

/**
 * The connection that makes the merchant session of an account without keys, and opens the token; undefined if there is
 * none. It knows nothing of the pretend wallet.
 */
function sessionMaker(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  brand: WalletBrand,
): string | undefined {
  if (brand !== 'wallet-a' || account.settings['wallets.wallet-a.country'] === '') return undefined;
  if (usesPretendWallet(gateway, account)) return undefined;
  const routes = passingRoutes(account, brand).filter(({ connection }) => makesSessions(connection?.connector ?? ''));
  return candidates(gateway, { routes }, factsOf({ ...payment, brand }), payment.paymentId)[0]?.connector;
}

/** With the decimals of the currency, and none if it has none. */
function totalOf({ amount, currency }: PaymentWithDetails): string {
  const exponent = exponentOf(currency);
  return exponent === 0 ? String(amount) : amountText(amount, exponent);
}

const REQUESTS: Readonly<
  Record<WalletBrand, (gateway: Gateway, payment: PaymentWithDetails, account: Account) => PageWallet['request']>
> = {
  'wallet-a': (_, payment, account) => ({
    countryCode: account.settings['wallets.wallet-a.country'],
    currencyCode: payment.currency,
    supportedNetworks: account.settings['wallets.wallet-a.supported_networks'],
    merchantCapabilities: account.settings['wallets.wallet-a.merchant_capabilities'],
    total: { label: shopName(account), type: 'final', amount: totalOf(payment) },
  }),
  'wallet-b': ({ wallets }, payment, account) => {
    const { settings } = account;
    const countryCode = settings['wallets.wallet-a.country'];
    const merchantId = settings['wallets.wallet-b.merchant_id'];
    return {
      environment: settings['wallets.wallet-b.environment'],
      apiVersion: 2,
      apiVersionMinor: 0,
      allowedPaymentMethods: [
        {
          type: 'CARD',
          parameters: {
            allowedAuthMethods: settings['wallets.wallet-b.allowed_auth_methods'],
            allowedCardNetworks: settings['wallets.wallet-b.supported_networks'],
          },
          tokenizationSpecification: {
            type: 'PAYMENT_GATEWAY',
            parameters: {
              gateway: wallets.recipient.replace(/^gateway:/, ''),
              gatewayMerchantId: account.clientKey,
            },
          },
        },
      ],
      merchantInfo: {
        merchantName: settings['wallets.wallet-b.merchant_name'] || displayName(account),
        ...(merchantId !== '' && { merchantId }),
      },
      transactionInfo: {
        totalPriceStatus: 'FINAL',
        totalPrice: totalOf(payment),
        currencyCode: payment.currency,
        ...(countryCode !== '' && { countryCode }),
      },
    };
  },
};

/** The name on the payment sheet of wallet-a. */
export const shopName = (account: Account): string =>
  account.settings['wallets.wallet-a.shop_name'] || displayName(account).slice(0, 64);
