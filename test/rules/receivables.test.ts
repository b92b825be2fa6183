/** Receivables by age: payments and deductions of a provider settle the oldest amounts first. */
import { expect, test } from 'vitest';
import { agesOf, type DaySum } from '../../src/rules/receivables.ts';

const sum = (day: string, debit: bigint, credit = 0n): DaySum => ({ day, debit, credit });
const TODAY = '2026-12-31';

test.each<[string, DaySum[], bigint[]]>([
  ['nothing', [], [0n, 0n, 0n, 0n, 0n]],
  [
    'each age',
    [sum('2026-12-24', 1n), sum('2026-12-23', 2n), sum('2026-11-01', 3n), sum('2026-10-02', 4n), sum('2026-10-01', 5n)],
    [1n, 2n, 3n, 4n, 5n],
  ],
  ['a payment settles the oldest first', [sum('2026-12-30', 10n, 12n), sum('2026-09-01', 10n)], [8n, 0n, 0n, 0n, 0n]],
  ['a day in the future, by a clock that is ahead', [sum('2027-03-01', 7n)], [7n, 0n, 0n, 0n, 0n]],
  ['too much was paid', [sum('2026-12-30', 10n, 15n)], [-5n, 0n, 0n, 0n, 0n]],
])('%s', (_, sums, expected) => {
  expect(agesOf(sums, TODAY)).toEqual(expected);
});
