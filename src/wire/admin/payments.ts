/** Admin calls on payments and provider notifications: lists, a payment with its history, and operations. */
import type { FastifyInstance } from 'fastify';
import { listPaymentCallbacks } from '../../core/callbacks/log.ts';
import type {
  CallRecord,
  Gateway,
  HistoryRow,
  NotificationRow,
  OperationRow,
  Payment,
  Receipt,
} from '../../core/context.ts';
import { entryView, moneyView } from '../../core/exports/ledger.ts';
import {
  amountFormatter,
  connectorView,
  listedPaymentView,
  originView,
  paymentView,
} from '../../core/exports/payment-view.ts';
import { refundRequestView } from '../../core/exports/refund-requests.ts';
import { isMerchantView, paymentMoney } from '../../core/ledger/ledger.ts';
import {
  ACTION_PERMISSIONS,
  attendAs,
  OPERATOR_ACTIONS,
  type OperatorAction,
  type OperatorRequest,
  operateAs,
  resolveAs,
} from '../../core/operators/actions.ts';
import { inspectPayment, listPayments } from '../../core/payments/find.ts';
import { listNotifications } from '../../core/payments/notifications.ts';
import { listRefundRequests } from '../../core/payments/refund-requests.ts';
import type { Decision } from '../../core/payments/resolve.ts';
import { riskView } from '../../core/risk/decisions.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { RESOLUTIONS } from '../../rules/attention.ts';
import { isWallet } from '../../rules/brands.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs, requireSeen } from '../bearer.ts';
import { loggedView } from './callbacks.ts';
import { detailsView } from './details.ts';
import { anyText, objectBody, oneOf, page, pageSize, readQuery, refuseUnknown, uuidText } from './input.ts';
import { PAYMENT_FILTERS, paymentFilter } from './payment-filters.ts';

export function paymentRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/payments', needs('payments.view', 'accounts'), async (request) => {
    const query = readQuery(request.query, {
      ...PAYMENT_FILTERS,
      limit: pageSize,
      cursor: uuidText,
      total: oneOf(['true', 'false']),
    });
    const { payments, next, isComplete, total } = await listPayments(gateway, {
      ...paymentFilter(query, request.principal.mids),
      before: query.cursor,
      limit: query.limit ?? LIMITS.adminPageSize,
      isCounted: query.total === 'true',
    });
    return {
      items: payments.map(listedPaymentView),
      next_cursor: next,
      is_complete: isComplete,
      ...(total && { total: total.count, total_is_more: total.isMore }),
    };
  });

  app.get<{ Params: { paymentId: string } }>(
    '/payments/:paymentId',
    needs('payments.view', 'accounts'),
    async (request) => {
      const found = await inspectPayment(gateway, request.params.paymentId);
      if (!found) throw new Refusal('noSuchPayment');
      requireSeen(request, found.payment.mid, 'noSuchPayment');
      const { payment, history, operations, notifications, receipt } = found;
      const { money, entries } = await paymentMoney(gateway, request.principal, payment);
      return {
        ...paymentView(payment),
        ...originView(payment.details.session ?? {}),
        digital_wallet: isWallet(payment.brand) ? payment.brand : null,
        fee: payment.providerData?.fee ? feeView(payment.providerData.fee) : null,
        in_doubt: payment.inDoubt,
        payer_until: payment.payerUntil === null ? null : wireDate(payment.payerUntil),
        next_step: payment.nextStep?.kind ?? null,
        details: detailsView(payment),
        history: history.map((row) => historyView(row, payment.currency)),
        operations: operations.map((operation) => operationView(payment, operation)),
        refund_requests: (
          await listRefundRequests(
            gateway,
            { mids: null, mid: payment.mid, paymentId: payment.paymentId },
            LIMITS.adminPageSize,
          )
        ).map(refundRequestView),
        provider_calls: history.flatMap((row) => (row.call ? [callView(row)] : [])),
        notifications: notifications.map(notificationView),
        callbacks: (await listPaymentCallbacks(gateway, payment)).map(loggedView),
        receipt: receipt ? receiptView(receipt) : null,
        risk: await riskView(gateway, payment, request.principal.mids),
        money: moneyView(money, payment.currency, isMerchantView(request.principal)),
        entries: entries.map(entryView),
      };
    },
  );

  for (const name of OPERATOR_ACTIONS) {
    app.post<{ Params: { paymentId: string } }>(
      `/payments/:paymentId/${name}`,
      needs(ACTION_PERMISSIONS[name], 'accounts'),
      async ({ principal, caller, params, body }, reply) => {
        const wanted = readOperationRequest(name, body);
        const done = await operateAs(gateway, principal, caller, params.paymentId, name, wanted);
        const { payment, operation, request } = done;
        if (operation) return { ...paymentView(payment), operation: operationView(payment, operation) };
        reply.code(202);
        return { ...paymentView(payment), operation: null, refund_request: refundRequestView(request) };
      },
    );
  }

  app.post<{ Params: { paymentId: string } }>(
    '/payments/:paymentId/attended',
    needs('payments.resolve_attention', 'accounts'),
    async ({ principal, caller, params }) => paymentView(await attendAs(gateway, principal, caller, params.paymentId)),
  );

  app.post<{ Params: { paymentId: string } }>(
    '/payments/:paymentId/attention',
    needs('payments.resolve_attention', 'accounts'),
    async ({ principal, caller, params, body }) => {
      const decision = readDecision(body);
      const { payment, operation } = await resolveAs(gateway, principal, caller, params.paymentId, decision);
      return { ...paymentView(payment), operation: operation ? operationView(payment, operation) : null };
    },
  );
}

