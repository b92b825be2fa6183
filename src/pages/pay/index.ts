/** The pages of payers: asks for what is missing, waits with them, and sends them back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Gateway, WholePayment } from '../../core/context.ts';
import { choose, chooseCard, type Method } from '../../core/payments/choose.ts';
import { settledSoon } from '../../core/payments/find.ts';
import { linkOf } from '../../core/payments/links.ts';
import { openForPayer, type PayerView, returnOfPayer, withoutSpentCards } from '../../core/payments/payer.ts';
import { cancelAddress, type ReturnLink, resultOf, returnAddress, returnTarget } from '../../core/payments/return.ts';
import type { Form as SentForm } from '../../lib/form.ts';
import { createWindowLimit } from '../../lib/window-limit.ts';
import { CARD, NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { commonHeaders, document, type Frame, type Page, pageHeaders } from '../layout.ts';
import { localeFor } from '../locale.ts';
import { readForm } from './body.ts';
import { browserOf, cardOf, isForeign } from './browser-input.ts';
import { cardPage } from './card.ts';
import { choicePage } from './choice.ts';
import { type Form, fieldsPage } from './fields.ts';
import { cardRefusedPage, tooFastPage } from './limits.ts';
import { addressWith, backPage, challengePage, redirectPage } from './redirect-pages.ts';
import { foreignPage, noWayPage, resultPage, troublePage, unknownPage } from './result-pages.ts';
import { type PageView, versionOf } from './view.ts';
import { unfinishedPage, waitingPage } from './waiting.ts';

interface Linked {
  Params: { link: string };
  Querystring: Query;
}

/** What an address of ours says besides the link. */
interface Query {
  method?: string;
  /** The payer was elsewhere and is back; the script says by which button. */
  returned?: string;
  /** The payer is on the way back to the shop, from our page or from the bank. */
  leaving?: 'page' | 'bank';
}

/** The method that the payer named, or the only one there is. */
const methodOf = (methods: readonly Method[], label: string | undefined): Method | undefined =>
  methods.length === 1 ? methods[0] : methods.find((method) => method.label === label);

const NO_ANSWERS: ReadonlyMap<string, string> = new Map();

/** Cards have a form of their own. */
const formPage = (view: PageView, form: Form): Page =>
  form.method.label === CARD ? cardPage(view, form) : fieldsPage(view, form);

