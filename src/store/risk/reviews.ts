/** The review queue: payments that a rule holds until a person or a deadline decides. */
import { sql } from 'kysely';
import type { ReviewState } from '../../rules/risk/actions.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { CLOCK, columns, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { PaymentKey } from '../payments/payments.ts';
import { DECISION_COLUMNS, type DecisionRow } from './decisions.ts';

/** A review with what a list shows of its payment. */
export interface Review extends DecisionRow {
  orderId: string;
  brand: string;
  state: string;
  amountText: string;
  currency: string;
}

export interface ReviewFilter {
  mid?: string | undefined;
  state?: ReviewState | undefined;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
}

export type ReviewCursor = Pick<DecisionRow, 'at' | 'paymentId'>;

/** What a change of a review is decided on. */
export type ReviewAsRead = PaymentKey & Pick<DecisionRow, 'reviewState' | 'reviewDueAt'>;

/** What is decided about a review. */
export interface ReviewEnding {
  state: Exclude<ReviewState, 'waiting'>;
  at: number;
  by: string;
  note: string | null;
  /** When the work loop carries it out, if the process that decided does not. */
  dueAt: number | null;
}

/** A decision, which is carried out then. */
export type DecisionEnding = ReviewEnding & { state: 'approved' | 'refused' };

export interface ReviewStore {
  /**
   * Oldest first. A payment without money, such as one whose payer is at a bank, does not wait for anybody yet. Those that
   * wait include decided ones until the outcome of their operation is known.
   */
  list(filter: ReviewFilter, limit: number, after?: ReviewCursor): Promise<Review[]>;
  /** How many payments wait. */
  countWaiting(most: number): Promise<number>;
  /** Decides about a review, once; false if it was decided already. */
  end(key: PaymentKey, ending: ReviewEnding, audit?: AuditEntry): Promise<boolean>;
  /**
   * The decision was carried out, or is not yet: then it is looked at again at this time, or the payment waits again. False
   * if the review has changed since it was read; nothing is written then.
   */
  reschedule(asRead: ReviewAsRead, state: ReviewState, dueAt: number | null): Promise<boolean>;
  /** Moves the deadline of a waiting review to this time, if it is later. */
  bringForward(key: PaymentKey, dueAt: number): Promise<void>;
  /** Reviews whose time has come by the clock of their account, or whose payment has ended; those due first come first. */
  due(most: number, after?: Pick<DecisionRow, 'reviewDueAt' | 'paymentId'>): Promise<DecisionRow[]>;
  /** Payments under review that were settled and were never marked: a mark that was dismissed does not return. */
  unmarked(most: number): Promise<PaymentKey[]>;
}

/** SQL: whether the payment `p` has money that can be kept or sent back. */
const HAS_MONEY = `(p.state = 'PENDING' and p.authorised > 0 or p.state = 'SETTLED')`;
const JOINED = 'risk_decisions d join payments p on p.mid = d.mid and p.payment_id = d.payment_id';

export function createReviewStore({ query, pool }: Database): ReviewStore {
  return {
    async list({ mid, state, mids }, limit, after) {
      const conditions = [
        state === undefined && sql`d.review_state is not null`,
        state === 'waiting' && sql`d.review_due_at is not null`,
        state !== undefined && state !== 'waiting' && sql`d.review_state = ${state}`,
        sql.raw(`(d.review_state <> 'waiting' or ${HAS_MONEY})`),
        mid !== undefined && sql`d.mid = ${mid}`,
        mids !== null && sql`d.mid = any(${[...mids]}::uuid[])`,
        after && sql`(d.at, d.payment_id) > (${iso(after.at)}::timestamptz, ${after.paymentId}::uuid)`,
      ].filter((condition) => condition !== false && condition !== undefined);
      const { rows } = await sql<Review>`
        select ${sql.raw(columns('d', DECISION_COLUMNS))}, p.order_id as "orderId", p.brand, p.state,
          p.amount_text as "amountText", p.currency
        from ${sql.raw(JOINED)}
        where ${sql.join(conditions, sql` and `)} order by d.at, d.payment_id limit ${limit}`.execute(query);
      return rows;
    },
    async countWaiting(most) {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from (
           select from ${JOINED} where d.review_due_at is not null and d.review_state = 'waiting' and ${HAS_MONEY} limit $1
         ) s`,
        [most],
      );
      return rows[0]?.count ?? 0;
    },
    end: ({ mid, paymentId }, { state, at, by, note, dueAt }, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numAffectedRows } = await sql`update risk_decisions set review_state = ${state},
            review_due_at = ${isoOrNull(dueAt)}, reviewed_at = ${iso(at)}, reviewed_by = ${by}, review_note = ${note}
          where mid = ${mid} and payment_id = ${paymentId} and review_state = 'waiting'`.execute(transaction);
        if (numAffectedRows !== 1n) return false;
        if (audit) await appendAudit(transaction, audit);
        return true;
      }),
    async reschedule({ mid, paymentId, reviewState, reviewDueAt }, state, dueAt) {
      const { numAffectedRows } = await sql`update risk_decisions
        set review_state = ${state}, review_due_at = ${isoOrNull(dueAt)}
        where mid = ${mid} and payment_id = ${paymentId} and review_state = ${reviewState}
          and review_due_at is not distinct from ${isoOrNull(reviewDueAt)}::timestamptz`.execute(query);
      return numAffectedRows === 1n;
    },
    async bringForward({ mid, paymentId }, dueAt) {
      await sql`update risk_decisions set review_due_at = ${iso(dueAt)} where mid = ${mid} and payment_id = ${paymentId}
        and review_state = 'waiting' and review_due_at > ${iso(dueAt)}`.execute(query);
    },
    async due(most, after) {
      const { rows } = await pool.query<DecisionRow>(
        `with ${CLOCK}
         select ${columns('d', DECISION_COLUMNS)} from ${JOINED} left join clock_offsets c on c.mid = d.mid
         where d.review_due_at is not null
           and (d.review_due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms'
             or d.review_state = 'waiting' and p.state in ('DECLINED', 'VOID', 'REVERSAL', 'EXPIRED', 'REFUND', 'CHARGEBACK'))
           and ($2::timestamptz is null or (d.review_due_at, d.payment_id) > ($2, $3::uuid))
         order by d.review_due_at, d.payment_id limit $1`,
        [most, isoOrNull(after?.reviewDueAt ?? null), after?.paymentId ?? null],
      );
      return rows;
    },
    async unmarked(most) {
      const { rows } = await pool.query<PaymentKey>(
        `select d.mid, d.payment_id as "paymentId" from ${JOINED}
         where d.review_due_at is not null and d.review_state = 'waiting' and p.state = 'SETTLED'
           and p.attention is null and not exists (
             select from history h where h.payment_id = d.payment_id and h.mid = d.mid and h.event = 'held'
           ) limit $1`,
        [most],
      );
      return rows;
    },
  };
}
