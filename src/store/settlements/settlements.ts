/** Settlements: cuts them, lists them with their entries, and decides about drafts. */
import { sql } from 'kysely';
import type { LedgerEntry } from '../../rules/ledger.ts';
import type { SettlementState } from '../../rules/settlements.ts';
import { appendAudit } from '../audit/audit.ts';
import { CLOCK, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import { ENTRY_COLUMNS, type EntryRow, entryOf } from '../ledger/entries.ts';
import { type Cut, type Cutting, cutTogether, newestOf } from './cuts.ts';
import { lockCycles, type Owner, ownerKey } from './cycles.ts';
import { type Settlement, type SettlementRow, settlementOf, tell } from './rows.ts';

export type { Cut, CutFacts, CutSums } from './cuts.ts';
export type { Owner } from './cycles.ts';
export type { Settlement } from './rows.ts';

export interface SettlementFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  state?: SettlementState | undefined;
  settlementId?: string | undefined;
}

/** When the balance of an account and currency is cut next, and what keeps it from being paid. */
export interface CycleState extends Owner {
  dueAt: number | null;
  hold: string | null;
  /** Of the bank account; null if there is none, or none is held. */
  heldUntil: number | null;
  hasBankAccount: boolean;
}

export type EntryPosition = Pick<LedgerEntry, 'postedAt' | 'entryId'>;

export interface SettlementStore {
  /**
   * Cuts the balances of these accounts and currencies in one transaction, while nobody else cuts for them. Undefined
   * while the ledger does not contain the history up to this number.
   */
  cut(
    owners: readonly Owner[],
    historyNumber: bigint,
    cutting: Cutting,
  ): Promise<readonly (Cut | undefined)[] | undefined>;
  /** The one that was cut at a moment; answers have the time of a cut in whole seconds. */
  ofCut(owner: Owner, until: number): Promise<Settlement | undefined>;
  /** Newest first; `before` is the last one of the page before. */
  list(filter: SettlementFilter, limit: number, before?: string): Promise<Settlement[]>;
  /** Oldest first. */
  entries(settlementId: string, limit: number, after?: EntryPosition): Promise<LedgerEntry[]>;
  /** Decides on the locked row; a void settlement has no entries. */
  decide(
    found: Settlement,
    decide: (
      settlement: Settlement,
      isNewest: boolean,
    ) => Decision<{ state: SettlementState; decidedBy: string; decidedAt: number }>,
  ): Promise<Settlement>;
  /** The next cut of each account and currency, and what its payout has to wait for; null means all accounts. */
  cycles(mids: readonly string[] | null): Promise<CycleState[]>;
  /** Accounts and currencies whose cycle is due by the clock of the account. */
  due(most: number): Promise<(Owner & { dueAt: number })[]>;
  /** Tries the cut of a cycle again at a later time. */
  postpone(owner: Owner, dueAt: number): Promise<void>;
}

/** Fees of an account with monthly invoices are invoiced when the month of the cut, in UTC, is over. */
const scheduleInvoice = (settlementId: string) => sql`
  update settlements s set invoice_due_at = (
    date_trunc('month', s.until_at at time zone 'UTC' - interval '1 ms') + interval '1 month') at time zone 'UTC'
  from accounts a
  where s.settlement_id = ${settlementId}::uuid and a.mid = s.mid and a.settings::jsonb ->> 'fee_invoices' = 'monthly'`;

export function createSettlementStore({ query }: Database): SettlementStore {
  return {
    cut: (owners, historyNumber, cutting) =>
      query.transaction().execute((transaction) => cutTogether(transaction, owners, historyNumber, cutting)),

    async ofCut({ mid, currency }, until) {
      const { rows } = await sql<SettlementRow>`
        select * from settlements
        where mid = ${mid}::uuid and currency = ${currency} and state <> 'void'
          and (until_at = ${iso(until)}::timestamptz or date_trunc('second', until_at) = ${iso(until)}::timestamptz)
        order by until_at = ${iso(until)}::timestamptz desc, number desc limit 1`.execute(query);
      return rows[0] && settlementOf(rows[0]);
    },

    async list({ mids, mid, state, settlementId }, limit, before) {
      let found = query.selectFrom('settlements').selectAll().orderBy('settlementId', 'desc').limit(limit);
      if (mids !== null) found = found.where('mid', 'in', [...mids]);
      if (mid !== undefined) found = found.where('mid', '=', mid);
      if (state !== undefined) found = found.where('state', '=', state);
      if (settlementId !== undefined) found = found.where('settlementId', '=', settlementId);
      if (before !== undefined) found = found.where('settlementId', '<', before);
      return ((await found.execute()) as unknown as SettlementRow[]).map(settlementOf);
    },

    async entries(settlementId, limit, after) {
      const { rows } = await sql<EntryRow>`
        select ${sql.raw(ENTRY_COLUMNS)}
        from settlement_entries s join ledger_entries e using (source_id, seq, category)
        where s.settlement_id = ${settlementId}::uuid and (${after?.entryId ?? null}::uuid is null
          or (s.posted_at, s.entry_id) > (${isoOrNull(after?.postedAt ?? null)}::timestamptz, ${after?.entryId ?? null}::uuid))
        order by s.posted_at, s.entry_id limit ${limit}`.execute(query);
      return rows.map(entryOf);
    },

    decide: (found, decide) =>
      query.transaction().execute(async (transaction) => {
        await lockCycles(transaction, [found]);
        const newest = (await newestOf(transaction, [found])).get(ownerKey(found));
        const { rows } = await sql<SettlementRow>`select * from settlements
          where settlement_id = ${found.settlementId}::uuid for update`.execute(transaction);
        const settlement = settlementOf(rows[0] as SettlementRow);
        const { change, audit } = decide(settlement, newest?.settlementId === settlement.settlementId);
        await transaction
          .updateTable('settlements')
          .set({ ...change, decidedAt: iso(change.decidedAt) })
          .where('settlementId', '=', settlement.settlementId)
          .execute();
        if (change.state === 'approved') await scheduleInvoice(settlement.settlementId).execute(transaction);
        if (change.state === 'void')
          await transaction
            .deleteFrom('settlementEntries')
            .where('settlementId', '=', settlement.settlementId)
            .execute();
        await appendAudit(transaction, audit);
        const decided = { ...settlement, ...change };
        await tell(transaction, [decided]);
        return decided;
      }),

    async cycles(mids) {
      const { rows } = await sql<CycleState>`
        select c.mid, c.currency, c.due_at, t.hold, b.held_until, b.mid is not null as has_bank_account
        from settlement_cycles c left join bank_accounts b using (mid, currency)
        left join lateral (
          select hold from settlement_terms t where t.mid = c.mid and t.currency = c.currency
          order by t.valid_from desc limit 1
        ) t on true
        where ${mids}::uuid[] is null or c.mid = any (${mids}::uuid[])`.execute(query);
      return rows;
    },

    async due(most) {
      const { rows } = await sql<Owner & { dueAt: number }>`
        with ${sql.raw(CLOCK)}
        select d.mid, d.currency, d.due_at from settlement_cycles d left join clock_offsets c on c.mid = d.mid
        where d.due_at <= (select now + furthest from clock)
          and d.due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms'
        order by d.due_at limit ${most}`.execute(query);
      return rows;
    },

    async postpone({ mid, currency }, dueAt) {
      await sql`update settlement_cycles set due_at = ${iso(dueAt)}
        where mid = ${mid} and currency = ${currency} and due_at is not null`.execute(query);
    },
  };
}
