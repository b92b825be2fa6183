/** Captures, voids and refunds of a PaymentIntent. */
import type Stripe from 'stripe';
import type { Deadline } from '../../lib/time/deadline.ts';
import { DECLINE_CAUSES, REASONS } from '../../rules/reasons.ts';
import type { OperationOutcome, ProviderOperation } from '../connector.ts';
import { fromStripe, toStripe } from './amounts.ts';
import { Refused, StoredFailure, type StripeClient } from './client.ts';
import { captureFee, reversalOf } from './connect.ts';
import { intentOf } from './intents.ts';
import { METADATA, metadataOf } from './metadata.ts';
import { findRefund, refundOutcome } from './refunds.ts';

const REFUSED = { kind: 'declined', reason: REASONS.providerSaidNo } as const;

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

/** An operation that failed with a 500 is sent again under one of so many keys. */
const MOST_KEYS = 8;

/**
 * The gateway sends an operation again only after Stripe said that it does not have it. A stored 500 is then the answer to
 * the earlier call, so another key is safe.
 */
async function send(
  client: StripeClient,
  connector: string,
  operation: ProviderOperation,
  amount: number,
  deadline: Deadline,
  attempt = 1,
): Promise<OperationOutcome> {
  const id = intentIdOf(operation);
  const options = { idempotencyKey: attempt === 1 ? operation.operation : `${operation.operation}-${attempt}` };
  const sent = client.call(deadline, async ({ paymentIntents, refunds }) => {
    switch (operation.verb) {
      case 'capture':
        return captureOutcome(
          await paymentIntents.capture(id, { amount_to_capture: amount, ...captureFee(operation) }, options),
        );
      case 'void':
        return voidOutcome(await paymentIntents.cancel(id, {}, options));
      case 'refund': {
        const metadata = { ...metadataOf(operation, connector), [METADATA.operation]: operation.operation };
        return refundOutcome(
          await refunds.create({ payment_intent: id, amount, metadata, ...reversalOf(operation) }, options),
        );
      }
    }
  });
  return sent.catch((error) => {
    if (!(error instanceof StoredFailure) || attempt >= MOST_KEYS) throw error;
    return send(client, connector, operation, amount, deadline, attempt + 1);
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
    const found = await findRefund(client, id, operation.operation, deadline);
    return found ? refundOutcome(found) : { kind: 'notFound' };
  });
}
