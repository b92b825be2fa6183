/** The routes of the panel: finds the session, checks the permission of each page, and shows refusals as pages. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import { findSession, type Session } from '../../core/operators/sessions.ts';
import { callerOf } from '../../core/principal.ts';
import type { Form } from '../../lib/form.ts';
import { type Html, html } from '../../lib/html.ts';
import { ERRORS, Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { readForm } from '../form-body.ts';
import { accountPages } from './accounts.ts';
import { auditPages } from './audit.ts';
import { callbackPages } from './callbacks.ts';
import { connectionPages } from './connections.ts';
import { isOwnForm, sessionCookie } from './cookie.ts';
import { debuggerPages } from './debugger.ts';
import { downloadHeaders, panelDocument, panelHeaders, SECTIONS } from './layout.ts';
import { en } from './locales/en.ts';
import { operatorPages } from './operators.ts';
import { overviewPages } from './overview.ts';
import { paymentPages } from './payments.ts';
import { reportPages } from './reports.ts';
import { confirmPath, type PanelRoute } from './route.ts';
import { routePages } from './routes.ts';
import { schedulePages } from './schedules.ts';
import type { PageScript } from './script.ts';
import { tokenPages } from './tokens.ts';

export const PANEL_ROUTES: readonly PanelRoute[] = [
  ...overviewPages,
  ...reportPages,
  ...paymentPages,
  ...accountPages,
  ...connectionPages,
  ...routePages,
  ...callbackPages,
  ...schedulePages,
  ...debuggerPages,
  ...operatorPages,
  ...tokenPages,
  ...auditPages,
];

const NO_FORM: ReadonlyMap<string, string> = new Map();

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

  const show = (
    reply: FastifyReply,
    session: Session | undefined,
    url: string,
    title: string,
    body: Html,
    scripts?: readonly PageScript[],
  ): string => {
    reply.headers(panelHeaders(gateway, scripts));
    return panelDocument(gateway, { title, body, session, section: sectionOf(url), scripts });
  };

  const refuse = (reply: FastifyReply, session: Session | undefined, url: string, status: number, text: string) =>
    reply
      .code(status)
      .send(
        show(
          reply,
          session,
          url,
          en.refused,
          html`<div class="card"><h1>${text}</h1><p><a href="/admin">${en.backToOverview}</a></p></div>`,
        ),
      );

  const send = (reply: FastifyReply, request: FastifyRequest, { filename, chunks }: Download): FastifyReply => {
    const body = Readable.from(chunks);
    body.on('error', (error) => gateway.log.error({ err: error, request_id: request.id }, 'export broke off'));
    return reply.headers(downloadHeaders(gateway, filename)).send(body);
  };

  for (const { method, path, permission, confirmFor, isDownload = false, handle } of PANEL_ROUTES) {
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
        const form = (request.body as Form | undefined)?.values ?? NO_FORM;
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
          const answer = await handle({ gateway, session, caller, params, query: single(request.query), form });
          if ('redirect' in answer) return reply.headers(panelHeaders(gateway)).redirect(answer.redirect, 303);
          if ('download' in answer) return send(reply, request, answer.download);
          reply.code(answer.status ?? 200);
          return reply.send(show(reply, session, request.url, answer.title, answer.body, answer.scripts));
        } catch (error) {
          if (!(error instanceof Refusal) || ERRORS[error.error].http >= 500) throw error;
          const { http, message } = ERRORS[error.error];
          return refuse(reply, session, request.url, http, error.problems[0]?.sentence ?? message);
        }
      },
    });
  }
}
