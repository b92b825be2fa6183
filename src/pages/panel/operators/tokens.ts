/** The page on API tokens: lists, creates and revokes them. */

import type { ApiToken } from '../../../core/context.ts';
import { createToken, listTokens, revokeToken, TOKEN_NAME_LENGTH } from '../../../core/operators/api-tokens.ts';
import { html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { ROLES } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, choiceField, copyable, empty, facts, field, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import {
  accountChoice,
  accountNames,
  chosenAccounts,
  offeredRoles,
  refundLimitField,
  typedRefundLimit,
} from './account-choice.ts';

const DAY_MS = 86_400_000;
/** In days; an empty value means no expiry. */
const LIFETIMES = ['30', '90', '365', ''];

const text = panelTexts.tokens;

interface ShownToken extends ApiToken {
  accounts: string;
}

async function showList(
  { gateway, session, form }: PanelRequest,
  errors: { name?: string; accounts?: string; refundLimit?: string } = {},
): Promise<PanelAnswer> {
  const rows = await Promise.all(
    (await listTokens(gateway, session.principal)).map(async (token) => ({
      ...token,
      accounts: await accountNames(gateway, token.mids),
    })),
  );
  const columns: Column<ShownToken>[] = [
    { label: text.name, cell: ({ name }) => name },
    { label: text.role, cell: ({ role }) => badge(panelTexts.roles[role], '') },
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
    title: panelTexts.sections.tokens,
    status: Object.keys(errors).length === 0 ? 200 : 400,
    body: html`<div class="head"><h1>${panelTexts.sections.tokens}</h1></div>
<div class="card flush">${rows.length > 0 ? table(panelTexts.sections.tokens, columns, rows) : empty(text.none, text.noneHint)}</div>
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
      offeredRoles(session.principal).map((role): [string, string] => [role, panelTexts.roles[role]]),
    )}${await accountChoice(gateway, session.principal, form, errors.accounts)}${refundLimitField(form, errors.refundLimit)}${choiceField(
      { name: 'days', label: text.expires, value: form.get('days') ?? '90' },
      LIFETIMES.map((days): [string, string] => [days, days === '' ? text.never : `${days} ${text.days}`]),
    )}<div class="actions"><button>${text.create}</button></div></form></section>`,
  };
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const name = (form.get('name') ?? '').trim();
  if (name === '' || name.length > TOKEN_NAME_LENGTH) return showList(request, { name: text.nameProblem });
  const role = ROLES.find((one) => one === form.get('role'));
  const days = form.get('days') ?? '';
  if (!role || !LIFETIMES.includes(days)) throw new Refusal('invalidData');
  const { mids, problem } = await chosenAccounts(gateway, session.principal, role, form);
  if (problem !== undefined) return showList(request, { accounts: problem });
  const expiresAt = days === '' ? null : gateway.clock.now() + Number(days) * DAY_MS;
  const limit = typedRefundLimit(form);
  if (limit.problem !== undefined) return showList(request, { refundLimit: limit.problem });
  const { refundLimit } = limit;
  const wanted = { name, role, mids, refundLimit, expiresAt };
  const { token, secret } = await createToken(gateway, session.principal, caller, wanted);
  return {
    title: text.createdTitle,
    body: html`<div class="card narrow"><h1>${text.createdTitle}</h1><div class="notice wait">${panelTexts.accounts.shownOnce}</div>${facts(
      [
        [text.name, token.name],
        [text.role, panelTexts.roles[token.role]],
        [text.accounts, await accountNames(gateway, token.mids)],
        [text.token, copyable(secret.reveal())],
      ],
    )}<div class="actions"><a class="button" href="/admin/tokens">${panelTexts.sections.tokens}</a></div></div>`,
  };
}

async function revoke({ gateway, session, caller, params: { tokenId = '' } }: PanelRequest): Promise<PanelAnswer> {
  await revokeToken(gateway, session.principal, caller, tokenId);
  return { redirect: '/admin/tokens' };
}

export const tokenPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin/tokens',
    permission: 'tokens.manage',
    scope: 'accounts',
    handle: (request) => showList(request),
  },
  {
    method: 'POST',
    path: '/admin/tokens',
    permission: 'tokens.manage',
    scope: 'accounts',
    confirmFor: '/admin/tokens',
    handle: create,
  },
  {
    method: 'POST',
    path: '/admin/tokens/:tokenId/revoke',
    permission: 'tokens.manage',
    scope: 'accounts',
    confirmFor: '/admin/tokens',
    handle: revoke,
  },
];
