/** The page on operators: lists them, and invites. */

import type { Operator } from '../../../core/context.ts';
import { readEmail } from '../../../core/operators/invitations.ts';
import { sendOperatorMail } from '../../../core/operators/mails.ts';
import { inviteAgainAs, inviteOperatorAs, listOperators } from '../../../core/operators/manage.ts';
import { invitationLink } from '../../../core/operators/panel-address.ts';
import { html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { ROLES } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, choiceField, copyable, facts, field, notice, table, time } from '../frame/parts.ts';
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
import { invitationMail } from './mails.ts';
import { operatorChange, operatorPage, stateBadge } from './operator.ts';

const text = panelTexts.operators;

interface ShownOperator extends Operator {
  accounts: string;
}

async function showList(
  { gateway, session, form }: PanelRequest,
  errors: { email?: string; mids?: string; refundLimit?: string } = {},
): Promise<PanelAnswer> {
  const rows = await Promise.all(
    (await listOperators(gateway, session.principal)).map(async (operator) => ({
      ...operator,
      accounts: await accountNames(gateway, operator.mids),
    })),
  );
  const offered = offeredRoles(session.principal);
  const columns: Column<ShownOperator>[] = [
    {
      label: text.name,
      cell: ({ name, email, operatorId }) =>
        html`<a href="/admin/operators/${operatorId}">${name}</a>${operatorId === session.operator.operatorId && html` <span class="soft">(${text.you})</span>`}<br><span class="soft small">${email}</span>`,
    },
    { label: text.state, cell: stateBadge },
    { label: text.role, cell: ({ role }) => panelTexts.roles[role] },
    { label: text.accounts, cell: ({ accounts }) => accounts },
    { label: text.refundLimit, cell: ({ refundLimit }) => refundLimit ?? text.noLimit },
    { label: text.lastSignIn, cell: ({ lastSignedInAt }) => time(lastSignedInAt) },
  ];
  return {
    title: panelTexts.sections.operators,
    status: Object.keys(errors).length === 0 ? 200 : 400,
    body: html`<div class="head"><h1>${panelTexts.sections.operators}</h1></div>
<div class="card flush">${table(panelTexts.sections.operators, columns, rows)}</div>
<section class="card narrow"><h2>${text.invite}</h2><form method="post" action="/admin/operators">${formToken(session)}${field(
      {
        name: 'email',
        label: text.email,
        value: form.get('email'),
        type: 'email',
        error: errors.email,
        attributes: html`required autocomplete="off"`,
      },
    )}${choiceField(
      {
        name: 'role',
        label: text.role,
        value: form.get('role') ?? (offered.includes('operator') ? 'operator' : 'merchant_support'),
      },
      offered.map((role): [string, string] => [role, panelTexts.roles[role]]),
    )}${await accountChoice(gateway, session.principal, form, errors.mids)}${refundLimitField(form, errors.refundLimit)}<div class="actions"><button>${text.inviteButton}</button></div></form></section>`,
  };
}

/** Sends the link by e-mail if there is a mail server, and shows it in any case. */
async function linkPage({ gateway, caller }: PanelRequest, email: string, secret: string): Promise<PanelAnswer> {
  const link = invitationLink(gateway.publicUrl, secret);
  const mail = invitationMail(caller.name, new URL(gateway.publicUrl).host, link);
  const outcome = await sendOperatorMail(gateway, email, mail);
  const isSent = outcome?.kind === 'sent';
  return {
    title: text.invited,
    body: html`<div class="card narrow"><h1>${text.invited}</h1>${
      outcome && notice(isSent ? text.mailed : `${text.notMailed} ${outcome.reason}`, isSent ? 'good' : 'bad')
    }<p>${isSent ? text.mailedHint : text.inviteHint}</p>${facts([
      [text.email, email],
      [text.link, copyable(link)],
    ])}<div class="actions"><a class="button" href="/admin/operators">${panelTexts.sections.operators}</a></div></div>`,
  };
}

async function invite(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const email = readEmail(form.get('email') ?? '');
  if (email === undefined) return showList(request, { email: text.emailProblem });
  const role = ROLES.find((one) => one === form.get('role'));
  if (!role) throw new Refusal('invalidData');
  const { mids, problem } = await chosenAccounts(gateway, session.principal, role, form);
  if (problem !== undefined) return showList(request, { mids: problem });
  const limit = typedRefundLimit(form);
  if (limit.problem !== undefined) return showList(request, { refundLimit: limit.problem });
  const { refundLimit } = limit;
  const invited = await inviteOperatorAs(gateway, session.principal, caller, { email, role, mids, refundLimit });
  if (invited === 'emailInUse') return showList(request, { email: text.emailInUse });
  return linkPage(request, email, invited.secret.reveal());
}

async function inviteOnceMore(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, params } = request;
  const { operator, secret } = await inviteAgainAs(gateway, session.principal, caller, params.operatorId ?? '');
  return linkPage(request, operator.email, secret.reveal());
}

export const operatorPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin/operators',
    permission: 'operators.manage',
    scope: 'accounts',
    handle: (request) => showList(request),
  },
  operatorChange('', invite),
  operatorChange('/:operatorId/invite', inviteOnceMore),
  ...operatorPage,
];
