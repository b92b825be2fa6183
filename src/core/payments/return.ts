/** The address to which the payer returns: one of the merchant's addresses, chosen by the result of the payment. */

import { wireHash } from '../../lib/crypto/hash.ts';
import { isLoopbackHost } from '../../lib/http/address.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen } from '../../rules/states.ts';
import type { SessionTerms } from '../../store/payments/payments.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';

/** The result of a payment as the payer sees it. */
export type PaymentResult = 'open' | 'unknown' | 'paid' | 'declined' | 'failed' | 'expired' | 'cancelled';

export function resultOf({ clock }: Pick<Gateway, 'clock'>, payment: PaymentWithDetails): PaymentResult {
  const { state, authorised, inDoubt, declineReason, details, mid } = payment;
  // For the payer, an authorised payment is paid.
  if (state === 'SETTLED' || (state === 'PENDING' && authorised > 0n)) return 'paid';
  if (isOpen(state)) return inDoubt ? 'unknown' : 'open';
  if (state !== 'DECLINED') return 'cancelled';
  const isSessionOver = details.session !== undefined && clock.now(mid) >= details.session.until;
  if (declineReason === REASONS.outOfTime || isSessionOver) return 'expired';
  return declineReason === REASONS.neverReceived ? 'failed' : 'declined';
}

type AddressName = 'successUrl' | 'cancelUrl' | 'expiryUrl' | 'errorUrl';

/** The addresses of a session for each result; the first one that the merchant set is used. */
const ADDRESSES: Readonly<Record<PaymentResult, readonly AddressName[]>> = {
  open: ['cancelUrl'],
  unknown: ['errorUrl', 'cancelUrl'],
  paid: ['successUrl'],
  declined: ['cancelUrl', 'successUrl'],
  failed: ['errorUrl', 'cancelUrl', 'successUrl'],
  expired: ['expiryUrl', 'cancelUrl', 'successUrl'],
  cancelled: ['cancelUrl', 'successUrl'],
};

export interface ReturnOptions {
  /** The payer comes from a 3DS challenge. */
  isAfterChallenge?: boolean;
}

/** The merchant's address for the payer's return; undefined if there is none that a payer may be sent to. */
export function returnAddress(
  gateway: Pick<Gateway, 'clock' | 'environment'>,
  payment: PaymentWithDetails,
  account: Account,
  { isAfterChallenge = false }: ReturnOptions = {},
): string | undefined {
  const { session, returnUrl, termUrl3ds } = payment.details;
  if (!session) {
    const address = (isAfterChallenge ? termUrl3ds : undefined) ?? returnUrl;
    return withParameters(gateway, payment, account, address, { isSigned: false });
  }
  const result = resultOf(gateway, payment);
  const address = addressOf(session, ADDRESSES[result]);
  if (address === undefined) return startPageOf(gateway, session);
  // The hash equals that of a callback: on another address, the payer could present it at success_url unpaid.
  return withParameters(gateway, payment, account, address, {
    isSigned: result === 'paid',
  });
}

/** The merchant's address for a payer who cancels. */
export function cancelAddress(
  gateway: Pick<Gateway, 'environment'>,
  payment: PaymentWithDetails,
  account: Account,
): string | undefined {
  const { session } = payment.details;
  if (!session) return undefined;
  return session.cancelUrl === undefined
    ? startPageOf(gateway, session)
    : withParameters(gateway, payment, account, session.cancelUrl, { isSigned: false });
}

/** Without an address for payers who have not paid, they return to the start page of the site of `success_url`. */
function startPageOf(gateway: Pick<Gateway, 'environment'>, { successUrl }: SessionTerms): string | undefined {
  return isWebAddress(gateway, successUrl) ? new URL('/', successUrl).href : undefined;
}

const addressOf = (session: SessionTerms, names: readonly AddressName[]): string | undefined =>
  names.map((name) => session[name]).find((address) => address !== undefined);

function withParameters(
  gateway: Pick<Gateway, 'environment'>,
  payment: PaymentWithDetails,
  account: Account,
  returnUrl: string | undefined,
  { isSigned }: { isSigned: boolean },
): string | undefined {
  if (returnUrl === undefined || !(isWebAddress(gateway, returnUrl) || isAppAddress(account, returnUrl)))
    return undefined;
  // Normalised as browsers do it: the address that was checked is the one that is sent, in ASCII only.
  const url = new URL(returnUrl);
  if (!account.settings.return_parameters) return url.href;
  const { paymentId, orderId } = payment;
  const added = new URLSearchParams({ payment_id: paymentId, trans_id: paymentId, order_id: orderId });
  if (isSigned) added.set('hash', successHash(payment, account));
  // The merchant's own query stays as it was written.
  url.search += url.search === '' ? added : `&${added}`;
  return url.href;
}

function successHash(
  { paymentId, orderId, amountText, currency, details }: PaymentWithDetails,
  account: Account,
): string {
  const signed = [paymentId, orderId, amountText, currency, details.description];
  return wireHash(
    signed,
    account.passwords()[0] as string,
    account.settings.callback_hash_case,
    account.settings['dialect.digest'],
  );
}

/** Whether a payer may be sent there: https, or plain http on the developer's own machine in the sandbox. */
export function isWebAddress({ environment }: Pick<Gateway, 'environment'>, address: string): boolean {
  const url = URL.parse(address);
  if (url?.username !== '' || url.password !== '') return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && environment === 'sandbox' && isLoopbackHost(url.hostname))
  );
}

/** Whether an address leads to an app of the merchant, by a scheme that the account lists now. */
const isAppAddress = ({ settings }: Account, address: string): boolean =>
  settings.return_schemes.includes(URL.parse(address)?.protocol.slice(0, -1) ?? '');

const TARGET = /^(_self|_parent|_top|_blank|[A-Za-z][\w-]*)$/;

/** The browsing context (`target`) for the payer's return, if it is not that of the payment page. */
export function returnTarget(
  payment: PaymentWithDetails,
  { settings }: Account,
  { isAfterChallenge = false }: ReturnOptions = {},
): string | undefined {
  const threeDsTarget = isAfterChallenge ? settings.three_ds_link_target : '';
  const target = threeDsTarget || (payment.details.session?.urlTarget ?? '');
  return TARGET.test(target) && target !== '_self' ? target : undefined;
}

/** The browsing context (`target`) in which the challenge opens, if the account sets one. */
export const challengeTarget = ({ settings }: Account): string | undefined =>
  TARGET.test(settings.three_ds_link_target) ? settings.three_ds_link_target : undefined;
