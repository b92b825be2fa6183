/** Reads the ledger: balances, entries and the trial balance; each from what is folded, and the tail that is not. */

import { brandOf } from '../../rules/brands.ts';
import {
  availableAfter,
  CATEGORIES,
  CATEGORY_GROUPS,
  composeEntry,
  isOfMerchant,
  LEDGER_ACCOUNTS,
  type LedgerEntry,
} from '../../rules/ledger.ts';
import { entriesOf } from '../../rules/ledger-entries.ts';
import type { DaySum } from '../../rules/receivables.ts';
import { lockQuery } from '../database/advisory-lock.ts';
import { compare, iso } from '../database/columns.ts';
import { type Database, types } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { keepPrices } from '../prices/assignments.ts';
import { NO_ROWS } from '../projections/portions.ts';
import type { Client } from '../projections/projection.ts';
import { type Reading, readProjection } from '../projections/read.ts';
import { deriveEntries, ledgerPayments, readPayments, readPrices } from './derive.ts';
import { addEntries, ENTRY_COLUMNS, type EntryRow, entriesOfSources, entryKey, entryOf } from './entries.ts';
import { ledger } from './projection.ts';

/** The sum of postings; debits are positive. */
export interface AccountSum {
  account: string;
  currency: string;
  amount: bigint;
}

/** A part of the sum of an account, by the day on which it becomes available; today for all that is. */
export type AvailableSum = AccountSum & { availableOn: string };

export interface TrialSum {
  account: string;
  currency: string;
  debit: bigint;
  credit: bigint;
}

export interface EntryFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  paymentId?: string | undefined;
  /** A category, or the part before its point. */
  category?: string | undefined;
  /** The name of a ledger account. */
  account?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** Leaves out what merchants do not see. */
  isMerchant: boolean;
}

export type EntryCursor = Pick<LedgerEntry, 'postedAt' | 'entryId'>;

/** What is read, and whether it contains everything: false while payments from before an upgrade are being added. */
export interface Complete<Rows> {
  rows: Rows;
  isComplete: boolean;
}

/** What margins are grouped by, besides the currency. */
export const MARGIN_GROUPS = ['day', 'mid', 'brand', 'connector'] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

/** Fees, without tax, and costs of one group; the columns that it is not grouped by are null. */
export interface Margin extends Record<MarginGroup, string | null> {
  currency: string;
  fees: bigint;
  costs: bigint;
}

/** What a provider charged for the event of a history row, by its statement. */
export interface RealCost {
  sourceId: string;
  mid: string;
  paymentId: string;
  seq: number;
  type: 'sale' | 'refund' | 'chargeback';
  fee: bigint;
  currency: string;
  postedAt: number;
  note: string | null;
}

/** What was posted to the account of a provider on a day. */
export type ReceivableSum = DaySum & { account: string; currency: string };

export interface LedgerStore {
  /** The sums of what providers owe, by day. */
  receivables(): Promise<Complete<ReceivableSum[]>>;
  /** Posts what costs are more or less than the ledger has of them; an entry that corrects an estimate names it. */
  postCosts(costs: readonly RealCost[]): Promise<void>;
  /** Of the entries that were posted on these days, the last one included. */
  margins(
    days: { from: string; to: string; mid?: string | undefined },
    groups: readonly MarginGroup[],
  ): Promise<Complete<Margin[]>>;
  /** The sums of the ledger accounts of a merchant; what is available on this day or before counts as of this day. */
  balances(mid: string, today: string): Promise<Complete<AvailableSum[]>>;
  /** The balances of merchants; null means all. */
  owed(mids: readonly string[] | null, today: string): Promise<Complete<AvailableSum[]>>;
  /** Newest first. */
  entries(filter: EntryFilter, limit: number, before?: EntryCursor): Promise<LedgerEntry[]>;
  /** All entries of a payment, in the order in which they were posted. */
  ofPayment(payment: { mid: string; paymentId: string }): Promise<LedgerEntry[]>;
  /** The sums of all ledger accounts, of entries that were posted until this moment, or of all. */
  trialBalance(at?: number): Promise<Complete<TrialSum[]>>;
}

