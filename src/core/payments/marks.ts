/** The mark of a payment for the operator: the strongest one is kept, and a weaker one shows when that is removed. */
import type { Attention } from '../../rules/attention.ts';
import { isRetriable, type PaymentEvent } from '../../rules/states.ts';
import type { HistoryRow, Payment } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

/**
 * The strongest first. Money that the bank took back can neither be accepted nor sent back, so a chargeback comes before the
 * late success that it may be of.
 */
const BY_STRENGTH: readonly Attention[] = [
  'unexpected_chargeback',
  'late_success',
  'conflict',
  'wrong_amount',
  'unresolved',
  'risk_review',
];

/** The mark of a payment that has one, or none, and gets another. */
export const strongerMark = (present: Attention | null, added: Attention): Attention =>
  present !== null && BY_STRENGTH.indexOf(present) < BY_STRENGTH.indexOf(added) ? present : added;

/** The history entries of money that moved, or was reserved, besides that of the payment. */
export const LATE_REPORTS: readonly string[] = ['noted settled', 'noted captured', 'noted authorised'];
const DECISIONS: readonly string[] = ['attended', 'acceptedLate'];

/** Whether the payment has a late success about which nobody has decided. */
function hasLateSuccess({ connector }: Payment, history: readonly HistoryRow[]): boolean {
  // A report about a payment that has succeeded is a repetition, unless it names another connection or payment.
  const isLate = ({ event, toState, call }: HistoryRow): boolean =>
    LATE_REPORTS.includes(event) &&
    (isRetriable(toState) || (call !== null && (call.connector !== connector || call.reason !== undefined)));
  const last = history.findLast((row) => isLate(row) || DECISIONS.includes(row.event));
  return last !== undefined && isLate(last) && !history.some(({ event }) => event === 'lateRefunded');
}

/** The mark that remains when the present one is removed. */
export async function markBelow({ payments }: Gateway, payment: Payment): Promise<Attention | null> {
  if (payment.attention !== 'unexpected_chargeback') return null;
  return hasLateSuccess(payment, await payments.history(payment)) ? 'late_success' : null;
}

export const takesBack = (event: PaymentEvent): boolean => event === 'chargedBack' || event === 'secondChargedBack';

/** Whether an event of the table of states resolves a mark. */
const RESOLVES: Readonly<Record<Attention, (payment: Payment, event: PaymentEvent) => boolean>> = {
  unexpected_chargeback: (_, event) => takesBack(event),
  // An operator decides about it.
  late_success: () => false,
  // It stays until the operation in flight has its outcome and the provider is queried.
  conflict: ({ busy }, event) => busy === null || event === 'settled',
  // The clock ends a payment without knowing what the provider has of it.
  wrong_amount: (_, event) => event !== 'abandoned',
  unresolved: () => true,
  risk_review: () => true,
};

/** The mark of a payment after an event of the table of states. */
export function markAfter(payment: Payment, event: PaymentEvent, added: Attention | undefined): Attention | null {
  const { attention } = payment;
  const kept = attention === null || RESOLVES[attention](payment, event) ? null : attention;
  return added === undefined ? kept : strongerMark(kept, added);
}
