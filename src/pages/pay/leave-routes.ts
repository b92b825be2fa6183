/** The requests of a payer who leaves an attempt for another method, or who wants a new code. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { canLeave, canRenewCode, leaveAttempt, renewCode } from '../../core/payments/leave.ts';
import type { PayerView } from '../../core/payments/payer.ts';
import type { LinkRoute } from './view.ts';

/** What the routes share with those of the forms. */
export interface LeaveRouteTools {
  /** Opens the payment of a form that the page itself has sent; otherwise the response has been sent. */
  openForm(request: FastifyRequest<LinkRoute>, reply: FastifyReply): Promise<PayerView | undefined>;
}

export function leaveRoutes(app: FastifyInstance, gateway: Gateway, { openForm }: LeaveRouteTools): void {
  const route = (
    path: string,
    isPossible: (gateway: Gateway, payment: PaymentWithDetails, account: Account) => boolean,
    change: (gateway: Gateway, payment: PaymentWithDetails, account: Account) => Promise<PaymentWithDetails>,
  ): void => {
    app.post<LinkRoute>(`/pay/:link/${path}`, async (request, reply) => {
      const payerView = await openForm(request, reply);
      if (!payerView) return reply;
      const { payment, account } = payerView;
      // A form that is sent twice finds that there is nothing left to do.
      const isStillOpen =
        isPossible(gateway, payment, account) && (await change(gateway, payment, account)) === payment;
      return reply.redirect(`/pay/${request.params.link}${isStillOpen ? '?returned=open' : ''}`, 303);
    });
  };
  route('leave', canLeave, leaveAttempt);
  route('code', canRenewCode, renewCode);
}
