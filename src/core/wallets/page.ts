/** The device wallets of the payment page: which are offered for a payment, and what their payment sheets are asked for. */
import { amountText } from '../../lib/money/money.ts';
import { cut } from '../../lib/text/cut.ts';
import { WALLET_BRANDS, type WalletBrand } from '../../rules/brands.ts';
import type { TokenRecipient } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { SettingName } from '../../rules/settings.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName } from '../accounts/accounts.ts';
import { holdsBrand } from '../connections/connectors.ts';
import { candidates, factsOf } from '../connections/route.ts';
import type { Account, AccountRoute, Gateway, RouteConnection } from '../context.ts';
import { isOffered } from '../payments/choose.ts';
import { hasTokenKeys, pageRoutes } from './token.ts';

/** A wallet that is offered if the payer's browser has it. */
export interface PageWallet {
  label: WalletBrand;
  /** The connection that makes the merchant session of `wallet-a`; without one, the merchant's certificate is used. */
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

/** Whether the account has what the page needs to make tokens, for the gateway or for a provider that opens them. */
function isReady(gateway: Gateway, account: Account, brand: WalletBrand, isOpenedHere: boolean): boolean {
  const { settings } = account;
  // No provider opens tokens of the pretend wallet.
  if (!isOpenedHere && usesPretendWallet(gateway, account)) return false;
  if (brand === 'wallet-a') {
    const needs: readonly SettingName[] = isOpenedHere ? PAGE_NEEDS : ['wallets.wallet-a.country'];
    return needs.every((name) => settings[name] !== '');
  }
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
    if (!isReady(gateway, account, label, isOpenedHere)) return [];
    // A provider that opens tokens itself cannot use those that are made for the gateway.
    const routes = isOpenedHere
      ? account.routes.filter(({ connection }) => !connection?.passesTokens)
      : pageRoutes(account, label).filter(
          ({ connection }) => !payment.isAuthorisation || holdsBrand(connection, label),
        );
    const opener = isOpenedHere ? undefined : openerOf(gateway, payment, routes, label);
    if (!isOpenedHere && !opener) return [];
    if (!isOffered(gateway, payment, { ...account, routes }, label)) return [];
    const request = REQUESTS[label](gateway, payment, account, opener?.tokenRecipient);
    return [{ label, sessionsBy: opener?.key, request }];
  });
}

/** The connection that opens the token of a payment, by the routes that can; undefined if they do not take it. */
function openerOf(
  gateway: Gateway,
  payment: PaymentWithDetails,
  routes: readonly AccountRoute[],
  brand: WalletBrand,
): RouteConnection | undefined {
  const [first] = candidates(gateway, { routes }, factsOf({ ...payment, brand }), payment.paymentId);
  return routes.find(({ connection }) => connection && connection.key === first?.connector)?.connection;
}

/** With the decimals of the currency, and none if it has none. */
function totalOf({ amount, currency }: PaymentWithDetails): string {
  const exponent = exponentOf(currency);
  return exponent === 0 ? String(amount) : amountText(amount, exponent);
}

const REQUESTS: Readonly<
  Record<
    WalletBrand,
    (
      gateway: Gateway,
      payment: PaymentWithDetails,
      account: Account,
      recipient: TokenRecipient | undefined,
    ) => PageWallet['request']
  >
> = {
  'wallet-a': (_, payment, account) => ({
    countryCode: account.settings['wallets.wallet-a.country'],
    currencyCode: payment.currency,
    supportedNetworks: account.settings['wallets.wallet-a.supported_networks'],
    merchantCapabilities: account.settings['wallets.wallet-a.merchant_capabilities'],
    total: { label: shopName(account), type: 'final', amount: totalOf(payment) },
  }),
  'wallet-b': ({ wallets }, payment, account, recipient) => {
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
            parameters: recipient ?? {
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
  account.settings['wallets.wallet-a.shop_name'] || cut(displayName(account), 64);
