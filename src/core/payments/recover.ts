/** Finds payments at their provider that a restore has lost here, and opens them with the outcome that they have there. */
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { composePayment, type Order, reserveOrder } from './open.ts';
import { applyIfNew, askProvider, type ProviderAnswer } from './provider.ts';

/** The provider did not say whether it has the payment, so that nothing may be submitted yet. */
export class NotAnswered extends Error {}

/** What a provider has of the payment of an order that this database does not have. */
export interface Found {
  order: Order;
  payment: PaymentWithDetails;
  answer: ProviderAnswer & { kind: 'outcome' | 'wrongAmount' };
}

/** The provider has none of the payments; or it cannot be asked, and only its own idempotency prevents a second charge. */
export type NotFound = 'notFound' | 'cannotBeAsked';

/** The first of these orders whose payment the provider has. */
export async function findLost(
  gateway: Gateway,
  account: Account,
  orders: readonly Order[],
): Promise<Found | NotFound> {
  let missing: NotFound = 'notFound';
  for (const order of orders) {
    const payment = composePayment(gateway, account, order);
    const answer = await askProvider(gateway, payment, account);
    if (answer === 'cannotBeAsked') missing = answer;
    else if (answer.kind === 'outcome' || answer.kind === 'wrongAmount') return { order, payment, answer };
    else if (answer.kind !== 'notFound')
      throw new NotAnswered(`The provider did not say whether it has the payment ${payment.paymentId}.`);
  }
  return missing;
}

/**
 * Opens a payment that the provider has; nothing is submitted. If this process dies before the outcome is written, the
 * payment is due, and the work loop queries it.
 */
export async function openFound(
  gateway: Gateway,
  account: Account,
  { order, payment, answer }: Found,
  attempt: number,
): Promise<void> {
  const opened = { ...payment, attempt };
  const isReserved = await reserveOrder(gateway, opened, order);
  if (!isReserved) throw new Error(`The payment ${payment.paymentId} was found, but its order is used meanwhile.`);
  await applyIfNew(gateway, opened, account, answer);
}
