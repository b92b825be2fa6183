/** Statements of merchants' balances: the entries of a settlement or of a month, in portions, and the sums of months. */
import { type RawBuilder, sql } from 'kysely';
import { LEDGER_ACCOUNTS } from '../../rules/ledger.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Owner } from './cycles.ts';
import type { EntryPosition } from './settlements.ts';

/** An entry as a statement has it; amounts are from the merchant's view, in minor units. */
export interface StatementEntry extends EntryPosition {
  category: string;
  availableOn: string;
  paymentId: string | null;
  orderId: string | null;
  operationId: string | null;
  note: string | null;
  fee: bigint;
  tax: bigint;
  /** What the entry adds to the balance. */
  net: bigint;
}

/** What was posted to a balance in a month, such as `2026-11`. */
export interface MonthSum {
  month: string;
  currency: string;
  credits: bigint;
  debits: bigint;
}

export interface StatementStore {
  /** Whether the ledger contains the history up to this number. */
  isComplete(historyNumber: bigint): Promise<boolean>;
  /** Oldest first. */
  ofSettlement(settlementId: string, limit: number, after?: EntryPosition): Promise<StatementEntry[]>;
  /** The entries that were posted from a moment until before another, oldest first. */
  ofPeriod(
    owner: Owner,
    period: { from: number; to: number },
    limit: number,
    after?: EntryPosition,
  ): Promise<StatementEntry[]>;
  /** The months with entries, in UTC, in their order. */
  months(mid: string): Promise<MonthSum[]>;
}

const balanceOf = (mid: string): string => LEDGER_ACCOUNTS.balance.name.replace('{mid}', mid);

/** The entries `e`, with what they add to the balance of their merchant. */
const rowsOf = (entries: RawBuilder<unknown>) => sql<StatementEntry>`
  select e.entry_id as "entryId", e.category, e.posted_at as "postedAt", e.available_on::text as "availableOn",
    e.payment_id as "paymentId", p.order_id as "orderId", e.operation_id as "operationId", e.note, a.fee, a.tax, a.net
  from (${entries}) e
  cross join lateral (
    select coalesce(sum(amount) filter (where account = ${LEDGER_ACCOUNTS.fees.name}), 0)::bigint as fee,
      coalesce(sum(amount) filter (where account = ${LEDGER_ACCOUNTS.tax.name}), 0)::bigint as tax,
      (-sum(amount) filter (where account = 'merchant:' || e.mid || ':balance'))::bigint as net
    from unnest(e.accounts, e.amounts) a(account, amount)
  ) a
  left join payments p on p.mid = e.mid and p.payment_id = e.payment_id
  order by e.posted_at, e.entry_id`;

/** Whether `e` comes after this position. */
const isAfter = (entry: string, after: EntryPosition | undefined) =>
  after === undefined
    ? sql`true`
    : sql`(${sql.raw(`${entry}.posted_at, ${entry}.entry_id`)}) > (${iso(after.postedAt)}::timestamptz, ${after.entryId}::uuid)`;

export function createStatementStore({ query }: Database): StatementStore {
  return {
    async isComplete(historyNumber) {
      const { rows } = await sql<{ isComplete: boolean }>`
        select backfill_before is null and history_number >= ${historyNumber} as is_complete
        from projections where name = 'ledger'`.execute(query);
      return rows[0]?.isComplete === true;
    },

    async ofSettlement(settlementId, limit, after) {
      const entries = sql`
        select e.* from (
          select source_id, seq, category from settlement_entries s
          where s.settlement_id = ${settlementId}::uuid and ${isAfter('s', after)}
          order by s.posted_at, s.entry_id limit ${limit}
        ) s join ledger_entries e using (source_id, seq, category)`;
      return (await rowsOf(entries).execute(query)).rows;
    },

    async ofPeriod({ mid, currency }, { from, to }, limit, after) {
      const entries = sql`
        select e.* from ledger_entries e
        where e.mid = ${mid} and e.currency = ${currency} and ${balanceOf(mid)} = any(e.accounts)
          and e.posted_at >= ${iso(from)}::timestamptz and e.posted_at < ${iso(to)}::timestamptz
          and ${isAfter('e', after)}
        order by e.posted_at, e.entry_id limit ${limit}`;
      return (await rowsOf(entries).execute(query)).rows;
    },

    async months(mid) {
      const { rows } = await sql<MonthSum>`
        select to_char(starts_at at time zone 'UTC', 'YYYY-MM') as month, currency, credit::bigint as credits,
          debit::bigint as debits
        from ledger_totals where account = ${balanceOf(mid)} and grain = 'month' order by 1, 2`.execute(query);
      return rows;
    },
  };
}
