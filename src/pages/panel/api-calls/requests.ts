/** The pages on API calls of merchants: the recent ones with filters, and one of them with its answer. */
import {
  CALL_ACTIONS,
  CALL_OUTCOMES,
  ERROR_CODES,
  errorOf,
  findCall,
  listCalls,
  WRONG_HASH,
} from '../../../core/api-calls/list.ts';
import type { ApiCall } from '../../../core/context.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { badge, type Column, choiceField, empty, facts, field, idCursor, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const PAGE_SIZE = 25;
const PATH = '/admin/requests';
const text = panelTexts.requests;

const mono = (value: string): Html => html`<span class="mono">${value}</span>`;

/** The outcome of a call, as a badge with its HTTP status. */
const outcomeBadge = (call: ApiCall): Html => {
  const error = errorOf(call);
  return badge(`${call.status} ${error ? text.outcomes.refused : text.outcomes.accepted}`, error ? 'bad' : 'good');
};

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const names = await accountNames(request);
  const filter = {
    mid: isUuid(query.mid ?? '') ? query.mid : undefined,
    outcome: CALL_OUTCOMES.find((one) => one === query.outcome),
    action: CALL_ACTIONS.find((one) => one === query.action),
    errorCode: ERROR_CODES.find((one) => String(one) === query.error_code),
    errorMessage: query.error_message,
    orderId: query.order_id,
    paymentId: isUuid(query.payment_id ?? '') ? query.payment_id : undefined,
  };
  const cursor = idCursor(query);
  const rows = await listCalls(gateway, session.principal, filter, PAGE_SIZE + 1, cursor);
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  const columns: Column<ApiCall>[] = [
    { label: text.at, cell: ({ at, callId }) => html`<a href="${PATH}/${callId}">${time(at)}</a>` },
    { label: text.action, cell: ({ action }) => mono(action) },
    { label: text.outcome, cell: outcomeBadge },
    { label: text.error, cell: (call) => errorText(call) },
    { label: text.order, cell: ({ orderId }) => orderId },
    { label: text.account, cell: ({ mid }) => (mid === null ? text.noAccount : (names.get(mid) ?? mono(mid))) },
    { label: text.took, isNumber: true, cell: ({ tookMs }) => `${tookMs} ms` },
  ];
  const isFiltered = Object.keys(query).length > 0;
  return {
    title: panelTexts.sections.requests,
    body: html`<div class="head"><h1>${panelTexts.sections.requests}</h1></div>
${filters(query, names)}
<div class="card flush">${
      items.length > 0
        ? table(panelTexts.sections.requests, columns, items)
        : isFiltered
          ? empty(text.nothingFound, text.nothingFoundHint)
          : empty(text.none, text.noneHint)
    }${pager(PATH, query, last?.callId)}</div>`,
  };
}

const errorText = (call: ApiCall): string | null => {
  const error = errorOf(call);
  return error ? `${error.code} ${error.message}` : null;
};

function filters(query: PanelRequest['query'], names: ReadonlyMap<string, string>): Html {
  const any: readonly [string, string] = ['', panelTexts.payments.any];
  const own = (values: readonly (string | number)[]) => [
    any,
    ...values.map((value): [string, string] => [String(value), String(value)]),
  ];
  return html`<form class="filters" action="${PATH}">
${choiceField({ name: 'mid', label: text.account, value: query.mid }, [any, ...names])}
${choiceField({ name: 'outcome', label: text.outcome, value: query.outcome }, [any, ...CALL_OUTCOMES.map((one): [string, string] => [one, text.outcomes[one]])])}
${choiceField({ name: 'action', label: text.action, value: query.action }, own(CALL_ACTIONS))}
${choiceField({ name: 'error_code', label: text.errorCode, value: query.error_code }, own(ERROR_CODES))}
${field({ name: 'order_id', label: text.order, value: query.order_id })}
<button>${panelTexts.payments.filter}</button>${Object.keys(query).length > 0 && html`<a class="button quiet" href="${PATH}">${panelTexts.payments.clear}</a>`}
</form>`;
}

const fieldColumns = (): Column<ApiCall['request'][number]>[] => [
  { label: text.field, cell: ([name]) => html`<span class="mono any">${name}</span>` },
  { label: text.value, cell: ([, value]) => (value === '' ? null : html`<span class="mono any">${value}</span>`) },
];

/** The masked request and the answer of a call, side by side. */
export const exchange = (request: ApiCall['request'], answer: string): Html =>
  html`<div class="columns even"><section class="card flush"><h2 class="inset">${text.request}</h2><p class="inset soft small">${text.masked}</p>${
    request.length > 0 ? table(text.request, fieldColumns(), request) : html`<p class="inset soft">${text.noFields}</p>`
  }</section>
<section class="card"><h2>${text.answer}</h2><pre class="wrap" tabindex="0" aria-label="${text.answer}">${answer}</pre></section></div>`;

async function showCall({ gateway, session, params }: PanelRequest): Promise<PanelAnswer> {
  const call = await findCall(gateway, session.principal, params.id ?? '');
  const { mid, paymentId, orderId, request, answer } = call;
  const isExplainable = errorOf(call)?.message === WRONG_HASH && isAllowed(session.principal.role, 'requests.explain');
  return {
    title: `${text.call} ${call.action}`,
    body: html`<div class="head"><h1>${text.call} ${call.action}</h1>${outcomeBadge(call)}${
      isExplainable &&
      html`<div class="actions"><a class="button" href="/admin/debugger?call=${call.callId}">${text.explain}</a></div>`
    }</div>
<div class="card">${facts([
      [text.at, time(call.at)],
      [text.error, errorText(call) ?? undefined],
      [text.account, mid === null ? text.noAccount : html`<a class="mono" href="/admin/accounts/${mid}">${mid}</a>`],
      [text.order, orderId === null ? undefined : orderId],
      [
        text.payment,
        paymentId === null ? undefined : html`<a class="mono" href="/admin/payments/${paymentId}">${paymentId}</a>`,
      ],
      [text.protocol, text.protocols[call.protocol]],
      [text.status, `HTTP ${call.status}`],
      [text.took, `${call.tookMs} ms`],
      [text.requestId, mono(call.requestId)],
      [text.address, mono(call.address)],
    ])}</div>
${exchange(request, answer)}`,
  };
}

export const requestPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'requests.view', scope: 'accounts', handle: showList },
  { method: 'GET', path: `${PATH}/:id`, permission: 'requests.view', scope: 'accounts', handle: showCall },
];