/** The categories whose postings are all of the operator or a provider. */
const HIDDEN = CATEGORY_GROUPS.filter((group) =>
  [CATEGORIES[group].debit, CATEGORIES[group].credit].every(
    (account) => !isOfMerchant({ account: LEDGER_ACCOUNTS[account].name }),
  ),
);

const groupOfText = (category: string): string => category.split('.', 1)[0] as string;

/** The entries that the tables do not contain, of these accounts or of all. */
async function missing({ client, tail }: Reading, mids: readonly string[] | null): Promise<LedgerEntry[]> {
  if (tail === NO_ROWS) return [];
  const own = mids === null ? '' : `where t.mid in (${['null', ...mids.map((mid) => `'${mid}'`)].join(', ')})`;
  const derived = await deriveEntries(client, ledgerPayments(`select * from (${tail.history}) t ${own}`));
  if (derived.length === 0) return [];
  const stored = new Set(
    (await entriesOfSources(client, [...new Set(derived.map(({ sourceId }) => sourceId))])).map(entryKey),
  );
  return derived.filter((entry) => !stored.has(entryKey(entry)));
}

/** Newest first. */
const byTime = (a: EntryCursor, b: EntryCursor): number => b.postedAt - a.postedAt || compare(b.entryId, a.entryId);

/** Whether an entry that is not in the tables belongs to a list. */
function isListed(entry: LedgerEntry, filter: EntryFilter): boolean {
  const { mids, mid, paymentId, category, account, from, to, isMerchant } = filter;
  const group = groupOfText(entry.category);
  return (
    (mids === null || mids.includes(entry.mid ?? '')) &&
    (mid === undefined || entry.mid === mid) &&
    (paymentId === undefined || entry.paymentId === paymentId) &&
    (category === undefined || entry.category === category || group === category) &&
    (account === undefined || entry.postings.some((posting) => posting.account === account)) &&
    (from === undefined || entry.postedAt >= from) &&
    (to === undefined || entry.postedAt < to) &&
    !(isMerchant && HIDDEN.some((hidden) => hidden === group))
  );
}

function listStatement(filter: EntryFilter, limit: number, before: EntryCursor | undefined) {
  const { mids, mid, paymentId, category, account, from, to, isMerchant } = filter;
  const values: unknown[] = [];
  const value = (one: unknown): string => `$${values.push(one)}`;
  const about = (id: string): string => `(e.source_id = ${id} or e.payment_id = ${id} and e.payment_id <> e.source_id)`;
  const conditions = [
    mids !== null && `e.mid = any(${value(mids)}::uuid[])`,
    mid !== undefined && `e.mid = ${value(mid)}::uuid`,
    paymentId !== undefined && about(`${value(paymentId)}::uuid`),
    category !== undefined && `${value(category)} in (e.category, split_part(e.category, '.', 1))`,
    account !== undefined && `${value(account)} = any(e.accounts)`,
    from !== undefined && `e.posted_at >= ${value(iso(from))}::timestamptz`,
    to !== undefined && `e.posted_at < ${value(iso(to))}::timestamptz`,
    isMerchant && `split_part(e.category, '.', 1) <> all(${value(HIDDEN)}::text[])`,
    before &&
      `(e.posted_at, e.entry_id) < (${value(iso(before.postedAt))}::timestamptz, ${value(before.entryId)}::uuid)`,
  ].filter(Boolean);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const text = `select ${ENTRY_COLUMNS} from ledger_entries e ${where}
    order by e.posted_at desc, e.entry_id desc limit ${value(limit)}`;
  return { text, values };
}

/** All of it from the totals; what becomes available later is found by its day, and is not available. */
const SUMS_OF_ACCOUNT = `
  with later as materialized (
    select account, currency, available_on, sum(debit - credit) as amount
    from ledger_sums where account = any($1::text[]) and available_on > $2::date group by 1, 2, 3
  )
  select account, currency, $2::date::text as "availableOn", sum(amount)::text as amount from (
    select account, currency, debit - credit as amount from ledger_totals where account = any($1) and grain = 'month'
    union all select account, currency, -amount from later
  ) sums group by 1, 2
  union all select account, currency, available_on::text, amount::text from later`;

