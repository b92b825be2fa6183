/** The routes of the panel: finds the session, checks the permission of each page, and shows refusals as pages. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import { findSession, type Session } from '../../core/operators/sessions.ts';
import { callerOf } from '../../core/principal.ts';
import { attentionCounts } from '../../core/reports.ts';
import { attachmentHeaders } from '../../lib/file-type.ts';
import { readUpload, type UploadForm } from '../../lib/form.ts';
import { type Html, html } from '../../lib/html.ts';
import { EVIDENCE_LIMITS } from '../../rules/chargebacks.ts';
import { ERRORS, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isAllowed } from '../../rules/roles.ts';
import { FORM_LIMITS, readForm } from '../form-body.ts';
import { commonHeaders } from '../layout.ts';
import { accountPages } from './accounts.ts';
import { attentionPages } from './attention.ts';
import { auditPages } from './audit.ts';
import { callbackPages } from './callbacks.ts';
import { chargebackPages } from './chargebacks.ts';
import { isOwnForm, sessionCookie } from './cookie.ts';
import { debuggerPages } from './debugger.ts';
import { downloadHeaders, panelDocument, panelHeaders, SECTIONS } from './layout.ts';
import { en } from './locales/en.ts';
import { operatorPages } from './operators.ts';
import { overviewPages } from './overview.ts';
import { refusalText } from './parts.ts';
import { paymentPages } from './payments.ts';
import { reportPages } from './reports.ts';
import { resendPages } from './resend.ts';
import { confirmPath, type PanelRoute } from './route.ts';
import { schedulePages } from './schedules.ts';
import type { PageScript } from './script.ts';
import { tokenPages } from './tokens.ts';

export const PANEL_ROUTES: readonly PanelRoute[] = [
  ...overviewPages,
  ...reportPages,
  ...paymentPages,
  ...attentionPages,
  ...chargebackPages,
  ...accountPages,
  ...callbackPages,
  ...resendPages,
  ...schedulePages,
  ...debuggerPages,
  ...operatorPages,
  ...tokenPages,
  ...auditPages,
];

const NO_FORM: UploadForm = { values: new Map(), problems: [], files: new Map() };

/** A file, and what the form around it takes. */
const UPLOAD_BYTES = EVIDENCE_LIMITS.bytes + LIMITS.bodyBytes;

const sectionOf = (url: string): string | undefined =>
  SECTIONS.map(({ path }) => path)
    .filter((path) => url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`))
    .sort((a, b) => b.length - a.length)[0];

/** Query parameters that appear once and are not empty. */
const single = (query: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query as Record<string, unknown>).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
    ),
  );

export function panelRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', readForm);
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, ({ headers }, body, done) =>
    done(null, readUpload(body as Buffer, headers['content-type'] ?? '', FORM_LIMITS)),
  );

  const show = async (
    reply: FastifyReply,
    session: Session,
    url: string,
    title: string,
    body: Html,
    scripts?: readonly PageScript[],
  ): Promise<string> => {
    reply.headers(panelHeaders(gateway, scripts));
    const counts = await attentionCounts(gateway, session.principal.mids);
    const marked = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return panelDocument(gateway, { title, body, session, section: sectionOf(url), marked, scripts });
  };

  const refuse = async (reply: FastifyReply, session: Session, url: string, status: number, text: string) => {
    const body = html`<div class="card"><h1>${text}</h1><p><a href="/admin">${en.backToOverview}</a></p></div>`;
    return reply.code(status).send(await show(reply, session, url, en.refused, body));
  };

  const sessionOf = async (request: FastifyRequest): Promise<Session | undefined> => {
    const cookie = sessionCookie(request);
    return cookie === undefined ? undefined : findSession(gateway, cookie);
  };

  const toSignIn = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const next = request.method === 'POST' ? '' : `?next=${encodeURIComponent(request.url)}`;
    return reply.headers(panelHeaders(gateway)).redirect(`/admin/sign-in${next}`, 303);
  };

  const send = (reply: FastifyReply, request: FastifyRequest, { filename, chunks }: Download): FastifyReply => {
    const body = Readable.from(chunks);
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    return reply.headers(downloadHeaders(gateway, filename)).send(body);
  };

  const sendFile = (
    reply: FastifyReply,
    { name, mediaType, bytes }: { name: string; mediaType: string; bytes: Buffer },
  ) => reply.headers({ ...commonHeaders(gateway), ...attachmentHeaders(name, mediaType) }).send(bytes);

  for (const { method, path, permission, confirmFor, isDownload = false, isUpload, handle } of PANEL_ROUTES) {
    app.route({
      method,
      url: path,
      exposeHeadRoute: method === 'GET' && !isDownload,
      ...(isUpload && {
        bodyLimit: UPLOAD_BYTES,
        // Without a session a large body is not read.
        onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
          if (!(await sessionOf(request))) return toSignIn(request, reply);
        },
      }),
      async handler(request, reply) {
        request.action = 'panel';
        request.isRead = method === 'GET';
        const session = await sessionOf(request);
        if (!session) return toSignIn(request, reply);
        const { values: form, files } = { ...NO_FORM, ...(request.body as UploadForm | undefined) };
        if (method === 'POST' && !isOwnForm(gateway, request, session)) {
          return refuse(reply, session, request.url, 403, en.staleForm);
        }
        if (!isAllowed(session.principal.role, permission)) {
          return refuse(reply, session, request.url, 403, ERRORS.forbidden.message);
        }
        if (confirmFor !== undefined && !session.isConfirmed) {
          const next = confirmFor.replace(':mid', (request.params as { mid?: string }).mid ?? '');
          return reply.headers(panelHeaders(gateway)).redirect(confirmPath(next), 303);
        }
        const caller = callerOf(session.principal, addressOf(request));
        const params = request.params as Record<string, string>;
        try {
          const query = single(request.query);
          const answer = await handle({ gateway, session, caller, params, query, form, files });
          if ('redirect' in answer) return reply.headers(panelHeaders(gateway)).redirect(answer.redirect, 303);
          if ('download' in answer) return send(reply, request, answer.download);
          if ('file' in answer) return sendFile(reply, answer.file);
          reply.code(answer.status ?? 200);
          return reply.send(await show(reply, session, request.url, answer.title, answer.body, answer.scripts));
        } catch (error) {
          if (!(error instanceof Refusal) || ERRORS[error.error].http >= 500) throw error;
          return refuse(reply, session, request.url, ERRORS[error.error].http, refusalText(error));
        }
      },
    });
  }
}
