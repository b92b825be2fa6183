/** Selects callbacks in order of creation, to list them in pages or to resend them in portions. */
import { type RawBuilder, sql } from 'kysely';
import type { CALLBACK_STATES } from '../../rules/callbacks.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { readProjection } from '../projections/read.ts';
import { callbackLog } from './log-projection.ts';

export type CallbackState = (typeof CALLBACK_STATES)[number];

export interface CallbackKey {
  mid: string;
  paymentId: string;
  seq: number;
}

export interface CallbackFilter {
  mid?: string | undefined;
  paymentId?: string | undefined;
  state?: CallbackState | undefined;
  type?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/** How many callbacks one statement resends at most. */
export const RESEND_PORTION = 1000;

export interface PortionRow extends CallbackKey {
  isResent: boolean;
}

/** The key of a callback with its time, in the order of which callbacks are listed. */
export interface PlacedKey extends CallbackKey {
  /** As text: the database keeps microseconds, a number here only milliseconds. */
  createdAt: string;
}

type Order = 'asc' | 'desc';

/** Which callbacks are selected, besides those of the filter. */
export interface Selection extends CallbackFilter {
  seq?: number | undefined;
  mids?: readonly string[] | null;
  /** Leaves out callbacks whose bodies were erased. */
  hasBody?: boolean;
}

const KEY = 'c.mid, c.payment_id, c.seq, c.created_at';

/** Where callbacks in a state are found: the log has all of them. */
const SOURCES: Readonly<Partial<Record<CallbackState, string>>> = {
  parked: `callbacks c where c.state = 'parked'`,
  waiting: 'callbacks c where c.due_at is not null',
};

/** The statement that selects keys in order of creation, after the key `from`, with its values. */
function keysStatement(
  { mid, mids = null, paymentId, seq, state, type, hasBody, from, to }: Selection,
  order: Order,
  limit: number,
  after: PlacedKey | undefined,
  tail: string,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const ordering = ['created_at', 'payment_id', 'seq'].map((name) => `${name} ${order}`).join(', ');
  const beyond = order === 'asc' ? '>' : '<';
  const conditions = [
    ...(mid === undefined ? [] : [`c.mid = ${bind(mid)}`]),
    ...(mids === null ? [] : [`c.mid = any(${bind([...mids])}::uuid[])`]),
    ...(paymentId === undefined ? [] : [`c.payment_id = ${bind(paymentId)}`]),
    ...(seq === undefined ? [] : [`c.seq = ${bind(seq)}`]),
    ...(from === undefined ? [] : [`c.created_at >= ${bind(iso(from))}`]),
    ...(to === undefined ? [] : [`c.created_at < ${bind(iso(to))}`]),
    ...(after === undefined
      ? []
      : [
          `(c.created_at, c.payment_id, c.seq) ${beyond}
            (${bind(after.createdAt)}::timestamptz, ${bind(after.paymentId)}::uuid, ${bind(after.seq)}::int)`,
        ]),
  ];
  const most = bind(limit);
  const read = (source: string, more: readonly string[] = []): string =>
    `(select ${KEY} from ${source} and ${['true', ...conditions, ...more].join(' and ')}
      order by ${ordering.replaceAll(/(\w+) (asc|desc)/g, 'c.$1 $2')} limit ${most})`;
  const isOf = [
    ...(state === undefined ? [] : [`b.state = ${bind(state)}`]),
    ...(type === undefined ? [] : [`b.type = ${bind(type)}`]),
    ...(hasBody ? [`b.body <> ''`] : []),
  ];
  // The state, the type and the body are those of the callback itself; a subquery, so that the log is read in its order.
  const checked =
    isOf.length === 0
      ? []
      : [
          `exists (select from callbacks b where b.mid = c.mid
    and b.payment_id = c.payment_id and b.seq = c.seq and ${isOf.join(' and ')} offset 0)`,
        ];
  const ofPayment = paymentId !== undefined;
  const source = ofPayment
    ? `callbacks c where c.mid = (select p.mid from payments p where p.payment_id = ${bind(paymentId)} limit 1)`
    : state && SOURCES[state];
  const reads =
    source === undefined
      ? [
          read('callback_log c where true', checked),
          read(`(${tail}) h join callbacks c using (mid, payment_id, seq) where true`, checked),
        ]
      : [read(source, checked)];
  return {
    text: `select mid, payment_id as "paymentId", seq, created_at::text as "createdAt"
      from (${reads.join(' union ')}) k order by ${ordering} limit ${most}`,
    values,
  };
}

/** Keys of callbacks in order of creation, after a key: the log, and what it does not contain yet, from one snapshot. */
export const selectKeys = (
  { pool }: Pick<Database, 'pool'>,
  selection: Selection,
  order: Order,
  limit: number,
  after?: PlacedKey,
): Promise<PlacedKey[]> =>
  readProjection({ pool }, callbackLog, async ({ client, tail }) => {
    const { text, values } = keysStatement(selection, order, limit, after, tail.history);
    return (await client.query<PlacedKey>(text, values)).rows;
  });

/** Subquery: the account of a payment of which only the id is known. */
export const midOfPayment = (paymentId: string) =>
  sql`(select p.mid from payments p where p.payment_id = ${paymentId} limit 1)`;

/** SQL: these keys as rows, in their order. */
export const keyRows = (keys: readonly PlacedKey[]) => sql`
  select mid, payment_id, seq, ordinal from unnest(${keys.map(({ mid }) => mid)}::uuid[],
    ${keys.map(({ paymentId }) => paymentId)}::uuid[], ${keys.map(({ seq }) => seq)}::int[])
    with ordinality k(mid, payment_id, seq, ordinal)`;

const resetColumns = (now: number) =>
  sql`state = 'waiting', reason = null, retry_index = 0, due_at = ${iso(now)}, is_leased = false, finished_at = null`;

/** Resends the callbacks of a portion that are not locked, and returns for each whether it was resent. Never waits for a lock. */
export const resendPortion = (portion: RawBuilder<unknown>, now: number) => sql<PortionRow>`
  with portion as materialized (${portion}),
  free as materialized (
    select c.mid, c.payment_id, c.seq from portion p join callbacks c using (mid, payment_id, seq)
    for update of c skip locked
  ), resent as (
    update callbacks t set ${resetColumns(now)} from free f
    where t.mid = f.mid and t.payment_id = f.payment_id and t.seq = f.seq and t.body <> ''
    returning t.mid, t.payment_id, t.seq
  )
  select p.mid, p.payment_id as "paymentId", p.seq, r.seq is not null as "isResent"
  from portion p left join resent r using (mid, payment_id, seq) order by p.ordinal`;

export const resendOne = ({ mid, paymentId, seq }: CallbackKey, now: number) => sql`
  update callbacks set ${resetColumns(now)} where mid = ${mid} and payment_id = ${paymentId} and seq = ${seq}
    and body <> ''`;
