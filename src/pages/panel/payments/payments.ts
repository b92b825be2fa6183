/** The list of payments with its filters, and its export. */
import { listConnections } from '../../../core/connections/connections.ts';
import type { ListedPayment, PaymentCount, PaymentSelection } from '../../../core/context.ts';
import { estimatedPayments, PAYMENT_COLUMNS, paymentsCsv } from '../../../core/exports/payments.ts';
import { listSavedFilters } from '../../../core/operators/saved-filters.ts';
import { listPayments } from '../../../core/payments/find.ts';
import { NETWORK_NAMES, networkTitle } from '../../../lib/cards/networks.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ATTENTIONS, type Attention } from '../../../rules/attention.ts';
import { COUNTRIES } from '../../../rules/countries.ts';
import { CURRENCIES } from '../../../rules/currencies.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { readAmount, readSearch } from '../../../rules/payment-search.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { STATE_NAMES } from '../../../rules/states.ts';
import { accountNames, dayStart, downloadLink } from '../frame/filters.ts';
import {
  badge,
  type Column,
  choiceField,
  copyLink,
  empty,
  field,
  idCursor,
  money,
  notice,
  pager,
  table,
  time,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { brandChoices } from './choices.ts';
import { methodCell } from './methods.ts';
import { filtersOf, savedFilterPages, savedFilters } from './saved-filters.ts';
import { statusBadge } from './status.ts';

const PAGE_SIZE = 25;

const text = panelTexts.payments;

/** The countries by name, in the language of the request. */
function countryNames(): [string, string][] {
  const names = new Intl.DisplayNames(languageTag(), { type: 'region' });
  return [...COUNTRIES]
    .map((code): [string, string] => [code, names.of(code) ?? code])
    .sort(([, a], [, b]) => a.localeCompare(b, languageTag()));
}

const pathOf = (paymentId: string): string => `/admin/payments/${paymentId}`;
const attentionLabel = (attention: Attention): string => text.attentions[attention];

const oneOf = <Value extends string>(values: readonly Value[], value: string | undefined): Value | undefined =>
  values.find((one) => one === value);

/** The filter of the list and of its export; a value that is not valid is ignored. */
function filterOf({ query, session }: PanelRequest): PaymentSelection {
  const to = dayStart(query.to);
  return {
    words: query.q === undefined ? undefined : readSearch(query.q),
    mid: isUuid(query.mid ?? '') ? query.mid : undefined,
    mids: session.principal.mids,
    orderId: query.order_id,
    state: oneOf(STATE_NAMES, query.status),
    brand: query.brand,
    attention: oneOf(ATTENTIONS, query.attention),
    network: oneOf(NETWORK_NAMES, query.network),
    country: query.country,
    connection: query.connection_id,
    channelId: query.channel_id,
    currency: query.currency,
    amountFrom: readAmount(query.amount_from ?? ''),
    amountTo: readAmount(query.amount_to ?? ''),
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
  };
}

async function showList(request: PanelRequest, error?: string): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const saved = await listSavedFilters(gateway, session);
  const names = await accountNames(request);
  const {
    payments: shown,
    next,
    isComplete,
    total,
  } = await listPayments(gateway, {
    ...filterOf(request),
    before: idCursor(query),
    limit: PAGE_SIZE,
    isCounted: true,
  });
  const columns: Column<ListedPayment>[] = [
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
    {
      label: text.order,
      cell: ({ paymentId, orderId }) => html`<a href="${pathOf(paymentId)}">${orderId}</a>`,
    },
    {
      label: text.status,
      cell: (payment) =>
        html`${statusBadge(payment)}${payment.attention && html` ${badge(attentionLabel(payment.attention), 'bad')}`}`,
    },
    { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    { label: text.payer, cell: payerCell },
    { label: text.brand, cell: ({ brand }) => methodCell(brand) },
    { label: text.card, cell: cardCell },
    { label: text.account, cell: ({ mid }) => names.get(mid) ?? html`<span class="mono">${mid}</span>` },
  ];
  const isFiltered = Object.keys(query).length > 0;
  return {
    title: panelTexts.sections.payments,
    status: error === undefined ? 200 : 400,
    body: html`<div class="head"><h1>${panelTexts.sections.payments}</h1><div class="actions">${copyLink(withQuery('/admin/payments', filtersOf(query)))}${
      shown.length > 0 && downloadLink('/admin/payments.csv', query)
    }</div></div>
${savedFilters(request, saved, error)}
${filters(query, names, await connectionNames(request))}
${!isComplete && notice(text.olderFollow, 'wait')}
${total && html`<p class="soft small">${countText(total)}</p>`}
<div class="card flush">${
      shown.length > 0
        ? table(panelTexts.sections.payments, columns, shown)
        : isFiltered
          ? next === null
            ? empty(text.nothingFound, text.nothingFoundHint)
            : empty(text.nothingFound, text.searchGoesOn)
          : empty(text.none, text.noneHint)
    }${pager('/admin/payments', query, next ?? undefined)}</div>${shown.length > 0 && columnChoice(query)}`,
  };
}

async function downloadList(request: PanelRequest): Promise<PanelAnswer> {
  const filter = filterOf(request);
  const estimatedRows = await estimatedPayments(request.gateway, filter);
  const chosen = PAYMENT_COLUMNS.filter((name) => request.query[boxOf(name)] !== undefined);
  const columns = chosen.length > 0 ? chosen : undefined;
  return { download: { ...(await paymentsCsv(request.gateway, filter, columns)), estimatedRows } };
}

const boxOf = (column: string): string => `column.${column}`;

/** Downloads chosen columns; they have the names that the file gives them. */
function columnChoice({ cursor: _cursor, ...query }: PanelRequest['query']): Html {
  const box = (name: string): Html =>
    html`<label class="choice"><input type="checkbox" name="${boxOf(name)}" value="1" checked><span><code>${name}</code></span></label>`;
  return html`<details class="more field"><summary>${text.chooseColumns}</summary><form action="/admin/payments.csv">
${Object.entries(query).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset class="bare choices" aria-label="${text.chooseColumns}">${PAYMENT_COLUMNS.map(box)}</fieldset>
<button class="quiet">${panelTexts.downloadCsv}</button></form></details>`;
}

const payerCell = ({ payerName, payerEmail }: ListedPayment): Html | string | null =>
  payerName === null
    ? payerEmail
    : html`${payerName}${payerEmail !== null && html`<br><span class="soft small">${payerEmail}</span>`}`;

const cardCell = ({ cardMasked, cardNetwork }: ListedPayment): Html | null =>
  cardMasked === null && cardNetwork === null
    ? null
    : html`${cardNetwork !== null && (networkTitle(cardNetwork) ?? cardNetwork)}${cardMasked !== null && html` <span class="nowrap">•••• ${cardMasked.slice(-4)}</span>`}`;

function countText({ count, isMore }: PaymentCount): string {
  const number = count.toLocaleString(languageTag());
  if (isMore) return text.moreThan(number);
  return count === 1 ? text.one : text.total(number);
}

/** The connections that the operator may choose from, by id. */
async function connectionNames({ gateway, session: { principal } }: PanelRequest): Promise<Map<string, string>> {
  if (!isAllowed(principal.role, 'connections.view')) return new Map();
  const connections = await listConnections(gateway, principal);
  return new Map([
    ...connections.map(({ connectionId, name }): [string, string] => [connectionId, name]),
    ['upstream', text.ownProvider],
  ]);
}

/** The filters that are shown on request, or when one of them is set. */
const MORE_FILTERS = [
  'amount_from',
  'amount_to',
  'currency',
  'attention',
  'brand',
  'network',
  'country',
  'connection_id',
  'channel_id',
];

function filters(
  query: PanelRequest['query'],
  names: ReadonlyMap<string, string>,
  connections: ReadonlyMap<string, string>,
): Html {
  const isAnySet = MORE_FILTERS.some((name) => query[name] !== undefined);
  const amount = html`inputmode="decimal" size="8" placeholder="19.99"`;
  const any: readonly [string, string] = ['', text.any];
  return html`<form class="filters" action="/admin/payments">
${field({ name: 'q', label: panelTexts.search, value: query.q, type: 'search', attributes: html`placeholder="${text.searchHint}"` })}
${choiceField({ name: 'status', label: text.status, value: query.status }, [any, ...STATE_NAMES.map((one): [string, string] => [one, text.states[one]])])}
${choiceField({ name: 'mid', label: text.account, value: query.mid }, [any, ...names])}
${field({ name: 'from', label: text.from, value: query.from, type: 'date' })}
${field({ name: 'to', label: text.to, value: query.to, type: 'date' })}
<details class="more"${isAnySet && html` open`}><summary>${text.moreFilters}</summary><div class="filters">
${field({ name: 'amount_from', label: text.amountFrom, value: query.amount_from, attributes: amount })}
${field({ name: 'amount_to', label: text.amountTo, value: query.amount_to, attributes: amount })}
${choiceField({ name: 'currency', label: text.currency, value: query.currency }, [any, ...Object.keys(CURRENCIES).map((one): [string, string] => [one, one])])}
${choiceField({ name: 'brand', label: text.brand, value: query.brand }, [any, ...brandChoices()])}
${choiceField({ name: 'network', label: text.network, value: query.network }, [any, ...NETWORK_NAMES.map((one): [string, string] => [one, networkTitle(one) ?? text.otherNetwork])])}
${choiceField({ name: 'country', label: text.country, value: query.country }, [any, ...countryNames()])}
${connections.size > 0 && choiceField({ name: 'connection_id', label: text.connection, value: query.connection_id }, [any, ...connections])}
${field({ name: 'channel_id', label: panelTexts.payment.channel, value: query.channel_id, attributes: html`size="12" maxlength="${LIMITS.channelIdLength}"` })}
${choiceField({ name: 'attention', label: text.attention, value: query.attention }, [any, ...ATTENTIONS.map((one): [string, string] => [one, attentionLabel(one)])])}
</div></details>
<button>${text.filter}</button>${Object.keys(query).length > 0 && html`<a class="button quiet" href="/admin/payments">${text.clear}</a>`}
</form>`;
}

export const paymentPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin/payments',
    permission: 'payments.view',
    scope: 'accounts',
    handle: (request) => showList(request),
  },
  {
    method: 'GET',
    path: '/admin/payments.csv',
    permission: 'payments.view',
    scope: 'accounts',
    isDownload: true,
    handle: downloadList,
  },
  ...savedFilterPages(showList),
];
