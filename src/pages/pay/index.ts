/** The pages of payers: asks for what is missing, waits with them, and sends them back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway, Payment } from '../../core/context.ts';
import type { Browser } from '../../core/payments/authenticate.ts';
import { choose, chooseCard, type Method } from '../../core/payments/choose.ts';
import { settledSoon } from '../../core/payments/find.ts';
import { pageOf } from '../../core/payments/links.ts';
import { openForPayer, type PayerView, returnOfPayer } from '../../core/payments/payer.ts';
import { returnAddress } from '../../core/payments/return.ts';
import type { Card } from '../../core/vault.ts';
import { readUrlEncoded } from '../../lib/form.ts';
import { Secret } from '../../lib/secret.ts';
import { CARD } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import { document, type Page, pageHeaders } from '../layout.ts';
import {
  cardPage,
  challengePage,
  choicePage,
  endPage,
  type FieldsPage,
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

/** A card as the form brings it. */
function cardOf(answers: ReadonlyMap<string, string>): Card {
  const text = (name: string): string => answers.get(name)?.trim() ?? '';
  const [month = '', year = ''] = text('card_expiry').split(/\s*\/\s*/);
  return {
    number: new Secret(text('card_number').replace(/[\s-]/g, '')),
    month: month.padStart(2, '0'),
    year: year.length === 2 ? `20${year}` : year,
    holder: text('card_holder'),
    cvv: new Secret(text('card_cvv')),
  };
}

const browserOf = ({ headers }: FastifyRequest<Linked>, ip: string): Browser => ({
  ip,
  language: headers['accept-language']?.split(/[,;]/)[0] ?? 'en',
  userAgent: headers['user-agent'] ?? '',
  accept: headers.accept ?? '',
});

/** Cards have a form of their own. */
const formPage = (page: FieldsPage): Page => (page.method.label === CARD ? cardPage(page) : fieldsPage(page));

export function payFace(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest<Linked>) => string,
): void {
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
    if (method) return show(reply, formPage({ ...view, method, answers: NO_ANSWERS, problems: [], now }));
    if (methods.length > 0) return show(reply, choicePage(payment, account, methods, now));
    const { nextStep } = payment;
    if (payment.state === 'REDIRECT' && nextStep?.kind === 'redirect') {
      return nextStep.method === 'GET'
        ? reply.redirect(addressWith(nextStep), 303)
        : show(reply, onwardPage(view, nextStep));
    }
    if (payment.state === '3DS' && nextStep?.kind === 'challenge') return show(reply, challengePage(view, nextStep));
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
    const outcome =
      method.label === CARD
        ? await chooseCard(gateway, view.payment, view.account, cardOf(answers), browserOf(request, addressOf(request)))
        : await choose(gateway, view.payment, view.account, method, answers);
    if ('problems' in outcome) {
      const now = gateway.clock.now(view.payment.mid);
      return show(reply.code(422), formPage({ ...view, method, answers, problems: outcome.problems, now }));
    }
    return reply.redirect(nextAddress(view, outcome.payment) ?? `/pay/${request.params.link}`, 303);
  });

  /** Where a payer goes whose details were taken: on to the provider, back to the shop, or to the page that waits. */
  const nextAddress = (view: PayerView, payment: Payment): string | undefined => {
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return addressWith(nextStep);
    const mayTryAgain = state === 'DECLINED' && view.payment.details.session !== undefined;
    const isWaiting = isOpen(state) && payment.authorised === 0n;
    return isWaiting || mayTryAgain ? undefined : returnAddress({ ...view.payment, ...payment }, view.account);
  };

  // The payer is back from the bank. What the browser brings is not believed: the bank tells us itself.
  app.post<Linked>('/3ds/:link', async (request, reply) => {
    const view = await opened(request);
    if (!view) return lost(reply);
    const { paymentId, mid } = view.payment;
    const payment = await settledSoon(gateway, { paymentId, mid });
    return reply.redirect((payment && nextAddress(view, payment)) ?? `/pay/${request.params.link}`, 303);
  });

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
      const { session } = view.payment.details;
      if (session && view.methods.length > 0) return reply.redirect(pageOf(gateway, session.id), 303);
      return address === undefined ? showCurrent(reply, view) : reply.redirect(address, 303);
    },
  });
}