/** The accounts of merchants are next to each other in the index. */
const SUMS_OF_BALANCES = `
  select account, currency, greatest(available_on, $2::date)::text as "availableOn", sum(debit - credit)::text as amount
  from ledger_sums where account >= 'merchant:' and account < 'merchant;' and account like '%:balance'
    and ($1::text[] is null or account = any($1)) group by 1, 2, 3`;

const HOUR_MS = 3_600_000;

/** Totals of whole months, then of whole days, sums of whole hours, and the postings of the last one. */
const TRIAL_SUMS = `
  with moment as materialized (
    select $1::timestamptz as hour, date_trunc('day', $1::timestamptz, 'UTC') as day,
      date_trunc('month', $1::timestamptz, 'UTC') as month
  )
  select account, currency, sum(debit)::text as debit, sum(credit)::text as credit from (
    select account, currency, debit, credit from ledger_totals
    where grain = 'month' and ($1 is null or starts_at < (select month from moment))
    union all
    select account, currency, debit, credit from ledger_totals
    where grain = 'day' and starts_at >= (select month from moment) and starts_at < (select day from moment)
    union all
    select account, currency, debit, credit from ledger_sums where hour >= (select day from moment) and hour < $1
    union all
    select p.account, e.currency, greatest(p.amount, 0), greatest(-p.amount, 0)
    from ledger_entries e cross join lateral unnest(e.accounts, e.amounts) p(account, amount)
    where e.posted_at >= $1 and e.posted_at <= $2
  ) sums group by account, currency`;

/** The accounts of providers are next to each other in the index. */
const RECEIVABLES = `
  select account, currency, (starts_at at time zone 'UTC')::date::text as day, debit::text, credit::text
  from ledger_totals where account >= 'provider:' and account < 'provider;' and grain = 'day'`;

/** Adds values under the same key. */
function addTo<Sum extends object>(sums: Map<string, Sum>, key: string, sum: Sum, add: (to: Sum) => void): void {
  const existing = sums.get(key);
  if (existing) add(existing);
  else sums.set(key, sum);
}

const ledgerAccount = (mid: string, account: 'balance' | 'reserve' | 'inTransit'): string =>
  LEDGER_ACCOUNTS[account].name.replace('{mid}', mid);

