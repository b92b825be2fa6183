/** The orders that payers began from a link, and the uses that they hold. */
import { type Kysely, sql } from 'kysely';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { FAILED_STATES } from '../payments/write.ts';
import type { Schema } from '../schema.ts';

/** An order, and what its payer began from. */
export interface BegunOrder {
  mid: string;
  sourceId: string;
  orderId: string;
}

/** An attempt of the order, which was opened. */
export interface BegunAttempt extends BegunOrder {
  attempt: number;
}

/** How often something can be paid, and whether it can still be paid at all. */
export interface Offer {
  /** Null for any number. */
  uses: number | null;
  isOpen: boolean;
}

/** `taken`: all uses are held by payments that have succeeded or are under way. `closed`: it cannot be paid any more. */
export type Claim = 'claimed' | 'taken' | 'closed';

/**
 * SQL: the number of orders of a source that hold a use, without one order. A payment holds none if it failed, or has not
 * claimed one.
 */
export const heldUses = (mid: string, sourceId: string, except: string) => sql<{ held: number }>`
  select count(*)::int as held from begun_orders b
  where b.mid = ${mid} and b.source_id = ${sourceId} and b.claimed_at is not null and b.order_id <> ${except}
    and exists (
      select from payments p
      where p.mid = b.mid and p.order_id = b.order_id and p.state not in (${sql.raw(FAILED_STATES)})
        and p.attempt <= coalesce(b.claimed_attempt, p.attempt)
    )`;

/** SQL: the successful payments of a source, and what they captured. */
export const PAID = `
  select count(*)::int as payments, coalesce(sum(p.captured), 0)::bigint as captured
  from begun_orders b join payments p on p.mid = b.mid and p.order_id = b.order_id
  where b.claimed_at is not null and p.state not in (${FAILED_STATES}) and (p.captured > 0 or p.authorised > 0)`;

export interface BegunOrderStore {
  insert(order: BegunOrder, now: number): Promise<void>;
  /** How many other orders hold a use. */
  held(order: BegunOrder): Promise<number>;
  /** Claims a use for an attempt before it is submitted; an order that has one keeps it. */
  claim(attempt: BegunAttempt, now: number): Promise<Claim>;
  /** Whether a claim would be granted now; nothing is written. */
  mayClaim(order: BegunOrder): Promise<Claim>;
}

/** Reads what can be paid, locked until the end of the transaction; undefined if it does not exist. */
export type LockOffer = (transaction: Kysely<Schema>, mid: string, sourceId: string) => Promise<Offer | undefined>;

export function createBegunOrderStore({ query }: Database, locks: readonly LockOffer[]): BegunOrderStore {
  async function mayClaim(transaction: Kysely<Schema>, { mid, sourceId, orderId }: BegunOrder): Promise<Claim> {
    let offer: Offer | undefined;
    for (const lock of locks) offer ??= await lock(transaction, mid, sourceId);
    if (!offer?.isOpen) return 'closed';
    // A statement of its own: it sees what was committed before the lock was granted.
    const held = (await heldUses(mid, sourceId, orderId).execute(transaction)).rows[0]?.held ?? 0;
    return offer.uses !== null && held >= offer.uses ? 'taken' : 'claimed';
  }
  return {
    async insert(order, now) {
      await query
        .insertInto('begunOrders')
        .values({ ...order, createdAt: iso(now) })
        .execute();
    },
    async held({ mid, sourceId, orderId }) {
      return (await heldUses(mid, sourceId, orderId).execute(query)).rows[0]?.held ?? 0;
    },
    mayClaim: (order) => mayClaim(query, order),
    claim: (claimant, now) =>
      query.transaction().execute(async (transaction): Promise<Claim> => {
        const claim = await mayClaim(transaction, claimant);
        if (claim !== 'claimed') return claim;
        const { mid, orderId, attempt } = claimant;
        await sql`
          update begun_orders
          set claimed_at = coalesce(claimed_at, ${iso(now)}), claimed_attempt = greatest(claimed_attempt, ${attempt})
          where mid = ${mid} and order_id = ${orderId} and claimed_attempt is distinct from ${attempt}`.execute(
          transaction,
        );
        return claim;
      }),
  };
}
