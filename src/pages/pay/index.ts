/** The pages of payers: asks for what is missing, waits with them, and sends them back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway, Payment } from '../../core/context.ts';
import { choose, type Method } from '../../core/payments/choose.ts';
import { openForPayer, type PayerView, returnOfPayer } from '../../core/payments/payer.ts';
import { returnAddress } from '../../core/payments/return.ts';
import { readUrlEncoded } from '../../lib/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import { document, type Page, pageHeaders } from '../layout.ts';
import {
  choicePage,
  endPage,
  fieldsPage,
  onwardPage,
  type RedirectStep,
  troublePage,
  unknownPage,
  waitingPage,
} from './views.ts';

interface Linked {
  Params: { link: string };
  Querystring: { method?: string };
}

/** The method that the payer named, or the only one there is. */
const methodOf = (methods: readonly Method[], label: string | undefined): Method | undefined =>
  methods.length === 1 ? methods[0] : methods.find((method) => method.label === label);

const NO_ANSWERS: ReadonlyMap<string, string> = new Map();
const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

/** The address of a provider's page with what it wants to know in the query. */
function addressWith({ url, params }: RedirectStep): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
  return address.href;
}

export function payFace(app: FastifyInstance, gateway: Gateway): void {
  const headers = pageHeaders(gateway.environment === 'sandbox');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'page';
    reply.headers(headers);
    done();
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const isTheirs = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
    if (!isTheirs) gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    show(reply.code(isTheirs ? (error.statusCode as number) : 503).headers(headers), troublePage);
  });

  const show = (reply: FastifyReply, page: Page): FastifyReply => reply.send(document(page));
  const lost = (reply: FastifyReply): FastifyReply => show(reply.code(404), unknownPage);

  /** The page that fits the payment as it is now. */
  const showCurrent = (reply: FastifyReply, view: PayerView, wanted?: string): FastifyReply => {
    const { payment, account, methods } = view;
    const now = gateway.clock.now(payment.mid);
    const address = returnAddress(payment, account);
    const method = methodOf(methods, wanted);
    if (method) return show(reply, fieldsPage({ ...view, method, answers: NO_ANSWERS, problems: [], now }));
    if (methods.length > 0) return show(reply, choicePage(payment, account, methods, now));
    const { nextStep } = payment;
    if (payment.state === 'REDIRECT' && nextStep?.kind === 'redirect') {
      return nextStep.method === 'GET'
        ? reply.redirect(addressWith(nextStep), 303)
        : show(reply, onwardPage(view, nextStep));
    }
    return show(reply, endPage(payment, account, address) ?? waitingPage(payment, account, now, address));
  };

  const opened = async (request: FastifyRequest<Linked>): Promise<PayerView | undefined> => {
    const view = await openForPayer(gateway, request.params.link);
    request.paymentId = view?.payment.paymentId;
    return view;
  };

  app.get<Linked>('/pay/:link', async (request, reply) => {
    const view = await opened(request);
    return view ? showCurrent(reply, view, request.query.method) : lost(reply);
  });

  app.post<Linked>('/pay/:link', async (request, reply) => {
    const view = await opened(request);
    if (!view) return lost(reply);
    const { values: answers } = readUrlEncoded((request.body as Buffer | undefined) ?? Buffer.alloc(0), FORM_LIMITS);
    const method = methodOf(view.methods, answers.get('method'));
    if (!method) return reply.redirect(`/pay/${request.params.link}`, 303);
    const outcome = await choose(gateway, view.payment, view.account, method, answers);
    if ('problems' in outcome) {
      const now = gateway.clock.now(view.payment.mid);
      return show(reply.code(422), fieldsPage({ ...view, method, answers, problems: outcome.problems, now }));
    }
    return reply.redirect(nextAddress(view, outcome.payment) ?? `/pay/${request.params.link}`, 303);
  });

  /** Where a payer goes whose details were taken: on to the provider, back to the shop, or to the page that waits. */
  const nextAddress = (view: PayerView, payment: Payment): string | undefined => {
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return addressWith(nextStep);
    const mayTryAgain = state === 'DECLINED' && view.payment.details.session !== undefined;
    return isOpen(state) || mayTryAgain ? undefined : returnAddress({ ...view.payment, ...payment }, view.account);
  };

  // Providers send payers back by either method.
  app.route<Linked>({
    method: ['GET', 'POST'],
    url: '/return/:link',
    async handler(request, reply) {
      const view = await returnOfPayer(gateway, request.params.link);
      if (!view) return lost(reply);
      request.paymentId = view.payment.paymentId;
      const address = returnAddress(view.payment, view.account);
      // A declined payer may try again, as long as the session lasts.
      if (view.methods.length > 0) return showCurrent(reply, view);
      return address === undefined ? showCurrent(reply, view) : reply.redirect(address, 303);
    },
  });
}
