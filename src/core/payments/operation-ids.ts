/** Ids that merchants choose for operations: a repeat of the request gets the operation that the first one began. */
import { pollUntil } from '../../lib/poll.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { OperationRow, WholePayment } from '../../store/payments.ts';
import type { Gateway } from '../context.ts';

/** The id of an operation that was chosen before it begins, by the merchant or by the reservation of a credit. */
export interface IdempotencyKey {
  operationId: string;
  /** What the merchant asks for under an id of its own choice; null when the gateway chose the id. */
  content: string | null;
  /** The own order of a credit. */
  orderId?: string | undefined;
}

/** What a merchant calls an operation, and what it asks for; nothing when it leaves the choice to the gateway. */
export const idempotencyKeyOf = (
  operationId: string,
  kind: 'capture' | 'void' | 'refund' | 'credit',
  ...queryCount: string[]
): { operationId: string; content: string } | undefined =>
  operationId === ''
    ? undefined
    : { operationId: operationId.toLowerCase(), content: JSON.stringify([kind, ...queryCount]) };

export const duplicateOperation = (): Refusal =>
  new Refusal('duplicateOperation', [{ field: 'operation_id', sentence: 'Duplicate operation.' }]);

/** The outcome of an operation that has begun, for a repeat of its request. */
export async function resultOfRepeat(
  gateway: Gateway,
  begun: OperationRow,
  { content }: IdempotencyKey,
): Promise<{ payment: WholePayment; operation: OperationRow }> {
  if (content !== null && begun.content !== content) throw duplicateOperation();
  // A reserved credit is not waited for: its answer says no more than that it was accepted.
  const operation = content === null ? begun : await awaitOutcome(gateway, begun);
  // Read after the operation, so that it shows what the outcome has changed.
  const payment = await gateway.payments.find(operation);
  if (!payment) throw new Error(`The operation ${operation.operationId} has no payment.`);
  return { payment, operation };
}

/** Waits while the first request is at the provider; an outcome that has to be queried later is not waited for. */
const awaitOutcome = (gateway: Gateway, begun: OperationRow): Promise<OperationRow> =>
  pollUntil(
    begun,
    async (last) => (await gateway.operations.find(begun)) ?? last,
    ({ state, queryCount }) => state !== 'sent' || queryCount > 0,
    { mostMs: LIMITS.duplicateWaitMs },
  );
