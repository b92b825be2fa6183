/** Operations on payments: reads them, and claims those whose outcome is still open. */
import { LIMITS } from '../../rules/limits.ts';
import { claimStatement, dueConnectors, dueSince, hastenStatement } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { OperationRow, Payment } from './payment.ts';

const COLUMNS = [
  'mid',
  'operationId',
  'paymentId',
  'connector',
  'verb',
  'amount',
  'content',
  'orderId',
  'requestedBy',
  'state',
  'reason',
  'providerReference',
  'providerState',
  'queryCount',
  'dueAt',
  'requestedAt',
  'finishedAt',
] as const satisfies (keyof OperationRow)[];

const CLAIM = claimStatement('operations', 'operation_id', COLUMNS, `d.connector = $3 and ${dueSince('$4')}`);
const HASTEN = hastenStatement('operations', 'operation_id', "d.state = 'sent'");
const DUE_CONNECTORS = dueConnectors('operations');

export interface OperationStore {
  /** All operations on a payment, oldest first. */
  of(payment: Pick<Payment, 'mid' | 'paymentId'>): Promise<OperationRow[]>;
  find(key: Pick<OperationRow, 'mid' | 'operationId'>): Promise<OperationRow | undefined>;
  /** The connectors with operations to query, now or later. */
  dueConnectors(): Promise<string[]>;
  /** Claims operations of a connector that are due, with a lease; with `sinceMs`, those that were not due longer ago. */
  claimDue(connector: string, most: number, sinceMs?: number): Promise<OperationRow[]>;
  /** The connector responds again: brings forward the queries for its open operations. */
  hasten(connector: string): Promise<void>;
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
    async dueConnectors() {
      const { rows } = await pool.query<{ connector: string }>(DUE_CONNECTORS);
      return rows.map(({ connector }) => connector);
    },
    async claimDue(connector, most, sinceMs) {
      const { rows } = await pool.query<OperationRow>(CLAIM, [LIMITS.leaseMs, most, connector, sinceMs ?? null]);
      return rows;
    },
    async hasten(connector) {
      await pool.query(HASTEN, [connector, LIMITS.backlogPauseMs, LIMITS.backlogMost, LIMITS.leaseMs]);
    },
  };
}
