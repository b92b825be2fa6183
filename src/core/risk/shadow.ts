/** The report on rules that only watch: what each of them would have done, by day. */
import { utcDay } from '../../lib/time/day.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { WatchedDay } from '../../store/risk/shadow.ts';
import type { Gateway } from '../context.ts';

export interface WatchedRule extends Pick<WatchedDay, 'ruleId' | 'name' | 'action'> {
  hits: number;
  settled: number;
  chargedBack: number;
  amounts: WatchedAmount[];
  /** Oldest first, each day once. */
  days: { day: string; hits: number; amounts: WatchedAmount[] }[];
}

export type WatchedAmount = Pick<WatchedDay, 'currency' | 'amount'>;

/** The days of the report, today included. */
export const WATCHED_DAYS = 7;

const sumOf = (rows: readonly WatchedDay[], member: 'hits' | 'settled' | 'chargedBack'): number =>
  rows.reduce((sum, row) => sum + row[member], 0);

/** The sums by currency. */
function amountsIn(rows: readonly WatchedDay[]): WatchedAmount[] {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of rows) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([currency, amount]) => ({ currency, amount }));
}

/** Rules with hits in the last days, most hits first. A caller that is restricted to accounts gets those of the accounts. */
export async function watchedRules(gateway: Gateway, mids: readonly string[] | null): Promise<WatchedRule[]> {
  const today = Date.parse(utcDay(gateway.clock.now()));
  const first = today - (WATCHED_DAYS - 1) * LIMITS.dayMs;
  const days = Array.from({ length: WATCHED_DAYS }, (_, index) => utcDay(first + index * LIMITS.dayMs));
  const rows = await gateway.riskDecisions.watched(first, mids);
  return [...Map.groupBy(rows, ({ ruleId }) => ruleId)]
    .map(([ruleId, own]): WatchedRule => {
      const { name, action } = own.reduce((newest, row) => (row.day > newest.day ? row : newest));
      return {
        ...{ ruleId, name, action, amounts: amountsIn(own) },
        ...{ hits: sumOf(own, 'hits'), settled: sumOf(own, 'settled'), chargedBack: sumOf(own, 'chargedBack') },
        days: days.map((day) => {
          const onDay = own.filter((row) => row.day === day);
          return { day, hits: sumOf(onDay, 'hits'), amounts: amountsIn(onDay) };
        }),
      };
    })
    .sort((one, other) => other.hits - one.hits || (one.ruleId < other.ruleId ? -1 : 1));
}
