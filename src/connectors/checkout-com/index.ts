/** The connector for Checkout.com: cards and device wallets through its Payments API. */
import type { Deadline } from '../../lib/time/deadline.ts';
import { CONNECTORS } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DECLINE_CAUSES, REASONS } from '../../rules/reasons.ts';
import {
  type Capabilities,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey,
  NotSent,
  type OperationOutcome,
  type Outcome,
  type ProviderOperation,
  type Submission,
} from '../connector.ts';
import { unhandledStatuses } from '../events.ts';
import { createHttpClient } from '../http.ts';
import { type ApiCall, createJsonApi, type JsonApi, NotAllowed, Refused } from '../json-api.ts';
import { sendOrBare } from '../payer.ts';
import { toCheckout } from './amounts.ts';
import { isAboutPayer, refusedBy } from './declines.ts';
import { UNHANDLED_EVENTS } from './events.ts';
import { actionOutcome, OPEN_STATUSES, outcomeOf } from './outcomes.ts';
import { operationReference, paymentRequest } from './requests.ts';
import type { Accepted, Action, Payment } from './types.ts';
import { interpretNotification, readWebhook } from './webhooks.ts';

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  threeDsRequests: { require_3ds: 'exact', skip_3ds: 'exact', low_value: 'exact', transaction_risk: 'exact' },
  supportsTelephoneOrders: true,
  concurrency: LIMITS.providerConcurrency,
};

export const checkoutCom: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  unhandled: [...UNHANDLED_EVENTS, ...unhandledStatuses(OPEN_STATUSES)],
  create: createCheckoutCom,
};

const HOSTS = { sandbox: 'api.sandbox.checkout.com', production: 'api.checkout.com' } as const;

/** The address that a connection calls; undefined if the prefix of the settings is not one. */
function baseOf({ apiBase, environment, settings }: ConnectionAccess): string | undefined {
  if (apiBase !== undefined) return apiBase;
  const prefix = settings.api_prefix ? `${settings.api_prefix}.` : '';
  const url = URL.parse(`https://${prefix}${HOSTS[environment]}`);
  return url && CONNECTORS.checkout.hosts.test(url.host) ? url.origin : undefined;
}

const PAYMENTS = '/payments';
const pathOf = (id: string): string => `${PAYMENTS}/${encodeURIComponent(id)}`;
const PATHS = { capture: 'captures', void: 'voids', refund: 'refunds' } as const;
const TYPES = { capture: 'Capture', void: 'Void', refund: 'Refund' } as const;
const REFUSED = { kind: 'declined', reason: REASONS.providerSaidNo } as const;

/** The most payments with one reference that are read; there is one, unless the key was forgotten. */
const MOST_LISTED = 10;

