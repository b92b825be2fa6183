/** The operator's list of payments: reads every combination of filters through an index. */
import { firstIdAt } from '../lib/id.ts';
import { LIMITS } from '../rules/limits.ts';
import { columns, iso, snake } from './columns.ts';

export interface PaymentFilter {
  mid?: string | undefined;
  orderId?: string | undefined;
  state?: string | undefined;
  brand?: string | undefined;
  attention?: string | undefined;
  scheduleId?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
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

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Filters that are compared for equality. */
const EQUAL = ['mid', 'orderId', 'state', 'brand', 'attention', 'scheduleId'] as const;
type Equal = (typeof EQUAL)[number];

/** One access path: an index that is read in order, or a small set that is read completely and sorted. */
interface Path {
  /** The filter whose index is read. */
  key?: Equal;
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
const BY_BRAND = `(p.state <> 'PREPARE' or p.due_at is null)`;
const BY_STATE = `(p.state not in ('PREPARE', 'SETTLED') or p.state = 'PREPARE' and p.due_at is null)`;
const OPEN_PAYMENTS: Path = { set: `p.state = 'PREPARE' and p.due_at is not null` };

/** Uses the most selective filter: ordered from the fewest matching payments to the most. */
function pathsOf(
  { orderId, attention, scheduleId, state, brand, mid }: PaymentFilter,
  conditions: ReadonlyMap<Equal, Condition>,
): Path[] {
  if (orderId !== undefined) {
    // An order has few attempts.
    const ofOrder = [conditions.get('orderId'), conditions.get('mid')].filter((condition) => condition !== undefined);
    return [{ set: ofOrder.map(isEqual).join(' and ') }];
  }
  if (attention !== undefined) return [{ key: 'attention', where: 'p.attention is not null' }];
  if (scheduleId !== undefined) return [{ key: 'scheduleId', where: 'p.schedule_id is not null' }];
  if (state === 'PREPARE') return [OPEN_PAYMENTS, { key: 'state', where: BY_STATE }];
  if (state !== undefined && state !== 'SETTLED') return [{ key: 'state', where: BY_STATE }];
  if (brand !== undefined) return [{ key: 'brand', where: BY_BRAND }, ...(state === undefined ? [OPEN_PAYMENTS] : [])];
  // Most payments are settled, so a scan in order of time finds them soon.
  return mid === undefined ? [{}] : [{ key: 'mid' }];
}

/** A statement that lists payments, newest first. */
export function paymentList(
  filter: PaymentFilter,
  names: readonly string[],
  aheadMs: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { from, to, before = LAST_ID } = filter;
  const until = to === undefined ? LAST_ID : firstIdAt(to + LIMITS.paymentIdSkewMs);
  const low = `${bind(firstIdAt(from === undefined ? 0 : from - aheadMs - LIMITS.paymentIdSkewMs))}::uuid`;
  const high = `${bind([before, until].sort()[0])}::uuid`;
  const limit = bind(filter.limit);
  const equalities = new Map<Equal, Condition>();
  for (const name of EQUAL) {
    if (filter[name] !== undefined) equalities.set(name, { column: `p.${snake(name)}`, value: bind(filter[name]) });
  }
  // Nearly all payments in the range of ids have these dates, but the planner assumes that ids and dates are
  // independent, expects few rows, and would choose another index and a sort. It has no such estimate for a coalesce.
  const dates = [
    ...(from === undefined ? [] : [`coalesce(p.created_at >= ${bind(iso(from))}::timestamptz, false)`]),
    ...(to === undefined ? [] : [`coalesce(p.created_at < ${bind(iso(to))}::timestamptz, false)`]),
  ];
  const read = ({ key, where, set }: Path): string => {
    const leading = key && equalities.get(key);
    // With an equality the planner might scan all payments in order of time and expect to find enough of them soon,
    // although those of a brand may all be old. A range over the columns of the index, in its order, prevents that.
    const range = leading
      ? [
          `(${leading.column}, p.payment_id) >= (${leading.value}, ${low})`,
          `(${leading.column}, p.payment_id) < (${leading.value}, ${high})`,
        ]
      : [`p.payment_id >= ${low}`, `p.payment_id < ${high}`];
    const others = [...equalities.values()].filter((equality) => equality !== leading).map(isEqual);
    const conditions = [...range, ...others, ...dates, ...(where === undefined ? [] : [where])].join(' and ');
    // The offset keeps the planner from merging the subquery: the set is read through its own index, and sorted.
    const source = set === undefined ? 'payments' : `(select * from payments p where ${set} offset 0)`;
    const order = [...(leading ? [`${leading.column} desc`] : []), 'p.payment_id desc'].join(', ');
    return `(select ${columns('p', names)} from ${source} p where ${conditions} order by ${order} limit ${limit})`;
  };
  const [first, ...others] = pathsOf(filter, equalities).map(read);
  if (others.length === 0) return { text: first as string, values };
  return { text: `${[first, ...others].join(' union all ')} order by "paymentId" desc limit ${limit}`, values };
}
