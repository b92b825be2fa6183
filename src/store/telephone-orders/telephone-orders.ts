/** The orders that were taken on the phone: who took them, and what became of them. */
import { sql } from 'kysely';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Payment } from '../payments/payments.ts';

export interface TelephoneOrder {
  mid: string;
  /** The first payment of the order. */
  paymentId: string;
  orderId: string;
  takenBy: string | null;
  createdAt: number;
}

/** An order with its newest payment. */
export interface TakenOrder
  extends Omit<TelephoneOrder, 'takenBy'>,
    Pick<Payment, 'state' | 'amountText' | 'currency' | 'authorised' | 'refunded'> {
  description: string;
}

export interface TakenOrderFilter {
  takenBy: string;
  mids: readonly string[] | null;
  mid?: string | undefined;
  before?: string | undefined;
  limit: number;
}

export interface TelephoneOrderStore {
  insert(order: TelephoneOrder): Promise<void>;
  /** Newest first. */
  list(filter: TakenOrderFilter): Promise<TakenOrder[]>;
}

export const createTelephoneOrderStore = ({ query }: Database): TelephoneOrderStore => ({
  async insert(order) {
    await query
      .insertInto('telephoneOrders')
      .values({ ...order, createdAt: iso(order.createdAt) })
      .execute();
  },
  async list({ takenBy, mids, mid, before, limit }) {
    const { rows } = await sql<TakenOrder>`
      select t.mid, t.payment_id as "paymentId", t.order_id as "orderId", t.created_at as "createdAt", p.*
      from telephone_orders t cross join lateral (
        select p.state, p.amount_text as "amountText", p.currency, p.authorised, p.refunded,
          coalesce(p.details ->> 'description', '') as description
        from payments p where p.mid = t.mid and p.order_id = t.order_id order by p.attempt desc limit 1
      ) p
      where t.taken_by = ${takenBy} and (${mids}::uuid[] is null or t.mid = any(${mids}::uuid[]))
        and (${mid ?? null}::uuid is null or t.mid = ${mid ?? null})
        and (${before ?? null}::uuid is null or t.payment_id < ${before ?? null})
      order by t.payment_id desc limit ${limit}`.execute(query);
    return rows;
  },
});
