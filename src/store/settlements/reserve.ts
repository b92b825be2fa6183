/** The rolling reserve: what is withheld of each sale is a slice, which is released when it is due, once. */
import { sql } from 'kysely';
import type { LedgerEntry } from '../../rules/ledger.ts';
import { clientOf } from '../database/client.ts';
import { CLOCK } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { addEntries } from '../ledger/entries.ts';
import type { Client } from '../projections/projection.ts';
import { lockCycles } from './cycles.ts';

export interface ReserveSlice {
  entryId: string;
  mid: string;
  paymentId: string;
  currency: string;
  amount: bigint;
  /** The day from which its sale is available, such as `2026-11-15`. */
  availableOn: string;
  /** Of the account's days. */
  timeZone: string;
  dueAt: number;
}

export interface ReserveStore {
  /** Releases slices that are due by the clocks of their accounts, with the entries that are composed of them; returns how many. */
  release(most: number, compose: (slices: readonly ReserveSlice[]) => Promise<LedgerEntry[]>): Promise<number>;
}

/** A slice is due as many days after the sale as the terms at its time say. */
const KEEP = `
  insert into reserve_slices (entry_id, mid, payment_id, currency, amount, due_at)
  select e.entry_id, e.mid, e.payment_id, e.currency, e.amounts[1], e.posted_at + t.reserve_days * interval '24 hours'
  from ledger_entries e
  join unnest($1::uuid[], $2::int[]) i(source_id, seq) on e.source_id = i.source_id and e.seq = i.seq
  cross join lateral (
    select reserve_days from settlement_terms t
    where t.mid = e.mid and t.currency = e.currency and t.valid_from <= e.posted_at
    order by t.valid_from desc limit 1
  ) t
  where e.category = 'reserve_held'
  on conflict do nothing`;

/** Adds the slices of entries that are in the ledger. A rebuild finds them there, released or not. */
export async function keepSlices(client: Client, entries: readonly LedgerEntry[]): Promise<void> {
  const held = entries.filter(({ category }) => category === 'reserve_held');
  if (held.length === 0) return;
  await client.query({ text: KEEP, values: [held.map(({ sourceId }) => sourceId), held.map(({ seq }) => seq)] });
}

/** While the ledger is built again, slices wait for the entries that they are of. */
const CLAIM = `
  with ${CLOCK}
  select s.entry_id, s.mid, s.payment_id, s.currency, s.amount, s.due_at, e.available_on::text as available_on,
    t.time_zone
  from reserve_slices s
  cross join lateral (
    select available_on from ledger_entries e
    where e.source_id = s.payment_id and e.category = 'reserve_held' and e.entry_id = s.entry_id limit 1
  ) e
  cross join lateral (
    select time_zone from settlement_terms t where t.mid = s.mid and t.currency = s.currency
    order by t.valid_from desc limit 1
  ) t
  left join clock_offsets c on c.mid = s.mid
  where s.due_at <= (select now + furthest from clock)
    and s.due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms'
  order by s.due_at limit `;

export function createReserveStore({ query }: Database): ReserveStore {
  return {
    release: (most, compose) =>
      query.transaction().execute(async (transaction) => {
        const claim = sql<ReserveSlice>`${sql.raw(CLAIM)} ${most} for update of s skip locked`;
        const { rows } = await claim.execute(transaction);
        if (rows.length === 0) return 0;
        await lockCycles(transaction, rows);
        const entries = await compose(rows);
        await addEntries(clientOf(transaction), entries);
        await sql`update reserve_slices s set due_at = null, released_at = i.released_at
          from unnest(${rows.map(({ entryId }) => entryId)}::uuid[],
            ${entries.map(({ postedAt }) => new Date(postedAt).toISOString())}::timestamptz[]) i(entry_id, released_at)
          where s.entry_id = i.entry_id`.execute(transaction);
        return rows.length;
      }),
  };
}
