/** What cuts and payouts share: the rows of accounts and currencies that whoever changes what is paid locks first, and debits under way. */
import { sql } from 'kysely';
import { OPEN_STATES } from '../cards/cards.ts';
import type { Database } from '../database/database.ts';
import { events, MOVEMENTS, PAYOUT_BRANDS } from '../reports/rollup-deltas.ts';

export interface Owner {
  mid: string;
  currency: string;
}

export const ownerKey = ({ mid, currency }: Owner): string => `${mid} ${currency}`;

/** SQL: the owners as rows of `i`. */
export const ownerRows = (owners: readonly Owner[]) =>
  sql`unnest(${owners.map(({ mid }) => mid)}::uuid[], ${owners.map(({ currency }) => currency)}::text[]) i(mid, currency)`;

/**
 * Locks the cycles of these accounts and currencies; all transactions do so in the same order. Who posts to a balance reads
 * the clock afterwards: a cut has all postings with a time before its own, apart from those of the history.
 */
export async function lockCycles(transaction: Database['query'], owners: readonly Owner[]): Promise<void> {
  await sql`insert into settlement_cycles (mid, currency) select mid, currency from ${ownerRows(owners)}
    order by 1, 2 on conflict do nothing`.execute(transaction);
  await sql`select from settlement_cycles c join ${ownerRows(owners)} using (mid, currency)
    order by c.mid, c.currency for update of c`.execute(transaction);
}

/**
 * The number of the history up to which the ledger has it; undefined if that is less than this one. Nothing is folded, and
 * the ledger is not built again, until the transaction ends.
 */
export async function holdLedger(transaction: Database['query'], historyNumber: bigint): Promise<bigint | undefined> {
  const { rows } = await sql<{ folded: bigint | null }>`
    select case when backfill_before is null and history_number >= ${historyNumber} then history_number end as folded
    from projections where name = 'ledger' for share`.execute(transaction);
  return rows[0]?.folded ?? undefined;
}

/** SQL: what history rows above this number take from balances. They may have been committed since the ledger was held. */
const unfoldedDebits = (folded: bigint): string => `
  select m.mid, m.currency, m.amount from (
    with events as materialized (${events(`(select * from history where number > ${folded}) h`, 'true')}) ${MOVEMENTS}
  ) m join payments p using (mid, payment_id)
  where m.type <> 'sale' or p.brand in ${PAYOUT_BRANDS}`;

/**
 * SQL: what will be taken from balances that are folded up to this number of the history: refunds and payouts to payers that
 * the provider has not finished, and what was finished meanwhile. The former are queried, or wait for an operator, so that
 * the indexes of what is due and of marks find them. What an operator has dismissed no longer counts.
 */
export const debitsUnderWay = (folded: bigint): string => `
  select o.mid, p.currency, o.amount from operations o join payments p using (mid, payment_id)
  where o.due_at is not null and o.state = 'sent' and o.verb in ('refund', 'credit')
  union all
  select o.mid, p.currency, o.amount from payments p join operations o using (mid, payment_id)
  where p.attention is not null and o.due_at is null and o.state = 'sent' and o.verb in ('refund', 'credit')
  union all
  select p.mid, p.currency, p.amount from payments p
  where (p.due_at is not null or p.attention is not null) and p.brand in ${PAYOUT_BRANDS}
    and (p.state in (${OPEN_STATES}) or p.attention = 'late_success')
  union all ${unfoldedDebits(folded)}`;
