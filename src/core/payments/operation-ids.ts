/** Idempotency of operations: a repeated request with the same `operation_id` gets the operation of the first one. */
import { pollUntil } from '../../lib/flow/poll.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { OperationRow, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

/** An operation id that is fixed before the operation starts: by the merchant, or by the reservation of a credit. */
export interface IdempotencyKey {
  operationId: string;
  /** What the request asks for; null if the gateway chose the id. */
  content: string | null;
  /** The order id of a credit that has its own. */
  orderId?: string | undefined;
}

/** Undefined if the merchant sent no `operation_id`. */
export const idempotencyKeyOf = (
  operationId: string,
  kind: 'capture' | 'void' | 'refund' | 'credit' | 'late_refund',
  ...fields: string[]
): { operationId: string; content: string } | undefined =>
  operationId === ''
    ? undefined
    : { operationId: operationId.toLowerCase(), content: JSON.stringify([kind, ...fields]) };

const NEW_OPERATION = 'A new UUID for a new operation, and the same one only to repeat a request unchanged.';

export const duplicateOperation = (): Refusal =>
  new Refusal('duplicateOperation', [
    { field: 'operation_id', sentence: 'Duplicate operation.', expected: NEW_OPERATION },
  ]);

/** The result of an operation that exists already, for a repeat of its request. */
export async function resultOfRepeat(
  gateway: Gateway,
  existing: OperationRow,
  { content }: IdempotencyKey,
): Promise<{ payment: PaymentWithDetails; operation: OperationRow }> {
  if (content !== null && existing.content !== content) throw duplicateOperation();
  // A reserved credit is not waited for: the answer to it only says that it was accepted.
  const operation = content === null ? existing : await awaitOutcome(gateway, existing);
  // Read after the operation, so that it includes the effect of the outcome.
  const payment = await gateway.payments.find(operation);
  if (!payment) throw new Error(`The operation ${operation.operationId} has no payment.`);
  return { payment, operation };
}

/** Waits while the call of the first request is in flight, but not for an outcome that has to be queried later. */
const awaitOutcome = (gateway: Gateway, existing: OperationRow): Promise<OperationRow> =>
  pollUntil(
    existing,
    async (last) => (await gateway.operations.find(existing)) ?? last,
    ({ state, queryCount }) => state !== 'sent' || queryCount > 0,
    { mostMs: LIMITS.duplicateWaitMs },
  );
