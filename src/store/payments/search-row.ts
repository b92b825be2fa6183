/** The row of a payment in the projection that lists and the text search read: how it is read, composed and written. */
import { type SearchedTexts, searchText } from '../../rules/payment-search.ts';
import type { StateName } from '../../rules/states.ts';
import { columns, compare, snake } from '../database/columns.ts';
import { assigned, type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import type { Client } from '../projections/projection.ts';
import type { Payment } from './payment.ts';

/** The columns that filters compare. */
export interface SearchedColumns {
  mid: string;
  paymentId: string;
  historyLength: number;
  createdAt: number;
  state: StateName;
  brand: string;
  /** The id of the connection, or the connector's name if it is the installation's own. */
  connection: string;
  currency: string;
  amount: bigint;
  attention: Payment['attention'];
  scheduleId: string | null;
  channelId: string | null;
  network: string | null;
  country: string | null;
  providerReference: string | null;
  cardId: string | null;
}

/** SQL: the network of the card of a payment `p`. */
export const CARD_NETWORK = `coalesce(p.details #>> '{card,network}', lower(p.details #>> '{wallet,network}'))`;

/** SQL: the columns of a payment `p`, under the names of the projection. */
const COLUMNS: Readonly<Record<keyof SearchedColumns, string>> = {
  mid: 'p.mid',
  paymentId: 'p.payment_id',
  historyLength: 'p.history_length',
  createdAt: 'p.created_at',
  state: 'p.state',
  brand: 'p.brand',
  connection: `regexp_replace(p.connector, '^.*/', '')`,
  currency: 'p.currency',
  amount: 'p.amount',
  attention: 'p.attention',
  scheduleId: 'p.schedule_id',
  channelId: `p.details ->> 'channelId'`,
  network: CARD_NETWORK,
  country: `p.details #>> '{payer,country}'`,
  providerReference: 'p.provider_reference',
  // A card is removed from payments that have its token, that can be repeated, or that are repetitions.
  cardId: `case when p.recurring_token is not null or p.details #>> '{card,token}' is not null
    or p.details ->> 'recurringOf' is not null then (p.details #>> '{card,id}')::uuid end`,
};

/** SQL: what only the text is composed from. */
const TEXTS: Readonly<Record<Exclude<keyof SearchedTexts, keyof SearchedColumns>, string>> = {
  orderId: 'p.order_id',
  amountText: 'p.amount_text',
  description: `p.details ->> 'description'`,
  email: `p.details #>> '{payer,email}'`,
  receiptEmail: `p.details ->> 'receiptEmail'`,
  firstName: `p.details #>> '{payer,first_name}'`,
  lastName: `p.details #>> '{payer,last_name}'`,
  masked: `p.details #>> '{card,masked}'`,
  recurringToken: 'p.recurring_token',
};

export type ReadRow = SearchedColumns & SearchedTexts;

/** SQL: what a row is composed from, of a payment `p`; names as in the projection. */
export const READ_COLUMNS = Object.entries({ ...COLUMNS, ...TEXTS })
  .map(([name, expression]) => `${expression} as ${snake(name)}`)
  .join(', ');

/** The columns of `READ_COLUMNS` for the caller. */
export const readColumns = (alias: string): string => columns(alias, [...Object.keys(COLUMNS), ...Object.keys(TEXTS)]);

/** The values of a payment by which blocks are found, as `name=value`. The column has the same name. */
export const TERMS = [
  'mid',
  'state',
  'brand',
  'connection',
  'currency',
  'amount',
  'attention',
  'scheduleId',
  'channelId',
  'network',
  'country',
] as const satisfies (keyof SearchedColumns)[];

export const term = (name: (typeof TERMS)[number], value: string | bigint): string => `${name}=${value}`;

/** SQL: the terms of a row, one on each line. */
export const termsOf = (alias: string): string =>
  `concat_ws(E'\\n', ${TERMS.map((name) => `'${name}=' || ${alias}.${snake(name)}`).join(', ')})`;

/** As `termsOf`. */
export const termsText = (row: SearchedColumns): string =>
  TERMS.flatMap((name) => (row[name] === null ? [] : term(name, row[name]))).join('\n');

export interface SearchRow extends SearchedColumns {
  text: string;
  /** Null leaves a row where it is. */
  ordinal: number | null;
}

const ROW: Column<SearchRow>[] = [
  ['mid', 'uuid', ({ mid }) => mid],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
  ['history_length', 'int', ({ historyLength }) => historyLength],
  ['created_at', 'timestamptz', ({ createdAt }) => createdAt],
  ['state', 'payment_state', ({ state }) => state],
  ['brand', 'text', ({ brand }) => brand],
  ['connection', 'text', ({ connection }) => connection],
  ['currency', 'text', ({ currency }) => currency],
  ['amount', 'bigint', ({ amount }) => amount],
  ['attention', 'attention', ({ attention }) => attention],
  ['schedule_id', 'uuid', ({ scheduleId }) => scheduleId],
  ['channel_id', 'text', ({ channelId }) => channelId],
  ['network', 'text', ({ network }) => network],
  ['country', 'text', ({ country }) => country],
  ['provider_reference', 'text', ({ providerReference }) => providerReference],
  ['card_id', 'uuid', ({ cardId }) => cardId],
  ['text', 'text', ({ text }) => text],
  ['ordinal', 'bigint', ({ ordinal }) => (ordinal === null ? null : BigInt(ordinal))],
];

const ROWS = itemRows<SearchRow>(ROW);
const NAMES = namesOf(ROW);
const CHANGED = NAMES.filter((name) => !['mid', 'payment_id', 'created_at', 'ordinal'].includes(name));

/**
 * A payment that was read before a concurrent change is not written after it: the text that an erasure removed does not
 * come back.
 */
const WRITE = `
  insert into payment_search as s (${listed(NAMES)})
  select ${listed(NAMES, 'i')} from ${ROWS.manyRows('i')}
  on conflict (payment_id, mid) do update
  set ${assigned(CHANGED, 'excluded')}, ordinal = coalesce(excluded.ordinal, s.ordinal)
  where s.history_length <= excluded.history_length`;

/** Writes rows in the order of their ids, so that concurrent writers do not wait for each other in a circle. */
async function write(run: Run, rows: readonly SearchRow[]): Promise<void> {
  await run(WRITE, ROWS.values(rows.toSorted((a, b) => compare(a.paymentId, b.paymentId))));
}

export const writeSearchRows = (client: Client, rows: readonly SearchRow[]): Promise<void> =>
  write(async (text, values) => (await client.query({ name: 'write_payment_search', text, values })).rows, rows);

export const searchRow = (read: ReadRow, ordinal: number | null = null): SearchRow => ({
  ...read,
  text: searchText(read),
  ordinal,
});

/** Runs a statement in the transaction of the caller. */
export type Run = <Row>(text: string, values: unknown[]) => Promise<readonly Row[]>;

/** Writes the rows of payments of an account anew, in the transaction that changes what may be kept of them. */
export async function rewriteSearchRows(run: Run, mid: string, paymentIds: readonly string[]): Promise<void> {
  const rows = await run<ReadRow>(
    `select ${readColumns('c')} from (
       select ${READ_COLUMNS} from payments p where p.mid = $1 and p.payment_id = any($2::uuid[])
     ) c`,
    [mid, paymentIds],
  );
  await write(
    run,
    rows.map((row) => searchRow(row)),
  );
}
