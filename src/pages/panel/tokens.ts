/** The page on API tokens: lists, creates and revokes them. */
import { createToken, listTokens, revokeToken, TOKEN_NAME_LENGTH } from '../../core/api-tokens.ts';
import type { ApiToken } from '../../core/context.ts';
import { html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { ROLES } from '../../rules/roles.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, choiceField, empty, facts, field, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const DAY_MS = 86_400_000;
/** In days; an empty value means no expiry. */
const LIFETIMES = ['30', '90', '365', ''];
/** A merchant's token needs its accounts, which the API call takes. */
const OFFERED = ROLES.filter((role) => role !== 'merchant');

const text = en.tokens;

async function showList({ gateway, session, form }: PanelRequest, error?: string): Promise<PanelAnswer> {
  const rows = await listTokens(gateway);
  const columns: Column<ApiToken>[] = [
    { label: text.name, cell: ({ name }) => name },
    { label: text.role, cell: ({ role }) => badge(en.roles[role], '') },
    { label: text.accounts, cell: ({ mids }) => (mids === null ? text.all : mids.length) },
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
    { label: text.expires, cell: ({ expiresAt }) => (expiresAt === null ? text.never : time(expiresAt)) },
    { label: text.lastUsed, cell: ({ lastUsedAt }) => time(lastUsedAt) },
    {
      label: text.revoke,
      cell: ({ tokenId, name }) =>
        html`<form method="post" action="/admin/tokens/${tokenId}/revoke">${formToken(session)}<button class="quiet" aria-label="${text.revoke} ${name}">${text.revoke}</button></form>`,
    },
  ];
  return {
    title: en.sections.tokens,
    status: error === undefined ? 200 : 400,
    body: html`<div class="head"><h1>${en.sections.tokens}</h1></div>
<div class="card flush">${rows.length > 0 ? table(en.sections.tokens, columns, rows) : empty(text.none, text.noneHint)}</div>
<section class="card narrow"><h2>${text.create}</h2><form method="post" action="/admin/tokens">${formToken(session)}${field(
      {
        name: 'name',
        label: text.name,
        value: form.get('name'),
        hint: text.nameHint,
        error,
        attributes: html`required maxlength="${TOKEN_NAME_LENGTH}" autocomplete="off"`,
      },
    )}${choiceField(
      { name: 'role', label: text.role, value: form.get('role') ?? 'viewer' },
      OFFERED.map((role): [string, string] => [role, en.roles[role]]),
    )}${choiceField(
      { name: 'days', label: text.expires, value: form.get('days') ?? '90' },
      LIFETIMES.map((days): [string, string] => [days, days === '' ? text.never : `${days} ${text.days}`]),
    )}<div class="actions"><button>${text.create}</button></div></form></section>`,
  };
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const name = (form.get('name') ?? '').trim();
  if (name === '' || name.length > TOKEN_NAME_LENGTH) return showList(request, text.nameProblem);
  const role = OFFERED.find((one) => one === form.get('role'));
  const days = form.get('days') ?? '';
  if (!role || !LIFETIMES.includes(days)) throw new Refusal('invalidData');
  const expiresAt = days === '' ? null : gateway.clock.now() + Number(days) * DAY_MS;
  const { token, secret } = await createToken(gateway, caller, { name, role, mids: null, expiresAt });
  return {
    title: text.createdTitle,
    body: html`<div class="card narrow"><h1>${text.createdTitle}</h1><div class="notice wait">${en.accounts.shownOnce}</div>${facts(
      [
        [text.name, token.name],
        [text.token, html`<span class="mono">${secret.reveal()}</span>`],
      ],
    )}<div class="actions"><a class="button" href="/admin/tokens">${en.sections.tokens}</a></div></div>`,
  };
}

async function revoke({ gateway, caller, params: { tokenId = '' } }: PanelRequest): Promise<PanelAnswer> {
  if (!isUuid(tokenId)) throw new Refusal('noSuchToken');
  await revokeToken(gateway, caller, tokenId);
  return { redirect: '/admin/tokens' };
}

export const tokenPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/tokens', permission: 'tokens.manage', handle: (request) => showList(request) },
  { method: 'POST', path: '/admin/tokens', permission: 'tokens.manage', confirmFor: '/admin/tokens', handle: create },
  { method: 'POST', path: '/admin/tokens/:tokenId/revoke', permission: 'tokens.manage', handle: revoke },
];
