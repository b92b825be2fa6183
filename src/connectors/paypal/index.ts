/** The connector for PayPal: payers approve an order on the page of PayPal, and the gateway captures it. */

import { isObject } from '../../lib/text/json.ts';
import type { Deadline } from '../../lib/time/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type CheckResult,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  declineOf,
  idempotencyKey,
  NotSent,
  type Outcome,
  pageNotOpened,
  type Submission,
} from '../connector.ts';
import { unhandledStatuses } from '../events.ts';
import { NotAllowed, Refused } from '../json-api.ts';
import { cleanPayer, sendOrBare } from '../payer.ts';
import { toPaypal } from './amounts.ts';
import { createPaypalClient, type PaypalClient } from './client.ts';
import { declinedBy, isUnnamed, WITHDRAWN } from './declines.ts';
import { NEEDED_EVENTS, UNHANDLED_EVENTS } from './events.ts';
import { OPERATIONS } from './operations.ts';
import { endedBy, endIn, OPEN_STATUSES, orderIn, outcomeOf, vaultIdOf } from './outcomes.ts';
import { CANCELLED, orderRequest, WALLET } from './requests.ts';
import type { Order, PaymentSource } from './types.ts';
import { createWebhookReader, interpretNotification } from './webhooks.ts';

const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  // An order that was not captured has moved no money.
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  threeDsRequests: {},
  supportsWithdrawals: true,
  concurrency: LIMITS.providerConcurrency,
};

export const paypal: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  unhandled: [
    ...UNHANDLED_EVENTS,
    { name: 'RESOLVED_WITH_PAYOUT', effect: 'attention', because: 'It does not say who got the money of the dispute.' },
    ...unhandledStatuses(OPEN_STATUSES),
  ],
  create: createPaypal,
};

const ORDERS = '/v2/checkout/orders';
const METHOD_UNAVAILABLE = declineOf('methodUnavailable');

/** The issues of an order that was captured or authorised before. */
const COMPLETED: readonly string[] = ['ORDER_ALREADY_CAPTURED', 'ORDER_ALREADY_AUTHORIZED', 'ORDER_NOT_APPROVED'];

