/** The uses of a link or an invoice: a payment claims one before it is submitted, and holds it unless it fails. */
import { Refusal } from '../../rules/errors.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';
import { linkState } from './state.ts';

/** The begun order of a payment; undefined for a payment that the merchant opened itself. */
function begunOrderOf({ mid, orderId, attempt, details: { session } }: PaymentWithDetails) {
  const sourceId = session?.linkId ?? session?.invoiceId;
  return sourceId === undefined ? undefined : { mid, orderId, attempt, sourceId };
}

/**
 * Refuses the submission of a payment whose link or invoice is used up by others. If this process dies afterwards, the use is
 * held until the payment ends without success: at the latest with its session.
 */
export async function claimUse(gateway: Gateway, payment: PaymentWithDetails): Promise<void> {
  const order = begunOrderOf(payment);
  if (!order) return;
  const claim = await gateway.begunOrders.claim(order, gateway.clock.now(payment.mid));
  if (claim !== 'claimed') throw new Refusal('notPayable');
}

/**
 * Whether a payment that failed may not count as paid any more: its use is held by another payment, or its invoice is void.
 * A link that was ended still takes what was paid for it.
 */
export async function isPaidByOthers(gateway: Gateway, payment: PaymentWithDetails): Promise<boolean> {
  const order = begunOrderOf(payment);
  if (!order) return false;
  const claim = await gateway.begunOrders.mayClaim(order);
  return claim === 'taken' || (claim === 'closed' && payment.details.session?.invoiceId !== undefined);
}

/** The result of a submission; undefined if what is paid was taken or closed meanwhile. */
export async function payable<Result>(submit: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await submit();
  } catch (error) {
    if (error instanceof Refusal && error.error === 'notPayable') return undefined;
    throw error;
  }
}

/** Why a payer who began cannot pay: `usedUp`, `over`, or `busy` while the payments of others are under way. */
export type Obstacle = 'usedUp' | 'over' | 'busy';

/** What keeps the payer of a session from paying; nothing for a payment that the merchant opened itself. */
export async function obstacleOf(gateway: Gateway, payment: PaymentWithDetails): Promise<Obstacle | undefined> {
  const order = begunOrderOf(payment);
  if (!order) return undefined;
  if (payment.details.session?.invoiceId !== undefined) {
    const invoice = await gateway.invoices.find(order.sourceId);
    if (!invoice || invoice.voidedAt !== null) return 'over';
    if (invoice.payments > 0) return 'usedUp';
    return (await gateway.begunOrders.held(order)) > 0 ? 'busy' : undefined;
  }
  const link = await gateway.links.find(order.sourceId);
  if (!link?.isActive) return 'over';
  if (link.uses === null) return undefined;
  // An open session may outlive the time until which the link can be opened.
  if (linkState({ ...link, validUntil: null }, 0) === 'used_up') return 'usedUp';
  return (await gateway.begunOrders.held(order)) >= link.uses ? 'busy' : undefined;
}
