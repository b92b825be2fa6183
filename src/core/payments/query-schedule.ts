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

/** Counts a query without an outcome and schedules the next one; `dueAt` is null if it was the last. */
export function scheduleNextQuery(
  before: number,
  now: number,
  schedule: QuerySchedule = 'open',
): { queryCount: number; dueAt: number | null; isBackoffExhausted: boolean } {
  const { pauses, repeats } = QUERY_SCHEDULES[schedule];
  const queryCount = before + 1;
  const isLast = queryCount > pauses.length + repeats;
  return {
    queryCount,
    dueAt: isLast ? null : now + nextBackoff(pauses, before),
    isBackoffExhausted: queryCount > pauses.length,
  };
}
