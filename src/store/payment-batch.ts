/** The items of a batch of payment writes: their order, their weight, and the locks that they may wait for. */
import { compare } from './columns.ts';
import type { Move, WholePayment } from './payment.ts';

/** What one statement opens or moves, with its large values as they are sent: serialised once, and weighed by that. */
export interface Opening {
  payment: WholePayment;
  details: string;
}
export interface Moving {
  move: Move;
  nextStep: string | null;
}

/** In place of the ordinal of an item: the statement came too late to open payments. */
export const TOO_LATE = -1;

/** Whether an item was written; an opening may also have come too late. */
export type Written = boolean | typeof TOO_LATE;

export const weigh = (item: Opening | Moving): number =>
  'payment' in item ? item.details.length : (item.nextStep?.length ?? 0) + (item.move.callback?.body.length ?? 0);

/** Every process locks rows in the same order, so that two of them hardly ever wait for each other. */
export const byOrder = ({ payment: a }: Opening, { payment: b }: Opening): number =>
  compare(a.mid, b.mid) || compare(a.orderId, b.orderId) || a.attempt - b.attempt;
export const byPayment = ({ move: { before: a } }: Moving, { move: { before: b } }: Moving): number =>
  compare(a.mid, b.mid) || compare(a.paymentId, b.paymentId);

/** Items with the same key can wait for the same lock: that of a payment, or that of an order which is being opened. */
export const lockedBy = (item: Opening | Moving): string =>
  'payment' in item ? `${item.payment.mid} ${item.payment.orderId}` : item.move.before.paymentId;
