/** Lists of payments, newest first: reads the projection, and what it does not contain yet from the payments themselves. */
import type { Pool } from 'pg';
import { firstIdAt, isUuid, timeOfId } from '../../lib/crypto/id.ts';
import { LATEST_TIME } from '../../lib/time/date-time.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type SearchWord, searchText } from '../../rules/payment-search.ts';
import { columns, compare, iso, snake } from '../database/columns.ts';
import { type Reading, readProjection } from '../projections/read.ts';
import type { Payment } from './payment.ts';
import { type Blocks, blocksWith, type Term } from './search-blocks.ts';
import { paymentSearch } from './search-projection.ts';
import { CARD_NETWORK, READ_COLUMNS, type ReadRow, readColumns, term } from './search-row.ts';
import { BLOCK_ROWS, valueHashes, wordHashes } from './search-terms.ts';

export interface PaymentFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  orderId?: string | undefined;
  state?: string | undefined;
  brand?: string | undefined;
  attention?: string | undefined;
  scheduleId?: string | undefined;
  channelId?: string | undefined;
  /** The id of a connection, or the name of a connector of the installation. */
  connection?: string | undefined;
  /** The network of the card. */
  network?: string | undefined;
  /** The payer's country. */
  country?: string | undefined;
  currency?: string | undefined;
  /** Decimal numbers, such as `19.99`. */
  amountFrom?: string | undefined;
  amountTo?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** The words of a text search; a payment has to match all of them. */
  words?: readonly SearchWord[] | undefined;
  /** The id of the last payment on the previous page, or the id with which a page ended before it was full. */
  before?: string | undefined;
  limit: number;
  /** Whether the page says how many payments there are. */
  isCounted?: boolean | undefined;
}

export type PaymentSelection = Omit<PaymentFilter, 'before' | 'limit' | 'isCounted'>;

/** What a list shows of a payment besides its own columns. */
export interface ListedPayment extends Payment {
  payerName: string | null;
  payerEmail: string | null;
  payerCountry: string | null;
  description: string | null;
  cardMasked: string | null;
  cardNetwork: string | null;
  linkId: string | null;
  invoiceId: string | null;
  isTelephoneOrder: boolean;
}

export interface PaymentPage {
  /** Newest first. */
  payments: ListedPayment[];
  /** The `before` of the next page; null if this is the last one. */
  next: string | null;
  /** False while the projection is being built: older payments are missing. */
  isComplete: boolean;
  /** Of all pages; undefined if nobody asks. */
  total?: PaymentCount | undefined;
}

/** How many payments there are, up to a maximum; a search may stop earlier. */
export interface PaymentCount {
  count: number;
  /** Whether there are more. */
  isMore: boolean;
}

/** The count of some rows, and whether there are more that were not read. */
const countOf = (count: number, isMore: boolean): PaymentCount =>
  count > LIMITS.countedMost ? { count: LIMITS.countedMost, isMore: true } : { count, isMore };

/** Filters that are compared for equality, each with its column. */
const EQUAL = [
  'mid',
  'state',
  'brand',
  'attention',
  'scheduleId',
  'channelId',
  'connection',
  'network',
  'country',
  'currency',
] as const;

/** Up to this many accounts are read one by one, each in order of time; more of them are found by their blocks. */
const MIDS_ONE_BY_ONE = 20;
/** Up to this many accounts are looked up among the blocks; if there are more, most blocks have some of them. */
const MIDS_LOOKED_UP = 100;

type Bind = (value: unknown) => string;

/** The currencies by their number of decimals. */
const BY_EXPONENT = Map.groupBy(Object.keys(CURRENCIES), (code) => CURRENCIES[code]?.exponent as number);

/** More decimals than any currency has. */
const DECIMALS = 6;

/** A decimal number, such as `19.99`, in millionths. */
function millionths(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
}

/** The bounds of an amount in minor units, for each number of decimals. */
function amountBounds({ amountFrom, amountTo, currency }: PaymentSelection) {
  return [...BY_EXPONENT].flatMap(([exponent, all]) => {
    const currencies = currency === undefined ? all : all.filter((code) => code === currency);
    const unit = 10n ** BigInt(DECIMALS - exponent);
    const low = amountFrom === undefined ? null : (millionths(amountFrom) + unit - 1n) / unit;
    const high = amountTo === undefined ? null : millionths(amountTo) / unit;
    return currencies.length > 0 ? [{ currencies, low, high }] : [];
  });
}

const hasAmount = ({ amountFrom, amountTo }: PaymentSelection): boolean =>
  amountFrom !== undefined || amountTo !== undefined;

