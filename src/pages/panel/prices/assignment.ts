/** The price plan of an account or a connection: the card on its page, and the form that assigns another one. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import { findConnection } from '../../../core/connections/connections.ts';
import { assignPlan, listPlans, type PlanOwner, planHistory } from '../../../core/prices/prices.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { mayManage, planPath } from './parts.ts';

const text = panelTexts.prices;

/** The newest plans are offered. */
const MOST_OFFERED = 200;

const ownerPath = (owner: PlanOwner): string =>
  'mid' in owner ? `/admin/accounts/${owner.mid}` : `/admin/connections/${owner.connectionId}`;

/** The plan, the earlier ones, and the choice of another one for those who may assign it. */
export async function planCard(request: PanelRequest, owner: PlanOwner): Promise<Html> {
  const { gateway, session } = request;
  const [current, ...earlier] = await planHistory(gateway, owner);
  const side = 'mid' in owner ? 'sell' : 'buy';
  const planId = current?.planId ?? '';
  const isOffering = mayManage(request);
  const offered = isOffering ? await listPlans(gateway, { mids: null }, side, MOST_OFFERED) : [];
  const choices = new Map([
    ['', text.noPlan],
    ...(current?.planId ? [[current.planId, current.name ?? ''] as const] : []),
    ...offered.map(({ planId: id, name }) => [id, name] as const),
  ]);
  const link = (id: string | null, name: string | null): Html =>
    id === null ? html`${text.noPlan}` : html`<a href="${planPath(id)}">${name}</a>`;
  // On the page of a connection it is in a column, whose other cards are as wide as it.
  return html`<section class="${'mid' in owner ? 'card narrow' : 'card'}" id="prices"><h2>${text.plan}</h2><p>${link(current?.planId ?? null, current?.name ?? null)}${
    current && html` <span class="soft">${text.since} ${time(current.assignedAt)}</span>`
  }</p><p class="hint">${'mid' in owner ? text.ofAccountHint : text.ofConnectionHint}</p>${
    isOffering &&
    html`<form method="post" action="${ownerPath(owner)}/price-plan">${formToken(session)}${choiceField({ name: 'plan_id', label: text.plan, value: planId }, [...choices])}<div class="actions"><button class="quiet">${text.assign}</button></div></form>`
  }${
    earlier.length > 0 &&
    html`<details><summary>${text.history}</summary><ul>${earlier.map(({ planId: id, name, assignedAt }) => html`<li>${link(id, name)} <span class="soft">${text.since} ${time(assignedAt)}</span></li>`)}</ul></details>`
  }</section>`;
}

async function assign(request: PanelRequest, owner: PlanOwner): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const planId = form.get('plan_id') ?? '';
  if (planId !== '' && !isUuid(planId)) throw new Refusal('noSuchPricePlan');
  await assignPlan(gateway, caller, owner, planId === '' ? null : planId);
  return { redirect: `${ownerPath(owner)}?done=1` };
}

async function assignToAccount(request: PanelRequest): Promise<PanelAnswer> {
  const {
    gateway,
    params: { mid = '' },
  } = request;
  const account = isUuid(mid) ? await findAccount(gateway, mid.toLowerCase()) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  return assign(request, { mid: account.mid });
}

async function assignToConnection(request: PanelRequest): Promise<PanelAnswer> {
  const {
    gateway,
    session,
    params: { connectionId = '' },
  } = request;
  if (!isUuid(connectionId)) throw new Refusal('noSuchConnection');
  const connection = await findConnection(gateway, session.principal, connectionId.toLowerCase());
  return assign(request, { connectionId: connection.connectionId });
}

const manage = { method: 'POST', permission: 'prices.manage', scope: 'installation' } as const;
const ACCOUNT = '/admin/accounts/:mid';
const CONNECTION = '/admin/connections/:connectionId';

export const assignmentPages: readonly PanelRoute[] = [
  { ...manage, path: `${ACCOUNT}/price-plan`, confirmFor: ACCOUNT, handle: assignToAccount },
  { ...manage, path: `${CONNECTION}/price-plan`, confirmFor: CONNECTION, handle: assignToConnection },
];
