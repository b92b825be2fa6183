/** The routes of the payment pages: forms, waiting pages, and redirects to providers and back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticatesAtProvider } from '../../core/connections/connectors.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { customerPageOf } from '../../core/customers/customers.ts';
import { obstacleOf, payable } from '../../core/links/claims.ts';
import { asEntered, choose, chooseCard, type GivenDetails, type Method } from '../../core/payments/choose.ts';
import { waitForChallengeResult } from '../../core/payments/find.ts';
import { canLeave, canRenewCode } from '../../core/payments/leave.ts';
import { linkOf } from '../../core/payments/links.ts';
import {
  hasChoices,
  openForPayer,
  openOnReturn,
  type PayerView,
  withoutSpentCards,
} from '../../core/payments/payer.ts';
import {
  cancelAddress,
  type ReturnOptions,
  resultOf,
  returnAddress,
  returnTarget,
} from '../../core/payments/return.ts';
import { asksForReceipt, paidAt, receiptDetails } from '../../core/receipts/receipts.ts';
import { authenticatePayer, awaitsAuthentication } from '../../core/wallets/card.ts';
import { createWindowLimit } from '../../lib/flow/window-limit.ts';
import type { Form } from '../../lib/text/form.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import type { Problem } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import { compressPages } from '../compression.ts';
import { isCrossSite } from '../cross-site.ts';
import { isClientError, withFailure } from '../failure.ts';
import { readForm } from '../form-body.ts';
import { document, type Page, type PageContext, pageHeaders } from '../layout.ts';
import { obstaclePage } from '../links/page.ts';
import { loadFormats, localeFor } from '../locale.ts';
import { isOutdated, submittedAttempt } from './attempt.ts';
import { keptAnswers, selectedCard } from './card.ts';
import { challengePage, framedReturnPage, IN_FRAME } from './challenge.ts';
import { isCardEntry, payPage } from './choice.ts';
import { chosenLanguage, keepLanguage } from './chosen-language.ts';
import { sendJson } from './json.ts';
import { forgetInput, hasKeptInput, KEPT_CARD, keepInput, keptInput } from './kept-input.ts';
import { leaveRoutes } from './leave-routes.ts';
import { cardRefusalText, cardRefusedPage, rateLimitPage } from './limits.ts';
import { markRoutes } from './mark-routes.ts';
import { openMethod } from './method-groups.ts';
import { declineNotice, type Notice } from './notices.ts';
import { pretendSheet } from './pretend-wallet.ts';
import { problemTexts } from './problems.ts';
import { hasReceiptPage, receiptPage } from './receipt.ts';
import { RECEIPT_EMAIL } from './receipt-input.ts';
import { authenticationPage, redirectPage, redirectUrl, returnPage } from './redirect-pages.ts';
import { crossSitePage, errorPage, noMethodPage, resultPage, unknownLinkPage } from './result-pages.ts';
import { savingConsent } from './saving.ts';
import { CONSENT, consentText, lacksConsent } from './series.ts';
import { readBrowser, readCard, readReturned } from './submission.ts';
import { toldOf } from './told.ts';
import { type LinkRoute, type PageView, pageVersion } from './view.ts';
import { unfinishedPage, waitingPage } from './waiting.ts';
import { walletRoutes } from './wallet-routes.ts';
import { walletPage } from './wallets.ts';

/** The method that the payer chose, or the only one available. */
const selectMethod = (methods: readonly Method[], label: string | undefined): Method | undefined =>
  methods.length === 1 ? methods[0] : methods.find((method) => method.label === label);

const NO_ANSWERS: ReadonlyMap<string, string> = new Map();

/** After a decline the script keeps the form: it submits the next attempt, and the page shows this version. */
interface DeclineAnswer extends Notice {
  version: string;
  attempt: number;
}

/** Whether the script of the page has sent a form: it stays on the page, and reads the answer. */
const isFromScript = ({ body }: Pick<FastifyRequest, 'body'>): boolean => ['json', 'framed'].includes(answerFor(body));
const answerFor = (body: unknown): string => (body as Form | undefined)?.values.get('answer') ?? '';

