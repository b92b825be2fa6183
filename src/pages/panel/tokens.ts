/** The page on API tokens: lists, creates and revokes them. */
import { createToken, listTokens, revokeToken, TOKEN_NAME_LENGTH } from '../../core/api-tokens.ts';
import type { ApiToken } from '../../core/context.ts';
import { html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { ROLES } from '../../rules/roles.ts';
import { accountChoice, accountNames, chosenAccounts } from './account-choice.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, choiceField, copyable, empty, facts, field, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const DAY_MS = 86_400_000;
/** In days; an empty value means no expiry. */
const LIFETIMES = ['30', '90', '365', ''];

const text = en.tokens;

interface ShownToken extends ApiToken {
  accounts: string;
}

async function showList(
  { gateway, session, form }: PanelRequest,
  errors: { name?: string; accounts?: string } = {},
): Promise<PanelAnswer> {
  const rows = await Promise.all(
    (await listTokens(gateway)).map(async (token) => ({
      ...token,
      accounts: await accountNames(gateway, token.mids),
    })),
  );
  const columns: Column<ShownToken>[] = [
    { label: text.name, cell: ({ name }) => name },
    { label: text.role, cell: ({ role }) => badge(en.roles[role], '') },
    { label: text.accounts, cell: ({ accounts }) => accounts },
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
    status: Object.keys(errors).length === 0 ? 200 : 400,
    body: html`<div class="head"><h1>${en.sections.tokens}</h1></div>
<div class="card flush">${rows.length > 0 ? table(en.sections.tokens, columns, rows) : empty(text.none, text.noneHint)}</div>
<section class="card narrow"><h2>${text.create}</h2><form method="post" action="/admin/tokens">${formToken(session)}${field(
      {
        name: 'name',
        label: text.name,
        value: form.get('name'),
        hint: text.nameHint,
        error: errors.name,
        attributes: html`required maxlength="${TOKEN_NAME_LENGTH}" autocomplete="off"`,
      },
    )}${choiceField(
      { name: 'role', label: text.role, value: form.get('role') ?? 'viewer' },
      ROLES.map((role): [string, string] => [role, en.roles[role]]),
    )}${await accountChoice(gateway, form, errors.accounts)}${choiceField(
      { name: 'days', label: text.expires, value: form.get('days') ?? '90' },
      LIFETIMES.map((days): [string, string] => [days, days === '' ? text.never : `${days} ${text.days}`]),
    )}<div class="actions"><button>${text.create}</button></div></form></section>`,
  };
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const name = (form.get('name') ?? '').trim();
  if (name === '' || name.length > TOKEN_NAME_LENGTH) return showList(request, { name: text.nameProblem });
  const role = ROLES.find((one) => one === form.get('role'));
  const days = form.get('days') ?? '';
  if (!role || !LIFETIMES.includes(days)) throw new Refusal('invalidData');
  const chosen = await chosenAccounts(gateway, form);
  if (!chosen) return showList(request, { accounts: en.accountChoice.problem });
  if (role === 'merchant' && chosen.length === 0) return showList(request, { accounts: en.accountChoice.missing });
  const mids = chosen.length === 0 ? null : chosen;
  const expiresAt = days === '' ? null : gateway.clock.now() + Number(days) * DAY_MS;
  const { token, secret } = await createToken(gateway, caller, { name, role, mids, expiresAt });
  return {
    title: text.createdTitle,
    body: html`<div class="card narrow"><h1>${text.createdTitle}</h1><div class="notice wait">${en.accounts.shownOnce}</div>${facts(
      [
        [text.name, token.name],
        [text.role, en.roles[token.role]],
        [text.accounts, await accountNames(gateway, token.mids)],
        [text.token, copyable(secret.reveal())],
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
