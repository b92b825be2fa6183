/** Which chargeback of a payment a report is about, by the provider's name of it and the history of the payment. */
import type { ChargebackEvent } from '../../rules/chargebacks.ts';
import type { HistoryRow } from '../../store/payments/payments.ts';

const TAKEN: readonly string[] = ['chargedBack', 'secondChargedBack'];
const NOTED_TAKEN: readonly string[] = TAKEN.map((event) => `noted ${event}`);

export const isTaken = ({ event }: HistoryRow): boolean => TAKEN.includes(event) || NOTED_TAKEN.includes(event);

/** Without names, two reports may be about the same chargeback. */
const mayBeOf = ({ call }: HistoryRow, reference: string | undefined): boolean =>
  reference === undefined || call?.chargeback === undefined || call.chargeback === reference;

/** Whether the history has an applied or noted chargeback that the provider names so. */
export const isNamed = (history: readonly HistoryRow[], reference: string | undefined): boolean =>
  reference !== undefined && history.some(({ call }) => call?.chargeback === reference);

/** Whether a reversal may be of a chargeback that was noted and never applied. */
export const isOfNoted = (history: readonly HistoryRow[], reference: string | undefined): boolean =>
  history.some((row) => NOTED_TAKEN.includes(row.event) && mayBeOf(row, reference));

/**
 * Whether a report says nothing of the chargeback that the payment is in, or would get into: the reversal of another one, or
 * a chargeback whose reversal was reported before.
 */
export function isOfAnother(
  history: readonly HistoryRow[],
  event: ChargebackEvent,
  reference: string | undefined,
): boolean {
  if (event !== 'chargebackReversed') {
    const first = history.find(({ call }) => reference !== undefined && call?.chargeback === reference);
    return first?.event === 'noted chargebackReversed';
  }
  const open = history.findLast(({ fromState, toState }) => fromState !== toState);
  return open?.toState === 'CHARGEBACK' && !mayBeOf(open, reference);
}
