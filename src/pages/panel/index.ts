/** The routes of the panel: finds the session, checks what each page needs, and shows refusals as pages. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import { isHeld } from '../../core/installation/hold.ts';
import { callerOf, isInScope } from '../../core/operators/principal.ts';
import { findSession, type Session } from '../../core/operators/sessions.ts';
import { attachmentHeaders } from '../../lib/files/file-type.ts';
import { isItemFault } from '../../lib/flow/faults.ts';
import { html } from '../../lib/text/html.ts';
import { ERRORS, Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { readForm } from '../form-body.ts';
import { commonHeaders } from '../layout.ts';
import { readUpload, type UploadForm } from '../multipart.ts';
import { accountPages } from './accounts/accounts.ts';
import { debuggerPages } from './api-calls/debugger.ts';
import { requestPages } from './api-calls/requests.ts';
import { auditPages } from './audit/audit.ts';
import { callbackPages } from './callbacks/callbacks.ts';
import { resendPages } from './callbacks/resend.ts';
import { chargebackPages } from './chargebacks/chargebacks.ts';
import { connectionPages } from './connections/connections.ts';
import { routePages } from './connections/routes.ts';
import { erasurePages } from './erasure/erasure.ts';
import { clockNotice } from './frame/clock.ts';
import { isOwnForm, sessionCookie } from './frame/cookie.ts';
import { confirmedPages, heldFormPage, openHeldForm } from './frame/held-form.ts';
import { downloadHeaders, type PanelPage, panelDocument, panelHeaders, SECTIONS, sendJson } from './frame/layout.ts';
import { refusalText } from './frame/parts.ts';
import { confirmPath, type PanelRequest, type PanelRoute, requireNeeds } from './frame/route.ts';
import { shopOf } from './frame/shop.ts';
import { installationPages } from './installation/installation.ts';
import { heldBanner, restorePages } from './installation/restore.ts';
import { invoicePages } from './invoices/invoices.ts';
import { adjustmentPages } from './ledger/adjustments.ts';
import { balancePages } from './ledger/balances.ts';
import { marginPages } from './ledger/margin.ts';
import { trialBalancePages } from './ledger/trial-balance.ts';
import { linkPages } from './links/links.ts';
import { inLanguage, panelTag, panelTexts } from './locales/index.ts';
import { ownSignInPages } from './operators/me.ts';
import { operatorPages } from './operators/operators.ts';
import { tokenPages } from './operators/tokens.ts';
import { attentionPages } from './payments/attention.ts';
import { operationPages } from './payments/operate.ts';
import { paymentPage } from './payments/payment.ts';
import { paymentPages } from './payments/payments.ts';
import { receiptPages } from './payments/receipt.ts';
import { refundRequestPages } from './payments/refund-requests.ts';
import { assignmentPages } from './prices/assignment.ts';
import { pricePages } from './prices/prices.ts';
import { versionPages } from './prices/version.ts';
import { reconciliationPages } from './reconciliations/reconciliations.ts';
import { threeWayPages } from './reconciliations/three-way.ts';
import { overviewPages } from './reports/overview.ts';
import { reportPages } from './reports/reports.ts';
import { blockPages } from './risk/block.ts';
import { riskRatePages } from './risk/fraud-rates.ts';
import { riskListPages } from './risk/lists.ts';
import { riskReviewPages } from './risk/reviews.ts';
import { riskRulePages } from './risk/rules.ts';
import { riskShadowPages } from './risk/shadow.ts';
import { sandboxPages } from './sandbox/index.ts';
import { schedulePages } from './schedules/schedules.ts';
import { accountSettlementPages } from './settlements/account.ts';
import { calendarPages } from './settlements/calendar.ts';
import { feeInvoicePages } from './settlements/fee-invoices.ts';
import { owedPages } from './settlements/owed.ts';
import { payoutPages } from './settlements/payouts.ts';
import { settlementPages } from './settlements/settlements.ts';
import { statementPages } from './settlements/statements.ts';
import { telephoneOrderPages } from './telephone-orders/telephone-orders.ts';

export const PANEL_ROUTES: readonly PanelRoute[] = [
  ...overviewPages,
  ...reportPages,
  ...balancePages,
  ...trialBalancePages,
  ...marginPages,
  ...adjustmentPages,
  ...settlementPages,
  ...accountSettlementPages,
  ...owedPages,
  ...payoutPages,
  ...calendarPages,
  ...statementPages,
  ...feeInvoicePages,
  ...threeWayPages,
  ...reconciliationPages,
  ...paymentPages,
  paymentPage,
  ...operationPages,
  ...erasurePages,
  ...receiptPages,
  ...attentionPages,
  ...refundRequestPages,
  ...chargebackPages,
  ...riskListPages,
  ...riskRulePages,
  ...riskShadowPages,
  ...riskRatePages,
  ...riskReviewPages,
  ...blockPages,
  ...accountPages,
  ...connectionPages,
  ...routePages,
  ...pricePages,
  ...versionPages,
  ...assignmentPages,
  ...callbackPages,
  ...resendPages,
  ...schedulePages,
  ...linkPages,
  ...invoicePages,
  ...telephoneOrderPages,
  ...requestPages,
  ...debuggerPages,
  ...sandboxPages,
  ...operatorPages,
  ...tokenPages,
  ...auditPages,
  ...installationPages,
  ...restorePages,
  ...ownSignInPages,
  ...confirmedPages,
];

const NO_FORM: ReadonlyMap<string, string> = new Map();

const sectionOf = (url: string): string | undefined =>
  SECTIONS.map(({ path }) => path)
    .filter((path) => url === path || (path !== '/admin' && url.startsWith(`${path}/`)) || url.startsWith(`${path}?`))
    .sort((a, b) => b.length - a.length)[0];

/** Query parameters that appear once and are not empty; no text of the database contains a NUL. */
const single = (query: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query as Record<string, unknown>).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '' && !pair[1].includes('\0'),
    ),
  );

