/** Whether a payment may be captured: not while it waits for a review, nor after it was refused. */
import { Refusal } from '../../rules/errors.ts';
import type { Gateway, PaymentWithDetails } from '../context.ts';

export async function requireReviewed(gateway: Gateway, payment: PaymentWithDetails): Promise<void> {
  if (!payment.isAuthorisation || payment.state !== 'PENDING') return;
  const decision = await gateway.riskDecisions.find(payment);
  if (decision?.reviewState === 'waiting' || decision?.reviewState === 'refused')
    throw new Refusal('captureNotPending', [{ field: 'trans_id', sentence: 'The payment waits for a review.' }]);
}
