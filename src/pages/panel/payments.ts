/** The pages on payments: the list with its filters, one payment with its timeline, and the operations on it. */
import { findAccount } from '../../core/accounts.ts';
import { type LoggedCallback, listPaymentCallbacks, shownAddress } from '../../core/callbacks/log.ts';
import type { HistoryRow, OperationRow, Payment, PaymentFilter, PaymentWithDetails } from '../../core/context.ts';
import { paymentsCsv } from '../../core/exports/payments.ts';
import { attendAs, type OperatorAction, operateAs, possibleActions } from '../../core/operators/actions.ts';
import { inspectPayment, listPayments } from '../../core/payments/find.ts';
import { type Principal, sees } from '../../core/principal.ts';
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
import { accountNames, dayStart, downloadLink } from './filters.ts';
import { formToken } from './layout.ts';
import { en } from './locales/en.ts';
import {
  badge,
  type Column,
  choiceField,
  empty,
  facts,
  field,
  money,
  notice,
  pager,
  table,
  time,
  toneOf,
} from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

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

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, query } = request;
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
    { label: text.brand, cell: ({ brand }) => brand },
    { label: text.account, cell: ({ mid }) => names.get(mid) ?? html`<span class="mono">${mid}</span>` },
  ];
  const isFiltered = Object.keys(query).length > 0;
  return {
    title: en.sections.payments,
    body: html`<div class="head"><h1>${en.sections.payments}</h1>${
      shown.length > 0 && html`<div class="actions">${downloadLink('/admin/payments.csv', query)}</div>`
    }</div>
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

/** A payment that the operator may see, with everything about it. */
async function requirePayment({ gateway, session, params }: PanelRequest) {
  const found = await inspectPayment(gateway, params.paymentId ?? '');
  if (!found || !sees(session.principal, found.payment.mid)) throw new Refusal('noSuchPayment');
  return found;
}

interface Moment {
  at: number;
  order: number;
  what: Html;
  tone: string;
}

const eventLabel = (event: string): string => text.events[event] ?? event.replace(/([A-Z])/g, ' $1').toLowerCase();

function moments(history: readonly HistoryRow[], callbacks: readonly LoggedCallback[]): Moment[] {
  const events = history.map(({ at, seq, event, toState, fromState, actor, actorName, call }): Moment => {
    const isChange = toState !== fromState;
    return {
      at,
      order: seq,
      tone: isChange ? toneOf(toState) : '',
      what: html`<h3>${eventLabel(event)}${isChange && html` ${badge(toState)}`}</h3>
<p class="soft small">${text.by} ${actorName ?? text.actors[actor]}${
        call && html` · ${call.connector} ${call.verb}: ${call.outcome}, ${call.tookMs} ms`
      }</p>`,
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
  return [...events, ...attempts].sort((a, b) => a.at - b.at || a.order - b.order);
}

const timeline = (all: readonly Moment[]): Html =>
  html`<ol class="timeline">${all.map(({ at, what, tone }) => html`<li class="${tone}">${what}<p class="soft small">${time(at)}</p></li>`)}</ol>`;

/** The actions that the state and the role allow. */
function actions(principal: Principal, payment: PaymentWithDetails): Html | false {
  if (!isAllowed(principal.role, 'payments.operate')) return false;
  return html`<div class="actions">${possibleActions(payment).map(
    (action) => html`<a class="button quiet" href="${pathOf(payment.paymentId)}/${action}">${text.actions[action]}</a>`,
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
  const { payment, history, operations } = await requirePayment(request);
  const account = await findAccount(gateway, payment.mid);
  const callbacks = await listPaymentCallbacks(gateway, payment);
  const { details, currency } = payment;
  return {
    title: `${money(payment.amount, currency)} · ${payment.orderId}`,
    body: html`${notice(query.done && text.done)}
<div class="head"><h1>${money(payment.amount, currency)}</h1>${badge(payment.state)}${
      payment.inDoubt && badge(text.inDoubt, 'wait')
    }${actions(session.principal, payment)}</div>
${payment.attention && attentionNotice(request, payment, payment.attention)}
<div class="columns"><section class="card" aria-labelledby="timeline"><h2 id="timeline">${text.timeline}</h2>${timeline(moments(history, callbacks))}</section>
<div><section class="card" aria-labelledby="facts"><h2 id="facts">${text.details}</h2>${facts([
      [text.id, html`<span class="mono">${payment.paymentId}</span>`],
      [text.order, payment.orderId],
      [text.account, html`<a href="/admin/accounts/${payment.mid}">${account?.name ?? payment.mid}</a>`],
      [text.brand, payment.brand],
      [text.protocol, payment.protocol],
      [text.description, details.description],
      [text.card, details.card?.masked],
      [text.email, details.payer?.email],
      [text.created, time(payment.createdAt)],
      [text.updated, time(payment.updatedAt)],
      [text.declineReason, payment.declineReason ?? undefined],
      [text.connector, connectorLink(payment.connector)],
      [text.routeReason, payment.routeReason ?? undefined],
      [
        text.providerReference,
        payment.providerReference && html`<span class="mono">${payment.providerReference}</span>`,
      ],
    ])}</section>
<section class="card" aria-labelledby="amounts"><h2 id="amounts">${text.amounts}</h2>${facts([
      [text.authorised, money(payment.authorised, currency)],
      [text.captured, money(payment.captured, currency)],
      [text.refunded, money(payment.refunded, currency)],
    ])}</section></div></div>
<section class="card flush"><h2 class="inset">${text.operations}</h2>${
      operations.length > 0
        ? table(text.operations, operationColumns(payment), operations)
        : html`<p class="inset soft">${text.noOperations}</p>`
    }</section>`,
  };
}

/** The connector, or a link to the connection. */
function connectorLink(key: string): Html | string {
  const { connector, connectionId } = splitConnectionKey(key);
  return connectionId === null ? connector : html`<a href="/admin/connections/${connectionId}">${connector}</a>`;
}

function attentionNotice({ session }: PanelRequest, payment: Payment, attention: Attention): Html {
  const form = html`<form method="post" action="${pathOf(payment.paymentId)}/attended">${formToken(session)}<button class="quiet">${text.resolve}</button></form>`;
  return html`<div class="notice bad" role="status"><h2>${attentionLabel(attention)}</h2><p>${text.attentionHints[attention]}</p>${
    isAllowed(session.principal.role, 'payments.resolve_attention') && form
  }</div>`;
}

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
      return confirmation(action)(request, error.problems[0]?.sentence ?? ERRORS[error.error].message);
    }
    return { redirect: `${pathOf(params.paymentId ?? '')}?done=1` };
  };

async function attend({ gateway, session, caller, params: { paymentId = '' } }: PanelRequest): Promise<PanelAnswer> {
  await attendAs(gateway, session.principal, caller, paymentId);
  return { redirect: `${pathOf(paymentId)}?done=1` };
}

export const paymentPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/payments', permission: 'payments.view', handle: showList },
  {
    method: 'GET',
    path: '/admin/payments.csv',
    permission: 'payments.view',
    isDownload: true,
    handle: async (request) => ({ download: await paymentsCsv(request.gateway, filterOf(request)) }),
  },
  { method: 'GET', path: '/admin/payments/:paymentId', permission: 'payments.view', handle: showPayment },
  {
    method: 'POST',
    path: '/admin/payments/:paymentId/attended',
    permission: 'payments.resolve_attention',
    handle: attend,
  },
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