/** The conditions on a row `s` of the projection, or on what is read of a payment under the same names. */
function conditionsOf(filter: PaymentSelection, bind: Bind): string[] {
  const { mids, from, to } = filter;
  const amounts = (): string => {
    const groups = amountBounds(filter).map(({ currencies, low, high }) =>
      [
        `s.currency = any(${bind(currencies)}::text[])`,
        ...(low === null ? [] : [`s.amount >= ${bind(low)}::bigint`]),
        ...(high === null ? [] : [`s.amount <= ${bind(high)}::bigint`]),
      ].join(' and '),
    );
    return groups.length === 0 ? 'false' : `(${groups.join(' or ')})`;
  };
  return [
    ...EQUAL.flatMap((name) => (filter[name] === undefined ? [] : [`s.${snake(name)} = ${bind(filter[name])}`])),
    ...(mids === null ? [] : [`s.mid = any(${bind(mids)}::uuid[])`]),
    ...(hasAmount(filter) ? [amounts()] : []),
    ...(from === undefined ? [] : [`s.created_at >= ${bind(iso(from))}::timestamptz`]),
    ...(to === undefined ? [] : [`s.created_at < ${bind(iso(to))}::timestamptz`]),
  ];
}

/** What the blocks of matching payments have; undefined if the order of time, of an account or of all, serves as well. */
function termsOfFilter(filter: PaymentSelection): Term[] | undefined {
  const { mids, words = [] } = filter;
  const names = EQUAL.filter((name) => filter[name] !== undefined);
  const isManyMids = filter.mid === undefined && mids !== null && mids.length > MIDS_ONE_BY_ONE;
  if (words.length === 0 && !isManyMids && !hasAmount(filter) && names.every((name) => name === 'mid'))
    return undefined;
  const isExact = hasAmount(filter) && filter.amountFrom === filter.amountTo;
  return [
    ...words.map((word): Term => [wordHashes(word.text)]),
    ...names.map((name): Term => [valueHashes(term(name, filter[name] as string))]),
    ...(isExact ? [amountBounds(filter).map(({ high }) => valueHashes(term('amount', high as bigint)))] : []),
    ...(filter.mid === undefined && mids !== null && mids.length <= MIDS_LOOKED_UP
      ? [mids.map((mid) => valueHashes(term('mid', mid)))]
      : []),
  ];
}

/** A payment in the order of lists. */
interface Key {
  mid: string;
  paymentId: string;
  createdAt: number;
}

const newestFirst = (a: Key, b: Key): number => b.createdAt - a.createdAt || compare(b.paymentId, a.paymentId);

type Client = Reading['client'];

/** The position of a cursor; an id that no payment has stands for its time. */
async function positionOf(client: Client, before: string | undefined): Promise<Omit<Key, 'mid'> | undefined> {
  if (before === undefined) return undefined;
  const { rows } = await client.query<{ at: number }>(
    'select created_at as at from payments where payment_id = $1 limit 1',
    [before],
  );
  return { paymentId: before, createdAt: rows[0]?.at ?? Math.min(timeOfId(before), LATEST_TIME) };
}

const isBefore = (position: Omit<Key, 'mid'> | undefined, bind: Bind): string[] =>
  position
    ? [
        `(s.created_at, s.payment_id) < (${bind(iso(position.createdAt))}::timestamptz, ${bind(position.paymentId)}::uuid)`,
      ]
    : [];

/** Payments that are read as they are: all that changed since the last fold, and those that a word names exactly. */
interface Live {
  /** The ones that match. */
  matches: Key[];
  /** All of them: their rows in the projection do not count. */
  ids: string[];
}

/** The payments that a word names by the id of the payment or of an operation, or by the order. */
async function named(client: Client, words: readonly SearchWord[]): Promise<Map<string, Set<SearchWord>>> {
  const found = new Map<string, Set<SearchWord>>();
  for (const word of words) {
    const { rows } = await client.query<{ paymentId: string }>(NAMED, [
      word.typed,
      isUuid(word.typed) ? word.typed : null,
      LIMITS.adminPageSizeMost,
    ]);
    for (const { paymentId } of rows) found.set(paymentId, (found.get(paymentId) ?? new Set()).add(word));
  }
  return found;
}

const NAMED = `
  (select payment_id as "paymentId" from payments where order_id = $1 order by payment_id desc limit $3)
  union select payment_id from payments where payment_id = $2::uuid
  union select payment_id from operations where operation_id = $2::uuid`;

