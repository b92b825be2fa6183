/** Operations on payments: read for the operator, and found again when their outcome is still to come. */
import { LIMITS } from '../rules/limits.ts';
import type { Database } from './database.ts';
import type { OperationRow, Payment } from './payment.ts';

const COLUMNS = [
  'mid',
  'operationId',
  'paymentId',
  'verb',
  'amount',
  'state',
  'reason',
  'asked',
  'dueAt',
  'requestedAt',
  'finishedAt',
] as const satisfies (keyof OperationRow)[];

const CLAIM = `
  update operations o set due_at = due.now + $2 * interval '1 ms'
  from (
    select d.mid, d.operation_id, $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms' as now
    from operations d left join clock_offsets c on c.mid = d.mid
    where d.due_at <= $3::timestamptz
      and d.due_at <= $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms'
    order by d.due_at limit $4 for update of d skip locked
  ) due
  where o.mid = due.mid and o.operation_id = due.operation_id
  returning ${COLUMNS.map((name) => `o.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`).join(', ')}`;

const iso = (ms: number): string => new Date(ms).toISOString();

export interface OperationStore {
  /** Everything that was done to a payment, oldest first. */
  of(payment: Pick<Payment, 'mid' | 'paymentId'>): Promise<OperationRow[]>;
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
        .orderBy('operationId')
        .execute();
      return rows as OperationRow[];
    },
    async claimDue(now, latestNow, most) {
      const { rows } = await pool.query<OperationRow>(CLAIM, [iso(now), LIMITS.leaseMs, iso(latestNow), most]);
      return rows;
    },
  };
}
