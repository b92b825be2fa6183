/** The admin call for a telephone order: opens its payment page. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { paymentPageUrl } from '../../core/payments/links.ts';
import { TELEPHONE_ORDER_MEMBERS, takeTelephoneOrder } from '../../core/telephone-orders/telephone-orders.ts';
import { needs } from '../bearer.ts';
import { objectBody, refuseUnknown } from './input.ts';
import { accountOfBody } from './links.ts';

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
}
