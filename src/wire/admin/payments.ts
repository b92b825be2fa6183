/** Admin calls on payments: the list, and one payment with everything that happened to it. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, HistoryRow, Payment } from '../../core/context.ts';
import { inspectPayment, listPayments } from '../../core/payments/find.ts';
import { wireDate } from '../../lib/clock.ts';
import { amountText } from '../../lib/money.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { anyText, moment, page, pageSize, readQuery, uuidText } from './input.ts';

export function paymentRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/payments', async (request) => {
    const query = readQuery(request.query, {
      mid: uuidText,
      order_id: anyText,
      status: (text) => STATE_NAMES.find((state) => state === text),
      brand: anyText,
      schedule_id: uuidText,
      from: moment,
      to: moment,
      limit: pageSize,
      cursor: uuidText,
    });
    const size = query.limit ?? LIMITS.adminPageSize;
    const payments = await listPayments(gateway, {
      mid: query.mid,
      orderId: query.order_id,
      state: query.status,
      brand: query.brand,
      scheduleId: query.schedule_id,
      from: query.from,
      to: query.to,
      before: query.cursor,
      limit: size + 1,
    });
    return page(payments, size, (payment) => payment.paymentId, paymentView);
  });

  app.get<{ Params: { paymentId: string } }>('/payments/:paymentId', async (request) => {
    const found = await inspectPayment(gateway, request.params.paymentId);
    if (!found) throw new Refusal('noSuchPayment');
    const { payment, history } = found;
    return {
      ...paymentView(payment),
      connector: payment.connector,
      provider_reference: payment.providerReference,
      in_doubt: payment.inDoubt,
      details: payment.details,
      history: history.map(historyView),
      operations: [],
      provider_calls: history.flatMap((row) => (row.call ? [callView(row)] : [])),
      callbacks: [],
    };
  });
}

function paymentView(payment: Payment) {
  const money = (minor: bigint): string => amountText(minor, CURRENCIES[payment.currency]?.exponent ?? 2);
  return {
    payment_id: payment.paymentId,
    mid: payment.mid,
    order_id: payment.orderId,
    attempt: payment.attempt,
    status: payment.state,
    brand: payment.brand,
    protocol: payment.protocol,
    amount: payment.amountText,
    currency: payment.currency,
    authorised: money(payment.authorised),
    captured: money(payment.captured),
    refunded: money(payment.refunded),
    decline_reason: payment.declineReason,
    schedule_id: payment.scheduleId,
    created_at: wireDate(payment.createdAt),
    updated_at: wireDate(payment.updatedAt),
  };
}

const historyView = (row: HistoryRow) => ({
  seq: row.seq,
  event: row.event,
  from: row.fromState,
  to: row.toState,
  actor: row.actor,
  at: wireDate(row.at),
});

const callView = ({ call, at }: HistoryRow) => ({
  verb: call?.verb,
  connector: call?.connector,
  outcome: call?.outcome,
  took_ms: call?.tookMs,
  at: wireDate(at),
});
