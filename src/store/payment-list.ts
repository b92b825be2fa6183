/** The operator's list of payments: every filter and every combination of filters is read along an index. */
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
  /** The id of the last payment of the page before. */
  before?: string | undefined;
  limit: number;
}

/**
 * How far the sandbox clock runs ahead at most. Ids carry real time and `created_at` the clock of the account, which is
 * only ever moved forward: the id of a payment is at most this much older than `created_at`.
 */
export const FURTHEST_CLOCK = `
  select (coalesce(max(offset_ms) filter (where mid is null), 0)
    + coalesce(max(offset_ms) filter (where mid is not null), 0))::float8 as "aheadMs"
  from clock_offsets`;

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Filters that are compared for equality. */
const EQUAL = ['mid', 'orderId', 'state', 'brand', 'attention', 'scheduleId'] as const;
type Equal = (typeof EQUAL)[number];

/** One way to read payments: the filter whose index is read in order, or a set that is small whatever was asked for. */
interface Path {
  key?: Equal;
  /** The predicate of a partial index. */
  where?: string;
  set?: string;
}

interface Wanted {
  column: string;
  value: string;
}

const isEqual = ({ column, value }: Wanted): string => `${column} = ${value}`;

// These two conditions are the predicates of the partial indexes, word for word, so that the planner can use them. An
// open payment is PREPARE and due: it is found through payments_due, and costs no entry in the other indexes.
const BY_BRAND = `(p.state <> 'PREPARE' or p.due_at is null)`;
const BY_STATE = `(p.state not in ('PREPARE', 'SETTLED') or p.state = 'PREPARE' and p.due_at is null)`;
const OPENING: Path = { set: `p.state = 'PREPARE' and p.due_at is not null` };

/** From the filter that leaves the fewest payments to the one that leaves the most. */
function pathsOf(
  { orderId, attention, scheduleId, state, brand, mid }: PaymentFilter,
  wanted: ReadonlyMap<Equal, Wanted>,
): Path[] {
  if (orderId !== undefined) {
    // An order has few attempts.
    const ofOrder = [wanted.get('orderId'), wanted.get('mid')].filter((one) => one !== undefined);
    return [{ set: ofOrder.map(isEqual).join(' and ') }];
  }
  if (attention !== undefined) return [{ key: 'attention', where: 'p.attention is not null' }];
  if (scheduleId !== undefined) return [{ key: 'scheduleId', where: 'p.schedule_id is not null' }];
  if (state === 'PREPARE') return [OPENING, { key: 'state', where: BY_STATE }];
  if (state !== undefined && state !== 'SETTLED') return [{ key: 'state', where: BY_STATE }];
  if (brand !== undefined) return [{ key: 'brand', where: BY_BRAND }, ...(state === undefined ? [OPENING] : [])];
  // Most payments are settled, so these are found soon in the order of time.
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
  const wanted = new Map<Equal, Wanted>();
  for (const name of EQUAL) {
    if (filter[name] !== undefined) wanted.set(name, { column: `p.${snake(name)}`, value: bind(filter[name]) });
  }
  // Nearly all payments in the range of ids have these dates. The planner takes ids and dates for independent, expects
  // next to no payments, and would rather sort what another index finds; of a coalesce it expects nothing special.
  const dates = [
    ...(from === undefined ? [] : [`coalesce(p.created_at >= ${bind(iso(from))}::timestamptz, false)`]),
    ...(to === undefined ? [] : [`coalesce(p.created_at < ${bind(iso(to))}::timestamptz, false)`]),
  ];
  const read = ({ key, where, set }: Path): string => {
    const leading = key && wanted.get(key);
    // With an equality the planner might read all payments in the order of time instead, and expect to find enough of
    // them soon: it does not know that those of a brand may all be old. A range over the columns of the index, in the
    // order of the index, leaves it no other plan.
    const range = leading
      ? [
          `(${leading.column}, p.payment_id) >= (${leading.value}, ${low})`,
          `(${leading.column}, p.payment_id) < (${leading.value}, ${high})`,
        ]
      : [`p.payment_id >= ${low}`, `p.payment_id < ${high}`];
    const others = [...wanted.values()].filter((one) => one !== leading).map(isEqual);
    const conditions = [...range, ...others, ...dates, ...(where === undefined ? [] : [where])].join(' and ');
    // The offset keeps the set together: it is read through its own index, and sorted.
    const source = set === undefined ? 'payments' : `(select * from payments p where ${set} offset 0)`;
    const order = [...(leading ? [`${leading.column} desc`] : []), 'p.payment_id desc'].join(', ');
    return `(select ${columns('p', names)} from ${source} p where ${conditions} order by ${order} limit ${limit})`;
  };
  const [first, ...others] = pathsOf(filter, wanted).map(read);
  if (others.length === 0) return { text: first as string, values };
  return { text: `${[first, ...others].join(' union all ')} order by "paymentId" desc limit ${limit}`, values };
}
