/** Captures, voids and refunds at PayPal. */
import type { Deadline } from '../../lib/time/deadline.ts';
import { DECLINE_CAUSES, REASONS } from '../../rules/reasons.ts';
import type { OperationOutcome, ProviderOperation } from '../connector.ts';
import { Refused } from '../json-api.ts';
import { toPaypal } from './amounts.ts';
import type { PaypalClient } from './client.ts';
import { authorizationIn, captureIn, captureOf, operationOutcomeOf, orderIn, refundsOf } from './outcomes.ts';
import { refundId } from './requests.ts';
import type { Authorization, Capture, Money, Order, Refund } from './types.ts';

type Call = (client: PaypalClient, operation: ProviderOperation, deadline: Deadline) => Promise<OperationOutcome>;

interface OperationCalls {
  perform: Call;
  query: Call;
}

const REFUSED = { kind: 'declined', reason: REASONS.providerSaidNo } as const;
const NOT_FOUND = { kind: 'notFound' } as const;

const pathOf = (kind: 'authorizations' | 'captures' | 'refunds', id: string): string => `/v2/payments/${kind}/${id}`;

/** The order of a payment, which every answer brought. */
function readOrder(client: PaypalClient, { state }: ProviderOperation, deadline: Deadline): Promise<Order> {
  const id = orderIn(state);
  if (id === undefined) throw new Error('The order of the payment at PayPal is not known.');
  return client.call<Order>(deadline, { method: 'GET', path: `/v2/checkout/orders/${id}` });
}

const amountOf = ({ amount, currency }: ProviderOperation): Money | undefined => toPaypal(amount, currency);

/** PayPal keeps the idempotency keys of these calls for 45 days, so one without an answer is sent again under its key. */
const send = async <Answer>(
  client: PaypalClient,
  path: string,
  body: object,
  { operation }: ProviderOperation,
  deadline: Deadline,
): Promise<Answer> => client.call<Answer>(deadline, { method: 'POST', path, body, key: operation });

function declinedIfRefused(error: unknown): OperationOutcome {
  if (error instanceof Refused) return REFUSED;
  throw error;
}

const capture: OperationCalls = {
  async perform(client, operation, deadline) {
    const id = authorizationIn(operation.state);
    const amount = amountOf(operation);
    if (id === undefined || !amount) return REFUSED;
    // There is no second capture: PayPal releases the rest.
    const body = { amount, final_capture: true };
    return send<Capture>(client, `${pathOf('authorizations', id)}/capture`, body, operation, deadline).then(
      operationOutcomeOf,
      declinedIfRefused,
    );
  },
  async query(client, operation, deadline) {
    const found = captureOf(await readOrder(client, operation, deadline));
    return found ? operationOutcomeOf(found) : NOT_FOUND;
  },
};

/** A payment that its payer has not approved is not captured, so there is nothing to release. */
const release: OperationCalls = {
  async perform(client, operation, deadline) {
    const id = authorizationIn(operation.state);
    if (id === undefined) return captureIn(operation.state) === undefined ? { kind: 'done' } : REFUSED;
    try {
      await send(client, `${pathOf('authorizations', id)}/void`, {}, operation, deadline);
      return { kind: 'done' };
    } catch (error) {
      if (error instanceof Refused && error.code === 'PREVIOUSLY_VOIDED') return { kind: 'done' };
      return declinedIfRefused(error);
    }
  },
  async query(client, operation, deadline) {
    const id = authorizationIn(operation.state);
    if (id === undefined) return NOT_FOUND;
    const { status } = await client.call<Authorization>(deadline, {
      method: 'GET',
      path: pathOf('authorizations', id),
    });
    if (status === 'VOIDED' || status === 'DENIED') return { kind: 'done' };
    return status === 'CREATED' || status === 'PENDING' ? NOT_FOUND : REFUSED;
  },
};

const refund: OperationCalls = {
  async perform(client, operation, deadline) {
    const amount = amountOf(operation);
    if (!amount) return { kind: 'declined', reason: DECLINE_CAUSES.methodUnavailable.reason };
    // The capture of an authorisation is known to the order only.
    const id = captureIn(operation.state) ?? captureOf(await readOrder(client, operation, deadline))?.id;
    if (id === undefined) return REFUSED;
    const body = { amount, custom_id: refundId(operation.reference, operation.operation) };
    return send<Refund>(client, `${pathOf('captures', id)}/refund`, body, operation, deadline).then(
      operationOutcomeOf,
      declinedIfRefused,
    );
  },
  async query(client, operation, deadline) {
    const { operationReference, reference } = operation;
    if (operationReference !== undefined) {
      const path = pathOf('refunds', operationReference);
      return operationOutcomeOf(await client.call<Refund>(deadline, { method: 'GET', path }));
    }
    const ours = refundId(reference, operation.operation);
    const found = refundsOf(await readOrder(client, operation, deadline)).find(({ custom_id: id }) => id === ours);
    return found ? operationOutcomeOf(found) : NOT_FOUND;
  },
};

export const OPERATIONS: Readonly<Record<ProviderOperation['verb'], OperationCalls>> = {
  capture,
  void: release,
  refund,
};