function createPaypal(access: ConnectionAccess): Connector {
  const client = createPaypalClient(access);
  const webhooks = createWebhookReader(access);

  const read = (id: string, deadline: Deadline): Promise<Order> =>
    client.call<Order>(deadline, { method: 'GET', path: `${ORDERS}/${id}` });

  /**
   * The order of a submission. If its id is not known, it is created: that moves no money, and under its key PayPal returns
   * the order of an earlier call, for at least six hours.
   */
  const orderOf = async (submission: Submission, deadline: Deadline): Promise<Order | undefined> => {
    const id = orderIn(submission.state);
    if (id !== undefined) return read(id, deadline);
    const amount = toPaypal(submission.amount, submission.currency);
    if (!amount || !isSupported(submission)) return undefined;
    const mayBePayer = (error: unknown): boolean =>
      error instanceof Refused && isUnnamed(error.code) && cleanPayer(submission).email !== undefined;
    return sendOrBare(submission, mayBePayer, (sent, isBare) => {
      const key = idempotencyKey(submission.reference, isBare ? 3 : 1);
      const body = orderRequest(sent, amount);
      return client.call<Order>(deadline, { method: 'POST', path: ORDERS, body, key, isRepeatable: true });
    });
  };

  /** Captures or authorises an order, which moves the money. */
  const complete = async (
    { reference, authoriseOnly }: Submission,
    order: string,
    deadline: Deadline,
    source?: PaymentSource,
  ): Promise<Outcome> => {
    try {
      const completed = await client.call<Order>(deadline, {
        method: 'POST',
        path: `${ORDERS}/${order}/${authoriseOnly ? 'authorize' : 'capture'}`,
        body: source ? { payment_source: source } : {},
        key: idempotencyKey(reference, 2),
        isRepeatable: true,
      });
      return outcomeOf(completed);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (COMPLETED.includes(error.code)) return outcomeOf(await read(order, deadline));
      // Another order of this payment was captured.
      if (error.code === 'DUPLICATE_INVOICE_ID') return { kind: 'unknown', state: { order } };
      return endedBy(error.code, order);
    }
  };

  /** The token of a series: that of the answer to its first payment, or that of its order, which may get it later. */
  const vaultId = async ({ first }: Submission, deadline: Deadline): Promise<string | undefined> => {
    const id = orderIn(first?.state);
    return first?.paymentMethod?.reveal() ?? (id === undefined ? undefined : vaultIdOf(await read(id, deadline)));
  };

  const query: Connector['query'] = async (submission, deadline) => {
    const [order, ended] = [orderIn(submission.state), endIn(submission.state)];
    if (order !== undefined && ended !== undefined) return endedBy(ended, order);
    try {
      const found = await orderOf(submission, deadline);
      return found ? outcomeOf(found) : { kind: 'notFound' };
    } catch (error) {
      // An order that was never paid is forgotten after some hours.
      if (error instanceof Refused) return order === undefined ? { kind: 'notFound' } : { kind: 'unknown' };
      throw error;
    }
  };

  return {
    capabilities: CAPABILITIES,
    query,
    async submit(submission, deadline) {
      const isRepetition = submission.recurringOf !== undefined;
      const vault_id = isRepetition ? await vaultId(submission, deadline) : undefined;
      if (isRepetition && vault_id === undefined) return METHOD_UNAVAILABLE;
      try {
        const order = await orderOf(submission, deadline);
        if (!order) return METHOD_UNAVAILABLE;
        const outcome = outcomeOf(order);
        if (vault_id === undefined || outcome.kind !== 'notFound') return outcome;
        return await complete(submission, order.id, deadline, { paypal: { vault_id } });
      } catch (error) {
        if (error instanceof Refused) return declinedBy(error.code);
        throw isRepetition ? error : pageNotOpened(error);
      }
    },
    async resume(submission, returned, deadline) {
      const id = orderIn(submission.state);
      if (id === undefined || endIn(submission.state) !== undefined) return query(submission, deadline);
      const order = await read(id, deadline);
      if (order.status === 'APPROVED') return complete(submission, id, deadline);
      const outcome = outcomeOf(order);
      return outcome.kind === 'redirected' && returned[CANCELLED] !== undefined ? endedBy(WITHDRAWN, id) : outcome;
    },
    /** An order that is not captured cannot be paid, so it is enough to remember not to. */
    async withdraw(submission, cause, deadline) {
      const outcome = await query(submission, deadline);
      const id = orderIn(submission.state);
      if (outcome.kind !== 'redirected' || id === undefined) return outcome;
      return { ...endedBy(WITHDRAWN, id), ...declineOf(cause) };
    },
    operate: (operation, deadline) => OPERATIONS[operation.verb].perform(client, operation, deadline),
    queryOperation: (operation, deadline) => OPERATIONS[operation.verb].query(client, operation, deadline),
    readNotifications: webhooks.read,
    interpretNotification,
    check: (deadline) => check(client, access.credential('webhook_id'), deadline),
    close: async () => void (await Promise.all([client.close(), webhooks.close()])),
  };
}

/** Whether PayPal can take the payment at all: only its wallet, and no card of ours. */
const isSupported = ({ isPayout, card, method, recurringOf }: Submission): boolean =>
  !isPayout && !card && (method === WALLET || recurringOf !== undefined);

/** Reads the webhook, which shows the credentials, the id of the webhook and its events to be right. */
async function check(client: PaypalClient, webhookId: string, deadline: Deadline): Promise<CheckResult> {
  try {
    const path = `/v1/notifications/webhooks/${encodeURIComponent(webhookId)}`;
    const { event_types: types } = await client.call<{ event_types?: unknown }>(deadline, { method: 'GET', path });
    const names = (Array.isArray(types) ? types : []).map((type) => (isObject(type) ? type.name : undefined));
    const missing = names.includes('*') ? [] : NEEDED_EVENTS.filter((name) => !names.includes(name));
    return missing.length === 0
      ? { ok: true, detail: 'PayPal accepts the credentials, and the webhook has all events.' }
      : {
          ok: false,
          detail: `PayPal accepts the credentials, but the webhook lacks these events: ${missing.join(', ')}.`,
        };
  } catch (error) {
    if (error instanceof Refused)
      return { ok: false, detail: 'PayPal accepts the credentials, but has no such webhook.' };
    if (error instanceof NotAllowed)
      return {
        ok: false,
        detail:
          error.status === 401
            ? 'PayPal does not accept the keys of the app (client id and secret).'
            : 'The app at PayPal may not read its webhooks.',
      };
    // Without an access token nothing was sent.
    if (error instanceof NotSent) return { ok: false, detail: error.message };
    throw error;
  }
}
