/** The HTML document and the headers of every page of the panel. Nothing is loaded from another server. */
import type { FastifyReply } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import type { Download } from '../../../core/exports/download.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import { Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed, type Permission } from '../../../rules/roles.ts';
import { strictHeaders } from '../../headers.ts';
import { commonHeaders, type GatewayInfo } from '../../layout.ts';
import { sourceHash } from '../../source-hash.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
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
  /** The shop of a merchant's user who has one: its name and its logo take the place of ours. */
  shop?: { name: string; logo: string | undefined } | undefined;
  /** Scripts of this page besides that of every page. */
  scripts?: readonly PageScript[] | undefined;
}

interface Section {
  path: string;
  name: keyof typeof panelTexts.sections;
  permission: Permission | 'any';
  isSandboxOnly?: true;
  /** Only for those who see all accounts. */
  isWhole?: true;
}

/** The navigation. A role sees the sections that it may open. */
export const SECTIONS: readonly Section[] = [
  { path: '/admin', name: 'overview', permission: 'any' },
  { path: '/admin/reports', name: 'reports', permission: 'reports.view' },
  { path: '/admin/payments', name: 'payments', permission: 'payments.view' },
  { path: '/admin/links', name: 'links', permission: 'links.view' },
  { path: '/admin/invoices', name: 'invoices', permission: 'invoices.view' },
  { path: '/admin/telephone-orders', name: 'telephoneOrders', permission: 'telephone_orders.take' },
  { path: '/admin/attention', name: 'attention', permission: 'payments.view' },
  { path: '/admin/chargebacks', name: 'chargebacks', permission: 'chargebacks.view' },
  { path: '/admin/risk', name: 'risk', permission: 'risk.view' },
  { path: '/admin/ledger', name: 'ledger', permission: 'ledger.view' },
  { path: '/admin/accounts', name: 'accounts', permission: 'accounts.view' },
  { path: '/admin/connections', name: 'connections', permission: 'connections.view' },
  { path: '/admin/prices', name: 'prices', permission: 'prices.view' },
  { path: '/admin/callbacks', name: 'callbacks', permission: 'callbacks.view' },
  { path: '/admin/schedules', name: 'schedules', permission: 'schedules.view' },
  { path: '/admin/requests', name: 'requests', permission: 'requests.view' },
  { path: '/admin/debugger', name: 'debugger', permission: 'requests.explain' },
  { path: '/admin/sandbox', name: 'sandbox', permission: 'sandbox.use', isSandboxOnly: true },
  { path: '/admin/operators', name: 'operators', permission: 'operators.manage' },
  { path: '/admin/tokens', name: 'tokens', permission: 'tokens.manage' },
  { path: '/admin/audit', name: 'audit', permission: 'audit.view' },
  { path: '/admin/installation', name: 'installation', permission: 'installation.view', isWhole: true },
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
export const downloadHeaders = (
  gateway: GatewayInfo,
  filename: string,
  mediaType: Download['mediaType'] = 'text/csv',
): Record<string, string> => ({
  ...commonHeaders(gateway),
  'content-type': `${mediaType}; charset=utf-8`,
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

/** The sections that the operator may open. */
export const sectionsOf = ({ principal: { role, mids } }: Session, isSandbox: boolean): Section[] =>
  SECTIONS.filter(
    ({ permission, isSandboxOnly, isWhole }) =>
      (permission === 'any' || isAllowed(role, permission)) &&
      (isSandbox || !isSandboxOnly) &&
      (mids === null || !isWhole),
  );

function navigation(session: Session, active: string | undefined, isSandbox: boolean, marked: number): Html {
  const links = sectionsOf(session, isSandbox).map(
    ({ path, name }) =>
      html`<li><a href="${path}"${path === active && html` aria-current="page"`}>${panelTexts.sections[name]}${
        path === '/admin/attention' &&
        marked > 0 &&
        html` <span class="badge bad">${marked < LIMITS.badgeMost ? marked : `${LIMITS.badgeMost - 1}+`}</span>`
      }</a></li>`,
  );
  return html`<nav id="nav" aria-label="${panelTexts.navigation}"><ul>${links}</ul><a class="button quiet shut" href="#main">${panelTexts.closeMenu}</a></nav>`;
}

export function panelDocument(
  gateway: Pick<Gateway, 'environment'>,
  { title, body, session, section, shop, marked = 0, scripts = [] }: PanelPage,
): string {
  return String(html`<!doctype html>
<html lang="${languageTag()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${shop?.name ?? 'Turnpike'}</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body${!session && html` class="plain"`}>
<a class="skip" href="#main">${panelTexts.skip}</a>
<header class="bar">
${session && html`<a class="menu button quiet" href="#nav">${panelTexts.menu}</a>`}
<a class="brand" href="/admin">${shop ? html`${shop.logo !== undefined && html`<img src="${shop.logo}" alt="" height="28"> `}<bdi>${shop.name}</bdi>` : 'Turnpike'}</a>
${gateway.environment === 'sandbox' && html`<span class="badge sandbox">${panelTexts.sandbox}</span>`}
${
  session &&
  html`<form class="find" action="/admin/payments" role="search"><input type="search" name="q" aria-label="${panelTexts.search}" placeholder="${panelTexts.search}" aria-keyshortcuts="/"></form>
<details class="who"><summary>${session.operator.name}</summary><div><p class="soft small">${session.operator.email}<br>${panelTexts.roles[session.principal.role]}</p>
<p><a href="/admin/me">${panelTexts.me.title}</a></p>
<p><a href="/docs">${panelTexts.docs}</a></p>
<form method="post" action="/admin/sign-out">${formToken(session)}<button class="quiet">${panelTexts.signOut}</button></form></div></details>`
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
