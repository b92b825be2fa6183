/** The operator's list of payments: reads every combination of filters through an index. */
import { firstIdAt, LAST_ID } from '../lib/id.ts';
import { LIMITS } from '../rules/limits.ts';
import type { SearchWord } from '../rules/payment-search.ts';
import { columns, iso, snake } from './columns.ts';

export interface PaymentFilter {
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  mid?: string | undefined;
  orderId?: string | undefined;
  state?: string | undefined;
  brand?: string | undefined;
  attention?: string | undefined;
  scheduleId?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  /** The words of a text search; a payment has to match all of them. */
  words?: readonly SearchWord[] | undefined;
  /** The id of the last payment on the previous page. */
  before?: string | undefined;
  limit: number;
}

/**
 * The largest offset of the sandbox clocks. Ids contain real time, and `created_at` that of the account's clock, which
 * only moves forward: the time in an id is at most this much earlier than `created_at`.
 */
export const FURTHEST_CLOCK = `
  select (coalesce(max(offset_ms) filter (where mid is null), 0)
    + coalesce(max(offset_ms) filter (where mid is not null), 0))::float8 as "aheadMs"
  from clock_offsets`;

/** Filters that are compared for equality. */
const EQUAL = ['mid', 'orderId', 'state', 'brand', 'attention', 'scheduleId'] as const;
type Equal = (typeof EQUAL)[number];

/** One access path: an index that is read in order, or a small set that is read completely and sorted. */
interface Path {
  /** The filter whose index is read. */
  leading?: Condition | undefined;
  /** The predicate of a partial index. */
  where?: string;
  /** The condition of a small set. */
  set?: string;
}

interface Condition {
  column: string;
  value: string;
}

const isEqual = ({ column, value }: Condition): string => `${column} = ${value}`;

// These two conditions are the predicates of the partial indexes, word for word, so that the planner can use them. An
// open payment is PREPARE and due: it is found through payments_due, and costs no entry in the other indexes.
export const IS_NOT_OPEN = `(p.state <> 'PREPARE' or p.due_at is null)`;
const BY_STATE = `(p.state not in ('PREPARE', 'SETTLED') or p.state = 'PREPARE' and p.due_at is null)`;
export const IS_OPEN = `p.state = 'PREPARE' and p.due_at is not null`;
const OPEN_PAYMENTS: Path = { set: IS_OPEN };

/** Up to this many accounts are read one by one, each in order of time; more of them are picked out of all payments. */
const MIDS_ONE_BY_ONE = 20;

export type Bind = (value: unknown) => string;

/** The parts of a filter in SQL, for a table or subquery with the alias `p`. */
export interface FilterParts {
  /** The range of ids: at least `low`, and less than `high`. */
  low: string;
  high: string;
  equalities: ReadonlyMap<Equal, Condition>;
  /** The condition that the caller may see the account. */
  scope: string[];
  dates: string[];
  /** The accounts whose payments are read in order of time; undefined means all payments. Binds when it is called. */
  accounts: () => Condition[] | undefined;
}

export function filterParts(filter: PaymentFilter, aheadMs: number, bind: Bind): FilterParts {
  const { mids, mid, from, to, before = LAST_ID } = filter;
  const until = to === undefined ? LAST_ID : firstIdAt(to + LIMITS.paymentIdSkewMs);
  const low = `${bind(firstIdAt(from === undefined ? 0 : from - aheadMs - LIMITS.paymentIdSkewMs))}::uuid`;
  const high = `${bind([before, until].sort()[0])}::uuid`;
  const equalities = new Map<Equal, Condition>();
  for (const name of EQUAL) {
    if (filter[name] !== undefined) equalities.set(name, { column: `p.${snake(name)}`, value: bind(filter[name]) });
  }
  const ofMid = equalities.get('mid');
  const isOneByOne = mid === undefined && mids !== null && mids.length <= MIDS_ONE_BY_ONE;
  return {
    low,
    high,
    equalities,
    scope: mids === null ? [] : [`p.mid = any(${bind(mids)}::uuid[])`],
    // Nearly all payments in the range of ids have these dates, but the planner assumes that ids and dates are
    // independent, expects few rows, and would choose another index and a sort. It has no such estimate for a coalesce.
    dates: [
      ...(from === undefined ? [] : [`coalesce(p.created_at >= ${bind(iso(from))}::timestamptz, false)`]),
      ...(to === undefined ? [] : [`coalesce(p.created_at < ${bind(iso(to))}::timestamptz, false)`]),
    ],
    accounts() {
      if (ofMid) return [ofMid];
      return isOneByOne ? mids.map((one) => ({ column: 'p.mid', value: `${bind(one)}::uuid` })) : undefined;
    },
  };
}