/** Whether the page is in a frame of a shop: browsers say so when a page is loaded, and the script when it sends a form. */
const isInFrame = ({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>, account: Account): boolean =>
  account.settings.frame_ancestors.length > 0 &&
  (headers['sec-fetch-dest'] === 'iframe' || answerFor(body) === 'framed');

export function payRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest<LinkRoute>) => string,
): void {
  loadFormats();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'page';
    reply.headers(pageHeaders(gateway));
    done();
  });
  compressPages(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (!isClientError(error)) gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    const context = pageContext(request);
    show(withFailure(reply, error), context, errorPage(context.locale));
  });

  const pageContext = (request: Pick<FastifyRequest, 'headers' | 'query'>, account?: Account): PageContext => ({
    locale: localeFor(account?.settings.locale ?? '', request.headers['accept-language'], chosenLanguage(request)),
    account,
  });
  const show = (reply: FastifyReply, context: PageContext, page: Page): FastifyReply =>
    reply
      .removeHeader('x-frame-options')
      .headers(pageHeaders(gateway, context.account, page.additions))
      .send(document(gateway, context, page));
  /** Answers a form that is refused: with a page, or with its text for the script of the page. */
  const refuse = (
    request: FastifyRequest<LinkRoute>,
    reply: FastifyReply,
    context: PageContext,
    page: Page,
    text: string,
  ): FastifyReply =>
    isFromScript(request) ? sendJson(reply, gateway, { title: '', text }) : show(reply, context, page);
  const sendUnknownLink = (request: FastifyRequest<LinkRoute>, reply: FastifyReply): FastifyReply => {
    const context = pageContext(request);
    const { locale } = context;
    return refuse(request, reply.code(404), context, unknownLinkPage(locale), locale.messages.unknownHow);
  };

  const openLink = async (request: FastifyRequest<LinkRoute>): Promise<PayerView | undefined> => {
    const payerView = await openForPayer(gateway, request.params.link);
    request.paymentId = payerView?.payment.paymentId;
    return payerView;
  };

  const createPageView = (
    request: FastifyRequest<LinkRoute>,
    payerView: PayerView,
    returnLink?: ReturnOptions,
  ): PageView => {
    const { payment, account } = payerView;
    const { session } = payment.details;
    const path = `/pay/${session ? linkOf(gateway, session.id) : request.params.link}`;
    return {
      ...payerView,
      locale: pageContext(request, account).locale,
      marks: gateway.marks,
      now: gateway.clock.now(payment.mid),
      isFramed: isInFrame(request, account),
      result: resultOf(gateway, payment),
      path,
      kept: payment.state === 'DECLINED' ? keptInput(gateway, request, { path, payment, account }) : undefined,
      keptQuery: payerView.methods.some(({ label }) => label === request.query.method)
        ? `method=${encodeURIComponent(request.query.method ?? '')}&`
        : '',
      back: {
        address: returnAddress(gateway, payment, account, returnLink),
        target: returnTarget(payment, account, returnLink),
      },
      canLeave: canLeave(gateway, payment, account),
      canRenewCode: canRenewCode(gateway, payment, account),
      isStillOpen: request.query.returned === 'open',
      cancel: cancelAddress(gateway, payment, account),
      pretend: pretendSheet(gateway, account),
      customerPage: customerPageOf(gateway, payment),
      asksForReceipt: asksForReceipt(gateway, payment, account),
    };
  };

  /** Shows the page for the current state of the payment. */
  const showCurrent = (request: FastifyRequest<LinkRoute>, reply: FastifyReply, payerView: PayerView): FastifyReply => {
    const { query } = request;
    const view = createPageView(request, payerView, { isAfterChallenge: query.leaving === 'bank' });
    const { payment, methods, back } = view;
    const { nextStep, state } = payment;
    const page = (): Page => {
      const method = openMethod(view, query.method);
      if (method) {
        const answers = isCardEntry(method) ? keptAnswers(view) : NO_ANSWERS;
        return payPage(view, { method, answers, problems: [] });
      }
      if (view.wallets.length > 0) return walletPage(view);
      if (state === 'PREPARE' && payment.brand === NO_BRAND_YET) return noMethodPage(view);
      // The payer has been at the provider: only right after a submission the page leads there by itself.
      if (nextStep?.kind === 'redirect' && query.leaving === 'provider') return redirectPage(view, nextStep);
      const isBack = query.returned !== undefined || nextStep?.kind === 'redirect';
      if (isBack && view.result === 'open') return unfinishedPage(view);
      if (awaitsAuthentication(payment)) return authenticationPage(view);
      if (state === '3DS' && nextStep?.kind === 'challenge') return challengePage(view, nextStep);
      const result = resultPage(view);
      return result && query.leaving !== undefined && query.leaving !== 'provider' && (back.target || view.isFramed)
        ? returnPage(view)
        : (result ?? waitingPage(view));
    };
    keepLanguage(gateway, request, reply, view);
    if (methods.length === 0 && !isOpen(state) && hasKeptInput(request)) forgetInput(gateway, reply, view);
    return show(reply, view, { ...page(), told: toldOf(view) });
  };

  /** The address of the shop; another browsing context than the current one needs a page with a link. */
  const shopAddress = ({ back, path, isFramed }: PageView, { isAfterChallenge }: ReturnOptions = {}): string => {
    const returnPagePath = `${path}?leaving=${isAfterChallenge ? 'bank' : 'page'}`;
    return back.address === undefined ? path : back.target || isFramed ? returnPagePath : back.address;
  };

  /** Where the payer goes after a submission: to the provider, back to the shop, or to the payment page. */
  const addressAfterSubmit = (
    request: FastifyRequest<LinkRoute>,
    payerView: PayerView,
    payment: PaymentWithDetails,
    returnLink: ReturnOptions = {},
  ): string => {
    const view = createPageView(request, { ...payerView, payment }, returnLink);
    const { nextStep, state } = payment;
    if (nextStep?.kind === 'redirect') {
      return nextStep.method === 'GET' && !view.isFramed ? redirectUrl(nextStep) : `${view.path}?leaving=provider`;
    }
    const isUndecided = view.result === 'open' || view.result === 'unknown';
    const mayTryAgain = state === 'DECLINED' && payment.details.session !== undefined;
    if (!isUndecided && !mayTryAgain) return shopAddress(view, returnLink);
    return view.path + (isUndecided && returnLink.isAfterChallenge ? '?returned=1' : '');
  };

  app.get<LinkRoute>('/pay/:link', async (request, reply) => {
    const payerView = await openLink(request);
    if (!payerView) return sendUnknownLink(request, reply);
    const obstacle = hasChoices(payerView) ? await obstacleOf(gateway, payerView.payment) : undefined;
    if (!obstacle) return showCurrent(request, reply, await withoutSpentCards(gateway, payerView));
    const context = pageContext(request, payerView.account);
    return show(reply, context, obstaclePage(context.locale, payerView.account, obstacle));
  });

  // The address stays the same for as long as the link of the payment works.
  app.get<LinkRoute>('/pay/:link/receipt', async (request, reply) => {
    const payerView = await openLink(request);
    if (!payerView) return sendUnknownLink(request, reply);
    const view = createPageView(request, payerView);
    if (!hasReceiptPage(view)) return reply.redirect(view.path, 303);
    return show(reply, view, receiptPage(view, await paidAt(gateway, view.payment)));
  });

  // Polled by the script of the page.
  app.get<LinkRoute>('/pay/:link/status', async (request, reply) => {
    request.isRead = true;
    const payerView = await openLink(request);
    if (!payerView) return sendJson(reply.code(404), gateway, {});
    const declined = await declineAnswer(request, payerView);
    return sendJson(reply, gateway, declined ?? { version: pageVersion(payerView.payment) });
  });

  /** What the script of a form needs to go on after a decline; undefined if the page has to be loaded again. */
  const declineAnswer = async (
    request: FastifyRequest<LinkRoute>,
    payerView: PayerView,
  ): Promise<DeclineAnswer | undefined> => {
    if (payerView.payment.state !== 'DECLINED' || !hasChoices(payerView)) return undefined;
    const view = createPageView(request, await withoutSpentCards(gateway, payerView));
    const notice = view.areCardsSpent ? undefined : declineNotice(view);
    const { payment } = view;
    return notice && { version: pageVersion(payment), attempt: submittedAttempt(payment), ...notice };
  };

  const isTooFast = createWindowLimit(LIMITS.submitLimit, LIMITS.submitWindowMs);
  const tooManyRequests = (reply: FastifyReply, afterMs: number | undefined): FastifyReply =>
    reply.code(429).headers(afterMs === undefined ? {} : { 'retry-after': Math.ceil(afterMs / 1000) });

  /** Opens the payment of a form that the page itself has sent; otherwise sends the response. */
  const openForm = async (request: FastifyRequest<LinkRoute>, reply: FastifyReply): Promise<PayerView | undefined> => {
    const context = pageContext(request);
    if (isTooFast(request.params.link)) {
      const { locale } = context;
      const page = rateLimitPage(locale, `/pay/${encodeURIComponent(request.params.link)}`);
      refuse(request, tooManyRequests(reply, LIMITS.submitWindowMs), context, page, locale.messages.tooFastHow);
      return undefined;
    }
    const payerView = await openLink(request);
    if (!payerView) {
      sendUnknownLink(request, reply);
      return undefined;
    }
    // `Origin` is `null` under our referrer policy, and the link cannot be guessed.
    if (!isCrossSite(request.headers, [new URL(gateway.publicUrl).origin, 'null'])) return payerView;
    const view = createPageView(request, payerView);
    const page = crossSitePage(view.locale, view.path);
    refuse(request, reply.code(403), view, page, view.locale.messages.foreignHow);
    return undefined;
  };

  app.post<LinkRoute>('/pay/:link', async (request, reply) => {
    const payerView = await openForm(request, reply);
    if (!payerView) return reply;
    const view = createPageView(request, payerView);
    const { payment, account, methods } = payerView;
    const answers = (request.body as Form | undefined)?.values ?? NO_ANSWERS;
    const browser = readBrowser(request.headers, addressOf(request), answers.get('browser'));
    const goOn = async (current: PaymentWithDetails = payment): Promise<FastifyReply> => {
      const location = current === payment ? view.path : addressAfterSubmit(request, payerView, current);
      if (!isFromScript(request)) return reply.redirect(location, 303);
      const newest = location === view.path ? await openLink(request) : undefined;
      return sendJson(reply, gateway, (newest && (await declineAnswer(request, newest))) ?? { location });
    };
    if (awaitsAuthentication(payment)) {
      return goOn(await authenticatePayer(gateway, payment, account, browser));
    }
    const selected = selectMethod(methods, answers.get('method'));
    const isEntered = Boolean(answers.get('card_number')) || answers.get('saved_card') === KEPT_CARD;
    const method = selected && isEntered ? asEntered(gateway, payment, account, selected) : selected;
    if (!method || isOutdated(payment, answers.get('attempt'))) return goOn();
    const sendProblems = (problems: readonly Problem[]): FastifyReply => {
      const form = { method, answers, problems };
      if (!isFromScript(request)) return show(reply.code(422), view, payPage(view, form));
      const texts = problemTexts(view, form, isCardEntry(method) ? selectedCard(view, answers) : undefined);
      const text = view.locale.formatPlural(view.locale.messages.checkMarked, texts.size);
      return sendJson(reply.code(422), gateway, { title: '', text, problems: Object.fromEntries(texts) });
    };
    if (lacksConsent(view, answers)) return sendProblems([{ field: CONSENT, sentence: SENTENCES.blank }]);
    const email = view.asksForReceipt ? (answers.get(RECEIPT_EMAIL)?.trim() ?? '') : '';
    if (email !== '' && !isMailAddress(email)) {
      return sendProblems([{ field: RECEIPT_EMAIL, sentence: SENTENCES.invalid }]);
    }
    const card = isCardEntry(method) ? readCard(answers, view) : undefined;
    const isNewCard = card !== undefined && 'number' in card;
    const saving = isNewCard ? savingConsent(view, answers) : undefined;
    const consent = [consentText(view), saving].filter(Boolean).join(' ');
    const given: GivenDetails = {
      ...(consent !== '' && { consent: { at: view.now, text: consent } }),
      ...receiptDetails(gateway, account, { language: view.locale.tag, email }),
    };
    const outcome = await payable(() =>
      card
        ? chooseCard(gateway, payment, account, card, browser, given, saving !== undefined)
        : choose(gateway, payment, account, method, answers, given),
    );
    // Others were faster: the page says so.
    if (!outcome) return goOn();
    if ('problems' in outcome) return sendProblems(outcome.problems);
    if ('refusal' in outcome) {
      const { refusal } = outcome;
      const { title, text } = cardRefusalText(refusal, view.locale);
      const page = cardRefusedPage(view, refusal);
      return refuse(request, tooManyRequests(reply, refusal.waitMs), view, page, `${title}. ${text}`);
    }
    const { state } = outcome.payment;
    const mayTryAgain = payment.details.session !== undefined && (isOpen(state) || state === 'DECLINED');
    if (isNewCard && mayTryAgain) keepInput(gateway, reply, view, card.number, answers);
    else if (hasKeptInput(request)) forgetInput(gateway, reply, view);
    return goOn(outcome.payment);
  });

  leaveRoutes(app, gateway, { openForm });
  markRoutes(app, gateway);

  walletRoutes(app, gateway, {
    openLink,
    isTooFast,
    browserOf: (request) => readBrowser(request.headers, addressOf(request)),
    localeOf: (request, account) => pageContext(request, account).locale,
    addressAfterSubmit,
  });

  /** Requests to other paths do not carry the cookie of the form. */
  const forgetOncePaid = (reply: FastifyReply, view: PageView): void => {
    if (view.payment.details.session && view.result === 'paid') forgetInput(gateway, reply, view);
  };

  // The payer returned from the card issuer. The browser's data are ignored: the issuer sends the result itself.
  app.post<LinkRoute>('/3ds/:link', async (request, reply) => {
    const payerView = await openLink(request);
    if (!payerView) return sendUnknownLink(request, reply);
    const { paymentId, mid } = payerView.payment;
    const payment = isTooFast(request.params.link)
      ? undefined
      : await waitForChallengeResult(gateway, { paymentId, mid });
    const current = payment ?? payerView.payment;
    forgetOncePaid(reply, createPageView(request, { ...payerView, payment: current }));
    const next = addressAfterSubmit(request, payerView, current, { isAfterChallenge: true });
    const isFramed = (request.body as Form | undefined)?.values.get('threeDSSessionData') === IN_FRAME;
    if (!isFramed) return reply.redirect(next, 303);
    const context = pageContext(request, payerView.account);
    return show(reply, context, framedReturnPage(context, next));
  });

  // Providers send payers back by either method.
  app.route<LinkRoute>({
    method: ['GET', 'POST'],
    url: '/return/:link',
    async handler(request, reply) {
      const { link } = request.params;
      // Above the rate limit the provider is not queried; the page shows the stored state.
      const payerView = await (isTooFast(link)
        ? openForPayer(gateway, link)
        : openOnReturn(gateway, link, readReturned(request)));
      if (!payerView) return sendUnknownLink(request, reply);
      request.paymentId = payerView.payment.paymentId;
      const { session } = payerView.payment.details;
      const returnLink = { isAfterChallenge: authenticatesAtProvider(gateway, payerView.payment) };
      const view = createPageView(request, payerView, returnLink);
      if (!session)
        return view.back.address === undefined
          ? showCurrent(request, reply, payerView)
          : reply.redirect(shopAddress(view, returnLink), 303);
      forgetOncePaid(reply, view);
      const page = view.path;
      // While the session lasts, a declined payer may try again, and an undecided payer may continue.
      if (hasChoices(payerView)) return reply.redirect(page, 303);
      const isUndecided = view.result === 'open' || view.result === 'unknown';
      return reply.redirect(isUndecided ? `${page}?returned=1` : shopAddress(view, returnLink), 303);
    },
  });
}
