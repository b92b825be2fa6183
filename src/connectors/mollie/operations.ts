/** Captures, voids and refunds at Mollie. */
import type { Capture, Payment, Refund, MollieClient as Sdk } from '@mollie/api-client';
import { cut } from '../../lib/text/cut.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { OperationOutcome, ProviderOperation } from '../connector.ts';
import { findByMetadata, type MollieClient, Refused } from './client.ts';
import { amountOf, operationOutcomeOf, TEXT_LENGTH } from './outcomes.ts';

type Call = (client: MollieClient, operation: ProviderOperation, deadline: Deadline) => Promise<OperationOutcome>;

interface OperationCalls {
  perform: Call;
  query: Call;
}

/** The id of the payment, which every answer brought. */
function paymentOf({ providerReference }: ProviderOperation): string {
  if (providerReference === undefined) throw new Error('The id of the payment at Mollie is not known.');
  return providerReference;
}

const parametersOf = (operation: ProviderOperation) => ({
  paymentId: paymentOf(operation),
  amount: amountOf(operation.amount, operation.currency),
  metadata: { operation: operation.operation },
  description: operation.reference,
  idempotencyKey: operation.operation,
});

/** Mollie refused the operation for good. */
function declinedIfRefused(error: unknown): OperationOutcome {
  if (error instanceof Refused) return { kind: 'declined', reason: cut(error.message, TEXT_LENGTH) };
  throw error;
}

type List = { limit: number; from?: string };

/** Mollie keeps an idempotency key for an hour, so an operation is sent again only if the list of its payment lacks it. */
const foundOrNot = (found: Refund | Capture | undefined): OperationOutcome =>
  found ? operationOutcomeOf(found) : { kind: 'notFound' };

const refund: OperationCalls = {
  perform: (client, operation, deadline) =>
    client
      .call(deadline, ({ paymentRefunds }) => paymentRefunds.create(parametersOf(operation)))
      .then(operationOutcomeOf, declinedIfRefused),
  async query(client, operation, deadline) {
    const paymentId = paymentOf(operation);
    const list = (page: List) =>
      client.call(deadline, ({ paymentRefunds }) => paymentRefunds.page({ paymentId, ...page }));
    return foundOrNot(await findByMetadata(list, 'operation', operation.operation));
  },
};

const capture: OperationCalls = {
  async perform(client, operation, deadline) {
    const outcome = await client
      .call(deadline, ({ paymentCaptures }) => paymentCaptures.create({ ...parametersOf(operation), ...client.mode }))
      .then(operationOutcomeOf, declinedIfRefused);
    // Mollie answers before a capture is done, which usually takes a moment.
    return outcome.kind === 'accepted'
      ? { ...outcome, ...(await capture.query(client, operation, deadline).catch(() => outcome)) }
      : releaseRest(client, operation, deadline, outcome);
  },
  async query(client, operation, deadline) {
    const paymentId = paymentOf(operation);
    const list = (page: List) =>
      client.call(deadline, ({ paymentCaptures }) => paymentCaptures.page({ paymentId, ...page }));
    const outcome = foundOrNot(await findByMetadata(list, 'operation', operation.operation));
    return releaseRest(client, operation, deadline, outcome);
  },
};

/** The key differs from that of the capture. The types of the SDK lack it here, but it sends the key of every call. */
const releaseHold = ({ payments }: Sdk, operation: ProviderOperation): Promise<true> => {
  const parameters: object = { idempotencyKey: `${operation.operation}-release` };
  return payments.releaseAuthorization(paymentOf(operation), parameters);
};

/** After a capture of a part there is no other one: releases the rest. If that fails, the hold ends by itself. */
async function releaseRest(
  client: MollieClient,
  operation: ProviderOperation,
  deadline: Deadline,
  outcome: OperationOutcome,
): Promise<OperationOutcome> {
  if (outcome.kind === 'done' && operation.amount < operation.paymentAmount)
    await client.call(deadline, (mollie) => releaseHold(mollie, operation)).catch(() => undefined);
  return outcome;
}

/** Stored once Mollie has accepted a release, which the bank of the payer may carry out later. */
const REQUESTED = { isRequested: true } as const;

const release: OperationCalls = {
  async perform(client, operation, deadline) {
    const id = paymentOf(operation);
    const payment = await client.call(deadline, ({ payments }) => payments.get(id));
    const { status, isCancelable } = payment;
    if (!isHeld(payment) && !isCancelable) return ENDED.includes(status) ? { kind: 'done' } : NOT_RELEASED;
    try {
      await client.call<unknown>(deadline, (mollie) =>
        isHeld(payment)
          ? releaseHold(mollie, operation)
          : mollie.payments.cancel(id, { idempotencyKey: operation.operation }),
      );
    } catch (error) {
      return declinedIfRefused(error);
    }
    return releaseOutcome(await client.call(deadline, ({ payments }) => payments.get(id)), true);
  },
  async query(client, operation, deadline) {
    const payment = await client.call(deadline, ({ payments }) => payments.get(paymentOf(operation)));
    return releaseOutcome(payment, operation.operationState.isRequested === true);
  },
};

const NOT_RELEASED: OperationOutcome = { kind: 'declined', reason: REASONS.providerSaidNo };
/** The payment has ended without money. */
const ENDED: readonly string[] = ['canceled', 'expired', 'failed'];

const isHeld = ({ status }: Payment): boolean => (status as string) === 'authorized';

function releaseOutcome({ status }: Payment, isRequested: boolean): OperationOutcome {
  if (ENDED.includes(status)) return { kind: 'done' };
  if ((status as string) === 'paid') return NOT_RELEASED;
  return isRequested ? { kind: 'accepted', operationState: REQUESTED } : { kind: 'notFound' };
}

export const OPERATIONS: Readonly<Record<ProviderOperation['verb'], OperationCalls>> = {
  capture,
  void: release,
  refund,
};