/**
 * The range of ids in the index of a leading column. With an equality the planner might scan all payments in order of
 * time and expect to find enough of them soon, although those of a brand may all be old. A range over the columns of the
 * index, in its order, prevents that.
 */
export const idRange = ({ low, high }: FilterParts, leading?: Condition): string[] =>
  leading
    ? [
        `(${leading.column}, p.payment_id) >= (${leading.value}, ${low})`,
        `(${leading.column}, p.payment_id) < (${leading.value}, ${high})`,
      ]
    : [`p.payment_id >= ${low}`, `p.payment_id < ${high}`];

/** All conditions of the filter except the range of ids and, if given, the leading one. */
export const otherConditions = ({ equalities, scope, dates }: FilterParts, leading?: Condition): string[] => [
  ...[...equalities.values()].filter((equality) => equality !== leading).map(isEqual),
  ...scope,
  ...dates,
];

/** Uses the most selective filter: ordered from the fewest matching payments to the most. */
function pathsOf({ orderId, attention, scheduleId, state, brand }: PaymentFilter, parts: FilterParts): Path[] {
  const by = (name: Equal): Condition | undefined => parts.equalities.get(name);
  if (orderId !== undefined) {
    // An order has few attempts.
    const ofOrder = [by('orderId'), by('mid')].filter((condition) => condition !== undefined);
    return [{ set: ofOrder.map(isEqual).join(' and ') }];
  }
  if (attention !== undefined) return [{ leading: by('attention'), where: 'p.attention is not null' }];
  if (scheduleId !== undefined) return [{ leading: by('scheduleId'), where: 'p.schedule_id is not null' }];
  if (state === 'PREPARE') return [OPEN_PAYMENTS, { leading: by('state'), where: BY_STATE }];
  if (state !== undefined && state !== 'SETTLED') return [{ leading: by('state'), where: BY_STATE }];
  if (brand !== undefined)
    return [{ leading: by('brand'), where: IS_NOT_OPEN }, ...(state === undefined ? [OPEN_PAYMENTS] : [])];
  // Most payments are settled, so a scan in order of time finds them soon.
  return parts.accounts()?.map((leading) => ({ leading })) ?? [{}];
}

/** A statement that lists payments, newest first. */
export function paymentList(
  filter: PaymentFilter,
  names: readonly string[],
  aheadMs: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const parts = filterParts(filter, aheadMs, bind);
  const limit = bind(filter.limit);
  const read = ({ leading, where, set }: Path): string => {
    const conditions = [
      ...idRange(parts, leading),
      ...otherConditions(parts, leading),
      ...(where === undefined ? [] : [where]),
    ].join(' and ');
    // The offset keeps the planner from merging the subquery: the set is read through its own index, and sorted.
    const source = set === undefined ? 'payments' : `(select * from payments p where ${set} offset 0)`;
    const order = [...(leading ? [`${leading.column} desc`] : []), 'p.payment_id desc'].join(', ');
    return `(select ${columns('p', names)} from ${source} p where ${conditions} order by ${order} limit ${limit})`;
  };
  const [first, ...others] = pathsOf(filter, parts).map(read);
  if (others.length === 0) return { text: first as string, values };
  return { text: `${[first, ...others].join(' union all ')} order by "paymentId" desc limit ${limit}`, values };
}
