/** Captures, voids and refunds of a PaymentIntent. */
import type Stripe from 'stripe';
import type { Deadline } from '../../lib/deadline.ts';
import { DECLINE_CAUSES, REASONS } from '../../rules/reasons.ts';
import type { OperationOutcome, ProviderOperation } from '../connector.ts';
import { fromStripe, toStripe } from './amounts.ts';
import { Refused, type StripeClient } from './client.ts';
import { intentOf, METADATA, metadataOf } from './intents.ts';

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

const REFUSED = { kind: 'declined', reason: REASONS.providerSaidNo } as const;
const REFUNDS_READ = 100;

export function refundOutcome({ id, status, amount, currency }: RefundFields): OperationOutcome {
  const kind = REFUND_STATES[status ?? ''] ?? 'unknown';
  if (kind === 'declined') return { ...REFUSED, operationReference: id };
  return { kind, operationReference: id, reportedAmount: fromStripe(amount, currency) ?? 'invalid' };
}

const captureOutcome = ({ status, amount_received, currency }: Stripe.PaymentIntent): OperationOutcome => {
  if (status === 'succeeded')
    return { kind: 'done', reportedAmount: fromStripe(amount_received, currency) ?? 'invalid' };
  if (status === 'canceled') return REFUSED;
  return { kind: status === 'requires_capture' ? 'notFound' : 'unknown' };
};

const voidOutcome = ({ status }: Stripe.PaymentIntent): OperationOutcome => {
  if (status === 'canceled') return { kind: 'done' };
  if (status === 'succeeded') return REFUSED;
  return { kind: status === 'processing' ? 'unknown' : 'notFound' };
};

const intentIdOf = (operation: ProviderOperation): string => {
  const id = intentOf(operation);
  if (id === undefined) throw new Error('The PaymentIntent of the payment is not known.');
  return id;
};

export async function operate(
  client: StripeClient,
  connector: string,
  operation: ProviderOperation,
  deadline: Deadline,
): Promise<OperationOutcome> {
  const amount = toStripe(operation.amount, operation.currency);
  if (amount === undefined) return { kind: 'declined', reason: DECLINE_CAUSES.methodUnavailable.reason };
  try {
    return await send(client, connector, operation, amount, deadline);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // Refused perhaps because it was done before, and Stripe has forgotten the key.
    const found = await queryOperation(client, operation, deadline);
    return found.kind === 'notFound' ? REFUSED : found;
  }
}

function send(
  client: StripeClient,
  connector: string,
  operation: ProviderOperation,
  amount: number,
  deadline: Deadline,
): Promise<OperationOutcome> {
  const id = intentIdOf(operation);
  const options = { idempotencyKey: operation.operation };
  return client.call(deadline, async ({ paymentIntents, refunds }) => {
    switch (operation.verb) {
      case 'capture':
        return captureOutcome(await paymentIntents.capture(id, { amount_to_capture: amount }, options));
      case 'void':
        return voidOutcome(await paymentIntents.cancel(id, {}, options));
      case 'refund': {
        const metadata = { ...metadataOf(operation, connector), [METADATA.operation]: operation.operation };
        return refundOutcome(await refunds.create({ payment_intent: id, amount, metadata }, options));
      }
    }
  });
}

export async function queryOperation(
  client: StripeClient,
  operation: ProviderOperation,
  deadline: Deadline,
): Promise<OperationOutcome> {
  const id = intentIdOf(operation);
  const { verb, operationReference } = operation;
  return client.call(deadline, async ({ paymentIntents, refunds }) => {
    if (verb !== 'refund') {
      const intent = await paymentIntents.retrieve(id);
      return verb === 'capture' ? captureOutcome(intent) : voidOutcome(intent);
    }
    if (operationReference !== undefined) return refundOutcome(await refunds.retrieve(operationReference));
    const { data } = await refunds.list({ payment_intent: id, limit: REFUNDS_READ });
    const found = data.find(({ metadata }) => metadata?.[METADATA.operation] === operation.operation);
    return found ? refundOutcome(found) : { kind: 'notFound' };
  });
}
