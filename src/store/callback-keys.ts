/** Walks through callbacks in the order of their creation, to list them or to resend them in portions. */
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

/** The most callbacks that one statement resends. */
export const RESEND_PORTION = 1000;

export interface PortionRow extends Omit<CallbackKey, 'mid'> {
  /** As text: the database knows it more exactly than we do. */
  createdAt: string;
  isResent: boolean;
}

/** The account of a payment that is known by its id alone. */
export const ownerOf = (paymentId: string) =>
  sql`(select p.mid from payments p where p.payment_id = ${paymentId} limit 1)`;

/**
 * The keys of callbacks in the order of their creation, beyond the key that `from` selects, if any. The indexes lead
 * through one state at a time, so each is read apart, as far as the limit at most, and then they are merged.
 */
export function keys(
  filter: CallbackFilter & { seq?: number | undefined },
  order: 'asc' | 'desc',
  limit: number,
  from: RawBuilder<unknown> | undefined,
): RawBuilder<unknown> {
  const { mid, paymentId, seq, state } = filter;
  const inOrder = sql.raw(['created_at', 'payment_id', 'seq'].map((name) => `${name} ${order}`).join(', '));
  const beyond = sql.raw(order === 'asc' ? '>' : '<');
  const conditions = [
    ...(mid === undefined ? [] : [sql`c.mid = ${mid}`]),
    ...(paymentId === undefined ? [] : [sql`c.payment_id = ${paymentId}`, sql`c.mid = ${ownerOf(paymentId)}`]),
    ...(seq === undefined ? [] : [sql`c.seq = ${seq}`]),
    ...(filter.from === undefined ? [] : [sql`c.created_at >= ${iso(filter.from)}`]),
    ...(filter.to === undefined ? [] : [sql`c.created_at < ${iso(filter.to)}`]),
    ...(from === undefined
      ? []
      : [
          // The first line is for the index, which has the time only.
          sql`c.created_at ${beyond}= (select f.created_at from start f)`,
          sql`(c.created_at, c.payment_id, c.seq) ${beyond} (select f.created_at, f.payment_id, f.seq from start f)`,
        ]),
  ];
  const ofState = (one: CallbackState) => sql`(
    select c.mid, c.payment_id, c.seq, c.created_at from callbacks c
    where ${sql.join([sql`c.state = ${one}`, ...conditions], sql` and `)} order by ${inOrder} limit ${limit}
  )`;
  const states = state === undefined ? CALLBACK_STATES : [state];
  const start = from === undefined ? sql`` : sql`with start (created_at, payment_id, seq) as (${from})`;
  return sql`${start} select * from (${sql.join(states.map(ofState), sql` union all `)}) k
    order by ${inOrder} limit ${limit}`;
}

const anew = (now: number) =>
  sql`state = 'waiting', reason = null, retry_index = 0, due_at = ${iso(now)}, is_leased = false, finished_at = null`;

/** Resends callbacks that no other statement has locked, and says of each whether it was. It never waits for a lock. */
export const resendPortion = (portion: RawBuilder<unknown>, now: number) => sql<PortionRow>`
  with portion as materialized (${portion}),
  free as materialized (
    select c.mid, c.payment_id, c.seq from portion p join callbacks c using (mid, payment_id, seq)
    for update of c skip locked
  ), resent as (
    update callbacks t set ${anew(now)} from free f
    where t.mid = f.mid and t.payment_id = f.payment_id and t.seq = f.seq
    returning t.mid, t.payment_id, t.seq
  )
  select p.payment_id as "paymentId", p.seq, p.created_at::text as "createdAt", r.seq is not null as "isResent"
  from portion p left join resent r using (mid, payment_id, seq)
  order by p.created_at, p.payment_id, p.seq`;

export const resendOne = ({ mid, paymentId, seq }: CallbackKey, now: number) => sql`
  update callbacks set ${anew(now)} where mid = ${mid} and payment_id = ${paymentId} and seq = ${seq}`;