export function payRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest<Linked>) => string,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'page';
    reply.headers(pageHeaders(gateway));
    done();
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const isTheirs = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
    if (!isTheirs) gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    const frame = frameOf(request);
    show(reply.code(isTheirs ? (error.statusCode as number) : 503), frame, troublePage(frame.locale));
  });

  const frameOf = ({ headers }: Pick<FastifyRequest, 'headers'>, account?: Account): Frame => ({
    locale: localeFor(account?.settings.locale ?? '', headers['accept-language']),
    account,
  });
  const show = (reply: FastifyReply, frame: Frame, page: Page): FastifyReply =>
    reply
      .removeHeader('x-frame-options')
      .headers(pageHeaders(gateway, frame.account))
      .send(document(gateway, frame, page));
  const lost = (request: FastifyRequest<Linked>, reply: FastifyReply): FastifyReply => {
    const frame = frameOf(request);
    return show(reply.code(404), frame, unknownPage(frame.locale));
  };

  const opened = async (request: FastifyRequest<Linked>): Promise<PayerView | undefined> => {
    const payerView = await openForPayer(gateway, request.params.link);
    request.paymentId = payerView?.payment.paymentId;
    return payerView;
  };

  const shownOf = (request: FastifyRequest<Linked>, payerView: PayerView, way?: ReturnLink): PageView => {
    const { payment, account } = payerView;
    return {
      ...payerView,
      locale: frameOf(request, account).locale,
      now: gateway.clock.now(payment.mid),
      result: resultOf(gateway, payment),
      path: `/pay/${request.params.link}`,
      back: { address: returnAddress(gateway, payment, account, way), target: returnTarget(payment, account, way) },
      cancel: cancelAddress(gateway, payment, account),
    };
  };

  /** The page that fits the payment as it is now. */
  const showCurrent = (request: FastifyRequest<Linked>, reply: FastifyReply, payerView: PayerView): FastifyReply => {
    const { query } = request;
    const view = shownOf(request, payerView, { isAfterChallenge: query.leaving === 'bank' });
    const { payment, methods, back } = view;
    const { nextStep, state } = payment;
    const isAtProvider = state === 'REDIRECT' && nextStep?.kind === 'redirect';
    if (isAtProvider && nextStep.method === 'GET' && query.returned === undefined) {
      return reply.redirect(addressWith(nextStep), 303);
    }
    const page = (): Page => {
      const method = methodOf(methods, query.method);
      if (method) return formPage(view, { method, answers: NO_ANSWERS, problems: [] });
      if (methods.length > 0) return choicePage(view);
      if (state === 'PREPARE' && payment.brand === NO_BRAND_YET) return noWayPage(view);
      if (query.returned !== undefined && view.result === 'open') return unfinishedPage(view);
      if (isAtProvider) return redirectPage(view, nextStep);
      if (state === '3DS' && nextStep?.kind === 'challenge') return challengePage(view, nextStep);
      const end = resultPage(view);
      return end && query.leaving !== undefined && back.target ? backPage(view) : (end ?? waitingPage(view));
    };
    return show(reply, view, page());
  };

  /** Sends a payer back to the shop; a redirect stays in its browsing context, so another one needs a page of ours. */
  const leave = (
    reply: FastifyReply,
    { back, path }: PageView,
    { isAfterChallenge }: ReturnLink = {},
  ): FastifyReply => {
    const byPage = `${path}?leaving=${isAfterChallenge ? 'bank' : 'page'}`;
    return reply.redirect(back.address === undefined ? path : back.target ? byPage : back.address, 303);
  };

  /** Where a payer goes whose details were taken: on to the provider, back to the shop, or to the page that waits. */
  const progress = (
    request: FastifyRequest<Linked>,
    reply: FastifyReply,
    payerView: PayerView,
    payment: WholePayment,
    way: ReturnLink = {},
  ): FastifyReply => {
    const view = shownOf(request, { ...payerView, payment }, way);
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return reply.redirect(addressWith(nextStep), 303);
    const isUndecided = view.result === 'open' || view.result === 'unknown';
    const mayTryAgain = state === 'DECLINED' && payment.details.session !== undefined;
    if (!isUndecided && !mayTryAgain) return leave(reply, view, way);
    return reply.redirect(view.path + (isUndecided && way.isAfterChallenge ? '?returned=1' : ''), 303);
  };

  app.get<Linked>('/pay/:link', async (request, reply) => {
    const payerView = await opened(request);
    return payerView ? showCurrent(request, reply, await withoutSpentCards(gateway, payerView)) : lost(request, reply);
  });

  // The script of the page asks whether it is still up to date.
  app.get<Linked>('/pay/:link/status', async (request, reply) => {
    request.isRead = true;
    const payerView = await opened(request);
    return reply
      .code(payerView ? 200 : 404)
      .headers({ ...commonHeaders(gateway), 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify(payerView ? { version: versionOf(payerView.payment) } : {}));
  });

  const isTooFast = createWindowLimit(LIMITS.submitLimit, LIMITS.submitWindowMs);
  const turnAway = (reply: FastifyReply, afterMs: number | undefined): FastifyReply =>
    reply.code(429).headers(afterMs === undefined ? {} : { 'retry-after': Math.ceil(afterMs / 1000) });

  app.post<Linked>('/pay/:link', async (request, reply) => {
    const stranger = frameOf(request);
    if (isTooFast(request.params.link)) {
      return show(turnAway(reply, LIMITS.submitWindowMs), stranger, tooFastPage(stranger.locale));
    }
    const payerView = await opened(request);
    if (!payerView) return lost(request, reply);
    const view = shownOf(request, payerView);
    const { payment, account, methods } = payerView;
    if (isForeign(request.headers, gateway.publicUrl)) {
      return show(reply.code(403), view, foreignPage(view.locale, view.path));
    }
    const answers = (request.body as SentForm | undefined)?.values ?? NO_ANSWERS;
    const method = methodOf(methods, answers.get('method'));
    if (!method) return reply.redirect(view.path, 303);
    const browser = browserOf(request.headers, addressOf(request));
    const outcome =
      method.label === CARD
        ? await chooseCard(gateway, payment, account, cardOf(answers, payerView.savedCards), browser)
        : await choose(gateway, payment, account, method, answers);
    if ('problems' in outcome) {
      return show(reply.code(422), view, formPage(view, { method, answers, problems: outcome.problems }));
    }
    if ('refusal' in outcome) {
      return show(turnAway(reply, outcome.refusal.waitMs), view, cardRefusedPage(view, outcome.refusal));
    }
    return progress(request, reply, payerView, outcome.payment);
  });

  // The payer is back from the bank. What the browser brings is not believed: the bank tells us itself.
  app.post<Linked>('/3ds/:link', async (request, reply) => {
    const payerView = await opened(request);
    if (!payerView) return lost(request, reply);
    const { paymentId, mid } = payerView.payment;
    const payment = isTooFast(request.params.link) ? undefined : await settledSoon(gateway, { paymentId, mid });
    return progress(request, reply, payerView, payment ?? payerView.payment, { isAfterChallenge: true });
  });

  // Providers send payers back by either method.
  app.route<Linked>({
    method: ['GET', 'POST'],
    url: '/return/:link',
    async handler(request, reply) {
      const { link } = request.params;
      // Who comes back all the time hears what is known, and the provider is left in peace.
      const payerView = await (isTooFast(link) ? openForPayer(gateway, link) : returnOfPayer(gateway, link));
      if (!payerView) return lost(request, reply);
      request.paymentId = payerView.payment.paymentId;
      const { session } = payerView.payment.details;
      const view = shownOf(request, payerView);
      if (!session)
        return view.back.address === undefined ? showCurrent(request, reply, payerView) : leave(reply, view);
      const page = `/pay/${linkOf(gateway, session.id)}`;
      // A declined payer may try again, as long as the session lasts; who has not decided can go on.
      if (payerView.methods.length > 0) return reply.redirect(page, 303);
      const isUndecided = view.result === 'open' || view.result === 'unknown';
      return isUndecided ? reply.redirect(`${page}?returned=1`, 303) : leave(reply, view);
    },
  });
}
