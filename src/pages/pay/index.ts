/** The routes of the payment pages: forms, waiting pages, and redirects to providers and back to the shop. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { asEntered, choose, chooseCard, type GivenDetails, type Method } from '../../core/payments/choose.ts';
import { authenticatesAtProvider } from '../../core/payments/connectors.ts';
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
import { authenticatePayer, awaitsAuthentication } from '../../core/payments/wallet-card.ts';
import { asksForReceipt, paidAt, receiptDetails } from '../../core/receipts.ts';
import type { Form } from '../../lib/form.ts';
import { createWindowLimit } from '../../lib/window-limit.ts';
import { CARD, NO_BRAND_YET } from '../../rules/brands.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import { compressPages } from '../compression.ts';
import { isCrossSite } from '../cross-site.ts';
import { isClientError, withFailure } from '../failure.ts';
import { readForm } from '../form-body.ts';
import { commonHeaders, document, type Page, type PageContext, pageHeaders } from '../layout.ts';
import { loadFormats, localeFor } from '../locale.ts';
import { cardPage } from './card.ts';
import { challengePage, framedReturnPage, IN_FRAME } from './challenge.ts';
import { choicePage } from './choice.ts';
import { fieldsPage, type MethodForm } from './fields.ts';
import { forgetInput, keepInput, keptInput } from './kept-input.ts';
import { leaveRoutes } from './leave-routes.ts';
import { cardRefusedPage, rateLimitPage } from './limits.ts';
import { pretendSheet } from './pretend-wallet.ts';
import { hasReceiptPage, receiptPage } from './receipt.ts';
import { RECEIPT_EMAIL } from './receipt-input.ts';
import { authenticationPage, redirectPage, redirectUrl, returnPage } from './redirect-pages.ts';
import { crossSitePage, errorPage, noMethodPage, resultPage, unknownLinkPage } from './result-pages.ts';
import { savingConsent } from './saving.ts';
import { CONSENT, consentText, lacksConsent } from './series.ts';
import { readBrowser, readCard, readReturned } from './submission.ts';
import { type LinkRoute, type PageView, pageVersion } from './view.ts';
import { unfinishedPage, waitingPage } from './waiting.ts';
import { walletRoutes } from './wallet-routes.ts';
import { walletPage } from './wallets.ts';

/** The method that the payer chose, or the only one available. */
const selectMethod = (methods: readonly Method[], label: string | undefined): Method | undefined =>
  methods.length === 1 ? methods[0] : methods.find((method) => method.label === label);

const NO_ANSWERS: ReadonlyMap<string, string> = new Map();

/** Whether the payer enters a card here, and not on the page of the provider. */
const isCardEntry = ({ label, isHosted }: Method): boolean => label === CARD && !isHosted;

