/** Operations on payments: read for the operator, and found again when their outcome is still to come. */
import { LIMITS } from '../rules/limits.ts';
import { claimStatement, iso } from './columns.ts';
import type { Database } from './database.ts';
import type { OperationRow, Payment } from './payment.ts';

const COLUMNS = [
  'mid',
  'operationId',
  'paymentId',
  'verb',
  'amount',
  'content',
  'orderId',
  'state',
  'reason',
  'asked',
  'dueAt',
  'requestedAt',
  'finishedAt',
] as const satisfies (keyof OperationRow)[];

const CLAIM = claimStatement('operations', 'operation_id', COLUMNS);

export interface OperationStore {
  /** Everything that was done to a payment, oldest first. */
  of(payment: Pick<Payment, 'mid' | 'paymentId'>): Promise<OperationRow[]>;
  find(key: Pick<OperationRow, 'mid' | 'operationId'>): Promise<OperationRow | undefined>;
  /** Takes operations that are due, for as long as the lease lasts. */
  claimDue(now: number, latestNow: number, most: number): Promise<OperationRow[]>;
}

export function createOperationStore({ pool, query }: Database): OperationStore {
  return {
    async of({ mid, paymentId }) {
      const rows = await query
        .selectFrom('operations')
        .select(COLUMNS)
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('requestedAt')
        // Ids that the gateway chose are time-ordered; those that merchants choose are not.
        .orderBy('operationId')
        .execute();
      return rows as OperationRow[];
    },
    async find({ mid, operationId }) {
      const row = await query
        .selectFrom('operations')
        .select(COLUMNS)
        .where('mid', '=', mid)
        .where('operationId', '=', operationId)
        .executeTakeFirst();
      return row as OperationRow | undefined;
    },
    async claimDue(now, latestNow, most) {
      const { rows } = await pool.query<OperationRow>(CLAIM, [iso(now), LIMITS.leaseMs, iso(latestNow), most]);
      return rows;
    },
  };
}
