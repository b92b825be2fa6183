/** The pages on callbacks: the delivery log, one callback with its attempts, and resending. */
import { callbackId, readCallbackId } from '../../../core/callbacks/callback-id.ts';
import {
  attemptError,
  type CallbackView,
  findCallback,
  listCallbacks,
  resendCallback,
  shownAddress,
} from '../../../core/callbacks/log.ts';
import type { CallbackAttempt, Gateway } from '../../../core/context.ts';
import { sees } from '../../../core/operators/principal.ts';
import { listPayments } from '../../../core/payments/find.ts';
import { FIRST_ID, isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { html } from '../../../lib/text/html.ts';
import { CALLBACK_ACTIONS, CALLBACK_STATES, type CallbackType } from '../../../rules/callbacks.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames, dayStart } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, choiceField, empty, facts, field, notice, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { reasonText, stateBadge, stateChoices, typeName } from './states.ts';

const PAGE_SIZE = 25;
const text = panelTexts.callbacks;

const CALLBACK_TYPES = Object.keys(CALLBACK_ACTIONS) as CallbackType[];

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const state = CALLBACK_STATES.find((one) => one === query.state);
  const names = await accountNames(request);
  const to = dayStart(query.to);
  const { mids } = session.principal;
  const mid = isUuid(query.mid ?? '') ? query.mid : undefined;
  const filter = {
    state,
    mid,
    mids,
    type: CALLBACK_TYPES.find((one) => one === query.type),
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
    paymentId: query.order === undefined ? undefined : await paymentOfOrder(gateway, query.order, mid, mids),
  };
  const rows = await listCallbacks(gateway, filter, PAGE_SIZE + 1, readCallbackId(query.cursor ?? ''));
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  const orders = await orderIds(gateway, shown);
  const isFiltered = Object.keys(query).length > 0;
  const columns: Column<CallbackView>[] = [
    { label: text.created, cell: ({ callback }) => time(callback.createdAt) },
    {
      label: text.type,
      cell: ({ callback }) => html`<a href="/admin/callbacks/${callbackId(callback)}">${typeName(callback.type)}</a>`,
    },
    { label: text.state, cell: ({ callback }) => stateBadge(callback) },
    { label: text.attempts, isNumber: true, cell: ({ callback }) => callback.attempts },
    { label: text.next, cell: ({ callback }) => time(callback.dueAt) },
    { label: text.address, cell: (view) => shownAddress(view) || text.noAddress },
    {
      label: text.order,
      cell: ({ callback: { paymentId } }) =>
        html`<a href="/admin/payments/${paymentId}">${orders.get(paymentId) ?? paymentId}</a>`,
    },
    { label: text.account, cell: ({ callback }) => names.get(callback.mid) ?? html`<code>${callback.mid}</code>` },
  ];
  return {
    title: panelTexts.sections.callbacks,
    body: html`<div class="head"><h1>${panelTexts.sections.callbacks}</h1>${
      isAllowed(session.principal.role, 'callbacks.resend') &&
      html`<div class="actions"><a class="button quiet" href="/admin/callbacks/resend">${text.resendMany}</a></div>`
    }</div>
<form class="filters" action="/admin/callbacks">${choiceField(
      { name: 'state', label: text.state, value: query.state },
      [['', panelTexts.payments.any], ...stateChoices()],
    )}${choiceField({ name: 'type', label: text.type, value: query.type }, [
      ['', panelTexts.payments.any],
      ...CALLBACK_TYPES.map((one): [string, string] => [one, typeName(one)]),
    ])}${choiceField({ name: 'mid', label: text.account, value: query.mid }, [['', panelTexts.payments.any], ...names])}${field({ name: 'order', label: text.order, value: query.order })}${field({ name: 'from', label: panelTexts.payments.from, value: query.from, type: 'date' })}${field({ name: 'to', label: panelTexts.payments.to, value: query.to, type: 'date' })}<button>${panelTexts.payments.filter}</button>${isFiltered && html`<a class="button quiet" href="/admin/callbacks">${panelTexts.payments.clear}</a>`}</form>
<div class="card flush">${shown.length > 0 ? table(panelTexts.sections.callbacks, columns, shown) : isFiltered ? empty(text.nothingFound, text.nothingFoundHint) : empty(text.none, text.noneHint)}${pager(
      '/admin/callbacks',
      query,
      last && callbackId(last.callback),
    )}</div>`,
  };
}