async function readLive({ client, tail }: Reading, filter: PaymentSelection): Promise<Live> {
  const { words = [], orderId } = filter;
  const names = await named(client, words);
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const own =
    orderId === undefined
      ? `select t.mid, t.payment_id from (${tail.payments}) t union
         select n.mid, n.payment_id from payments n where n.payment_id = any(${bind([...names.keys()])}::uuid[])`
      : `select n.mid, n.payment_id from payments n where n.order_id = ${bind(orderId)}`;
  const conditions = conditionsOf(filter, bind);
  const { rows } = await client.query<ReadRow & { isMatch: boolean }>(
    `select ${readColumns('s')}, ${['true', ...conditions].join(' and ')} as "isMatch"
     from (${own}) o cross join lateral (
       select ${READ_COLUMNS} from payments p where p.mid = o.mid and p.payment_id = o.payment_id offset 0
     ) s`,
    values,
  );
  const hasAll = (row: ReadRow): boolean => {
    const text = searchText(row);
    return words.every((word) => text.includes(word.text) || names.get(row.paymentId)?.has(word));
  };
  return {
    matches: rows.filter((row) => row.isMatch && (words.length === 0 || hasAll(row))),
    ids: rows.map(({ paymentId }) => paymentId),
  };
}

/** A statement over the projection: its conditions, and the parameters that they have. */
function selection(filter: PaymentSelection, live: Live, position: Omit<Key, 'mid'> | undefined) {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const conditions = [
    ...conditionsOf(filter, bind),
    ...(filter.words ?? []).map((word) => `strpos(s.text, ${bind(word.text)}) > 0`),
    ...isBefore(position, bind),
    ...(live.ids.length === 0 ? [] : [`s.payment_id <> all(${bind(live.ids)}::uuid[])`]),
  ];
  return { values, bind, where: ['true', ...conditions].join(' and ') };
}

const KEY = columns('s', ['mid', 'paymentId', 'createdAt']);
const ORDER = 'order by s.created_at desc, s.payment_id desc';

/** Reads payments in order of time, of each account or of all. */
async function readInOrder(
  client: Client,
  filter: PaymentSelection,
  live: Live,
  position: Omit<Key, 'mid'> | undefined,
  most: number,
): Promise<Key[]> {
  const { mid, mids } = filter;
  const { values, bind, where } = selection(filter, live, position);
  const limit = bind(most);
  const ofEach = mid === undefined && mids !== null ? mids.map((one) => `s.mid = ${bind(one)}::uuid and`) : [''];
  const reads = ofEach.map(
    (account) => `(select ${KEY} from payment_search s where ${account} ${where} ${ORDER} limit ${limit})`,
  );
  const { rows } = await client.query<Key>(reads.join(' union all '), values);
  return rows;
}

/** The rows of some blocks, or those that have no bits yet. The offset keeps the planner from reading all in order of time. */
const sourceOf = (blocks: readonly number[] | { from: number; below: number }, bind: Bind): string =>
  'from' in blocks
    ? `(select * from payment_search o where o.ordinal >= ${bind(blocks.from)}::bigint
        union all select * from payment_search o where o.ordinal < ${bind(blocks.below)}::bigint offset 0)`
    : `unnest(${bind(blocks)}::bigint[]) b(first) cross join lateral
        (select * from payment_search o where o.ordinal >= b.first and o.ordinal < b.first + ${BLOCK_ROWS} offset 0)`;

interface Found {
  keys: Key[];
  /** Everything that was created after this time was read; undefined if everything was. */
  readSince: number | undefined;
  total: PaymentCount | undefined;
}

