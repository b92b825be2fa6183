/** The page on operators: lists them, invites, changes roles, suspends. */

import type { Operator } from '../../core/context.ts';
import { inviteAgain, inviteOperator, readEmail } from '../../core/operators/invitations.ts';
import { changeOperator, listOperators } from '../../core/operators/manage.ts';
import { invitationLink } from '../../core/operators/panel-address.ts';
import { type Html, html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { ROLES } from '../../rules/roles.ts';
import { accountChoice, chosenAccounts } from './account-choice.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, choiceField, copyable, facts, field, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const text = en.operators;
/** The role of a merchant's operator does not change: it belongs to its accounts. */
const OFFERED = ROLES.filter((role) => role !== 'merchant');

const roleOptions = ROLES.map((role): [string, string] => [role, en.roles[role]]);

async function showList(
  { gateway, session, form }: PanelRequest,
  errors: { email?: string; mids?: string } = {},
): Promise<PanelAnswer> {
  const rows = await listOperators(gateway);
  const post = ({ operatorId }: Operator, action: string, content: Html): Html =>
    html`<form method="post" action="/admin/operators/${operatorId}/${action}">${formToken(session)}${content}</form>`;
  const columns: Column<Operator>[] = [
    {
      label: text.name,
      cell: ({ name, operatorId }) =>
        html`${name}${operatorId === session.operator.operatorId && html` <span class="soft">(${text.you})</span>`}`,
    },
    { label: text.email, cell: ({ email }) => email },
    {
      label: text.state,
      cell: ({ state }) => badge(state, state === 'active' ? 'good' : state === 'suspended' ? 'bad' : 'wait'),
    },
    { label: text.lastSignIn, cell: ({ lastSignedInAt }) => time(lastSignedInAt) },
    {
      label: text.role,
      cell: (operator) =>
        operator.role === 'merchant'
          ? en.roles.merchant
          : post(
              operator,
              'role',
              html`<div class="inline"><select name="role" aria-label="${text.role}: ${operator.name}">${OFFERED.map(
                (role) =>
                  html`<option value="${role}"${role === operator.role && html` selected`}>${en.roles[role]}</option>`,
              )}</select><button class="quiet">${text.save}</button></div>`,
            ),
    },
    {
      label: text.change,
      cell: (operator) =>
        html`<div class="inline">${post(
          operator,
          'suspend',
          html`<input type="hidden" name="suspended" value="${String(operator.state !== 'suspended')}"><button class="quiet">${operator.state === 'suspended' ? text.resume : text.suspend}</button>`,
        )}${post(operator, 'invite', html`<button class="quiet">${text.inviteAgain}</button>`)}</div>`,
    },
  ];
  return {
    title: en.sections.operators,
    status: Object.keys(errors).length === 0 ? 200 : 400,
    body: html`<div class="head"><h1>${en.sections.operators}</h1></div>
<div class="card flush">${table(en.sections.operators, columns, rows)}</div>
<section class="card narrow"><h2>${text.invite}</h2><form method="post" action="/admin/operators">${formToken(session)}${field(
      {
        name: 'email',
        label: text.email,
        value: form.get('email'),
        type: 'email',
        error: errors.email,
        attributes: html`required autocomplete="off"`,
      },
    )}${choiceField({ name: 'role', label: text.role, value: form.get('role') ?? 'operator' }, roleOptions)}${await accountChoice(gateway, form, errors.mids)}<div class="actions"><button>${text.inviteButton}</button></div></form></section>`,
  };
}

const linkPage = (gateway: PanelRequest['gateway'], email: string, secret: string): PanelAnswer => ({
  title: text.invited,
  body: html`<div class="card narrow"><h1>${text.invited}</h1><p>${text.inviteHint}</p>${facts([
    [text.email, email],
    [text.link, copyable(invitationLink(gateway.publicUrl, secret))],
  ])}<div class="actions"><a class="button" href="/admin/operators">${en.sections.operators}</a></div></div>`,
});

async function invite(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const email = readEmail(form.get('email') ?? '');
  if (email === undefined) return showList(request, { email: text.emailProblem });
  const role = ROLES.find((one) => one === form.get('role'));
  if (!role) throw new Refusal('invalidData');
  const chosen = await chosenAccounts(gateway, form);
  if (!chosen) return showList(request, { mids: en.accountChoice.problem });
  if (role === 'merchant' && chosen.length === 0) return showList(request, { mids: en.accountChoice.missing });
  const mids = chosen.length === 0 ? null : chosen;
  const invited = await inviteOperator(gateway, caller, { email, role, mids });
  if (invited === 'emailInUse') return showList(request, { email: text.emailInUse });
  return linkPage(gateway, email, invited.secret.reveal());
}

async function requireOperator({ gateway, params: { operatorId = '' } }: PanelRequest): Promise<Operator> {
  const operator = isUuid(operatorId) ? await gateway.operators.find(operatorId) : undefined;
  if (!operator) throw new Refusal('noSuchOperator');
  return operator;
}

async function inviteOnceMore(request: PanelRequest): Promise<PanelAnswer> {
  const operator = await requireOperator(request);
  const secret = await inviteAgain(request.gateway, request.caller, operator);
  return linkPage(request.gateway, operator.email, secret.reveal());
}

async function changeRole(request: PanelRequest): Promise<PanelAnswer> {
  const { operatorId } = await requireOperator(request);
  const role = OFFERED.find((one) => one === request.form.get('role'));
  if (!role) throw new Refusal('invalidData');
  await changeOperator(request.gateway, request.caller, operatorId, { role });
  return { redirect: '/admin/operators' };
}

async function suspend(request: PanelRequest): Promise<PanelAnswer> {
  const { operatorId } = await requireOperator(request);
  const isSuspended = request.form.get('suspended') === 'true';
  await changeOperator(request.gateway, request.caller, operatorId, { isSuspended });
  return { redirect: '/admin/operators' };
}

const change = (path: string, handle: PanelRoute['handle']): PanelRoute => ({
  method: 'POST',
  path,
  permission: 'operators.manage',
  confirmFor: '/admin/operators',
  handle,
});

export const operatorPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin/operators',
    permission: 'operators.manage',
    handle: (request) => showList(request),
  },
  change('/admin/operators', invite),
  change('/admin/operators/:operatorId/invite', inviteOnceMore),
  change('/admin/operators/:operatorId/role', changeRole),
  change('/admin/operators/:operatorId/suspend', suspend),
];
