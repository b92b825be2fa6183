/** The comparison of the ledger, the statements and the bank, day by day. */
import { expect, test } from 'vitest';
import { isException, type ProviderDay, threeWay } from '../../src/rules/three-way.ts';

const TERMS = { today: '2026-11-20', dueDays: 3 };
const day = (date: string, ours: bigint, statement: bigint | null = ours): ProviderDay => ({
  day: `2026-11-${date}`,
  ours,
  statement,
});
const statesOf = (days: ProviderDay[], paid: bigint): string[] =>
  threeWay(days, paid, TERMS).days.map(({ state }) => state);

test.each<[string, ProviderDay[], bigint, string[]]>([
  ['all three agree', [day('01', 100n)], 100n, ['matched']],
  ['the bank has not received it, and its date has not passed', [day('17', 100n)], 0n, ['expected']],
  ['the bank has not received it in time', [day('16', 100n)], 0n, ['overdue']],
  ['the bank has received a part', [day('01', 100n), day('02', 50n)], 120n, ['matched', 'overdue']],
  ['the statement is missing, and its date has not passed', [day('18', 100n, null)], 0n, ['expected']],
  ['it was paid, and no statement has it', [day('01', 100n, null)], 100n, ['unreported']],
  ['neither was paid nor reported', [day('01', 100n, null)], 0n, ['overdue']],
  ['the statement has less, and its date has passed', [day('01', 100n, 90n)], 90n, ['different']],
  ['the statement has less, and more of it may come', [day('19', 100n, 90n)], 0n, ['expected']],
  ['the statement has more', [day('19', 100n, 110n)], 0n, ['different']],
  ['a day of refunds reduces the days after it', [day('01', -30n), day('02', 100n)], 70n, ['matched', 'matched']],
  ['nothing happened', [day('01', 0n, null)], 0n, ['matched']],
])('%s', (_name, days, paid, states) => {
  expect(statesOf(days, paid)).toEqual(states);
});

test('what was paid beyond what is owed is not assigned', () => {
  const { days, unassigned } = threeWay([day('02', 50n), day('01', 100n)], 180n, TERMS);
  expect(unassigned).toBe(30n);
  expect(days.map((one) => [one.day, one.bank, one.dueOn])).toEqual([
    ['2026-11-01', 100n, '2026-11-04'],
    ['2026-11-02', 50n, '2026-11-05'],
  ]);
});

test('what is expected is no exception', () => {
  expect(isException('expected')).toBe(false);
  expect(isException('matched')).toBe(false);
  expect(isException('overdue')).toBe(true);
});
