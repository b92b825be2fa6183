/** The refunds of a PaymentIntent: what their states mean, and which of them the gateway did not make. */
import type Stripe from 'stripe';
import type { Deadline } from '../../lib/time/deadline.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { OperationOutcome, Outcome, RefundElsewhere, Submission } from '../connector.ts';
import { fromStripe } from './amounts.ts';
import type { StripeClient } from './client.ts';
import { METADATA } from './metadata.ts';

/** What is read of a refund, from an answer or a webhook. */
export type RefundFields = Pick<Stripe.Refund, 'id' | 'status' | 'amount' | 'currency'>;

/** The states of a refund; an unknown one leaves the outcome open. */
const REFUND_STATES: Readonly<Record<string, 'done' | 'accepted' | 'declined'>> = {
  succeeded: 'done',
  pending: 'accepted',
  requires_action: 'accepted',
  failed: 'declined',
  canceled: 'declined',
};

const kindOf = ({ status }: RefundFields): 'done' | 'accepted' | 'declined' | 'unknown' =>
  REFUND_STATES[status ?? ''] ?? 'unknown';
const amountOf = ({ amount, currency }: RefundFields) => fromStripe(amount, currency) ?? 'invalid';

export function refundOutcome(refund: RefundFields): OperationOutcome {
  const kind = kindOf(refund);
  if (kind === 'declined') return { kind, reason: REASONS.providerSaidNo, operationReference: refund.id };
  return { kind, operationReference: refund.id, reportedAmount: amountOf(refund) };
}

const PAGE_SIZE = 100;

async function* refundsOf(client: StripeClient, intent: string, deadline: Deadline): AsyncGenerator<Stripe.Refund> {
  for (let after: string | undefined; ; ) {
    const fields = { payment_intent: intent, limit: PAGE_SIZE, ...(after !== undefined && { starting_after: after }) };
    const page = await client.call(deadline, ({ refunds }) => refunds.list(fields));
    yield* page.data;
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return;
  }
}

/** The refund that the gateway made with this operation. */
export async function findRefund(
  client: StripeClient,
  intent: string,
  operation: string,
  deadline: Deadline,
): Promise<Stripe.Refund | undefined> {
  for await (const refund of refundsOf(client, intent, deadline)) {
    if (refund.metadata?.[METADATA.operation] === operation) return refund;
  }
  return undefined;
}

/**
 * Adds the refunds that were made in the dashboard, and those that failed, to the outcome of a PaymentIntent. Stripe no longer
 * counts a refund that failed after it was done.
 */
export async function withRefunds(
  client: StripeClient,
  outcome: Outcome,
  { id, latest_charge: charge }: Stripe.PaymentIntent,
  { isRefunded = false }: Pick<Submission, 'isRefunded'>,
  deadline: Deadline,
): Promise<Outcome> {
  const hasRefunds = isRefunded || (typeof charge === 'object' && charge !== null && charge.amount_refunded > 0);
  if (outcome.kind !== 'settled' || !hasRefunds) return outcome;
  const refunds: RefundElsewhere[] = [];
  for await (const refund of refundsOf(client, id, deadline)) {
    const kind = kindOf(refund);
    const isElsewhere = refund.metadata?.[METADATA.operation] === undefined;
    if (kind === 'declined' || (kind === 'done' && isElsewhere))
      refunds.push({ reference: refund.id, amount: amountOf(refund), isFailed: kind === 'declined' });
  }
  // The oldest first.
  return { ...outcome, refunds: refunds.toReversed() };
}
