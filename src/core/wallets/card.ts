/** Pays with the card of a device wallet: submits it, after 3-D Secure if the device did not authenticate the payer. */
import type { Secret } from '../../lib/crypto/secret.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { ThreeDsRequest } from '../../rules/risk/actions.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { UsedToken } from '../../store/wallets/wallet-tokens.ts';
import { type Card, keepCard, openCard } from '../cards/vault.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from '../payments/advance.ts';
import { type BrowserData, CHALLENGE, payByCard } from '../payments/authenticate.ts';
import { recordPayerInput } from '../payments/record.ts';
import { submit } from '../payments/submit.ts';
import { askedThreeDs } from '../risk/decisions.ts';

/** What a wallet token contained. It exists in memory only: the vault stores the card, and nothing the cryptogram. */
export interface OpenedWallet {
  card: Card;
  /** Made by the device for this payment; the provider gets it once. */
  cryptogram?: Secret | undefined;
  eci?: string | undefined;
  /** Written with the payment, so that the token pays once. */
  token: UsedToken;
}

/** A token that the provider opens itself; it exists in memory only. */
export interface PassedWallet {
  passed: Secret;
  token: UsedToken;
}

export type WalletPayment = OpenedWallet | PassedWallet;

/** The card number of an opened token. */
export const numberIn = (wallet: WalletPayment): string | undefined =>
  'passed' in wallet ? undefined : wallet.card.number.reveal();

/**
 * Begins a payment whose intent is durable. A token is passed on; a card is stored first. If the process dies before the
 * call, the provider is queried and has no such payment, which is then declined; nothing is sent again.
 */
export async function payByWallet(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  wallet: WalletPayment,
  browser?: BrowserData,
  threeDs?: ThreeDsRequest,
): Promise<PaymentWithDetails> {
  if ('passed' in wallet) return submit(gateway, payment, account, { walletToken: wallet.passed });
  const { card, cryptogram, eci } = wallet;
  await keepCard(gateway, payment, card, false, payment.details.card);
  const isAuthenticated = payment.details.wallet?.type === 'CRYPTOGRAM_3DS';
  const canAuthenticate =
    gateway.threeDs !== undefined || capabilitiesOf(gateway, payment.connector)?.authentication === 'provider';
  if (isAuthenticated || !canAuthenticate) return submit(gateway, payment, account, { card, cryptogram, eci, threeDs });
  // The authentication request describes the payer's browser, so the payer has to be on the payment page.
  if (browser) return payByCard(gateway, payment, account, card, browser, threeDs);
  const invite = (invited: PaymentWithDetails): Promise<PaymentWithDetails> =>
    advance(gateway, invited, { event: 'challenged', actor: 'merchant', nextStep: { kind: 'authentication' } });
  // The rule asks for no authentication, so the payer comes only if the bank wants one.
  if (threeDs?.reason === 'skip_3ds') return submit(gateway, payment, account, { card, threeDs, challenge: invite });
  return invite(payment);
}

export const awaitsAuthentication = ({ state, nextStep }: PaymentWithDetails): boolean =>
  state === '3DS' && nextStep?.kind === 'authentication';

/** The payer has come to the payment page: starts the authentication, once. */
export async function authenticatePayer(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  browser: BrowserData,
): Promise<PaymentWithDetails> {
  const { mid, details } = payment;
  const visited = await recordPayerInput(gateway, payment, details);
  if (!visited) return (await gateway.payments.find(payment)) ?? payment;
  const card = details.card && (await openCard(gateway, mid, details.card.id));
  if (card) {
    const asked = await askedThreeDs(gateway, payment);
    return payByCard(gateway, visited, account, card, browser, asked?.reason === 'skip_3ds' ? CHALLENGE : asked);
  }
  gateway.log.error({ payment_id: payment.paymentId }, 'the card of a wallet payment is not in the vault');
  return advance(gateway, visited, { event: 'declined', actor: 'payer', declineReason: REASONS.neverReceived });
}
