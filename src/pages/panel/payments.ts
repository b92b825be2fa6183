/** The pages on payments: the list with its filters, one payment with its timeline, and the operations on it. */
import { findAccount } from '../../core/accounts.ts';
import { type LoggedCallback, listPaymentCallbacks, shownAddress } from '../../core/callbacks/log.ts';
import type { HistoryRow, OperationRow, Payment, PaymentFilter, PaymentWithDetails } from '../../core/context.ts';
import { estimatedPayments, paymentsCsv } from '../../core/exports/payments.ts';
import { type OperatorAction, operateAs, possibleActions } from '../../core/operators/actions.ts';
import { listSavedFilters } from '../../core/operators/saved-filters.ts';
import { listPayments } from '../../core/payments/find.ts';
import type { Principal } from '../../core/principal.ts';
import { type Html, html } from '../../lib/html.ts';
import { isUuid, newId } from '../../lib/id.ts';
import { amountText } from '../../lib/money.ts';
import { ATTENTIONS, type Attention } from '../../rules/attention.ts';
import { BRANDS, CARD } from '../../rules/brands.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { ERRORS, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { readSearch } from '../../rules/payment-search.ts';
import { isAllowed } from '../../rules/roles.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import { decisionLinks, reportedFact } from './attention.ts';
import { accountNames, dayStart, downloadLink } from './filters.ts';
import { requirePayment } from './find-payment.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import {
  badge,
  brandText,
  type Column,
  choiceField,
  copyLink,
  empty,
  facts,
  field,
  money,
  notice,
  pager,
  refusalText,
  table,
  time,
  toneOf,
  withQuery,
} from './parts.ts';
import { orderLines, receiptMoment } from './payment-order.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';
import { filtersOf, savedFilterPages, savedFilters } from './saved-filters.ts';

const PAGE_SIZE = 25;

const text = en.payments;

const pathOf = (paymentId: string): string => `/admin/payments/${paymentId}`;
const attentionLabel = (attention: Attention): string => text.attentions[attention];

const oneOf = <Value extends string>(values: readonly Value[], value: string | undefined): Value | undefined =>
  values.find((one) => one === value);

/** The filter of the list and of its export; a value that is not valid is ignored. */
function filterOf({ query, session }: PanelRequest): Omit<PaymentFilter, 'before' | 'limit'> {
  const to = dayStart(query.to);
  return {
    words: query.q === undefined ? undefined : readSearch(query.q),
    mid: isUuid(query.mid ?? '') ? query.mid : undefined,
    mids: session.principal.mids,
    orderId: query.order_id,
    state: oneOf(STATE_NAMES, query.status),
    brand: query.brand,
    attention: oneOf(ATTENTIONS, query.attention),
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
  };
}

async function showList(request: PanelRequest, error?: string): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const saved = await listSavedFilters(gateway, session);
  const names = await accountNames(request);
  const { payments: shown, next } = await listPayments(gateway, {
    ...filterOf(request),
    before: isUuid(query.cursor ?? '') ? query.cursor : undefined,
    limit: PAGE_SIZE,
  });
  const columns: Column<Payment>[] = [
    { label: text.created, cell: ({ createdAt }) => time(createdAt) },
    {
      label: text.order,
      cell: ({ paymentId, orderId }) => html`<a href="${pathOf(paymentId)}">${orderId}</a>`,
    },
    {
      label: text.status,
      cell: ({ state, attention }) =>
        html`${badge(state)}${attention && html` ${badge(attentionLabel(attention), 'bad')}`}`,
    },
    { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    { label: text.brand, cell: ({ brand }) => brandText(brand) },
    { label: text.account, cell: ({ mid }) => names.get(mid) ?? html`<span class="mono">${mid}</span>` },
  ];
  const isFiltered = Object.keys(query).length > 0;
  return {
    title: en.sections.payments,
    status: error === undefined ? 200 : 400,
    body: html`<div class="head"><h1>${en.sections.payments}</h1><div class="actions">${copyLink(withQuery('/admin/payments', filtersOf(query)))}${
      shown.length > 0 && downloadLink('/admin/payments.csv', query)
    }</div></div>
${savedFilters(request, saved, error)}
${filters(query, names)}
<div class="card flush">${
      shown.length > 0
        ? table(en.sections.payments, columns, shown)
        : isFiltered
          ? empty(text.nothingFound, text.nothingFoundHint)
          : empty(text.none, text.noneHint)
    }${pager('/admin/payments', query, next ?? undefined)}</div>`,
  };
}

