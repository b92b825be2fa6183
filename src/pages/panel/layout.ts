/** The HTML document and the headers of every page of the panel. Nothing is loaded from another server. */
import type { FastifyReply } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import type { Session } from '../../core/operators/sessions.ts';
import { Html, html } from '../../lib/html.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isAllowed, type Permission } from '../../rules/roles.ts';
import { strictHeaders } from '../headers.ts';
import { commonHeaders, type GatewayInfo } from '../layout.ts';
import { sourceHash } from '../source-hash.ts';
import { en } from './locales/en.ts';
import { CHART_STYLE, PANEL_SCRIPT, type PageScript } from './script.ts';
import { PANEL_STYLE } from './style.ts';

const STYLE = PANEL_STYLE + CHART_STYLE;
const STYLE_HASH = sourceHash(STYLE);

export interface PanelPage {
  title: string;
  body: Html;
  /** Undefined before sign-in. */
  session?: Session | undefined;
  /** The path of the navigation entry that the page belongs to. */
  section?: string | undefined;
  /** The number of payments on the attention list, for the navigation, up to `LIMITS.badgeMost`. */
  marked?: number | undefined;
  /** Scripts of this page besides that of every page. */
  scripts?: readonly PageScript[] | undefined;
}

interface Section {
  path: string;
  label: string;
  permission: Permission;
  isSandboxOnly?: true;
}

/** The navigation. A role sees the sections that it may open. */
export const SECTIONS: readonly Section[] = [
  { path: '/admin', label: en.sections.overview, permission: 'reports.view' },
  { path: '/admin/reports', label: en.sections.reports, permission: 'reports.view' },
  { path: '/admin/payments', label: en.sections.payments, permission: 'payments.view' },
  { path: '/admin/attention', label: en.sections.attention, permission: 'payments.view' },
  { path: '/admin/chargebacks', label: en.sections.chargebacks, permission: 'chargebacks.view' },
  { path: '/admin/accounts', label: en.sections.accounts, permission: 'accounts.view' },
  { path: '/admin/connections', label: en.sections.connections, permission: 'connections.view' },
  { path: '/admin/callbacks', label: en.sections.callbacks, permission: 'callbacks.view' },
  { path: '/admin/schedules', label: en.sections.schedules, permission: 'schedules.view' },
  { path: '/admin/requests', label: en.sections.requests, permission: 'requests.view' },
  { path: '/admin/debugger', label: en.sections.debugger, permission: 'requests.explain' },
  { path: '/admin/sandbox', label: en.sections.sandbox, permission: 'sandbox.use', isSandboxOnly: true },
  { path: '/admin/operators', label: en.sections.operators, permission: 'operators.manage' },
  { path: '/admin/tokens', label: en.sections.tokens, permission: 'tokens.manage' },
  { path: '/admin/audit', label: en.sections.audit, permission: 'audit.view' },
];

export const panelHeaders = (
  gateway: GatewayInfo,
  { scripts = [], hasFrames = false }: { scripts?: readonly PageScript[] | undefined; hasFrames?: boolean } = {},
): Record<string, string> =>
  strictHeaders(gateway, {
    scripts: [PANEL_SCRIPT, ...scripts].map(({ source }) => source),
    style: STYLE_HASH,
    hasFrames,
  });

/** The headers of a file of the panel. */
export const downloadHeaders = (gateway: GatewayInfo, filename: string): Record<string, string> => ({
  ...commonHeaders(gateway),
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${filename}"`,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

/** Sends JSON to the script of a page. */
export const sendJson = (reply: FastifyReply, gateway: GatewayInfo, value: object): FastifyReply =>
  reply
    .headers({ ...commonHeaders(gateway), 'content-type': 'application/json; charset=utf-8' })
    .send(JSON.stringify(value));

/** The hidden field that every form of a session has. */
export const formToken = ({ formToken: token }: Session): Html =>
  html`<input type="hidden" name="form_token" value="${token}">`;

function navigation({ principal }: Session, active: string | undefined, isSandbox: boolean, marked: number): Html {
  const links = SECTIONS.filter(
    ({ permission, isSandboxOnly }) => isAllowed(principal.role, permission) && (isSandbox || !isSandboxOnly),
  ).map(
    ({ path, label }) =>
      html`<li><a href="${path}"${path === active && html` aria-current="page"`}>${label}${
        path === '/admin/attention' &&
        marked > 0 &&
        html` <span class="badge bad">${marked < LIMITS.badgeMost ? marked : `${LIMITS.badgeMost - 1}+`}</span>`
      }</a></li>`,
  );
  return html`<nav aria-label="${en.navigation}"><ul>${links}</ul></nav>`;
}

export function panelDocument(
  gateway: Pick<Gateway, 'environment'>,
  { title, body, session, section, marked = 0, scripts = [] }: PanelPage,
): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Turnpike</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body${!session && html` class="plain"`}>
<a class="skip" href="#main">${en.skip}</a>
<header class="bar">
<a class="brand" href="/admin">Turnpike</a>
${gateway.environment === 'sandbox' && html`<span class="badge sandbox">${en.sandbox}</span>`}
${
  session &&
  html`<form class="find" action="/admin/payments" role="search"><input type="search" name="q" aria-label="${en.search}" placeholder="${en.search}"></form>
<details class="who"><summary>${session.operator.name}</summary><div><p class="soft small">${session.operator.email}<br>${en.roles[session.principal.role]}</p>
<p><a href="/admin/me">${en.me.title}</a></p>
<p><a href="/docs">${en.docs}</a></p>
<form method="post" action="/admin/sign-out">${formToken(session)}<button class="quiet">${en.signOut}</button></form></div></details>`
}
</header>
${session && navigation(session, section, gateway.environment === 'sandbox', marked)}
<main id="main" tabindex="-1">
${body}
</main>
${[PANEL_SCRIPT, ...scripts].map(({ text }) => html`<script>${new Html(text)}</script>`)}
</body>
</html>
`);
}
