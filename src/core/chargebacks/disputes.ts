/** Which chargeback of a payment a report is about, by the provider's name of it and the history of the payment. */
import type { ChargebackEvent } from '../../rules/chargebacks.ts';
import type { CallRecord, HistoryRow } from '../../store/payments/payments.ts';

/** What a report says of its chargeback: the provider's name of it, and the submission if it is not the present one. */
type Report = Pick<CallRecord, 'chargeback' | 'submission'> | undefined;

const TAKEN: readonly string[] = ['chargedBack', 'secondChargedBack'];
const NOTED_TAKEN: readonly string[] = TAKEN.map((event) => `noted ${event}`);

const isOfSubmission = ({ call }: HistoryRow, report: Report): boolean => call?.submission === report?.submission;

/** Without names, two reports may be about the same chargeback. */
const mayBeOf = (row: HistoryRow, report: Report): boolean =>
  isOfSubmission(row, report) &&
  (report?.chargeback === undefined || row.call?.chargeback === undefined || row.call.chargeback === report.chargeback);

const isNamed = (row: HistoryRow, report: Report): boolean =>
  isOfSubmission(row, report) && report?.chargeback !== undefined && row.call?.chargeback === report.chargeback;

/** Whether the history has a chargeback of this submission. */
export const hasTaken = (history: readonly HistoryRow[], report: Report): boolean =>
  history.some((row) => (TAKEN.includes(row.event) || NOTED_TAKEN.includes(row.event)) && isOfSubmission(row, report));

/** The reports that name the same chargeback as this one. */
export const namedAs = (history: readonly HistoryRow[], report: Report): HistoryRow[] =>
  history.filter((row) => isNamed(row, report));

/** A repetition without a name is noted while the payment is charged back. */
const isMarking = ({ event, toState, call }: HistoryRow): boolean =>
  NOTED_TAKEN.includes(event) && (toState !== 'CHARGEBACK' || call?.chargeback !== undefined);

/** Whether every chargeback that was noted, and neither applied nor reversed since, may be the one of this report. */
export const isOnlyNoted = (history: readonly HistoryRow[], report: Report): boolean =>
  history.every(
    (row) =>
      !isMarking(row) ||
      mayBeOf(row, report) ||
      namedAs(history, row.call ?? undefined).some(
        ({ event }) => TAKEN.includes(event) || event === 'noted chargebackReversed',
      ),
  );

/**
 * Whether a report says nothing of the chargeback that the payment is in, or would get into: the reversal of another one, or
 * a chargeback whose reversal was reported before.
 */
export function isOfAnother(history: readonly HistoryRow[], event: ChargebackEvent, report: Report): boolean {
  if (event !== 'chargebackReversed') return namedAs(history, report)[0]?.event === 'noted chargebackReversed';
  const open = history.findLast(({ fromState, toState }) => fromState !== toState);
  return open?.toState === 'CHARGEBACK' && !mayBeOf(open, report);
}