function createCheckoutCom(access: ConnectionAccess): Connector {
  const channel = access.credential('processing_channel_id');
  const base = baseOf(access);
  const client = base === undefined ? undefined : createHttpClient(base, access.callsPerSecond);
  const api: JsonApi | undefined =
    client &&
    createJsonApi({
      title: 'Checkout.com',
      client,
      authorise: () => ({ authorization: `Bearer ${access.credential('secret_key')}` }),
      // 403 means that a payment does not allow the operation.
      refusals: [400, 403, 404, 422],
      codeOf: ({ error_codes: codes, error_type: type }) => (Array.isArray(codes) ? codes[0] : undefined) ?? type,
    });
  const call = async <Answer>(deadline: Deadline, sent: ApiCall): Promise<Answer> => {
    if (!api) throw new NotSent('The setting api_prefix of the connection is wrong.');
    return (await api(deadline, sent)) as Answer;
  };
  const post = <Answer>(deadline: Deadline, path: string, body: object, key: string): Promise<Answer> =>
    call<Answer>(deadline, {
      method: 'POST',
      path,
      body,
      headers: { 'cko-idempotency-key': key },
      isRepeatable: path === PAYMENTS,
    });
  const get = <Answer>(deadline: Deadline, path: string): Promise<Answer> =>
    call<Answer>(deadline, { method: 'GET', path });

  /** The payment by its id, or else by our reference. */
  const find = async (id: string | undefined, reference: string, deadline: Deadline): Promise<Payment | undefined> => {
    if (id !== undefined) return get<Payment>(deadline, pathOf(id));
    const { data = [] } = await get<{ data?: Payment[] }>(
      deadline,
      `${PAYMENTS}?${new URLSearchParams({ limit: String(MOST_LISTED), reference })}`,
    );
    return data.find((payment) => payment.reference === reference);
  };

  const actionOf = async (
    { verb, providerReference, reference, operation, operationReference: id }: ProviderOperation,
    deadline: Deadline,
  ): Promise<Action | undefined> => {
    const actions = await get<Action[]>(deadline, `${pathOf(String(providerReference))}/actions`);
    const ours = operationReference(reference, operation);
    return actions.find((action) =>
      id === undefined ? action.reference === ours && action.type === TYPES[verb] : action.id === id,
    );
  };

  const charge = async (submission: Submission, deadline: Deadline, call: number): Promise<Outcome> => {
    const request = submission.isPayout
      ? undefined
      : paymentRequest(submission, channel, access.settings.descriptor_city);
    if (!request) return declineOf('methodUnavailable');
    const key = idempotencyKey(submission.reference, call);
    return outcomeOf(await post<Payment>(deadline, PAYMENTS, request, key), submission);
  };

  return {
    capabilities: CAPABILITIES,
    async submit(submission, deadline): Promise<Outcome> {
      const mayBePayer = (error: unknown): boolean => error instanceof Refused && isAboutPayer(error.code);
      try {
        return await sendOrBare(submission, mayBePayer, (sent, isBare) => charge(sent, deadline, isBare ? 2 : 1));
      } catch (error) {
        if (error instanceof Refused) return refusedBy(error.code);
        throw error;
      }
    },
    async query(submission, deadline) {
      const { providerReference, reference } = submission;
      try {
        const found = await find(providerReference, reference, deadline);
        return found ? outcomeOf(found, submission) : { kind: 'notFound' };
      } catch (error) {
        // A payment that was confirmed before: the key is that of another account.
        if (error instanceof Refused) return { kind: 'unknown' };
        throw error;
      }
    },
    async operate(operation, deadline): Promise<OperationOutcome> {
      const { verb, providerReference, reference } = operation;
      const amount = toCheckout(operation.amount, operation.currency);
      if (providerReference === undefined) return REFUSED;
      if (amount === undefined) return { kind: 'declined', reason: DECLINE_CAUSES.methodUnavailable.reason };
      const body = {
        reference: operationReference(reference, operation.operation),
        ...(verb !== 'void' && { amount }),
        // There is no second capture: the rest is released.
        ...(verb === 'capture' && { capture_type: 'Final' }),
      };
      const path = `${pathOf(providerReference)}/${PATHS[verb]}`;
      try {
        // Received; a webhook brings the outcome.
        const { action_id: id } = await post<Accepted>(deadline, path, body, operation.operation);
        return { kind: 'accepted', operationReference: id };
      } catch (error) {
        if (error instanceof Refused) return REFUSED;
        throw error;
      }
    },
    async queryOperation(operation, deadline): Promise<OperationOutcome> {
      const found = await actionOf(operation, deadline);
      if (found) return actionOutcome(found, operation.currency);
      // What was received is listed once it is processed.
      return { kind: operation.operationReference === undefined ? 'notFound' : 'accepted' };
    },
    readNotifications: (headers, body) =>
      readWebhook(
        headers,
        body,
        [access.credential('webhook_secret'), access.credential('former_webhook_secret')],
        channel,
      ),
    interpretNotification,
    async check(deadline) {
      try {
        await find(undefined, 'turnpike-check', deadline);
        return { ok: true, detail: 'Checkout.com accepts the secret key.' };
      } catch (error) {
        if (error instanceof NotAllowed || error instanceof Refused)
          return { ok: false, detail: `Checkout.com does not accept the secret key (${error.status}).` };
        throw error;
      }
    },
    close: async () => client?.close(),
  };
}