export function createLedgerStore(database: Database): LedgerStore {
  /** The sums of a query, and of what it does not contain yet. */
  const availableSums = (
    text: string,
    accounts: readonly string[] | null,
    mids: readonly string[] | null,
    today: string,
    isRead: (account: string) => boolean,
  ): Promise<Complete<AvailableSum[]>> =>
    readProjection(database, ledger, async (reading) => {
      const { rows } = await reading.client.query<Omit<AvailableSum, 'amount'> & { amount: string }>(text, [
        accounts,
        today,
      ]);
      const sums = new Map<string, AvailableSum>();
      const add = (sum: AvailableSum): void =>
        addTo(sums, `${sum.account} ${sum.currency} ${sum.availableOn}`, sum, (to) => {
          to.amount += sum.amount;
        });
      for (const row of rows) add({ ...row, amount: BigInt(row.amount) });
      for (const { currency, availableOn, postings } of await missing(reading, mids)) {
        for (const { account, amount } of postings) {
          if (isRead(account))
            add({ account, currency, availableOn: compare(availableOn, today) > 0 ? availableOn : today, amount });
        }
      }
      return { rows: [...sums.values()], isComplete: reading.isComplete };
    });

  return {
    balances: (mid, today) => {
      const accounts = (['balance', 'reserve', 'inTransit'] as const).map((account) => ledgerAccount(mid, account));
      return availableSums(SUMS_OF_ACCOUNT, accounts, [mid], today, (account) => accounts.includes(account));
    },

    owed: (mids, today) => {
      const accounts = mids?.map((mid) => ledgerAccount(mid, 'balance')) ?? null;
      return availableSums(SUMS_OF_BALANCES, accounts, mids, today, (account) => account.endsWith(':balance'));
    },

    entries: (filter, limit, before) =>
      readProjection(database, ledger, async (reading) => {
        const { text, values } = listStatement(filter, limit, before);
        // In the order of an index, whatever the planner expects of a filter; a payment has few entries.
        if (filter.paymentId === undefined) await reading.client.query('set local enable_bitmapscan = off');
        const { rows } = await reading.client.query<EntryRow>(text, values);
        const newer = (await missing(reading, filter.mid === undefined ? filter.mids : [filter.mid])).filter(
          (entry) => isListed(entry, filter) && (!before || byTime(before, entry) < 0),
        );
        return [...newer, ...rows.map(entryOf)].toSorted(byTime).slice(0, limit);
      }),

    ofPayment: ({ mid, paymentId }) =>
      readProjection(database, ledger, async ({ client }) => {
        const derived = await deriveEntries(client, `select '${mid}'::uuid as mid, '${paymentId}'::uuid as payment_id`);
        const { text, values } = listStatement({ mids: [mid], paymentId, isMerchant: false }, ENTRIES_MOST, undefined);
        const others = (await client.query<EntryRow>(text, values)).rows
          .map(entryOf)
          .filter(({ sourceId }) => sourceId !== paymentId);
        return [...derived, ...others].sort((a, b) => a.postedAt - b.postedAt || a.seq - b.seq);
      }),

    margins: ({ from, to, mid }, groups) =>
      readProjection(database, ledger, async (reading) => {
        const columns = MARGIN_GROUPS.map((group) => (groups.includes(group) ? `${group}::text` : `null as ${group}`));
        const { rows } = await reading.client.query<Omit<Margin, 'fees' | 'costs'> & Record<'fees' | 'costs', string>>(
          `select ${columns.join(', ')}, currency, sum(fees)::text as fees, sum(costs)::text as costs from ledger_margins
           where day >= $1::date and day <= $2::date and ($3::uuid is null or mid = $3) group by 1, 2, 3, 4, 5`,
          [from, to, mid ?? null],
        );
        const sums = new Map<string, Margin>();
        const add = (sum: Margin): void =>
          addTo(sums, JSON.stringify([...MARGIN_GROUPS.map((group) => sum[group]), sum.currency]), sum, (to) => {
            to.fees += sum.fees;
            to.costs += sum.costs;
          });
        for (const { fees, costs, ...row } of rows) add({ ...row, fees: BigInt(fees), costs: BigInt(costs) });
        for (const entry of await missing(reading, mid === undefined ? null : [mid])) {
          const day = availableAfter(entry.postedAt);
          const sumOf = (name: string): bigint =>
            entry.postings.reduce((sum, { account, amount }) => (account === name ? sum + amount : sum), 0n);
          const [fees, costs] = [-sumOf(LEDGER_ACCOUNTS.fees.name), sumOf(LEDGER_ACCOUNTS.costs.name)];
          if (day < from || day > to || (fees === 0n && costs === 0n)) continue;
          const facts: Record<MarginGroup, string | null> = { ...entry, day };
          const grouped = MARGIN_GROUPS.map((group) => [group, groups.includes(group) ? facts[group] : null]);
          add({
            ...(Object.fromEntries(grouped) as Record<MarginGroup, string | null>),
            currency: entry.currency,
            fees,
            costs,
          });
        }
        return { rows: [...sums.values()], isComplete: reading.isComplete };
      }),

    receivables: () =>
      readProjection(database, ledger, async (reading) => {
        const { rows } = await reading.client.query<Record<keyof ReceivableSum, string>>(RECEIVABLES);
        const sums = rows.map(({ debit, credit, ...row }) => ({
          ...row,
          debit: BigInt(debit),
          credit: BigInt(credit),
        }));
        for (const { currency, postedAt, postings } of await missing(reading, null)) {
          const day = availableAfter(postedAt);
          for (const { account, amount } of postings) {
            const sides = { debit: amount > 0n ? amount : 0n, credit: amount < 0n ? -amount : 0n };
            if (account.startsWith('provider:')) sums.push({ account, currency, day, ...sides });
          }
        }
        return { rows: sums, isComplete: reading.isComplete };
      }),

    postCosts: (costs) =>
      inTransaction(database.pool, 'begin', async (client) => {
        await client.query(lockQuery('costs'));
        await keepPrices(client);
        await addEntries(client, await corrections(client, costs));
      }),

    trialBalance: (at) =>
      readProjection(database, ledger, async (reading) => {
        const hour = at === undefined ? null : iso(Math.floor(at / HOUR_MS) * HOUR_MS);
        const { rows } = await reading.client.query<Record<keyof TrialSum, string>>(TRIAL_SUMS, [
          hour,
          at === undefined ? null : iso(at),
        ]);
        const sums = new Map<string, TrialSum>();
        const add = (sum: TrialSum): void =>
          addTo(sums, `${sum.account} ${sum.currency}`, sum, (to) => {
            to.debit += sum.debit;
            to.credit += sum.credit;
          });
        for (const { debit, credit, ...row } of rows) add({ ...row, debit: BigInt(debit), credit: BigInt(credit) });
        for (const { currency, postedAt, postings } of await missing(reading, null)) {
          if (at !== undefined && postedAt > at) continue;
          for (const { account, amount } of postings) {
            add({ account, currency, debit: amount > 0n ? amount : 0n, credit: amount < 0n ? -amount : 0n });
          }
        }
        const sorted = [...sums.values()].toSorted(
          (a, b) => compare(a.account, b.account) || compare(a.currency, b.currency),
        );
        return { rows: sorted, isComplete: reading.isComplete };
      }),
  };
}

