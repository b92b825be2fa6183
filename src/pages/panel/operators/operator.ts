/** The page of one operator: its role, accounts and limit, suspending and deleting it, and a new link. */
import type { Operator } from '../../../core/context.ts';
import { changeOperator, deleteOperator, requireOperator } from '../../../core/operators/manage.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { isMerchantRole, ROLES, type Role } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { badge, choiceField, facts, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import {
  accountChoice,
  chosenAccounts,
  formWith,
  offeredRoles,
  refundLimitField,
  typedRefundLimit,
} from './account-choice.ts';

const text = panelTexts.operators;
const LIST = '/admin/operators';

export const stateBadge = ({ state }: Operator): Html =>
  badge(text.states[state], state === 'active' ? 'good' : state === 'suspended' ? 'bad' : 'wait');

/** A merchant's user stays one: it belongs to its accounts. */
const changeable = (operator: Operator, offered: readonly Role[]): Role[] =>
  offered.filter((role) => isMerchantRole(role) === isMerchantRole(operator.role));

const operatorOf = ({ gateway, session, params }: PanelRequest): Promise<Operator> =>
  requireOperator(gateway, session.principal, params.operatorId ?? '');

async function showOperator(
  request: PanelRequest,
  errors: { mids?: string; refundLimit?: string } = {},
): Promise<PanelAnswer> {
  const { gateway, session, form } = request;
  const operator = await operatorOf(request);
  const { operatorId, name, email, role, state, mids, refundLimit, lastSignedInAt } = operator;
  const typed = new Map([['refund_limit', refundLimit ?? ''], ...form]);
  const chosen = errors.mids === undefined ? formWith(mids ?? []) : form;
  const post = (action: string, content: Html): Html =>
    html`<form method="post" action="${LIST}/${operatorId}/${action}">${formToken(session)}${content}</form>`;
  const save = html`<div class="actions"><button class="quiet">${text.save}</button></div>`;
  const isSuspended = state === 'suspended';
  const roles = changeable(operator, offeredRoles(session.principal));
  return {
    title: panelTexts.sections.operators,
    status: Object.keys(errors).length === 0 ? 200 : 400,
    body: html`<div class="head"><h1>${name}</h1><a href="${LIST}">${panelTexts.sections.operators}</a></div>
<section class="card narrow">${facts([
      [text.email, email],
      [text.state, stateBadge(operator)],
      [text.lastSignIn, time(lastSignedInAt)],
    ])}<div class="actions">${post(
      'suspend',
      html`<input type="hidden" name="suspended" value="${String(!isSuspended)}"><button class="quiet">${isSuspended ? text.resume : text.suspend}</button>`,
    )}${post('invite', html`<button class="quiet">${text.inviteAgain}</button>`)}${
      operatorId !== session.operator.operatorId && post('delete', html`<button class="quiet">${text.delete}</button>`)
    }</div></section>
<section class="card narrow">${post(
      'role',
      html`${choiceField(
        { name: 'role', label: text.role, value: role },
        roles.map((one): [string, string] => [one, panelTexts.roles[one]]),
      )}${save}`,
    )}</section>
<section class="card narrow">${post('accounts', html`${await accountChoice(gateway, session.principal, chosen, errors.mids)}${save}`)}</section>
<section class="card narrow">${post('refund-limit', html`${refundLimitField(typed, errors.refundLimit)}${save}`)}</section>`,
  };
}

async function changeRole({ gateway, session, caller, params, form }: PanelRequest): Promise<PanelAnswer> {
  const role = ROLES.find((one) => one === form.get('role'));
  if (!role) throw new Refusal('invalidData');
  await changeOperator(gateway, session.principal, caller, params.operatorId ?? '', { role });
  return { redirect: LIST };
}

async function changeAccounts(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const { operatorId, role } = await operatorOf(request);
  const { mids, problem } = await chosenAccounts(gateway, session.principal, role, form);
  if (problem !== undefined) return showOperator(request, { mids: problem });
  await changeOperator(gateway, session.principal, caller, operatorId, { mids });
  return { redirect: LIST };
}

async function changeRefundLimit(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, params, form } = request;
  const { refundLimit, problem } = typedRefundLimit(form);
  if (problem !== undefined) return showOperator(request, { refundLimit: problem });
  await changeOperator(gateway, session.principal, caller, params.operatorId ?? '', { refundLimit });
  return { redirect: LIST };
}

async function suspend({ gateway, session, caller, params, form }: PanelRequest): Promise<PanelAnswer> {
  const isSuspended = form.get('suspended') === 'true';
  await changeOperator(gateway, session.principal, caller, params.operatorId ?? '', { isSuspended });
  return { redirect: LIST };
}

async function remove({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> {
  await deleteOperator(gateway, session.principal, caller, params.operatorId ?? '');
  return { redirect: LIST };
}

export const operatorChange = (path: string, handle: PanelRoute['handle']): PanelRoute => ({
  method: 'POST',
  path: LIST + path,
  permission: 'operators.manage',
  scope: 'accounts',
  confirmFor: LIST,
  handle,
});

export const operatorPage: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: `${LIST}/:operatorId`,
    permission: 'operators.manage',
    scope: 'accounts',
    handle: (request) => showOperator(request),
  },
  operatorChange('/:operatorId/role', changeRole),
  operatorChange('/:operatorId/accounts', changeAccounts),
  operatorChange('/:operatorId/refund-limit', changeRefundLimit),
  operatorChange('/:operatorId/suspend', suspend),
  operatorChange('/:operatorId/delete', remove),
];
