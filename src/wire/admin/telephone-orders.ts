/** The admin calls on telephone orders: opens the payment page of one, and lists those that the caller has taken. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, TakenOrder } from '../../core/context.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import {
  listTelephoneOrders,
  TELEPHONE_ORDER_MEMBERS,
  takeTelephoneOrder,
} from '../../core/telephone-orders/telephone-orders.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import { objectBody, page, pageSize, readQuery, refuseUnknown, uuidText } from './input.ts';
import { accountOfBody } from './links.ts';
import { listFile } from './list-file.ts';

const COLUMNS = ['payment_id', 'mid', 'order_id', 'description', 'amount', 'currency', 'status', 'created_at'];

const view = ({ paymentId, mid, orderId, description, amountText, currency, state, createdAt }: TakenOrder) => ({
  payment_id: paymentId,
  mid,
  order_id: orderId,
  description,
  amount: amountText,
  currency,
  status: state,
  created_at: wireDate(createdAt),
});

export function telephoneOrderRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post('/telephone-orders', needs('telephone_orders.take', 'accounts'), async (request, reply) => {
    const { mid, ...body } = objectBody(request.body);
    const rest = Object.entries(body).filter(([name]) => !TELEPHONE_ORDER_MEMBERS.some((known) => known === name));
    refuseUnknown(Object.fromEntries(rest), ['mid', ...TELEPHONE_ORDER_MEMBERS]);
    const account = await accountOfBody(gateway, request, mid);
    const { paymentId, orderId } = await takeTelephoneOrder(gateway, account, request.caller, body);
    reply.code(201);
    return { url: paymentPageUrl(gateway, paymentId), payment_id: paymentId, order_id: orderId };
  });

  app.get('/telephone-orders', needs('telephone_orders.take', 'accounts'), async ({ principal, query }) => {
    const readers = { mid: uuidText, limit: pageSize, cursor: uuidText };
    const { mid, limit: size = LIMITS.adminPageSize, cursor: before } = readQuery(query, readers);
    const orders = await listTelephoneOrders(gateway, principal, { mid, before, limit: size + 1 });
    return page(orders, size, ({ paymentId }) => paymentId, view);
  });

  listFile<TakenOrder>(app, gateway, '/telephone-orders', {
    guard: ['telephone_orders.take', 'accounts'],
    name: 'telephone-orders',
    columns: COLUMNS,
    read({ principal, query }, limit, last) {
      const { mid } = readQuery(query, { mid: uuidText });
      return listTelephoneOrders(gateway, principal, { mid, before: last?.paymentId, limit });
    },
    cells: view,
  });
}