/** The entries that make the costs of the ledger those of statements. */
async function corrections(client: Client, costs: readonly RealCost[]): Promise<LedgerEntry[]> {
  const ids = [...new Set(costs.map(({ paymentId }) => paymentId))];
  const payments = await readPayments(
    client,
    `select mid, payment_id from payments where payment_id in (${ids.map((id) => `'${id}'`).join(', ')})`,
  );
  const pricesOf = await readPrices(client, payments);
  const byId = new Map(payments.map((payment) => [payment.paymentId, payment]));
  const { rows } = await client.query<EntryRow>({
    text: `select ${ENTRY_COLUMNS} from ledger_entries e where e.payment_id = any($1::uuid[]) and e.payment_id <> e.source_id`,
    values: [ids],
    types,
  });
  const known = [...payments.flatMap((payment) => entriesOf(payment, pricesOf(payment))), ...rows.map(entryOf)];
  const byPayment = Map.groupBy(known, ({ paymentId }) => paymentId);
  const composed: LedgerEntry[] = [];
  for (const { sourceId, mid, paymentId, seq, type, fee, currency, postedAt, note } of costs) {
    const payment = byId.get(paymentId);
    if (!payment || payment.mid !== mid || payment.currency !== currency) continue;
    const event = type === 'sale' && brandOf(payment.brand)?.isPayout ? 'payout_to_payer' : type;
    const category = `cost.${event}` as const;
    const booked = [...(byPayment.get(paymentId) ?? []), ...composed].filter(
      (entry) => entry.paymentId === paymentId && entry.seq === seq && entry.category === category,
    );
    const amount = fee - booked.reduce((sum, { postings }) => sum + (postings[0]?.amount ?? 0n), 0n);
    if (amount === 0n) continue;
    const { brand, connector } = payment;
    const estimate = booked.find((entry) => entry.sourceId === paymentId);
    const facts = { sourceId, seq, category, mid, paymentId, brand, connector, currency, postedAt, note };
    composed.push(composeEntry({ ...facts, reverses: estimate?.entryId ?? null }, { amount }));
  }
  return composed;
}

/** A payment has far fewer. */
const ENTRIES_MOST = 10_000;
