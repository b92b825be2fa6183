/** Cuts settlements, many of them in one transaction: each once, whoever cuts at the same time. */
import { sql } from 'kysely';
import { newId } from '../../lib/crypto/id.ts';
import { LEDGER_ACCOUNTS } from '../../rules/ledger.ts';
import { DELAYED } from '../../rules/ledger-entries.ts';
import { settlementDay } from '../../rules/settlement-calendar.ts';
import type { SettlementLine, SettlementTerms } from '../../rules/settlements.ts';
import { appendAudits } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import { debitsUnderWay, holdLedger, lockCycles, type Owner, ownerKey, ownerRows } from './cycles.ts';
import { currentHolidays } from './holidays.ts';
import { rowOf, type Settlement, type SettlementRow, settlementOf, tell } from './rows.ts';

/** What a cut is decided from. */
export interface CutFacts {
  /** The newest one that is not void. */
  newest: Settlement | undefined;
  terms: SettlementTerms | undefined;
  /** None if the terms do not count business days. */
  holidays: ReadonlySet<string>;
  /** The number of the next settlement. */
  number: number;
}

/** The postings of a cut. */
export interface CutSums {
  lines: SettlementLine[];
  /** Of this and all earlier settlements: what is available after the day of the cut. */
  pending: bigint;
  /** What earlier settlements pay, and is not deducted from the balance yet. */
  earlier: bigint;
  /** Refunds and payouts to payers that the provider has not finished. */
  underWay: bigint;
}

/** How each cut is decided. */
export interface Cutting {
  /** The moment of the cut, or a settlement that exists; undefined if nothing is cut. */
  until(owner: Owner, facts: CutFacts): number | Settlement | undefined;
  /** The settlement, or the one that exists or none if there is nothing to settle. */
  compose(owner: Owner, facts: CutFacts, until: number, sums: CutSums): Decision<Settlement> | Settlement | undefined;
  /** The next cut of the cycle; without this function it stays as it is. */
  next?(owner: Owner, facts: CutFacts): number | null;
}

export interface Cut {
  settlement: Settlement;
  /** False if the settlement was there already. */
  isNew: boolean;
}

const byOwner = <Row extends Owner>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [ownerKey(row), row]));

/** The newest settlements of these accounts and currencies that are not void. */
export async function newestOf(
  transaction: Database['query'],
  owners: readonly Owner[],
): Promise<Map<string, Settlement>> {
  const { rows } = await sql<SettlementRow>`
    select s.* from ${ownerRows(owners)} cross join lateral (
      select * from settlements s where s.mid = i.mid and s.currency = i.currency and s.state <> 'void'
      order by s.number desc limit 1
    ) s`.execute(transaction);
  return byOwner(rows.map(settlementOf));
}

async function readFacts(
  transaction: Database['query'],
  owners: readonly Owner[],
): Promise<(owner: Owner) => CutFacts> {
  const newest = await newestOf(transaction, owners);
  const last = await sql<Owner & { number: number }>`
    select i.mid, i.currency, s.number from ${ownerRows(owners)} cross join lateral (
      select number from settlements s where s.mid = i.mid and s.currency = i.currency order by s.number desc limit 1
    ) s`.execute(transaction);
  const terms = await sql<SettlementTerms & Owner>`
    select t.* from ${ownerRows(owners)} cross join lateral (
      select * from settlement_terms t where t.mid = i.mid and t.currency = i.currency
      order by t.valid_from desc limit 1
    ) t`.execute(transaction);
  const holidays = terms.rows.some(({ businessDays }) => businessDays)
    ? await currentHolidays(transaction)
    : new Set<string>();
  const [numbers, termsOf] = [byOwner(last.rows), byOwner(terms.rows)];
  return (owner) => {
    const key = ownerKey(owner);
    return {
      newest: newest.get(key),
      terms: termsOf.get(key),
      holidays,
      number: (numbers.get(key)?.number ?? 0) + 1,
    };
  };
}

/** A cut whose moment is decided. */
interface Begun {
  owner: Owner;
  facts: CutFacts;
  settlementId: string;
  until: number;
}

/**
 * Adds the postings of the balances until their moments that no settlement has yet; returns their lines by settlement. In
 * a month whose sums are those of the ledger, everything is settled.
 */
async function takeEntries(
  transaction: Database['query'],
  cuts: readonly Begun[],
): Promise<Map<string, SettlementLine[]>> {
  const accounts = cuts.map(({ owner }) => LEDGER_ACCOUNTS.balance.name.replace('{mid}', owner.mid));
  const { rows } = await sql<SettlementLine & { settlementId: string }>`
    with owners as materialized (
      -- Once for each balance: joined, it would be read for each entry. The offset makes it look up each month.
      select i.*, (
        select min(t.starts_at) from ledger_totals t
        where t.account = i.account collate "C" and t.grain = 'month' and t.currency = i.currency and not exists (
          select from settlement_totals s
          where s.mid = i.mid and s.currency = i.currency and s.month = t.starts_at
            and s.debit = t.debit and s.credit = t.credit
          offset 0)
      ) as since
      from unnest(${cuts.map(({ owner }) => owner.mid)}::uuid[], ${cuts.map(({ owner }) => owner.currency)}::text[],
        ${cuts.map(({ settlementId }) => settlementId)}::uuid[], ${cuts.map(({ until }) => iso(until))}::timestamptz[],
        ${accounts}::text[]) i(mid, currency, settlement_id, until, account)
    ), taken as (
      insert into settlement_entries
        (source_id, seq, category, settlement_id, mid, currency, entry_id, posted_at, available_on, amount)
      select e.source_id, e.seq, e.category, i.settlement_id, e.mid, e.currency, e.entry_id, e.posted_at,
        e.available_on, p.amount
      from owners i
      join ledger_entries e on e.mid = i.mid and e.currency = i.currency and e.posted_at >= i.since
        and e.posted_at < i.until
      cross join lateral (
        select -sum(amount) as amount from unnest(e.accounts, e.amounts) p(account, amount) where p.account = i.account
      ) p
      where p.amount is not null and not exists (
        select from settlement_entries s
        where s.mid = e.mid and s.source_id = e.source_id and s.seq = e.seq and s.category = e.category)
      returning settlement_id, category, amount
    )
    select settlement_id, category, count(*)::int as count, sum(amount)::bigint as amount from taken
    group by 1, 2 order by 1, 2`.execute(transaction);
  const lines = new Map<string, SettlementLine[]>();
  for (const { settlementId, ...line } of rows) lines.set(settlementId, [...(lines.get(settlementId) ?? []), line]);
  return lines;
}

