/** What rules that only watch have matched, by day: for the report on them. */
import type pg from 'pg';
import type { MatchedRule } from '../../rules/risk/actions.ts';
import { iso } from '../database/columns.ts';
import { tookMoney } from './fraud-rates.ts';

/** The payments in one currency that a rule matched on one day. */
export interface WatchedDay {
  ruleId: string;
  /** The name and the action of the newest of them. */
  name: string;
  action: MatchedRule['action'];
  /** By UTC, such as 2026-01-31. */
  day: string;
  currency: string;
  hits: number;
  amount: bigint;
  settled: number;
  chargedBack: number;
}

const SELECT = `
  select s.rule ->> 'rule_id' as "ruleId", (array_agg(s.rule ->> 'name' order by d.at desc))[1] as name,
    (array_agg(s.rule -> 'action' order by d.at desc))[1] as action,
    to_char(d.at at time zone 'UTC', 'YYYY-MM-DD') as day, d.currency,
    count(*)::int as hits, sum(d.amount)::bigint as amount, count(*) filter (where p.captured > 0)::int as settled,
    count(*) filter (where exists (
      select from chargebacks c where c.mid = d.mid and c.payment_id = d.payment_id and ${tookMoney('c')}
    ))::int as "chargedBack"
  from risk_decisions d cross join lateral jsonb_array_elements(d.shadow) as s(rule)
  join payments p on p.mid = d.mid and p.payment_id = d.payment_id
  where d.shadow <> '[]' and d.at >= $1
    and ($2::uuid[] is null or d.mid = any ($2) and not (s.rule ->> 'of_installation')::boolean)
  group by 1, 4, 5`;

/** Of the given accounts, without rules of the installation; null means all. */
export async function readWatchedDays(
  pool: Pick<pg.Pool, 'query'>,
  since: number,
  mids: readonly string[] | null,
): Promise<WatchedDay[]> {
  const { rows } = await pool.query<WatchedDay>(SELECT, [iso(since), mids]);
  return rows;
}
