/** Selects callbacks in order of creation, to list them in pages or to resend them in portions. */
import { type RawBuilder, sql } from 'kysely';
import { CALLBACK_STATES } from '../rules/callbacks.ts';
import { iso } from './columns.ts';

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
  from?: number | undefined;
  to?: number | undefined;
}

/** How many callbacks one statement resends at most. */
export const RESEND_PORTION = 1000;

export interface PortionRow extends Omit<CallbackKey, 'mid'> {
  /** As text: the database keeps microseconds, a number here only milliseconds. */
  createdAt: string;
  isResent: boolean;
}

/** Subquery: the account of a payment of which only the id is known. */
export const midOfPayment = (paymentId: string) =>
  sql`(select p.mid from payments p where p.payment_id = ${paymentId} limit 1)`;

/**
 * Selects keys of callbacks in order of creation, after the key that `from` selects, if any. The indexes are per state, so
 * each state is read by itself, up to the limit, and the results are merged.
 */
export function selectKeys(
  filter: CallbackFilter & { seq?: number | undefined; mids?: readonly string[] | null; hasBody?: boolean },
  order: 'asc' | 'desc',
  limit: number,
  from: RawBuilder<unknown> | undefined,
): RawBuilder<unknown> {
  const { mid, mids = null, paymentId, seq, state } = filter;
  const ordering = sql.raw(['created_at', 'payment_id', 'seq'].map((name) => `${name} ${order}`).join(', '));
  const beyond = sql.raw(order === 'asc' ? '>' : '<');
  const conditions = [
    ...(mid === undefined ? [] : [sql`c.mid = ${mid}`]),
    ...(mids === null ? [] : [sql`c.mid = any(${[...mids]}::uuid[])`]),
    ...(paymentId === undefined ? [] : [sql`c.payment_id = ${paymentId}`, sql`c.mid = ${midOfPayment(paymentId)}`]),
    ...(seq === undefined ? [] : [sql`c.seq = ${seq}`]),
    ...(filter.hasBody ? [sql`c.body <> ''`] : []),
    ...(filter.from === undefined ? [] : [sql`c.created_at >= ${iso(filter.from)}`]),
    ...(filter.to === undefined ? [] : [sql`c.created_at < ${iso(filter.to)}`]),
    ...(from === undefined
      ? []
      : [
          // The index has only created_at: this condition lets it skip to the start.
          sql`c.created_at ${beyond}= (select f.created_at from start f)`,
          sql`(c.created_at, c.payment_id, c.seq) ${beyond} (select f.created_at, f.payment_id, f.seq from start f)`,
        ]),
  ];
  const ofState = (one: CallbackState) => sql`(
    select c.mid, c.payment_id, c.seq, c.created_at from callbacks c
    where ${sql.join([sql`c.state = ${one}`, ...conditions], sql` and `)} order by ${ordering} limit ${limit}
  )`;
  const states = state === undefined ? CALLBACK_STATES : [state];
  const start = from === undefined ? sql`` : sql`with start (created_at, payment_id, seq) as (${from})`;
  return sql`${start} select * from (${sql.join(states.map(ofState), sql` union all `)}) k
    order by ${ordering} limit ${limit}`;
}

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
  select p.payment_id as "paymentId", p.seq, p.created_at::text as "createdAt", r.seq is not null as "isResent"
  from portion p left join resent r using (mid, payment_id, seq)
  order by p.created_at, p.payment_id, p.seq`;

export const resendOne = ({ mid, paymentId, seq }: CallbackKey, now: number) => sql`
  update callbacks set ${resetColumns(now)} where mid = ${mid} and payment_id = ${paymentId} and seq = ${seq}
    and body <> ''`;