/** The sums by settlement. A payout that was approved counts until its entry is in a settlement. Only what is delayed is pending. */
async function readSums(
  transaction: Database['query'],
  cuts: readonly Begun[],
  folded: bigint,
): Promise<Map<string, CutSums>> {
  if (cuts.length === 0) return new Map();
  const lines = await takeEntries(transaction, cuts);
  const mids = cuts.map(({ owner }) => owner.mid);
  const days = cuts.map(({ facts, until }) => settlementDay(until, facts.terms?.timeZone));
  const { rows } = await sql<Omit<CutSums, 'lines'> & { settlementId: string }>`
    with under_way as (
      select mid, currency, sum(amount) as amount from (${sql.raw(debitsUnderWay(folded))}) u
      where mid = any (${mids}::uuid[]) group by 1, 2
    )
    select i.settlement_id, (
      select coalesce(sum(e.amount), 0)::bigint from settlement_entries e
      where e.mid = i.mid and e.currency = i.currency
        and e.available_on > i.day and e.category = any (${DELAYED}::text[])
    ) as pending, (
      select coalesce(sum(s.payout), 0)::bigint from settlements s
      where s.mid = i.mid and s.currency = i.currency and s.payout > 0 and s.state <> 'void' and not exists (
        select from transfers t where t.mid = s.mid and t.settlement_id = s.settlement_id and t.state <> 'refused' and exists (
          select from settlement_entries e
          where e.mid = t.mid and e.source_id = t.transfer_id and e.category = 'payout' offset 0)
        offset 0)
    ) as earlier, coalesce(u.amount, 0)::bigint as under_way
    from unnest(${mids}::uuid[], ${cuts.map(({ owner }) => owner.currency)}::text[],
      ${cuts.map(({ settlementId }) => settlementId)}::uuid[], ${days}::date[]) i(mid, currency, settlement_id, day)
    left join under_way u using (mid, currency)`.execute(transaction);
  return new Map(
    rows.map(({ settlementId, ...sums }) => [settlementId, { lines: lines.get(settlementId) ?? [], ...sums }]),
  );
}

// The planner must not read the whole ledger because it expects many entries of these accounts.
const INDEX_SCANS = `select ${['seqscan', 'hashjoin', 'mergejoin'].map((kind) => `set_config('enable_${kind}', 'off', true)`).join(', ')}`;

/** Cuts the balances of these accounts and currencies; undefined while the ledger does not have the history up to this number. */
export async function cutTogether(
  transaction: Database['query'],
  owners: readonly Owner[],
  historyNumber: bigint,
  { until, compose, next }: Cutting,
): Promise<(Cut | undefined)[] | undefined> {
  await sql.raw(INDEX_SCANS).execute(transaction);
  await lockCycles(transaction, owners);
  const folded = await holdLedger(transaction, historyNumber);
  if (folded === undefined) return undefined;
  const factsOf = await readFacts(transaction, owners);
  const decided = owners.map((owner) => {
    const facts = factsOf(owner);
    return { owner, facts, settlementId: newId(), until: until(owner, facts) };
  });
  const begun = decided.filter((cut): cut is Begun => typeof cut.until === 'number');
  const sums = await readSums(transaction, begun, folded);
  const written: Decision<Settlement>[] = [];
  const cuts = decided.map(({ owner, facts, settlementId, until: moment }): Cut | undefined => {
    if (typeof moment !== 'number') return moment && { settlement: moment, isNew: false };
    const composed = compose(owner, facts, moment, sums.get(settlementId) as CutSums);
    if (!composed || !('change' in composed)) return composed && { settlement: composed, isNew: false };
    const settlement = { ...composed.change, settlementId };
    written.push({ change: settlement, audit: { ...composed.audit, subject: settlementId } });
    return { settlement, isNew: true };
  });
  const settlements = written.map(({ change }) => change);
  if (written.length > 0) await transaction.insertInto('settlements').values(settlements.map(rowOf)).execute();
  if (next)
    await setNext(
      transaction,
      decided.map(({ owner, facts }) => ({ ...owner, dueAt: next(owner, facts) })),
    );
  await appendAudits(
    transaction,
    written.map(({ audit }) => audit),
  );
  await tell(transaction, settlements);
  return cuts;
}

const setNext = (transaction: Database['query'], cycles: readonly (Owner & { dueAt: number | null })[]) =>
  sql`update settlement_cycles c set due_at = i.due_at
    from unnest(${cycles.map(({ mid }) => mid)}::uuid[], ${cycles.map(({ currency }) => currency)}::text[],
      ${cycles.map(({ dueAt }) => isoOrNull(dueAt))}::timestamptz[]) i(mid, currency, due_at)
    where c.mid = i.mid and c.currency = i.currency`.execute(transaction);