/** The newest payment of an order that the operator may see; one that nobody has if there is none. */
async function paymentOfOrder(
  gateway: Gateway,
  orderId: string,
  mid: string | undefined,
  mids: readonly string[] | null,
): Promise<string> {
  const { payments } = await listPayments(gateway, { orderId: orderId.trim(), mid, mids, limit: 1 });
  return payments[0]?.paymentId ?? FIRST_ID;
}

/** The order numbers of the payments of callbacks. */
async function orderIds(gateway: Gateway, views: readonly CallbackView[]): Promise<Map<string, string>> {
  const keys = new Map(views.map(({ callback: { mid, paymentId } }) => [paymentId, { mid, paymentId }]));
  const payments = await Promise.all([...keys.values()].map((key) => gateway.payments.find(key)));
  return new Map(payments.flatMap((payment) => (payment ? [[payment.paymentId, payment.orderId]] : [])));
}

async function requireCallback({ gateway, session, params }: PanelRequest) {
  const found = await findCallback(gateway, params.id ?? '');
  if (!sees(session.principal, found.callback.mid)) throw new Refusal('noSuchCallback');
  return found;
}

const attemptColumns = (): Column<CallbackAttempt>[] => [
  { label: text.attempt, isNumber: true, cell: ({ attempt }) => attempt },
  { label: text.at, cell: ({ at }) => time(at) },
  { label: text.answer, cell: (one) => (one.status === null ? '–' : `HTTP ${one.status}`) },
  { label: text.took, isNumber: true, cell: ({ tookMs }) => `${tookMs} ms` },
  { label: text.error, cell: (one) => attemptError(one) },
];

async function showCallback(request: PanelRequest): Promise<PanelAnswer> {
  const { callback, destination, log } = await requireCallback(request);
  const id = callbackId(callback);
  const { session, query } = request;
  return {
    title: `${text.callback}: ${typeName(callback.type)}`,
    body: html`${notice(query.done && text.resent)}
<div class="head"><h1>${text.callback}: ${typeName(callback.type)}</h1>${stateBadge(callback)}${
      isAllowed(session.principal.role, 'callbacks.resend') &&
      callback.body !== '' &&
      html`<div class="actions"><form method="post" action="/admin/callbacks/${id}/resend">${formToken(session)}<button>${text.resend}</button></form></div>`
    }</div>
<div class="card">${facts([
      [text.id, html`<span class="mono">${id}</span>`],
      [text.payment, html`<a href="/admin/payments/${callback.paymentId}"><code>${callback.paymentId}</code></a>`],
      [text.address, shownAddress({ destination }) || text.noAddress],
      [text.reason, reasonText(callback.reason)],
      [text.next, time(callback.dueAt)],
    ])}</div>
<section class="card flush"><h2 class="inset">${text.attempts}</h2>${
      log.length > 0 ? table(text.attempts, attemptColumns(), log) : html`<p class="inset soft">${text.noAttempts}</p>`
    }</section>
<section class="card"><h2>${text.body}</h2>${
      callback.body === ''
        ? html`<p class="soft">${panelTexts.erasure.bodyErased}</p>`
        : html`<pre tabindex="0" aria-label="${text.body}">${callback.body}</pre>`
    }</section>`,
  };
}

async function resend(request: PanelRequest): Promise<PanelAnswer> {
  const { callback } = await requireCallback(request);
  await resendCallback(request.gateway, request.caller, callback);
  return { redirect: `/admin/callbacks/${callbackId(callback)}?done=1` };
}

export const callbackPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/callbacks', permission: 'callbacks.view', scope: 'accounts', handle: showList },
  {
    method: 'GET',
    path: '/admin/callbacks/:id',
    permission: 'callbacks.view',
    scope: 'accounts',
    handle: showCallback,
  },
  {
    method: 'POST',
    path: '/admin/callbacks/:id/resend',
    permission: 'callbacks.resend',
    scope: 'accounts',
    unconfirmed: 'It sends the same callback to the account again.',
    handle: resend,
  },
];