async function downloadList(request: PanelRequest): Promise<PanelAnswer> {
  const filter = filterOf(request);
  const estimatedRows = await estimatedPayments(request.gateway, filter);
  return { download: { ...(await paymentsCsv(request.gateway, filter)), estimatedRows } };
}

function filters(query: PanelRequest['query'], names: ReadonlyMap<string, string>): Html {
  const any: readonly [string, string] = ['', text.any];
  const own = (values: readonly string[]) => [any, ...values.map((value): [string, string] => [value, value])];
  return html`<form class="filters" action="/admin/payments">
${field({ name: 'q', label: en.search, value: query.q, type: 'search', attributes: html`placeholder="${text.searchHint}"` })}
${choiceField({ name: 'status', label: text.status, value: query.status }, own(STATE_NAMES))}
${choiceField({ name: 'attention', label: text.attention, value: query.attention }, [any, ...ATTENTIONS.map((one): [string, string] => [one, attentionLabel(one)])])}
${choiceField({ name: 'brand', label: text.brand, value: query.brand }, own([CARD, ...Object.keys(BRANDS)]))}
${choiceField({ name: 'mid', label: text.account, value: query.mid }, [any, ...names])}
${field({ name: 'from', label: text.from, value: query.from, type: 'date' })}
${field({ name: 'to', label: text.to, value: query.to, type: 'date' })}
<button>${text.filter}</button>${Object.keys(query).length > 0 && html`<a class="button quiet" href="/admin/payments">${text.clear}</a>`}
</form>`;
}

interface Moment {
  at: number;
  order: number;
  what: Html;
  tone: string;
}

const eventLabel = (event: string): string => {
  const [, noted] = /^noted (.+)$/.exec(event) ?? [];
  if (noted !== undefined) return `${eventLabel(noted)} (${text.reportedOnly})`;
  return text.events[event] ?? event.replace(/([A-Z])/g, ' $1').toLowerCase();
};

function moments(
  history: readonly HistoryRow[],
  callbacks: readonly LoggedCallback[],
  more: readonly Moment[],
): Moment[] {
  const events = history.map(({ at, seq, event, toState, fromState, actor, actorName, note, call }): Moment => {
    const isChange = toState !== fromState;
    return {
      at,
      order: seq,
      tone: isChange ? toneOf(toState) : '',
      what: html`<h3>${eventLabel(event)}${isChange && html` ${badge(toState)}`}</h3>
<p class="soft small">${text.by} ${actorName ?? text.actors[actor]}${
        call &&
        html` · ${call.connector} ${call.verb}: ${call.outcome}${call.reason ? ` (${call.reason})` : ''}, ${call.tookMs} ms`
      }${call?.reported && html` · ${money(BigInt(call.reported.amount), call.reported.currency)}`}</p>${note && html`<p class="small">${note}</p>`}`,
    };
  });
  const attempts = callbacks.flatMap(({ callback, destination, log }) =>
    log.map(({ at, attempt, status, fault, tookMs }): Moment => {
      const isDelivered = status !== null && status < 300;
      return {
        at,
        order: 1_000_000 + callback.seq,
        tone: isDelivered ? 'good' : 'bad',
        what: html`<h3>${text.callback} ${callback.type}, ${text.attempt} ${attempt} ${badge(isDelivered ? text.delivered : text.failed, isDelivered ? 'good' : 'bad')}</h3>
<p class="soft small">${shownAddress({ destination })} · ${status === null ? fault : `HTTP ${status}`}, ${tookMs} ms</p>`,
      };
    }),
  );
  return [...events, ...attempts, ...more].sort((a, b) => a.at - b.at || a.order - b.order);
}

const timeline = (all: readonly Moment[]): Html =>
  html`<ol class="timeline">${all.map(({ at, what, tone }) => html`<li class="${tone}">${what}<p class="soft small">${time(at)}</p></li>`)}</ol>`;