/** How many rows of some blocks, or of all, match; not more than can be told apart from the maximum. */
async function countRows(
  client: Client,
  filter: PaymentSelection,
  live: Live,
  source: (bind: Bind) => string,
): Promise<number> {
  const { values, bind, where } = selection(filter, live, undefined);
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (select from ${source(bind)} s where ${where} limit ${bind(LIMITS.countedMost + 1)}) counted`,
    values,
  );
  return rows[0]?.count ?? 0;
}

/** The first rows of some blocks; with `isCounted` also how many there are. */
async function firstRows(
  client: Client,
  filter: PaymentSelection,
  live: Live,
  { blocks, position, most, isCounted }: Pick<Blocks, 'blocks'> & Wanted,
): Promise<{ keys: Key[]; count: number }> {
  const { values, bind, where } = selection(filter, live, position);
  const { rows } = await client.query<Key & { count?: number }>(
    `select ${KEY}${isCounted ? ', count(*) over ()::int as count' : ''}
     from ${sourceOf(blocks, bind)} s where ${where} ${ORDER} limit ${bind(most)}`,
    values,
  );
  return { keys: rows, count: rows[0]?.count ?? 0 };
}

/** The part of a list that is read: so many payments, after a position; or from the beginning, with the count of all. */
interface Wanted {
  position: Omit<Key, 'mid'> | undefined;
  most: number;
  isCounted: boolean;
}

/**
 * Reads the blocks that can have matches, newest first, until there are enough, or enough was read. What follows is
 * counted, if that is wanted.
 */
async function readBlocks(
  client: Client,
  filter: PaymentSelection,
  terms: readonly Term[],
  live: Live,
  wanted: Wanted,
): Promise<Found> {
  const { position, most, isCounted } = wanted;
  const { from, to } = filter;
  const until = Math.min(position?.createdAt ?? Number.POSITIVE_INFINITY, to ?? Number.POSITIVE_INFINITY);
  const found: Found = { keys: [], readSince: undefined, total: undefined };
  let [count, isRead, isMore] = [live.matches.length, most === 0, false];
  for await (const { blocks, readSince } of blocksWith(client, terms, { from, until })) {
    if (isRead) count += await countRows(client, filter, live, (bind) => sourceOf(blocks, bind));
    else {
      const rows = await firstRows(client, filter, live, { blocks, ...wanted });
      count += rows.count;
      found.keys = [...found.keys, ...rows.keys].sort(newestFirst).slice(0, most);
      const last = found.keys[most - 1];
      const isFull = last !== undefined && (readSince.time === undefined || last.createdAt > readSince.time);
      isRead = isFull || readSince.isLast;
      if (isRead && !isFull) found.readSince = readSince.time;
    }
    isMore = readSince.isLast && readSince.time !== undefined;
    if (isRead && (!isCounted || count > LIMITS.countedMost)) break;
  }
  return { ...found, total: isCounted ? countOf(count, isMore) : undefined };
}

export interface PaymentLists {
  list(filter: PaymentFilter): Promise<PaymentPage>;
}

const NAME = `concat_ws(' ', p.details #>> '{payer,first_name}', p.details #>> '{payer,last_name}')`;

export function createPaymentLists(pool: Pool, names: readonly string[]): PaymentLists {
  const read = <Result>(work: (reading: Reading) => Promise<Result>): Promise<Result> =>
    readProjection({ pool }, paymentSearch, work);
  const select = `
    select ${columns('p', names)}, nullif(${NAME}, '') as "payerName", p.details #>> '{payer,email}' as "payerEmail",
      p.details #>> '{payer,country}' as "payerCountry", p.details ->> 'description' as description,
      p.details #>> '{card,masked}' as "cardMasked",
      ${CARD_NETWORK} as "cardNetwork",
      p.details #>> '{session,linkId}' as "linkId", p.details #>> '{session,invoiceId}' as "invoiceId",
      p.details #> '{session,isTelephoneOrder}' is not null as "isTelephoneOrder"
    from unnest($1::uuid[], $2::uuid[]) with ordinality k(mid, payment_id, ordinal)
    join payments p on p.mid = k.mid and p.payment_id = k.payment_id order by k.ordinal`;

  return {
    async list(filter) {
      const { mids, before, limit, isCounted = false } = filter;
      if (mids?.length === 0) {
        return { payments: [], next: null, isComplete: true, total: isCounted ? countOf(0, false) : undefined };
      }
      return read(async (reading) => {
        const { client, isComplete } = reading;
        const position = await positionOf(client, before);
        const live = await readLive(reading, filter);
        const isOlder = (key: Key): boolean => position === undefined || newestFirst({ ...position, mid: '' }, key) < 0;
        const matches = live.matches.filter(isOlder);
        const found = await find(client, filter, live, {
          position,
          // One more than the page shows whether there is a next page.
          most: limit + 1,
          isCounted: isCounted && position === undefined,
        });
        const { readSince } = found;
        // What is older than the part that was read belongs to the next page.
        const keys = [...matches, ...found.keys]
          .filter(({ createdAt }) => readSince === undefined || createdAt > readSince)
          .sort(newestFirst)
          .slice(0, limit + 1);
        const shown = keys.slice(0, limit);
        const { rows } = await client.query<ListedPayment>(select, [
          shown.map(({ mid }) => mid),
          shown.map(({ paymentId }) => paymentId),
        ]);
        const end = readSince === undefined ? null : firstIdAt(readSince + 1);
        const next = keys.length > limit ? (shown.at(-1) as Key).paymentId : end;
        const fromStart = { position: undefined, most: 0, isCounted };
        const total = isCounted ? (found.total ?? (await find(client, filter, live, fromStart)).total) : undefined;
        return { payments: rows, next, isComplete, total };
      });
    },
  };
}

/** Reads payments of the projection. */
async function find(client: Client, filter: PaymentSelection, live: Live, wanted: Wanted): Promise<Found> {
  const nothing: Found = { keys: [], readSince: undefined, total: undefined };
  if (filter.orderId !== undefined) return { ...nothing, total: countOf(live.matches.length, false) };
  const terms = termsOfFilter(filter);
  if (terms !== undefined) return readBlocks(client, filter, terms, live, wanted);
  const { position, most, isCounted } = wanted;
  const keys = await readInOrder(client, filter, live, position, most);
  if (!isCounted) return { ...nothing, keys };
  const count = await countRows(client, filter, live, () => 'payment_search');
  return { ...nothing, keys, total: countOf(live.matches.length + count, false) };
}