/** The form of a payment method; cards have a separate form. */
const methodPage = (view: PageView, form: MethodForm): Page =>
  isCardEntry(form.method) ? cardPage(view, form) : fieldsPage(view, form);

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

  const pageContext = ({ headers }: Pick<FastifyRequest, 'headers'>, account?: Account): PageContext => ({
    locale: localeFor(account?.settings.locale ?? '', headers['accept-language']),
    account,
  });
  const show = (reply: FastifyReply, context: PageContext, page: Page): FastifyReply =>
    reply
      .removeHeader('x-frame-options')
      .headers(pageHeaders(gateway, context.account, page.additions))
      .send(document(gateway, context, page));
  const sendUnknownLink = (request: FastifyRequest<LinkRoute>, reply: FastifyReply): FastifyReply => {
    const context = pageContext(request);
    return show(reply.code(404), context, unknownLinkPage(context.locale));
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
    return {
      ...payerView,
      locale: pageContext(request, account).locale,
      now: gateway.clock.now(payment.mid),
      result: resultOf(gateway, payment),
      path: `/pay/${request.params.link}`,
      back: {
        address: returnAddress(gateway, payment, account, returnLink),
        target: returnTarget(payment, account, returnLink),
      },
      canLeave: canLeave(gateway, payment, account),
      canRenewCode: canRenewCode(gateway, payment, account),
      isStillOpen: request.query.returned === 'open',
      cancel: cancelAddress(gateway, payment, account),
      pretend: pretendSheet(gateway, account),
      asksForReceipt: asksForReceipt(gateway, payment, account),
    };
  };

  /** Shows the page for the current state of the payment. */
  const showCurrent = (request: FastifyRequest<LinkRoute>, reply: FastifyReply, payerView: PayerView): FastifyReply => {
    const { query } = request;
    const view = createPageView(request, payerView, { isAfterChallenge: query.leaving === 'bank' });
    const { payment, methods, back } = view;
    const { nextStep, state } = payment;
    const isAtProvider = nextStep?.kind === 'redirect';
    if (isAtProvider && nextStep.method === 'GET' && query.returned === undefined) {
      return reply.redirect(redirectUrl(nextStep), 303);
    }
    const page = (): Page => {
      const method = selectMethod(methods, query.method);
      if (method) {
        const isCardAgain = state === 'DECLINED' && isCardEntry(method);
        const answers = isCardAgain ? keptInput(gateway, request, view) : NO_ANSWERS;
        return methodPage(view, { method, answers, problems: [] });
      }
      if (methods.length > 0) return choicePage(view);
      if (view.wallets.length > 0) return walletPage(view);
      if (state === 'PREPARE' && payment.brand === NO_BRAND_YET) return noMethodPage(view);
      if (query.returned !== undefined && view.result === 'open') return unfinishedPage(view);
      if (isAtProvider) return redirectPage(view, nextStep);
      if (awaitsAuthentication(payment)) return authenticationPage(view);
      if (state === '3DS' && nextStep?.kind === 'challenge') return challengePage(view, nextStep);
      const result = resultPage(view);
      return result && query.leaving !== undefined && back.target ? returnPage(view) : (result ?? waitingPage(view));
    };
    if (methods.length === 0 && !isOpen(state)) forgetInput(gateway, request, reply, view);
    return show(reply, view, page());
  };

  /** The address of the shop; another browsing context than the current one needs a page with a link. */
  const shopAddress = ({ back, path }: PageView, { isAfterChallenge }: ReturnOptions = {}): string => {
    const returnPagePath = `${path}?leaving=${isAfterChallenge ? 'bank' : 'page'}`;
    return back.address === undefined ? path : back.target ? returnPagePath : back.address;
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
    if (nextStep?.kind === 'redirect' && nextStep.method === 'GET') return redirectUrl(nextStep);
    const isUndecided = view.result === 'open' || view.result === 'unknown';
    const mayTryAgain = state === 'DECLINED' && payment.details.session !== undefined;
    if (!isUndecided && !mayTryAgain) return shopAddress(view, returnLink);
    return view.path + (isUndecided && returnLink.isAfterChallenge ? '?returned=1' : '');
  };

  app.get<LinkRoute>('/pay/:link', async (request, reply) => {
    const payerView = await openLink(request);
    return payerView
      ? showCurrent(request, reply, await withoutSpentCards(gateway, payerView))
      : sendUnknownLink(request, reply);
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
    return reply
      .code(payerView ? 200 : 404)
      .headers({ ...commonHeaders(gateway), 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify(payerView ? { version: pageVersion(payerView.payment) } : {}));
  });

  const isTooFast = createWindowLimit(LIMITS.submitLimit, LIMITS.submitWindowMs);
  const tooManyRequests = (reply: FastifyReply, afterMs: number | undefined): FastifyReply =>
    reply.code(429).headers(afterMs === undefined ? {} : { 'retry-after': Math.ceil(afterMs / 1000) });

  /** Opens the payment of a form that the page itself has sent; otherwise sends the response. */
  const openForm = async (request: FastifyRequest<LinkRoute>, reply: FastifyReply): Promise<PayerView | undefined> => {
    const context = pageContext(request);
    if (isTooFast(request.params.link)) {
      const path = `/pay/${encodeURIComponent(request.params.link)}`;
      show(tooManyRequests(reply, LIMITS.submitWindowMs), context, rateLimitPage(context.locale, path));
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
    show(reply.code(403), view, crossSitePage(view.locale, view.path));
    return undefined;
  };

  app.post<LinkRoute>('/pay/:link', async (request, reply) => {
    const payerView = await openForm(request, reply);
    if (!payerView) return reply;
    const view = createPageView(request, payerView);
    const { payment, account, methods } = payerView;
    const answers = (request.body as Form | undefined)?.values ?? NO_ANSWERS;
    const selected = selectMethod(methods, answers.get('method'));
    const method = selected && answers.get('card_number') ? asEntered(gateway, payment, account, selected) : selected;
    const browser = readBrowser(request.headers, addressOf(request), answers.get('browser'));
    if (awaitsAuthentication(payment)) {
      const current = await authenticatePayer(gateway, payment, account, browser);
      return reply.redirect(addressAfterSubmit(request, payerView, current), 303);
    }
    if (!method) return reply.redirect(view.path, 303);
    if (lacksConsent(view, answers)) {
      const problems = [{ field: CONSENT, sentence: SENTENCES.blank }];
      return show(reply.code(422), view, methodPage(view, { method, answers, problems }));
    }
    const email = view.asksForReceipt ? (answers.get(RECEIPT_EMAIL)?.trim() ?? '') : '';
    if (email !== '' && !isMailAddress(email)) {
      const problems = [{ field: RECEIPT_EMAIL, sentence: SENTENCES.invalid }];
      return show(reply.code(422), view, methodPage(view, { method, answers, problems }));
    }
    const card = isCardEntry(method) ? readCard(answers, payerView.savedCards) : undefined;
    const isNewCard = card !== undefined && 'number' in card;
    const saving = isNewCard ? savingConsent(view, answers) : undefined;
    const consent = [consentText(view), saving].filter(Boolean).join(' ');
    const given: GivenDetails = {
      ...(consent !== '' && { consent: { at: view.now, text: consent } }),
      ...receiptDetails(gateway, account, { language: view.locale.tag, email }),
    };
    const outcome = card
      ? await chooseCard(gateway, payment, account, card, browser, given, saving !== undefined)
      : await choose(gateway, payment, account, method, answers, given);
    if ('problems' in outcome) {
      return show(reply.code(422), view, methodPage(view, { method, answers, problems: outcome.problems }));
    }
    if ('refusal' in outcome) {
      return show(tooManyRequests(reply, outcome.refusal.waitMs), view, cardRefusedPage(view, outcome.refusal));
    }
    const { state } = outcome.payment;
    const mayTryAgain = payment.details.session !== undefined && (isOpen(state) || state === 'DECLINED');
    if (isNewCard && mayTryAgain) keepInput(gateway, reply, view, answers);
    return reply.redirect(addressAfterSubmit(request, payerView, outcome.payment), 303);
  });

  leaveRoutes(app, gateway, { openForm });

  walletRoutes(app, gateway, {
    openLink,
    isTooFast,
    browserOf: (request) => readBrowser(request.headers, addressOf(request)),
    localeOf: (request, account) => pageContext(request, account).locale,
    addressAfterSubmit,
  });

  // The payer returned from the card issuer. The browser's data are ignored: the issuer sends the result itself.
  app.post<LinkRoute>('/3ds/:link', async (request, reply) => {
    const payerView = await openLink(request);
    if (!payerView) return sendUnknownLink(request, reply);
    const { paymentId, mid } = payerView.payment;
    const payment = isTooFast(request.params.link)
      ? undefined
      : await waitForChallengeResult(gateway, { paymentId, mid });
    const next = addressAfterSubmit(request, payerView, payment ?? payerView.payment, { isAfterChallenge: true });
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
      const page = `/pay/${linkOf(gateway, session.id)}`;
      // While the session lasts, a declined payer may try again, and an undecided payer may continue.
      if (hasChoices(payerView)) return reply.redirect(page, 303);
      const isUndecided = view.result === 'open' || view.result === 'unknown';
      return reply.redirect(isUndecided ? `${page}?returned=1` : shopAddress(view, returnLink), 303);
    },
  });
}
