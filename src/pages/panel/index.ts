/** The routes of the panel: finds the session, checks the permission of each page, and shows refusals as pages. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import { findSession, type Session } from '../../core/operators/sessions.ts';
import { callerOf } from '../../core/principal.ts';
import { attachmentHeaders } from '../../lib/file-type.ts';
import { html } from '../../lib/html.ts';
import { ERRORS, Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { readForm } from '../form-body.ts';
import { commonHeaders } from '../layout.ts';
import { readUpload, type UploadForm } from '../multipart.ts';
import { accountPages } from './accounts.ts';
import { attentionPages } from './attention.ts';
import { auditPages } from './audit.ts';
import { callbackPages } from './callbacks.ts';
import { chargebackPages } from './chargebacks.ts';
import { connectionPages } from './connections.ts';
import { isOwnForm, sessionCookie } from './cookie.ts';
import { debuggerPages } from './debugger.ts';
import { erasurePages } from './erasure.ts';
import { downloadHeaders, type PanelPage, panelDocument, panelHeaders, SECTIONS, sendJson } from './layout.ts';
import { en } from './locales/en.ts';
import { ownSignInPages } from './me.ts';
import { operatorPages } from './operators.ts';
import { overviewPages } from './overview.ts';
import { refusalText } from './parts.ts';
import { paymentPages } from './payments.ts';
import { receiptPages } from './receipt.ts';
import { reconciliationPages } from './reconciliations.ts';
import { reportPages } from './reports.ts';
import { requestPages } from './requests.ts';
import { resendPages } from './resend.ts';
import { confirmPath, type PanelRequest, type PanelRoute } from './route.ts';
import { routePages } from './routes.ts';
import { sandboxPages } from './sandbox/index.ts';
import { schedulePages } from './schedules.ts';
import { tokenPages } from './tokens.ts';

export const PANEL_ROUTES: readonly PanelRoute[] = [
  ...overviewPages,
  ...reportPages,
  ...reconciliationPages,
  ...paymentPages,
  ...erasurePages,
  ...receiptPages,
  ...attentionPages,
  ...chargebackPages,
  ...accountPages,
  ...connectionPages,
  ...routePages,
  ...callbackPages,
  ...resendPages,
  ...schedulePages,
  ...requestPages,
  ...debuggerPages,
  ...sandboxPages,
  ...operatorPages,
  ...tokenPages,
  ...auditPages,
  ...ownSignInPages,
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
    const marked = await gateway.figures.marked(session.principal.mids);
    return panelDocument(gateway, { title, body, session, section: sectionOf(url), marked, scripts });
  };

  const refuse = async (reply: FastifyReply, session: Session, url: string, status: number, text: string) => {
    const body = html`<div class="card"><h1>${text}</h1><p><a href="/admin">${en.backToOverview}</a></p></div>`;
    return reply.code(status).send(await show(reply, session, url, { title: en.refused, body }));
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
    { filename, chunks, estimatedRows }: Download,
  ): FastifyReply => {
    const body = Readable.from(chunks);
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    if (estimatedRows !== undefined) reply.header('x-estimated-rows', estimatedRows);
    return reply.headers(downloadHeaders(gateway, filename)).send(body);
  };

  const sendFile = (
    reply: FastifyReply,
    { name, mediaType, bytes }: { name: string; mediaType: string; bytes: Buffer },
  ) => reply.headers({ ...commonHeaders(gateway), ...attachmentHeaders(name, mediaType) }).send(bytes);

  const routes = PANEL_ROUTES.filter(({ isSandboxOnly }) => !isSandboxOnly || gateway.environment === 'sandbox');
  for (const { method, path, permission, confirmFor, isDownload = false, handle } of routes) {
    app.route({
      method,
      url: path,
      exposeHeadRoute: method === 'GET' && !isDownload,
      async handler(request, reply) {
        request.action = 'panel';
        request.isRead = method === 'GET';
        const cookie = sessionCookie(request);
        const session = cookie === undefined ? undefined : await findSession(gateway, cookie);
        if (!session) {
          const next = method === 'GET' ? `?next=${encodeURIComponent(request.url)}` : '';
          return reply.headers(panelHeaders(gateway)).redirect(`/admin/sign-in${next}`, 303);
        }
        const { values: form = NO_FORM, file } = (request.body ?? {}) as Partial<UploadForm>;
        if (method === 'POST' && !isOwnForm(gateway, request, session)) {
          return refuse(reply, session, request.url, 403, en.staleForm);
        }
        if ([...form.values()].some((value) => value.includes('\0'))) {
          return refuse(reply, session, request.url, 400, en.unusableForm);
        }
        if (permission !== 'any' && !isAllowed(session.principal.role, permission)) {
          return refuse(reply, session, request.url, 403, ERRORS.forbidden.message);
        }
        if (confirmFor !== undefined && !session.isConfirmed) {
          const names = request.params as Record<string, string>;
          const next = confirmFor.replace(/:(\w+)/, (_, name: string) => names[name] ?? '');
          return reply.headers(panelHeaders(gateway)).redirect(confirmPath(next), 303);
        }
        const caller = callerOf(session.principal, addressOf(request));
        const params = request.params as Record<string, string>;
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
          if (!(error instanceof Refusal) || ERRORS[error.error].http >= 500) throw error;
          return refuse(reply, session, request.url, ERRORS[error.error].http, refusalText(error));
        }
      },
    });
  }
}