/** Reads an optional `operation_id`; empty if it was not sent. */
function readOperationId(value: unknown = ''): string {
  if (typeof value === 'string' && (value === '' || isUuid(value))) return value;
  throw new Refusal('notUuid', [{ field: 'operation_id', sentence: SENTENCES.notUuid, expected: uuidText.expected }]);
}

function readDecision(body: unknown): Decision {
  const { resolve, note = '', operation_id, ...rest } = objectBody(body);
  refuseUnknown(rest, ['resolve', 'note', 'operation_id']);
  const decided = RESOLUTIONS.find((one) => one === resolve);
  if (!decided) throw invalidField('resolve', `This value should be one of: ${RESOLUTIONS.join(', ')}.`);
  if (typeof note !== 'string') throw invalidField('note', SENTENCES.notText);
  return { resolve: decided, note, operationId: readOperationId(operation_id).toLowerCase() };
}

/** Without `amount` the operation is for the whole amount; `operation_id` makes the request idempotent. */
function readOperationRequest(action: OperatorAction, body: unknown): OperatorRequest {
  const { amount = '', operation_id, ...rest } = body === undefined ? {} : objectBody(body);
  // A misspelled `amount` must not refund the whole payment.
  refuseUnknown(rest, ['amount', 'operation_id']);
  if (typeof amount !== 'string')
    throw invalidField('amount', SENTENCES.invalid, { expected: 'A decimal number as a text, such as "19.99".' });
  if (action === 'void' && amount !== '')
    throw invalidField('amount', 'This value should not be sent: a void is for the whole amount.');
  return { amount, operationId: readOperationId(operation_id) };
}

export function notificationRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/notifications', needs('notifications.view', 'installation'), async (request) => {
    const query = readQuery(request.query, {
      state: oneOf(NOTIFICATION_STATES),
      limit: pageSize,
      cursor: readNotificationCursor,
    });
    const size = query.limit ?? LIMITS.adminPageSize;
    const notifications = await listNotifications(gateway, query.state ?? 'unmatched', size + 1, query.cursor);
    return page(notifications, size, notificationCursor, notificationView);
  });
}

/** Event ids are chosen by the provider, so the cursor is encoded. */
const notificationCursor = ({ receivedAt, connector, eventId }: NotificationRow): string =>
  Buffer.from(JSON.stringify([receivedAt, connector, eventId])).toString('base64url');

function readNotificationCursor(text: string) {
  const [receivedAt, connector, eventId, ...rest] = parseList(Buffer.from(text, 'base64url').toString());
  const isDate = typeof receivedAt === 'number' && receivedAt >= 0 && receivedAt <= LATEST_MS;
  const isText = (value: unknown): value is string => typeof value === 'string' && anyText(value) !== undefined;
  if (!isDate || !isText(connector) || !isText(eventId) || rest.length > 0) return undefined;
  return { receivedAt, connector, eventId };
}

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** The year 9999; JavaScript writes later years in a format that the database does not read. */
const LATEST_MS = Date.UTC(9999, 11, 31);

const NOTIFICATION_STATES = ['new', 'applied', 'unmatched'] as const;

const operationView = (payment: Payment, operation: OperationRow) => ({
  operation_id: operation.operationId,
  operation: operation.verb,
  state: operation.state,
  amount: amountFormatter(payment)(operation.amount),
  reason: operation.reason,
  requested_at: wireDate(operation.requestedAt),
  finished_at: operation.finishedAt === null ? null : wireDate(operation.finishedAt),
});

const notificationView = (notification: NotificationRow) => ({
  ...connectorView(notification.connector),
  event_id: notification.eventId,
  reference: notification.reference,
  provider_reference: notification.providerReference,
  // Stored as the provider sent it, which may be anything.
  type: typeof notification.body.type === 'string' ? notification.body.type : undefined,
  state: notification.state,
  tries: notification.attempts,
  received_at: wireDate(notification.receivedAt),
});

const receiptView = ({ state, attempts, reason, createdAt, attemptedAt }: Receipt) => ({
  state,
  attempts,
  reason,
  created_at: wireDate(createdAt),
  attempted_at: attemptedAt === null ? null : wireDate(attemptedAt),
});

const feeView = ({ amount, currency }: { amount: string; currency: string }) => ({
  amount: amountText(BigInt(amount), exponentOf(currency)),
  currency,
});

const historyView = (row: HistoryRow, currency: string) => ({
  seq: row.seq,
  event: row.event,
  from: row.fromState,
  to: row.toState,
  actor: row.actor,
  actor_name: row.actorName,
  note: row.note,
  amount: row.amount === null ? null : amountText(row.amount, exponentOf(currency)),
  at: wireDate(row.at),
});

/** What the provider reported in place of the expected amount. */
const reportedAmount = ({ amount, currency }: NonNullable<CallRecord['reported']>): string =>
  `${amountText(BigInt(amount), exponentOf(currency))} ${currency}`;

const callView = ({ call, at }: HistoryRow) => ({
  verb: call?.verb,
  ...connectorView(call?.connector ?? ''),
  outcome: call?.outcome,
  reason: call?.reason ?? null,
  took_ms: call?.tookMs,
  authentication: call?.authentication ?? null,
  reported: call?.reported ? reportedAmount(call.reported) : null,
  at: wireDate(at),
});