/** The link, the receipt, and the actions that the state and the role allow. */
function actions(principal: Principal, payment: PaymentWithDetails): Html {
  const path = pathOf(payment.paymentId);
  const possible = isAllowed(principal.role, 'payments.operate') ? possibleActions(payment) : [];
  return html`<div class="actions">${copyLink(path)}<a class="button quiet" href="${path}/receipt">${text.receipt.link}</a>${possible.map(
    (action) => html`<a class="button quiet" href="${path}/${action}">${text.actions[action]}</a>`,
  )}</div>`;
}

const operationColumns = ({ currency }: Payment): Column<OperationRow>[] => [
  { label: text.operation, cell: ({ verb }) => verb },
  {
    label: text.status,
    cell: ({ state }) => badge(state, state === 'done' ? 'good' : state === 'declined' ? 'bad' : 'wait'),
  },
  { label: text.amount, isNumber: true, cell: ({ amount }) => money(amount, currency) },
  { label: text.reason, cell: ({ reason }) => reason },
  { label: text.requested, cell: ({ requestedAt }) => time(requestedAt) },
  { label: text.id, cell: ({ operationId }) => html`<span class="mono">${operationId}</span>` },
];

async function showPayment(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { payment, history, operations, receipt } = await requirePayment(request);
  const account = await findAccount(gateway, payment.mid);
  const receipts = receipt ? [receiptMoment(payment, receipt)] : [];
  const callbacks = await listPaymentCallbacks(gateway, payment);
  const { details, currency } = payment;
  return {
    title: `${money(payment.amount, currency)} · ${payment.orderId}`,
    body: html`${outcomeNotice(query.done)}
<div class="head"><h1>${money(payment.amount, currency)}</h1>${badge(payment.state)}${
      payment.inDoubt && badge(text.inDoubt, 'wait')
    }${actions(session.principal, payment)}</div>
${payment.attention && attentionNotice(request, payment, payment.attention, reportedFact(payment, history, operations))}
<div class="columns"><section class="card" aria-labelledby="timeline"><h2 id="timeline">${text.timeline}</h2>${timeline(moments(history, callbacks, receipts))}${resendLink(session.principal, payment, callbacks)}</section>
<div><section class="card" aria-labelledby="facts"><h2 id="facts">${text.details}</h2>${facts([
      [text.id, html`<span class="mono">${payment.paymentId}</span>`],
      [text.order, payment.orderId],
      [text.account, html`<a href="/admin/accounts/${payment.mid}">${account?.name ?? payment.mid}</a>`],
      [text.brand, brandText(payment.brand)],
      [text.protocol, payment.protocol],
      [text.description, details.description],
      [text.card, details.card?.masked],
      [text.wallet, details.wallet && `${payment.brand}, ${details.wallet.network}, ${details.wallet.type}`],
      [text.email, details.payer?.email],
      [en.erasure.erasedAt, details.erasedAt === undefined ? undefined : time(details.erasedAt)],
      [text.created, time(payment.createdAt)],
      [text.updated, time(payment.updatedAt)],
      [text.declineReason, payment.declineReason ?? undefined],
      [text.connector, connectorLink(payment.connector)],
      [text.routeReason, payment.routeReason ?? undefined],
      [
        text.providerReference,
        payment.providerReference && html`<span class="mono">${payment.providerReference}</span>`,
      ],
    ])}${eraseLink(session.principal, payment)}</section>
<section class="card" aria-labelledby="amounts"><h2 id="amounts">${text.amounts}</h2>${facts([
      [text.authorised, money(payment.authorised, currency)],
      [text.captured, money(payment.captured, currency)],
      [text.refunded, money(payment.refunded, currency)],
    ])}</section></div></div>
${orderLines(payment)}
<section class="card flush"><h2 class="inset">${text.operations}</h2>${
      operations.length > 0
        ? table(text.operations, operationColumns(payment), operations)
        : html`<p class="inset soft">${text.noOperations}</p>`
    }</section>`,
  };
}

const eraseLink = ({ role }: Principal, { paymentId, details }: PaymentWithDetails): Html | false =>
  isAllowed(role, 'payments.erase') &&
  details.erasedAt === undefined &&
  html`<p><a class="button quiet" href="${pathOf(paymentId)}/erase">${en.erasure.action}</a></p>`;

/** The connector, or a link to the connection. */
function connectorLink(key: string): Html | string {
  const { connector, connectionId } = splitConnectionKey(key);
  return connectionId === null ? connector : html`<a href="/admin/connections/${connectionId}">${connector}</a>`;
}

