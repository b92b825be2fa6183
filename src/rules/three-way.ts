/** The comparison of three sides for each day: the ledger, the statements of a provider, and its payments at the bank. */
import { lower } from '../lib/money/decimal.ts';
import { utcDay } from '../lib/time/day.ts';

/**
 * `expected`: something is missing, and its date has not passed. `different`: the statement has another amount. `overdue`:
 * the bank has not received it in time. `unreported`: it was paid, and no statement has it. `unassigned`: more was paid than
 * is owed.
 */
export const THREE_WAY_STATES = ['matched', 'expected', 'different', 'overdue', 'unreported', 'unassigned'] as const;
export type ThreeWayState = (typeof THREE_WAY_STATES)[number];

export const isException = (state: ThreeWayState): boolean => state !== 'matched' && state !== 'expected';

/** After how many days a provider pays, if nothing else is set. */
export const PROVIDER_DAYS = 7;
export const PROVIDER_DAYS_MOST = 365;

/** What a provider owes of a day, such as `2026-11-15`: by the ledger, and by its statements if they have the day. */
export interface ProviderDay {
  day: string;
  ours: bigint;
  statement: bigint | null;
}

export interface ThreeWayDay extends ProviderDay {
  /** Until then it is expected. */
  dueOn: string;
  /** What payments at the bank cover of it. */
  bank: bigint;
  state: ThreeWayState;
}

const DAY_MS = 86_400_000;
const daysAfter = (day: string, days: number): string => utcDay(Date.parse(day) + days * DAY_MS);

function stateOf({ ours, statement, bank, dueOn }: Omit<ThreeWayDay, 'state'>, today: string): ThreeWayState {
  const claim = statement ?? ours;
  const isLate = dueOn < today;
  if (statement !== null && statement !== ours) return isLate || statement > ours ? 'different' : 'expected';
  if (bank !== claim) return isLate ? 'overdue' : 'expected';
  if (statement !== null || claim === 0n) return 'matched';
  return isLate ? 'unreported' : 'expected';
}

/**
 * Payments at the bank cover the oldest days first, by the statement of the day if there is one. Days on which a provider is
 * owed less than nothing reduce what the days after them are worth.
 */
export function threeWay(
  days: readonly ProviderDay[],
  paid: bigint,
  { today, dueDays }: { today: string; dueDays: number },
): { days: ThreeWayDay[]; unassigned: bigint } {
  let left = paid;
  const compared = days
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .map((one): ThreeWayDay => {
      const claim = one.statement ?? one.ours;
      const bank = lower(claim, left);
      left -= bank;
      const day = { ...one, dueOn: daysAfter(one.day, dueDays), bank };
      return { ...day, state: stateOf(day, today) };
    });
  return { days: compared, unassigned: left };
}
