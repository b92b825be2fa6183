/** Receipts by e-mail: claims due ones under a lease, and records the outcome of each attempt. */
import { LIMITS } from '../../rules/limits.ts';
import { claimStatement, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Payment } from '../payments/payment.ts';

export interface Receipt {
  mid: string;
  paymentId: string;
  state: 'waiting' | 'sent' | 'failed';
  attempts: number;
  /** What the mail server answered to the last attempt, or why there was no answer. */
  reason: string | null;
  dueAt: number | null;
  /** When the payment was settled. */
  createdAt: number;
  attemptedAt: number | null;
}

const COLUMNS = [
  'mid',
  'paymentId',
  'state',
  'attempts',
  'reason',
  'dueAt',
  'createdAt',
  'attemptedAt',
] as const satisfies (keyof Receipt)[];

const CLAIM = claimStatement('receipts', 'payment_id', COLUMNS);

export interface ReceiptStore {
  /** The receipt of a payment, if one is sent by e-mail. */
  of(payment: Pick<Payment, 'mid' | 'paymentId'>): Promise<Receipt | undefined>;
  claimDue(most: number): Promise<Receipt[]>;
  /** Records an attempt; false if the lease was lost, and another process has claimed the receipt. */
  record(
    claimed: Receipt,
    outcome: Pick<Receipt, 'state' | 'reason' | 'dueAt'> & { attemptedAt: number },
  ): Promise<boolean>;
}

export function createReceiptStore({ pool, query }: Database): ReceiptStore {
  return {
    async of({ mid, paymentId }) {
      const row = await query
        .selectFrom('receipts')
        .select(COLUMNS)
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .executeTakeFirst();
      return row as Receipt | undefined;
    },
    async claimDue(most) {
      return (await pool.query<Receipt>(CLAIM, [LIMITS.receiptLeaseMs, most])).rows;
    },
    async record({ mid, paymentId, dueAt: claimedUntil }, { state, reason, dueAt, attemptedAt }) {
      const { rowCount } = await pool.query(
        `update receipts set state = $3, reason = $4, due_at = $5, attempted_at = $6, attempts = attempts + 1
         where mid = $1 and payment_id = $2 and due_at = $7`,
        [mid, paymentId, state, reason, isoOrNull(dueAt), iso(attemptedAt), isoOrNull(claimedUntil)],
      );
      return rowCount === 1;
    },
  };
}
