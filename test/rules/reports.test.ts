/** Percentiles of call durations from counts of intervals. */
import { expect, test } from 'vitest';
import { DURATION_BOUNDS_MS, durationAt } from '../../src/rules/reports.ts';

/** The interval of a duration, as the database counts it: the number of bounds that it reaches. */
const bucketOf = (ms: number): number => DURATION_BOUNDS_MS.filter((bound) => bound <= ms).length;
const countsOf = (durations: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
  return counts;
};

test('the bounds are in order', () => {
  expect([...DURATION_BOUNDS_MS].sort((a, b) => a - b)).toEqual([...DURATION_BOUNDS_MS]);
  expect(new Set(DURATION_BOUNDS_MS).size).toBe(DURATION_BOUNDS_MS.length);
});

test('without calls there is no percentile', () => {
  expect(durationAt(0.5, new Map())).toBeNull();
  expect(durationAt(0.5, new Map([[3, 0]]))).toBeNull();
});

test('a percentile lies in the interval of the true value', () => {
  const durations = Array.from({ length: 1000 }, (_, index) => Math.round(1.011 ** index % 25_000));
  const sorted = durations.toSorted((a, b) => a - b);
  for (const share of [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1]) {
    const true_ = sorted[Math.ceil(share * sorted.length) - 1] as number;
    const low = DURATION_BOUNDS_MS[bucketOf(true_) - 1] ?? 0;
    const high = DURATION_BOUNDS_MS[bucketOf(true_)] ?? low;
    const found = durationAt(share, countsOf(durations)) as number;
    expect(found, `${share}: ${true_}`).toBeGreaterThanOrEqual(low);
    expect(found, `${share}: ${true_}`).toBeLessThanOrEqual(high);
  }
});

test('calls above the last bound count as the bound', () => {
  expect(durationAt(0.95, countsOf([60_000, 90_000]))).toBe(20_000);
});

test('interpolates within an interval', () => {
  expect(durationAt(0.5, countsOf([100, 110, 120, 130]))).toBe(125);
});
