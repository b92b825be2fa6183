/** Ledger entries as rows: reads them, and adds those that are missing, together with the sums that contain them. */
import type { LedgerEntry, PlanLine } from '../../rules/ledger.ts';
import { types } from '../database/database.ts';
import { type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import type { Client } from '../projections/projection.ts';

const COLUMNS: Column<LedgerEntry>[] = [
  ['source_id', 'uuid', ({ sourceId }) => sourceId],
  ['seq', 'int', ({ seq }) => seq],
  ['category', 'text', ({ category }) => category],
  ['entry_id', 'uuid', ({ entryId }) => entryId],
  ['mid', 'uuid', ({ mid }) => mid],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
  ['operation_id', 'uuid', ({ operationId }) => operationId],
  ['brand', 'text', ({ brand }) => brand],
  ['connector', 'text', ({ connector }) => connector],
  ['currency', 'text', ({ currency }) => currency],
  ['posted_at', 'timestamptz', ({ postedAt }) => postedAt],
  ['reverses', 'uuid', ({ reverses }) => reverses],
  ['note', 'text', ({ note }) => note],
  ['plan_id', 'uuid', ({ plan }) => plan?.planId ?? null],
  ['plan_version', 'int', ({ plan }) => plan?.version ?? null],
  ['plan_line', 'int', ({ plan }) => plan?.line ?? null],
];

/** Postings are passed by their places; an entry has at most so many. */
const MOST_POSTINGS = 3;
const PLACES = Array.from({ length: MOST_POSTINGS }, (_, index) => index);
const POSTINGS = PLACES.flatMap((place): Column<LedgerEntry>[] => [
  [`account_${place}`, 'text', ({ postings }) => postings[place]?.account ?? null],
  [`amount_${place}`, 'bigint', ({ postings }) => postings[place]?.amount ?? null],
]);

const ITEMS = itemRows<LedgerEntry>([
  ...COLUMNS,
  ['available_on', 'text', ({ availableOn }) => availableOn],
  ...POSTINGS,
]);

const inArray = (name: string): string =>
  `array_remove(array[${PLACES.map((place) => `i.${name}_${place}`).join(', ')}], null)`;

/** SQL: the hour and the day, in UTC, of a time. */
const HOUR = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`;
const DAY = (time: string): string => `(${time} at time zone 'UTC')::date`;

/** The sums of the postings of entries in a table. Only postings of merchants become available on a day of their own. */
export const sumsOf = (entries: string): string => `
  select p.account collate "C" as account, e.currency, ${HOUR('e.posted_at')} as hour,
    case when p.account like 'merchant:%' then e.available_on else ${DAY('e.posted_at')} end as available_on,
    sum(greatest(p.amount, 0)) as debit, sum(greatest(-p.amount, 0)) as credit
  from ${entries} e cross join lateral unnest(e.accounts, e.amounts) p(account, amount)
  group by 1, 2, 3, 4`;

/** The fees and costs of entries in a table, by day; what was returned is deducted. */
export const marginsOf = (entries: string): string => `
  select ${DAY('e.posted_at')} as day, e.mid, e.brand, e.connector, e.currency,
    coalesce(-sum(p.amount) filter (where p.account = 'operator:fees'), 0) as fees,
    coalesce(sum(p.amount) filter (where p.account = 'operator:costs'), 0) as costs
  from ${entries} e cross join lateral unnest(e.accounts, e.amounts) p(account, amount)
  where p.account in ('operator:fees', 'operator:costs') and e.mid is not null and e.brand is not null
  group by 1, 2, 3, 4, 5`;

/** Adds the sums of a table of entries. In this order all transactions lock their rows. */
export const addSums = (entries: string): string => `
  summed as (
    insert into ledger_sums as s (account, currency, hour, available_on, debit, credit)
    ${sumsOf(entries)} order by 1, 2, 3, 4
    on conflict (account, currency, hour, available_on)
      do update set debit = s.debit + excluded.debit, credit = s.credit + excluded.credit
  ), margins as (
    insert into ledger_margins as m (day, mid, brand, connector, currency, fees, costs)
    ${marginsOf(entries)} order by 1, 2, 3, 4, 5
    on conflict (mid, day, brand, connector, currency)
      do update set fees = m.fees + excluded.fees, costs = m.costs + excluded.costs
  )`;

const NAMES = namesOf(COLUMNS);

const ADD = `
  with added as (
    insert into ledger_entries (${listed(NAMES)}, available_on, accounts, amounts)
    select ${listed(NAMES, 'i')}, i.available_on::date, ${inArray('account')}, ${inArray('amount')}
    from ${ITEMS.manyRows('i')}
    on conflict do nothing
    returning *
  ), ${addSums('added')}
  select`;

/** Adds the entries that are not there yet, each of which counts in the sums once. */
export async function addEntries(client: Client, entries: readonly LedgerEntry[]): Promise<void> {
  if (entries.length > 0) await client.query({ name: 'ledger_add', text: ADD, values: ITEMS.values(entries) });
}

/** The columns of an entry `e`, for `entryOf`. */
export const ENTRY_COLUMNS = `e.source_id as "sourceId", e.seq, e.category, e.entry_id as "entryId", e.mid,
  e.payment_id as "paymentId", e.operation_id as "operationId", e.brand, e.connector, e.currency, e.posted_at as "postedAt",
  e.available_on::text as "availableOn", e.reverses, e.note, e.plan_id as "planId", e.plan_version as "planVersion",
  e.plan_line as "planLine", e.accounts, e.amounts::text[] as amounts`;

export type EntryRow = Omit<LedgerEntry, 'plan' | 'postings'> & {
  planId: string | null;
  planVersion: number | null;
  planLine: number | null;
  accounts: string[];
  amounts: string[];
};

export function entryOf({ planId, planVersion, planLine, accounts, amounts, ...entry }: EntryRow): LedgerEntry {
  const plan: PlanLine | null =
    planId === null ? null : { planId, version: planVersion as number, line: planLine as number };
  const postings = accounts.map((account, index) => ({ account, amount: BigInt(amounts[index] as string) }));
  return { ...entry, plan, postings };
}

/** What identifies an entry in the database. */
export const entryKey = ({ sourceId, seq, category }: Pick<LedgerEntry, 'sourceId' | 'seq' | 'category'>): string =>
  `${sourceId} ${seq} ${category}`;

/** All entries of these sources. */
export async function entriesOfSources(client: Client, sources: readonly string[]): Promise<LedgerEntry[]> {
  const text = `select ${ENTRY_COLUMNS} from ledger_entries e where e.source_id = any($1::uuid[])`;
  const { rows } = await client.query<EntryRow>({ text, values: [sources], types });
  return rows.map(entryOf);
}