export function panelRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', readForm);
  app.addContentTypeParser('multipart/form-data', readUpload);
  app.addHook('onResponse', async ({ body }) => (body as Partial<UploadForm> | undefined)?.skipRest?.());

  const show = async (
    reply: FastifyReply,
    session: Session,
    url: string,
    {
      title,
      body,
      scripts,
      hasFrames = false,
    }: Pick<PanelPage, 'title' | 'body' | 'scripts'> & { hasFrames?: boolean },
  ): Promise<string> => {
    reply.headers(panelHeaders(gateway, { scripts, hasFrames }));
    const { mids, role } = session.principal;
    const [marked, isPaused, shop] = await Promise.all([
      gateway.figures.marked(mids),
      mids === null && isAllowed(role, 'restore.view') && isHeld(gateway),
      shopOf(gateway, session),
    ]);
    const whole = html`${clockNotice(gateway, mids)}${isPaused && heldBanner()}${body}`;
    return panelDocument(gateway, { title, body: whole, session, section: sectionOf(url), shop, marked, scripts });
  };

  const refuse = async (reply: FastifyReply, session: Session, url: string, status: number, text: string) => {
    const body = html`<div class="card"><h1>${text}</h1><p><a href="/admin">${panelTexts.backToOverview}</a></p></div>`;
    return reply.code(status).send(await show(reply, session, url, { title: panelTexts.refused, body }));
  };

  const sendAs =
    (remoteAddress: string): PanelRequest['send'] =>
    async ({ path, contentType, body }) => {
      const headers = { 'content-type': contentType };
      const answer = await app.inject({ method: 'POST', url: path, headers, payload: body, remoteAddress });
      return { status: answer.statusCode, body: answer.json() };
    };

  const sendDownload = (
    reply: FastifyReply,
    request: FastifyRequest,
    { filename, mediaType, chunks, estimatedRows }: Download,
  ): FastifyReply => {
    const body = Readable.from(chunks);
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    if (estimatedRows !== undefined) reply.header('x-estimated-rows', estimatedRows);
    return reply.headers(downloadHeaders(gateway, filename, mediaType)).send(body);
  };

  const sendFile = (
    reply: FastifyReply,
    { name, mediaType, bytes }: { name: string; mediaType: string; bytes: Buffer },
  ) => reply.headers({ ...commonHeaders(gateway), ...attachmentHeaders(name, mediaType) }).send(bytes);

  const sessionOf = async (request: FastifyRequest): Promise<Session | undefined> => {
    const cookie = sessionCookie(request);
    return cookie === undefined ? undefined : findSession(gateway, cookie);
  };

  const toSignIn = ({ method, url }: FastifyRequest, reply: FastifyReply) => {
    const next = method === 'POST' ? '' : `?next=${encodeURIComponent(url)}`;
    return reply.headers(panelHeaders(gateway)).redirect(`/admin/sign-in${next}`, 303);
  };

  const routes = PANEL_ROUTES.filter(({ isSandboxOnly }) => !isSandboxOnly || gateway.environment === 'sandbox');
  for (const route of routes) {
    requireNeeds(route);
    const { method, path, permission, scope, isDownload = false, handle } = route;
    const respond = async (request: FastifyRequest, reply: FastifyReply, session: Session) => {
      const { values: sent = NO_FORM, file } = (request.body ?? {}) as Partial<UploadForm>;
      const form = openHeldForm(gateway, session, request.url, sent);
      if (!form || (method === 'POST' && !isOwnForm(gateway, request, session))) {
        return refuse(reply, session, request.url, 403, panelTexts.staleForm);
      }
      if ([...form.values()].some((value) => value.includes('\0'))) {
        return refuse(reply, session, request.url, 400, panelTexts.unusableForm);
      }
      const { principal } = session;
      const isPermitted = permission === 'any' || isAllowed(principal.role, permission);
      if (!isPermitted || !isInScope(principal, scope, form.get('mid'))) {
        return refuse(reply, session, request.url, 403, ERRORS.forbidden.message);
      }
      const params = request.params as Record<string, string>;
      if ('confirmFirst' in route && !session.isConfirmed) {
        return reply.headers(panelHeaders(gateway)).redirect(confirmPath(request.url), 303);
      }
      if ('confirmFor' in route && !session.isConfirmed) {
        const cancel = route.confirmFor.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
        const held = heldFormPage(gateway, session, { url: request.url, form, cancel });
        return reply.code(403).send(await show(reply, session, request.url, held));
      }
      const caller = callerOf(principal, addressOf(request));
      try {
        const query = single(request.query);
        const acceptLanguage = request.headers['accept-language'];
        const send = sendAs(addressOf(request));
        const answer = await handle({ gateway, session, caller, params, query, form, file, send, acceptLanguage });
        if ('redirect' in answer) return reply.headers(panelHeaders(gateway)).redirect(answer.redirect, 303);
        if ('download' in answer) return sendDownload(reply, request, answer.download);
        if ('file' in answer) return sendFile(reply, answer.file);
        if ('document' in answer) return reply.headers(answer.headers).send(answer.document);
        reply.code(answer.status ?? 200);
        if ('json' in answer) return sendJson(reply, gateway, answer.json);
        return reply.send(await show(reply, session, request.url, answer));
      } catch (error) {
        if (error instanceof Refusal && ERRORS[error.error].http < 500)
          return refuse(reply, session, request.url, ERRORS[error.error].http, refusalText(error));
        // What refers to an operator who was removed meanwhile cannot be written.
        if (isItemFault(error) && !(await sessionOf(request))) return toSignIn(request, reply);
        throw error;
      }
    };
    app.route({
      method,
      url: path,
      exposeHeadRoute: method === 'GET' && !isDownload,
      async handler(request, reply) {
        request.action = 'panel';
        request.isRead = method === 'GET';
        const session = await sessionOf(request);
        if (!session) return toSignIn(request, reply);
        const tag = panelTag(session.operator.language, request.headers['accept-language']);
        return inLanguage(tag, () => respond(request, reply, session));
      },
    });
  }
}
