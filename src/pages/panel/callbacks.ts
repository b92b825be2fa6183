/** The pages on callbacks: the delivery log, one callback with its attempts, and resending. */
import { callbackId, readCallbackId } from '../../core/callbacks/callback-id.ts';
import {
  attemptError,
  type CallbackView,
  findCallback,
  listCallbacks,
  resendCallback,
  shownAddress,
} from '../../core/callbacks/log.ts';
import type { CallbackAttempt } from '../../core/context.ts';
import { sees } from '../../core/principal.ts';
import { html } from '../../lib/html.ts';
import { isUuid } from '../../lib/id.ts';
import { keysetPage } from '../../lib/keyset-page.ts';
import { CALLBACK_STATES } from '../../rules/callbacks.ts';
import { Refusal } from '../../rules/errors.ts';
import { isAllowed } from '../../rules/roles.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import { badge, type Column, choiceField, empty, facts, notice, pager, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const PAGE_SIZE = 25;
const text = en.callbacks;

async function showList({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const state = CALLBACK_STATES.find((one) => one === query.state);
  const filter = { state, mid: isUuid(query.mid ?? '') ? query.mid : undefined, mids: session.principal.mids };
  const rows = await listCallbacks(gateway, filter, PAGE_SIZE + 1, readCallbackId(query.cursor ?? ''));
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  const columns: Column<CallbackView>[] = [
    { label: text.created, cell: ({ callback }) => time(callback.createdAt) },
    {
      label: text.type,
      cell: ({ callback }) => html`<a href="/admin/callbacks/${callbackId(callback)}">${callback.type}</a>`,
    },
    { label: text.state, cell: ({ callback: { state } }) => badge(state) },
    { label: text.attempts, isNumber: true, cell: ({ callback }) => callback.attempts },
    { label: text.next, cell: ({ callback }) => time(callback.dueAt) },
    { label: text.address, cell: (view) => shownAddress(view) || text.noAddress },
    {
      label: text.payment,
      cell: ({ callback: { paymentId } }) => html`<a class="mono" href="/admin/payments/${paymentId}">${paymentId}</a>`,
    },
  ];
  return {
    title: en.sections.callbacks,
    body: html`<div class="head"><h1>${en.sections.callbacks}</h1>${
      isAllowed(session.principal.role, 'callbacks.resend') &&
      html`<div class="actions"><a class="button quiet" href="/admin/callbacks/resend">${text.resendMany}</a></div>`
    }</div>
<form class="filters" action="/admin/callbacks">${choiceField(
      { name: 'state', label: text.state, value: query.state },
      [['', en.payments.any], ...CALLBACK_STATES.map((one): [string, string] => [one, one])],
    )}<button>${en.payments.filter}</button></form>
<div class="card flush">${shown.length > 0 ? table(en.sections.callbacks, columns, shown) : empty(text.none, text.noneHint)}${pager(
      '/admin/callbacks',
      query,
      last && callbackId(last.callback),
    )}</div>`,
  };
}

async function requireCallback({ gateway, session, params }: PanelRequest) {
  const found = await findCallback(gateway, params.id ?? '');
  if (!sees(session.principal, found.callback.mid)) throw new Refusal('noSuchCallback');
  return found;
}

const attemptColumns: Column<CallbackAttempt>[] = [
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
    title: `${text.callback} ${callback.type}`,
    body: html`${notice(query.done && text.resent)}
<div class="head"><h1>${text.callback} ${callback.type}</h1>${badge(callback.state)}${
      isAllowed(session.principal.role, 'callbacks.resend') &&
      callback.body !== '' &&
      html`<div class="actions"><form method="post" action="/admin/callbacks/${id}/resend">${formToken(session)}<button>${text.resend}</button></form></div>`
    }</div>
<div class="card">${facts([
      [text.id, html`<span class="mono">${id}</span>`],
      [text.payment, html`<a class="mono" href="/admin/payments/${callback.paymentId}">${callback.paymentId}</a>`],
      [text.address, shownAddress({ destination }) || text.noAddress],
      [text.reason, callback.reason ?? undefined],
      [text.next, time(callback.dueAt)],
    ])}</div>
<section class="card flush"><h2 class="inset">${text.attempts}</h2>${
      log.length > 0 ? table(text.attempts, attemptColumns, log) : html`<p class="inset soft">${text.noAttempts}</p>`
    }</section>
<section class="card"><h2>${text.body}</h2>${
      callback.body === ''
        ? html`<p class="soft">${en.erasure.bodyErased}</p>`
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
  { method: 'GET', path: '/admin/callbacks', permission: 'callbacks.view', handle: showList },
  { method: 'GET', path: '/admin/callbacks/:id', permission: 'callbacks.view', handle: showCallback },
  { method: 'POST', path: '/admin/callbacks/:id/resend', permission: 'callbacks.resend', handle: resend },
];
