/** The pages of payers: asks for what is missing, waits with them, and sends them back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Gateway, WholePayment } from '../../core/context.ts';
import { choose, chooseCard, type Method } from '../../core/payments/choose.ts';
import { settledSoon } from '../../core/payments/find.ts';
import { linkOf } from '../../core/payments/links.ts';
import { openForPayer, type PayerView, returnOfPayer, withoutSpentCards } from '../../core/payments/payer.ts';
import { cancelAddress, endingOf, returnAddress, returnTarget, type WayBack } from '../../core/payments/return.ts';
import type { Form as SentForm } from '../../lib/form.ts';
import { createPace } from '../../lib/pace.ts';
import { CARD, UNCHOSEN } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { commonHeaders, document, type Frame, type Page, pageHeaders } from '../layout.ts';
import { speechFor } from '../speech.ts';
import { readForm } from './body.ts';
import { browserOf, cardOf, isForeign } from './brought.ts';
import { cardPage } from './card.ts';
import { choicePage } from './choice.ts';
import { endPage, foreignPage, noWayPage, troublePage, unknownPage } from './endings.ts';
import { type Form, fieldsPage } from './fields.ts';
import { cardRefusedPage, tooFastPage } from './limits.ts';
import { addressWith, backPage, challengePage, onwardPage } from './onward.ts';
import { type Shown, versionOf } from './shown.ts';
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
const formPage = (shown: Shown, form: Form): Page =>
  form.method.label === CARD ? cardPage(shown, form) : fieldsPage(shown, form);

export function payFace(
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
    show(reply.code(isTheirs ? (error.statusCode as number) : 503), frame, troublePage(frame.speech));
  });

  const frameOf = ({ headers }: Pick<FastifyRequest, 'headers'>, account?: Account): Frame => ({
    speech: speechFor(account?.settings.locale ?? '', headers['accept-language']),
    account,
  });
  const show = (reply: FastifyReply, frame: Frame, page: Page): FastifyReply =>
    reply
      .removeHeader('x-frame-options')
      .headers(pageHeaders(gateway, frame.account))
      .send(document(gateway, frame, page));
  const lost = (request: FastifyRequest<Linked>, reply: FastifyReply): FastifyReply => {
    const frame = frameOf(request);
    return show(reply.code(404), frame, unknownPage(frame.speech));
  };

  const opened = async (request: FastifyRequest<Linked>): Promise<PayerView | undefined> => {
    const view = await openForPayer(gateway, request.params.link);
    request.paymentId = view?.payment.paymentId;
    return view;
  };

  const shownOf = (request: FastifyRequest<Linked>, view: PayerView, way?: WayBack): Shown => {
    const { payment, account } = view;
    return {
      ...view,
      speech: frameOf(request, account).speech,
      now: gateway.clock.now(payment.mid),
      ending: endingOf(gateway, payment),
      path: `/pay/${request.params.link}`,
      back: { address: returnAddress(gateway, payment, account, way), target: returnTarget(payment, account, way) },
      cancel: cancelAddress(gateway, payment, account),
    };
  };

  /** The page that fits the payment as it is now. */
  const showCurrent = (request: FastifyRequest<Linked>, reply: FastifyReply, view: PayerView): FastifyReply => {
    const { query } = request;
    const shown = shownOf(request, view, { isAfterChallenge: query.leaving === 'bank' });
    const { payment, methods, back } = shown;
    const { nextStep, state } = payment;
    const isAtProvider = state === 'REDIRECT' && nextStep?.kind === 'redirect';
    if (isAtProvider && nextStep.method === 'GET' && query.returned === undefined) {
      return reply.redirect(addressWith(nextStep), 303);
    }
    const page = (): Page => {
      const method = methodOf(methods, query.method);
      if (method) return formPage(shown, { method, answers: NO_ANSWERS, problems: [] });
      if (methods.length > 0) return choicePage(shown);
      if (state === 'PREPARE' && payment.brand === UNCHOSEN) return noWayPage(shown);
      if (query.returned !== undefined && shown.ending === 'open') return unfinishedPage(shown);
      if (isAtProvider) return onwardPage(shown, nextStep);
      if (state === '3DS' && nextStep?.kind === 'challenge') return challengePage(shown, nextStep);
      const end = endPage(shown);
      return end && query.leaving !== undefined && back.target ? backPage(shown) : (end ?? waitingPage(shown));
    };
    return show(reply, shown, page());
  };

  /** Sends a payer back to the shop; a redirect stays in its browsing context, so another one needs a page of ours. */
  const leave = (reply: FastifyReply, { back, path }: Shown, { isAfterChallenge }: WayBack = {}): FastifyReply => {
    const byPage = `${path}?leaving=${isAfterChallenge ? 'bank' : 'page'}`;
    return reply.redirect(back.address === undefined ? path : back.target ? byPage : back.address, 303);
  };

  /** Where a payer goes whose details were taken: on to the provider, back to the shop, or to the page that waits. */
  const goOn = (
    request: FastifyRequest<Linked>,
    reply: FastifyReply,
    view: PayerView,
    payment: WholePayment,
    way: WayBack = {},
  ): FastifyReply => {
    const shown = shownOf(request, { ...view, payment }, way);
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return reply.redirect(addressWith(nextStep), 303);
    const isUndecided = shown.ending === 'open' || shown.ending === 'unknown';
    const mayTryAgain = state === 'DECLINED' && payment.details.session !== undefined;
    if (!isUndecided && !mayTryAgain) return leave(reply, shown, way);
    return reply.redirect(shown.path + (isUndecided && way.isAfterChallenge ? '?returned=1' : ''), 303);
  };

  app.get<Linked>('/pay/:link', async (request, reply) => {
    const view = await opened(request);
    return view ? showCurrent(request, reply, await withoutSpentCards(gateway, view)) : lost(request, reply);
  });

  // The script of the page asks whether it is still up to date.
  app.get<Linked>('/pay/:link/status', async (request, reply) => {
    request.isRead = true;
    const view = await opened(request);
    return reply
      .code(view ? 200 : 404)
      .headers({ ...commonHeaders(gateway), 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify(view ? { version: versionOf(view.payment) } : {}));
  });

  const isTooFast = createPace(LIMITS.pressesMost, LIMITS.pressesMs);
  const turnAway = (reply: FastifyReply, afterMs: number | undefined): FastifyReply =>
    reply.code(429).headers(afterMs === undefined ? {} : { 'retry-after': Math.ceil(afterMs / 1000) });

  app.post<Linked>('/pay/:link', async (request, reply) => {
    const stranger = frameOf(request);
    if (isTooFast(request.params.link)) {
      return show(turnAway(reply, LIMITS.pressesMs), stranger, tooFastPage(stranger.speech));
    }
    const view = await opened(request);
    if (!view) return lost(request, reply);
    const shown = shownOf(request, view);
    const { payment, account, methods } = view;
    if (isForeign(request.headers, gateway.publicUrl)) {
      return show(reply.code(403), shown, foreignPage(shown.speech, shown.path));
    }
    const answers = (request.body as SentForm | undefined)?.values ?? NO_ANSWERS;
    const method = methodOf(methods, answers.get('method'));
    if (!method) return reply.redirect(shown.path, 303);
    const browser = browserOf(request.headers, addressOf(request));
    const outcome =
      method.label === CARD
        ? await chooseCard(gateway, payment, account, cardOf(answers, view.savedCards), browser)
        : await choose(gateway, payment, account, method, answers);
    if ('problems' in outcome) {
      return show(reply.code(422), shown, formPage(shown, { method, answers, problems: outcome.problems }));
    }
    if ('refusal' in outcome) {
      return show(turnAway(reply, outcome.refusal.waitMs), shown, cardRefusedPage(shown, outcome.refusal));
    }
    return goOn(request, reply, view, outcome.payment);
  });

  // The payer is back from the bank. What the browser brings is not believed: the bank tells us itself.
  app.post<Linked>('/3ds/:link', async (request, reply) => {
    const view = await opened(request);
    if (!view) return lost(request, reply);
    const { paymentId, mid } = view.payment;
    const payment = isTooFast(request.params.link) ? undefined : await settledSoon(gateway, { paymentId, mid });
    return goOn(request, reply, view, payment ?? view.payment, { isAfterChallenge: true });
  });

  // Providers send payers back by either method.
  app.route<Linked>({
    method: ['GET', 'POST'],
    url: '/return/:link',
    async handler(request, reply) {
      const { link } = request.params;
      // Who comes back all the time hears what is known, and the provider is left in peace.
      const view = await (isTooFast(link) ? openForPayer(gateway, link) : returnOfPayer(gateway, link));
      if (!view) return lost(request, reply);
      request.paymentId = view.payment.paymentId;
      const { session } = view.payment.details;
      const shown = shownOf(request, view);
      if (!session) return shown.back.address === undefined ? showCurrent(request, reply, view) : leave(reply, shown);
      const page = `/pay/${linkOf(gateway, session.id)}`;
      // A declined payer may try again, as long as the session lasts; who has not decided can go on.
      if (view.methods.length > 0) return reply.redirect(page, 303);
      const isUndecided = shown.ending === 'open' || shown.ending === 'unknown';
      return isUndecided ? reply.redirect(`${page}?returned=1`, 303) : leave(reply, shown);
    },
  });
}
