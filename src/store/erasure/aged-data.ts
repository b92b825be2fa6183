/** Finds and erases data by its age, in portions that are read in the order of an index. */
import { OPEN_STATES } from '../cards/cards.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { erasedBody } from '../payments/notifications.ts';

/** A portion: how many rows were read, how many of them were erased, and where the next portion begins. */
export interface AgedPortion {
  read: number;
  erased: number;
  /** Undefined if nothing was read. */
  next: string | undefined;
}

/** A payment whose data may be erased. */
export interface AgedPayment {
  mid: string;
  paymentId: string;
}

export interface AgedDataStore {
  /** Reads payments after an id, and returns those that have not changed for this time and need no personal data. */
  payments(
    after: string,
    until: string,
    ageMs: number,
    most: number,
  ): Promise<Omit<AgedPortion, 'erased'> & { aged: AgedPayment[] }>;
  /** Erases bodies of callbacks in this state that were created before. */
  callbackBodies(state: 'delivered' | 'parked', after: string, before: number, most: number): Promise<AgedPortion>;
  /** Erases bodies of notifications in this state that were received before. */
  notificationBodies(state: 'applied' | 'unmatched', after: string, before: number, most: number): Promise<AgedPortion>;
}

/**
 * A payment that can be repeated, or whose card is saved, keeps its data: repetitions need it. A repetition itself does
 * not, unless a subscription began with it.
 */
const PAYMENTS = `
  select p.mid, p.payment_id as "paymentId",
    not p.details ? 'erasedAt' and p.state not in (${OPEN_STATES}) and p.due_at is null and p.busy is null
      and p.reserved = 0 and p.recurring_token is null
      and (p.details ? 'recurringOf' or p.details #>> '{card,token}' is null)
      and p.updated_at < statement_timestamp() - $3 * interval '1 ms' + interval '1 ms' * (
        select coalesce(sum(o.offset_ms), 0) from clock_offsets o where o.mid is null or o.mid = p.mid)
      and not exists (
        select from subscriptions s where s.mid = p.mid and s.schedule_id = p.schedule_id
          and s.first_payment_id = p.payment_id and s.state = 'active'
      ) as "isAged"
  from payments p where p.payment_id > $1 and p.payment_id < $2 order by p.payment_id limit $4`;

/** The position is a JSON list of the sort key; an empty text is the beginning. The log of callbacks has all states. */
const CALLBACK_BODIES = `
  with portion as materialized (
    select c.mid, c.payment_id, c.seq, c.created_at from callback_log c
    where c.created_at < $3
      and ($2 = '' or (c.created_at, c.payment_id, c.seq)
        > (($2::jsonb ->> 0)::timestamptz, ($2::jsonb ->> 1)::uuid, ($2::jsonb ->> 2)::int))
      and c.created_at >= case when $2 = '' then '-infinity' else ($2::jsonb ->> 0)::timestamptz end
    order by c.created_at, c.payment_id, c.seq limit $4
  ), erased as (
    update callbacks t set body = '' from portion p
    where t.mid = p.mid and t.payment_id = p.payment_id and t.seq = p.seq and t.state = $1::callback_state and t.body <> ''
    returning 1
  )
  select (select count(*)::int from portion) as read, (select count(*)::int from erased) as erased,
    (select jsonb_build_array(created_at, payment_id, seq)::text from portion
      order by created_at desc, payment_id desc, seq desc limit 1) as next`;

const NOTIFICATION_BODIES = `
  with portion as materialized (
    select n.connector, n.event_id, n.received_at from provider_notifications n
    where n.state::text = $1 and n.received_at < $3
      and ($2 = '' or (n.received_at, n.connector, n.event_id)
        > (($2::jsonb ->> 0)::timestamptz, $2::jsonb ->> 1, $2::jsonb ->> 2))
      and n.received_at >= case when $2 = '' then '-infinity' else ($2::jsonb ->> 0)::timestamptz end
    order by n.received_at, n.connector, n.event_id limit $4
  ), erased as (
    update provider_notifications t set body = ${erasedBody('t.body')} from portion p
    where t.connector = p.connector and t.event_id = p.event_id and t.due_at is null
      and t.body <> ${erasedBody('t.body')}
    returning 1
  )
  select (select count(*)::int from portion) as read, (select count(*)::int from erased) as erased,
    (select jsonb_build_array(received_at, connector, event_id)::text from portion
      order by received_at desc, connector desc, event_id desc limit 1) as next`;

export function createAgedDataStore({ pool }: Database): AgedDataStore {
  const erase = async (text: string, values: unknown[]): Promise<AgedPortion> => {
    const { rows } = await pool.query<{ read: number; erased: number; next: string | null }>(text, values);
    const { read = 0, erased = 0, next } = rows[0] ?? {};
    return { read, erased, next: next ?? undefined };
  };
  return {
    async payments(after, until, ageMs, most) {
      const { rows } = await pool.query<AgedPayment & { isAged: boolean }>(PAYMENTS, [after, until, ageMs, most]);
      const aged = rows.filter(({ isAged }) => isAged).map(({ mid, paymentId }) => ({ mid, paymentId }));
      return { read: rows.length, aged, next: rows.at(-1)?.paymentId };
    },
    callbackBodies: (state, after, before, most) => erase(CALLBACK_BODIES, [state, after, iso(before), most]),
    notificationBodies: (state, after, before, most) => erase(NOTIFICATION_BODIES, [state, after, iso(before), most]),
  };
}
