/** Where a payer goes when we are done with them: back to the shop, by the address for how it ended. */
import { isLoopbackHost } from '../../lib/address.ts';
import { wireHash } from '../../lib/hash.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen } from '../../rules/states.ts';
import type { SessionTerms } from '../../store/payments.ts';
import type { Account, Gateway, WholePayment } from '../context.ts';

/** How a payment ended, in the eyes of its payer. */
export type PaymentResult = 'open' | 'unknown' | 'paid' | 'declined' | 'failed' | 'expired' | 'cancelled';

export function resultOf({ clock }: Pick<Gateway, 'clock'>, payment: WholePayment): PaymentResult {
  const { state, authorised, inDoubt, declineReason, details, mid } = payment;
  // Whose amount is reserved has paid, as far as they are concerned.
  if (state === 'SETTLED' || (state === 'PENDING' && authorised > 0n)) return 'paid';
  if (isOpen(state)) return inDoubt ? 'unknown' : 'open';
  if (state !== 'DECLINED') return 'cancelled';
  const isSessionOver = details.session !== undefined && clock.now(mid) >= details.session.until;
  if (declineReason === REASONS.outOfTime || isSessionOver) return 'expired';
  return declineReason === REASONS.neverReceived ? 'failed' : 'declined';
}

type AddressName = 'successUrl' | 'cancelUrl' | 'expiryUrl' | 'errorUrl';

/** The addresses of a session for each end, the first that the merchant gave counts; only who has paid succeeds. */
const ADDRESSES: Readonly<Record<PaymentResult, readonly AddressName[]>> = {
  open: ['cancelUrl'],
  unknown: ['errorUrl', 'cancelUrl'],
  paid: ['successUrl'],
  declined: ['cancelUrl', 'successUrl'],
  failed: ['errorUrl', 'cancelUrl', 'successUrl'],
  expired: ['expiryUrl', 'cancelUrl', 'successUrl'],
  cancelled: ['cancelUrl', 'successUrl'],
};

/** What decides about the way back besides the payment itself. */
export interface ReturnOptions {
  /** The payer comes from the bank of the card. */
  isAfterChallenge?: boolean;
}

/** The merchant's address for a payer who comes back; nothing when there is none that a payer may be sent to. */
export function returnAddress(
  gateway: Pick<Gateway, 'clock' | 'environment'>,
  payment: WholePayment,
  account: Account,
  { isAfterChallenge = false }: ReturnOptions = {},
): string | undefined {
  const { session, returnUrl, termUrl3ds } = payment.details;
  if (!session) {
    const address = (isAfterChallenge ? termUrl3ds : undefined) ?? returnUrl;
    return withParameters(gateway, payment, account, address, { isSigned: false });
  }
  const result = resultOf(gateway, payment);
  // The hash equals that of a callback: on another address, the payer could present it at success_url unpaid.
  return withParameters(gateway, payment, account, addressOf(session, ADDRESSES[result]), {
    isSigned: result === 'paid',
  });
}

/** The merchant's address for a payer who does not want to pay. */
export const cancelAddress = (
  gateway: Pick<Gateway, 'environment'>,
  payment: WholePayment,
  account: Account,
): string | undefined =>
  withParameters(gateway, payment, account, payment.details.session?.cancelUrl, { isSigned: false });

const addressOf = (session: SessionTerms, names: readonly AddressName[]): string | undefined =>
  names.map((name) => session[name]).find((address) => address !== undefined);

function withParameters(
  gateway: Pick<Gateway, 'environment'>,
  payment: WholePayment,
  account: Account,
  returnUrl: string | undefined,
  { isSigned }: { isSigned: boolean },
): string | undefined {
  if (returnUrl === undefined || !isWebAddress(gateway, returnUrl)) return undefined;
  // As browsers read it: what was looked at is what is sent, and a header holds no other letters than these.
  const url = new URL(returnUrl);
  if (!account.settings.return_parameters) return url.href;
  const { paymentId, orderId } = payment;
  const added = new URLSearchParams({ payment_id: paymentId, trans_id: paymentId, order_id: orderId });
  if (isSigned) added.set('hash', successHash(payment, account));
  // The merchant's own query stays as it was written.
  url.search += url.search === '' ? added : `&${added}`;
  return url.href;
}

function successHash({ paymentId, orderId, amountText, currency, details }: WholePayment, account: Account): string {
  const signed = [paymentId, orderId, amountText, currency, details.description];
  return wireHash(signed, account.passwords()[0] as string);
}

/** Whether a payer may be sent there: https, or plain http on the developer's own machine in the sandbox. */
export function isWebAddress({ environment }: Pick<Gateway, 'environment'>, address: string): boolean {
  const url = URL.parse(address);
  if (url?.username !== '' || url.password !== '') return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && environment === 'sandbox' && isLoopbackHost(url.hostname))
  );
}

const TARGET = /^(_self|_parent|_top|_blank|[A-Za-z][\w-]*)$/;

/** The browsing context in which the payer goes back, when it is another one than that of our page. */
export function returnTarget(
  payment: WholePayment,
  { settings }: Account,
  way: ReturnOptions = {},
): string | undefined {
  const ofBank = way.isAfterChallenge ? settings.three_ds_link_target : '';
  const target = ofBank || (payment.details.session?.urlTarget ?? '');
  return TARGET.test(target) && target !== '_self' ? target : undefined;
}

/** The browsing context in which the bank's page opens, when the account wants another one. */
export const challengeTarget = ({ settings }: Account): string | undefined =>
  TARGET.test(settings.three_ds_link_target) ? settings.three_ds_link_target : undefined;
