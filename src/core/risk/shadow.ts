/** The report on rules that only watch: what each of them would have done, by day. */
import { amountText } from '../../lib/money/money.ts';
import { utcDay } from '../../lib/time/day.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { WatchedDay } from '../../store/risk/shadow.ts';
import type { Gateway } from '../context.ts';
import { listRules } from './rules.ts';

export interface WatchedRule extends Pick<WatchedDay, 'ruleId' | 'name' | 'action'> {
  /** It was not deleted since. */
  exists: boolean;
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

/**
 * Rules with hits in the last days, most hits first, then those that watch and have none. A caller that is restricted to
 * accounts gets the rules of these accounts.
 */
export async function watchedRules(gateway: Gateway, mids: readonly string[] | null): Promise<WatchedRule[]> {
  const today = Date.parse(utcDay(gateway.clock.now()));
  const first = today - (WATCHED_DAYS - 1) * LIMITS.dayMs;
  const days = Array.from({ length: WATCHED_DAYS }, (_, index) => utcDay(first + index * LIMITS.dayMs));
  const rows = await gateway.riskDecisions.watched(first, mids);
  const rules = await listRules(gateway, { mids });
  const watchedBy = (
    rule: Pick<WatchedRule, 'ruleId' | 'name' | 'action'>,
    own: readonly WatchedDay[],
  ): WatchedRule => ({
    ...{ ruleId: rule.ruleId, name: rule.name, action: rule.action, amounts: amountsIn(own) },
    exists: rules.some(({ ruleId }) => ruleId === rule.ruleId),
    ...{ hits: sumOf(own, 'hits'), settled: sumOf(own, 'settled'), chargedBack: sumOf(own, 'chargedBack') },
    days: days.map((day) => {
      const onDay = own.filter((row) => row.day === day);
      return { day, hits: sumOf(onDay, 'hits'), amounts: amountsIn(onDay) };
    }),
  });
  const byRule = Map.groupBy(rows, ({ ruleId }) => ruleId);
  const found = [...byRule.values()]
    .map((own) =>
      watchedBy(
        own.reduce((newest, row) => (row.day > newest.day ? row : newest)),
        own,
      ),
    )
    .sort((one, other) => other.hits - one.hits || (one.ruleId < other.ruleId ? -1 : 1));
  const quiet = rules.filter(({ ruleId, state }) => state === 'shadow' && !byRule.has(ruleId));
  return [...found, ...quiet.map((rule) => watchedBy(rule, []))];
}

const amountViews = (amounts: readonly WatchedAmount[]) =>
  amounts.map(({ currency, amount }) => ({ currency, amount: amountText(amount, exponentOf(currency)) }));

/** The report as the admin API shows it. */
export async function watchedView(gateway: Gateway, mids: readonly string[] | null) {
  return (await watchedRules(gateway, mids)).map(
    ({ ruleId, name, action, hits, settled, chargedBack, amounts, days }) => ({
      ...{ rule_id: ruleId, name, action, hits, amounts: amountViews(amounts), settled, charged_back: chargedBack },
      days: days.map((one) => ({ ...one, amounts: amountViews(one.amounts) })),
    }),
  );
}