const resendLink = ({ role }: Principal, { paymentId }: Payment, callbacks: readonly LoggedCallback[]): Html | false =>
  callbacks.some(({ callback }) => callback.body !== '') &&
  isAllowed(role, 'callbacks.resend') &&
  html`<p><a class="button quiet" href="/admin/callbacks/resend?payment_id=${paymentId}">${en.callbacks.resendOfPayment}</a></p>`;

const attentionNotice = (
  request: PanelRequest,
  payment: Payment,
  attention: Attention,
  reported: string | undefined,
): Html =>
  html`<div class="notice bad" role="status"><h2>${attentionLabel(attention)}</h2><p>${text.attentionHints[attention]}${
    reported !== undefined && html` ${en.attention.reported}: ${reported}.`
  }</p>${decisionLinks(request, payment)}</div>`;

/** What happened before the page was shown. */
const outcomeNotice = (done: string | undefined): Html | false =>
  notice(done && (text.outcomes[done] ?? text.done), done === 'refund_declined' ? 'bad' : 'good');

/** The amount that an action takes if none is given. */
const wholeAmount: Readonly<Record<OperatorAction, (payment: Payment) => bigint>> = {
  capture: ({ authorised }) => authorised,
  void: ({ amount }) => amount,
  refund: ({ captured, refunded, authorised, state }) => (state === 'SETTLED' ? captured - refunded : authorised),
};

const confirmation =
  (action: OperatorAction) =>
  async (request: PanelRequest, error?: string): Promise<PanelAnswer> => {
    const { payment } = await requirePayment(request);
    const exponent = CURRENCIES[payment.currency]?.exponent ?? 2;
    const whole = amountText(wholeAmount[action](payment), exponent);
    const hasAmount = action !== 'void';
    return {
      title: text.actions[action],
      status: error === undefined ? 200 : 400,
      body: html`<div class="card narrow"><h1>${text.actions[action]}</h1>
<p>${text.confirm[action]}</p>${facts([
        [text.order, payment.orderId],
        [text.amount, money(payment.amount, payment.currency)],
        [text.status, badge(payment.state)],
      ])}
<form method="post" action="${pathOf(payment.paymentId)}/${action}">${formToken(request.session)}<input type="hidden" name="operation_id" value="${request.form.get('operation_id') ?? newId()}">${
        hasAmount
          ? field({
              name: 'amount',
              label: `${text.amount} (${payment.currency})`,
              value: request.form.get('amount') ?? whole,
              error,
              attributes: html`inputmode="decimal" autocomplete="off"`,
            })
          : error !== undefined && html`<p class="error">${error}</p>`
      }
<div class="actions"><button class="danger">${text.actions[action]}</button> <a class="button quiet" href="${pathOf(payment.paymentId)}">${text.cancel}</a></div></form></div>`,
    };
  };

const perform =
  (action: OperatorAction) =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, session, caller, params, form } = request;
    const wanted = { amount: form.get('amount') ?? '', operationId: form.get('operation_id') ?? '' };
    if (wanted.operationId !== '' && !isUuid(wanted.operationId)) throw new Refusal('notUuid');
    try {
      await operateAs(gateway, session.principal, caller, params.paymentId ?? '', action, wanted);
    } catch (error) {
      if (!(error instanceof Refusal) || ERRORS[error.error].http !== 400) throw error;
      return confirmation(action)(request, refusalText(error));
    }
    return { redirect: `${pathOf(params.paymentId ?? '')}?done=1` };
  };

export const paymentPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/payments', permission: 'payments.view', handle: (request) => showList(request) },
  {
    method: 'GET',
    path: '/admin/payments.csv',
    permission: 'payments.view',
    isDownload: true,
    handle: downloadList,
  },
  ...savedFilterPages(showList),
  { method: 'GET', path: '/admin/payments/:paymentId', permission: 'payments.view', handle: showPayment },
  ...(['capture', 'void', 'refund'] as const).flatMap((action): PanelRoute[] => [
    {
      method: 'GET',
      path: `/admin/payments/:paymentId/${action}`,
      permission: 'payments.operate',
      handle: (request) => confirmation(action)(request),
    },
    {
      method: 'POST',
      path: `/admin/payments/:paymentId/${action}`,
      permission: 'payments.operate',
      handle: perform(action),
    },
  ]),
];
