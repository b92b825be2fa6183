/** The tables of the reports: what they can be grouped by, and the intervals of call durations. */

/** What the rows of a report can be grouped by, in the order of their columns. */
export const REPORT_GROUPS = ['day', 'mid', 'brand', 'currency', 'connection', 'decline_class'] as const;
export type ReportGroup = (typeof REPORT_GROUPS)[number];

/**
 * The bounds of the intervals in which durations of provider calls are counted, in milliseconds. Stored sums have the
 * number of the interval, so a bound is never inserted or removed.
 */
export const DURATION_BOUNDS_MS = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 7500, 10_000, 15_000,
  20_000,
] as const;

/**
 * The duration that this share of the calls did not exceed, interpolated within its interval. `counts` has the calls of
 * each interval; interval 0 is below the first bound. Calls above the last bound count as that bound.
 */
export function durationAt(share: number, counts: ReadonlyMap<number, number>): number | null {
  const total = [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [bucket, calls] of [...counts].sort(([a], [b]) => a - b)) {
    if (calls > 0 && below + calls >= rank) {
      const low = DURATION_BOUNDS_MS[bucket - 1] ?? 0;
      const high = DURATION_BOUNDS_MS[bucket] ?? low;
      return Math.round(low + ((rank - below) / calls) * (high - low));
    }
    below += calls;
  }
  return null;
}
