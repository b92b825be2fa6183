/** The backoff of provider queries: when a payment or operation without a known outcome is queried next. */
import { LIMITS } from '../../rules/limits.ts';

/** The pause after so many queries; the last pause repeats. */
export const nextBackoff = (pauses: readonly number[], queryCount: number): number =>
  pauses[Math.min(queryCount, pauses.length - 1)] as number;

/** An ended payment is queried a few more times, to detect a late success. */
export type QuerySchedule = 'open' | 'ended';

/** The pauses between queries, and how many more queries follow at the last pause. */
const QUERY_SCHEDULES: Readonly<Record<QuerySchedule, { pauses: readonly number[]; repeats: number }>> = {
  open: { pauses: LIMITS.queryBackoffMs, repeats: LIMITS.dailyQueries },
  ended: { pauses: LIMITS.lateQueryBackoffMs, repeats: 0 },
};

/**
 * Counts a query without an outcome and schedules the next one; `dueAt` is null if it was the last. `pendingDays`: the
 * provider says that the outcome takes up to so many days, for which it is queried once a day.
 */
export function scheduleNextQuery(
  before: number,
  now: number,
  schedule: QuerySchedule = 'open',
  pendingDays = 0,
): { queryCount: number; dueAt: number | null; isBackoffExhausted: boolean } {
  const { pauses, repeats } = QUERY_SCHEDULES[schedule];
  const queryCount = before + 1;
  const isBackoffExhausted = queryCount > pauses.length + pendingDays;
  const isLast = queryCount > pauses.length + pendingDays + repeats;
  return {
    queryCount,
    dueAt: isLast ? null : now + nextBackoff(pauses, before),
    isBackoffExhausted,
  };
}
