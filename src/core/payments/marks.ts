/** The mark of a payment for the operator: the strongest one is kept, and a weaker one shows when that is removed. */
import type { Attention } from '../../rules/attention.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen, isRetriable, type PaymentEvent } from '../../rules/states.ts';
import type { HistoryRow, OperationRow, Payment } from '../../store/payments/payments.ts';
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

/** Whether a report is about another submission of the payment, or about another payment that the provider made of it. */
export const isElsewhere = ({ connector }: Payment, { call }: HistoryRow): boolean =>
  call !== null && (call.connector !== connector || call.submission !== undefined || call.reason !== undefined);

/** Whether the payment has a late success about which nobody has decided. */
function hasLateSuccess(payment: Payment, history: readonly HistoryRow[]): boolean {
  // A report about a payment that has succeeded is a repetition, unless it is about another one.
  const isLate = (row: HistoryRow): boolean =>
    LATE_REPORTS.includes(row.event) && (isRetriable(row.toState) || isElsewhere(payment, row));
  const last = history.findLast((row) => isLate(row) || DECISIONS.includes(row.event));
  return last !== undefined && isLate(last) && !history.some(({ event }) => event === 'lateRefunded');
}

/** After how many queries without an outcome an operation may have got its payment a mark. */
const MARKED_AFTER: Readonly<Partial<Record<Attention, number>>> = {
  wrong_amount: 0,
  unresolved: LIMITS.queryBackoffMs.length,
};

const mayHaveMarked = ({ queryCount }: OperationRow, mark: Attention): boolean =>
  queryCount > (MARKED_AFTER[mark] ?? Number.POSITIVE_INFINITY);

/** Whether the outcome of an operation that may have got its payment the mark is not known. */
async function isHeld(
  { operations }: Gateway,
  payment: Payment,
  mark: Attention,
  except?: OperationRow,
): Promise<boolean> {
  return (await operations.of(payment)).some(
    (operation) =>
      operation.operationId !== except?.operationId && operation.state === 'sent' && mayHaveMarked(operation, mark),
  );
}

/** Whether the provider reported what the gateway does not handle, such as a refund that came back, and nobody decided since. */
async function isDoubted({ payments }: Gateway, payment: Payment, mark: Attention): Promise<boolean> {
  if (mark !== 'unresolved') return false;
  const last = (await payments.history(payment)).findLast(
    ({ event }) => event === 'doubted' || DECISIONS.includes(event),
  );
  return last?.event === 'doubted';
}

/** The mark once the outcome of this operation is known: it may have another reason, too. */
export async function markWithout(
  gateway: Gateway,
  payment: Payment,
  operation: OperationRow,
): Promise<Attention | null> {
  const { attention } = payment;
  if (attention === null || !mayHaveMarked(operation, attention)) return attention;
  const isKept =
    (await isHeld(gateway, payment, attention, operation)) || (await isDoubted(gateway, payment, attention));
  return isKept ? attention : null;
}

/** The mark that remains when the present one is removed. */
export async function markBelow(gateway: Gateway, payment: Payment): Promise<Attention | null> {
  const { attention } = payment;
  if (attention === null) return null;
  const isHidden = (mark: Attention): boolean => strongerMark(attention, mark) !== mark;
  if (isHidden('late_success') && hasLateSuccess(payment, await gateway.payments.history(payment)))
    return 'late_success';
  return isHidden('unresolved') && (await isHeld(gateway, payment, 'unresolved')) ? 'unresolved' : null;
}

export const takesBack = (event: PaymentEvent): boolean => event === 'chargedBack' || event === 'secondChargedBack';

/** Whether an event tells the outcome of a payment that was open; that of an operation in flight only if it settles it. */
const isOutcome = ({ state, busy }: Payment, event: PaymentEvent): boolean =>
  isOpen(state) && (busy === null || event === 'settled');

/** Whether an event of the table of states resolves a mark. */
const RESOLVES: Readonly<Record<Attention, (payment: Payment, event: PaymentEvent) => boolean>> = {
  // It depends on which chargeback an event is about.
  unexpected_chargeback: () => false,
  // An operator decides about it.
  late_success: () => false,
  // It stays until the operation in flight has its outcome and the provider is queried.
  conflict: ({ busy }, event) => busy === null || event === 'settled',
  wrong_amount: isOutcome,
  unresolved: isOutcome,
  risk_review: () => true,
};

/** The mark of a payment after an event of the table of states. */
export function markAfter(payment: Payment, event: PaymentEvent, added: Attention | undefined): Attention | null {
  const { attention } = payment;
  const kept = attention === null || RESOLVES[attention](payment, event) ? null : attention;
  return added === undefined ? kept : strongerMark(kept, added);
}
