/** The pages of payers: asks for what is missing, waits with them, and sends them back to the shop. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Gateway, Payment } from '../../core/context.ts';
import { collect, openForPayer, type PayerView, returnOfPayer } from '../../core/payments/collect.ts';
import { returnAddress } from '../../core/payments/return.ts';
import { readUrlEncoded } from '../../lib/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import { document, type Page, pageHeaders } from '../layout.ts';
import { endPage, fieldsPage, troublePage, unknownPage, waitingPage } from './views.ts';

interface Linked {
  Params: { link: string };
}

const NO_ANSWERS: ReadonlyMap<string, string> = new Map();
const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

export function payFace(app: FastifyInstance, gateway: Gateway): void {
  const headers = pageHeaders(gateway.environment === 'sandbox');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'page';
    reply.headers(headers);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    show(reply.code(503).headers(headers), troublePage);
  });

  const show = (reply: FastifyReply, page: Page): FastifyReply => reply.send(document(page));
  const lost = (reply: FastifyReply): FastifyReply => show(reply.code(404), unknownPage);

  /** The page that fits the payment as it is now. */
  const showCurrent = (reply: FastifyReply, view: PayerView): FastifyReply => {
    const { payment, account, fields } = view;
    const now = gateway.clock.now(payment.mid);
    const address = returnAddress(payment, account);
    if (fields.length > 0) return show(reply, fieldsPage({ ...view, answers: NO_ANSWERS, problems: [], now }));
    const { nextStep } = payment;
    if (payment.state === 'REDIRECT' && nextStep?.kind === 'redirect' && nextStep.method === 'GET') {
      return reply.redirect(nextStep.url, 303);
    }
    return show(reply, endPage(payment, account, address) ?? waitingPage(payment, account, now, address));
  };

  app.get<Linked>('/pay/:link', async (request, reply) => {
    const view = await openForPayer(gateway, request.params.link);
    return view ? showCurrent(reply, view) : lost(reply);
  });

  app.post<Linked>('/pay/:link', async (request, reply) => {
    const view = await openForPayer(gateway, request.params.link);
    if (!view) return lost(reply);
    if (view.fields.length === 0) return reply.redirect(request.url, 303);
    const { values: answers } = readUrlEncoded((request.body as Buffer | undefined) ?? Buffer.alloc(0), FORM_LIMITS);
    const outcome = await collect(gateway, view, answers);
    if ('problems' in outcome) {
      const now = gateway.clock.now(view.payment.mid);
      return show(reply.code(422), fieldsPage({ ...view, answers, problems: outcome.problems, now }));
    }
    return reply.redirect(nextAddress(view, outcome.payment) ?? request.url, 303);
  });

  /** Where a payer goes whose details were taken: on to the provider, back to the shop, or to the page that waits. */
  const nextAddress = (view: PayerView, payment: Payment): string | undefined => {
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return nextStep.url;
    return isOpen(state) ? undefined : returnAddress({ ...view.payment, ...payment }, view.account);
  };

  // Providers send payers back by either method.
  app.route<Linked>({
    method: ['GET', 'POST'],
    url: '/return/:link',
    async handler(request, reply) {
      const view = await returnOfPayer(gateway, request.params.link);
      if (!view) return lost(reply);
      const address = returnAddress(view.payment, view.account);
      return address === undefined ? showCurrent(reply, view) : reply.redirect(address, 303);
    },
  });
}
