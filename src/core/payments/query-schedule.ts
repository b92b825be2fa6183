/** When a provider is asked again about something whose outcome is not known. */
import { LIMITS } from '../../rules/limits.ts';

/** The pause before the next question grows with each that was in vain. */
export const nextBackoff = (pauses: readonly number[], queryCount: number): number =>
  pauses[Math.min(queryCount, pauses.length - 1)] as number;

/** An ended payment is asked about a few times more, in case money moves late. */
export type QuerySchedule = 'open' | 'ended';

/** The pauses between questions, and how many more questions follow at the last of them. */
const QUERY_SCHEDULES: Readonly<Record<QuerySchedule, { pauses: readonly number[]; more: number }>> = {
  open: { pauses: LIMITS.queryBackoffMs, more: LIMITS.dailyQueries },
  ended: { pauses: LIMITS.lateQueryBackoffMs, more: 0 },
};

/** The question after `before` that were in vain; `dueAt` is null when that was the last one. */
export function scheduleNextQuery(
  before: number,
  now: number,
  schedule: QuerySchedule = 'open',
): { queryCount: number; dueAt: number | null; isBackoffExhausted: boolean } {
  const { pauses, more } = QUERY_SCHEDULES[schedule];
  const queryCount = before + 1;
  const isLast = queryCount > pauses.length + more;
  return {
    queryCount,
    dueAt: isLast ? null : now + nextBackoff(pauses, before),
    isBackoffExhausted: queryCount > pauses.length,
  };
}
