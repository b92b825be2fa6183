/** The pages on schedules: the list, one with its next charges and its history, and stopping it. */
import type { ListedSchedule, ListedSubscription, Payment, Schedule } from '../../../core/context.ts';
import { listPayments } from '../../../core/payments/find.ts';
import {
  listSchedules,
  requireSchedule,
  stopScheduleAs,
  stopSubscriptionAs,
} from '../../../core/schedules/schedules.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { localeFor } from '../../locale.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  count,
  empty,
  facts,
  fill,
  idCursor,
  money,
  notice,
  pager,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { statusBadge } from '../payments/status.ts';

const MOST = 100;
const PAGE_SIZE = 25;
const PATH = '/admin/schedules';
const text = panelTexts.schedules;

const pathOf = ({ mid, scheduleId }: Schedule): string => `${PATH}/${mid}/${scheduleId}`;
const stateBadge = ({ deletedAt }: Schedule): Html =>
  deletedAt === null ? badge(text.active, 'good') : badge(text.stopped);
const interval = ({ intervalLength, intervalUnit, paymentsCount }: Schedule): string =>
  fill(text.intervalText, {
    interval: localeFor(languageTag(), undefined).formatInterval(intervalUnit, intervalLength),
    count: count(paymentsCount),
  });
const nextCharge = ({ schedule, next: [first] }: ListedSchedule): Html =>
  time(schedule.deletedAt === null ? (first?.nextAt ?? null) : null);

const columns = (): Column<ListedSchedule>[] => [
  { label: text.name, cell: ({ schedule }) => html`<a href="${pathOf(schedule)}">${schedule.name}</a>` },
  { label: text.state, cell: ({ schedule }) => stateBadge(schedule) },
  { label: text.interval, cell: ({ schedule }) => interval(schedule) },
  { label: text.active, isNumber: true, cell: ({ counts }) => counts.active },
  { label: text.finished, isNumber: true, cell: ({ counts }) => counts.finished + counts.ended },
  { label: text.next, cell: nextCharge },
];

async function showList({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const rows = await listSchedules(gateway, undefined, session.principal.mids, MOST);
  return {
    title: panelTexts.sections.schedules,
    body: html`<div class="head"><h1>${panelTexts.sections.schedules}</h1></div>
<div class="card flush">${rows.length > 0 ? table(panelTexts.sections.schedules, columns(), rows) : empty(text.none, text.noneHint)}</div>`,
  };
}

const find = ({ gateway, session, params }: PanelRequest): Promise<ListedSchedule> =>
  requireSchedule(gateway, session.principal, params.mid ?? '', params.scheduleId ?? '');

const mayStop = ({ session }: PanelRequest, { deletedAt }: Schedule): boolean =>
  deletedAt === null && isAllowed(session.principal.role, 'schedules.stop');

const paymentColumns = (): Column<Payment>[] => [
  { label: panelTexts.payments.created, cell: ({ createdAt }) => time(createdAt) },
  {
    label: panelTexts.payments.order,
    cell: ({ paymentId, orderId }) => html`<a href="/admin/payments/${paymentId}">${orderId}</a>`,
  },
  { label: panelTexts.payments.status, cell: statusBadge },
  { label: panelTexts.payments.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
  { label: panelTexts.payment.reason, cell: ({ declineReason }) => declineReason },
];

async function showSchedule(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const found = await find(request);
  const { schedule, counts, next } = found;
  const names = await accountNames(request);
  const { payments, next: cursor } = await listPayments(gateway, {
    mid: schedule.mid,
    mids: session.principal.mids,
    scheduleId: schedule.scheduleId,
    before: idCursor(query),
    limit: PAGE_SIZE,
  });
  const total = counts.active + counts.finished + counts.ended;
  return {
    title: schedule.name,
    body: html`${notice(query.done && text.done[query.done])}
<div class="head"><h1>${schedule.name}</h1>${stateBadge(schedule)}${
      mayStop(request, schedule) &&
      html`<div class="actions"><a class="button quiet" href="${pathOf(schedule)}/stop">${text.stop}</a></div>`
    }</div>
<section class="card" aria-labelledby="terms"><h2 id="terms">${text.terms}</h2>${facts([
      [panelTexts.payment.id, html`<span class="mono">${schedule.scheduleId}</span>`],
      [
        panelTexts.payments.account,
        html`<a href="/admin/accounts/${schedule.mid}">${names.get(schedule.mid) ?? schedule.mid}</a>`,
      ],
      [text.interval, interval(schedule)],
      [text.dayOfMonth, schedule.dayOfMonth ?? undefined],
      [text.delays, schedule.delays > 0 ? schedule.delays : undefined],
      [text.next, nextCharge(found)],
      [panelTexts.payments.created, time(schedule.createdAt)],
      [text.stoppedAt, schedule.deletedAt === null ? undefined : time(schedule.deletedAt)],
    ])}</section>
<section class="card flush"><h2 class="inset">${text.subscriptions}</h2>${
      next.length > 0
        ? table(text.subscriptions, subscriptionColumns(request, schedule), next)
        : html`<p class="inset soft">${text.noSubscriptions}</p>`
    }${total > next.length && html`<p class="inset soft">${text.firstOf} ${LIMITS.listedSubscriptionsMost} / ${total}</p>`}</section>
<section class="card flush"><h2 class="inset">${text.charges}</h2>${
      payments.length > 0
        ? table(text.charges, paymentColumns(), payments)
        : html`<p class="inset soft">${text.noCharges}</p>`
    }${pager(pathOf(schedule), query, cursor ?? undefined)}</section>`,
  };
}

const subscriptionColumns = (request: PanelRequest, schedule: Schedule): Column<ListedSubscription>[] => [
  {
    label: text.firstPayment,
    cell: ({ firstPaymentId }) => html`<a class="mono" href="/admin/payments/${firstPaymentId}">${firstPaymentId}</a>`,
  },
  { label: text.state, cell: ({ state }) => badge(text.subscriptionStates[state]) },
  {
    label: text.occurrences,
    isNumber: true,
    cell: ({ occurrences }) => `${occurrences} / ${schedule.paymentsCount}`,
  },
  { label: text.failed, isNumber: true, cell: ({ failed }) => failed },
  { label: text.next, cell: ({ nextAt }) => time(schedule.deletedAt === null ? nextAt : null) },
  ...(mayStop(request, schedule)
    ? [
        {
          label: text.stop,
          cell: ({ subscriptionId, state }: ListedSubscription) =>
            state === 'active'
              ? html`<a href="${pathOf(schedule)}/subscriptions/${subscriptionId}/stop">${text.stop}</a>`
              : null,
        },
      ]
    : []),
];

const confirmation = (
  request: PanelRequest,
  { schedule, counts }: ListedSchedule,
  title: string,
  explanation: string,
  action: string,
): PanelAnswer => ({
  title,
  body: html`<div class="card narrow"><h1>${title}</h1><p>${explanation}</p>${facts([
    [text.name, schedule.name],
    [text.interval, interval(schedule)],
    [text.activeSubscriptions, counts.active],
  ])}<form method="post" action="${action}">${formToken(request.session)}<div class="actions"><button class="danger">${title}</button> <a class="button quiet" href="${pathOf(schedule)}">${panelTexts.payment.cancel}</a></div></form></div>`,
});

async function confirmStop(request: PanelRequest): Promise<PanelAnswer> {
  const found = await find(request);
  return confirmation(request, found, text.stopSchedule, text.stopConfirm, `${pathOf(found.schedule)}/stop`);
}

async function stop({ gateway, session, caller, params: { mid = '', scheduleId = '' } }: PanelRequest) {
  const { schedule } = await stopScheduleAs(gateway, session.principal, caller, mid, scheduleId);
  return { redirect: `${pathOf(schedule)}?done=schedule` };
}

async function confirmStopSubscription(request: PanelRequest): Promise<PanelAnswer> {
  const found = await find(request);
  const path = `${pathOf(found.schedule)}/subscriptions/${request.params.subscriptionId}/stop`;
  return confirmation(request, found, text.stopSubscription, text.stopSubscriptionConfirm, path);
}

async function stopSubscription({ gateway, session, caller, params }: PanelRequest) {
  const { mid = '', scheduleId = '', subscriptionId = '' } = params;
  await stopSubscriptionAs(gateway, session.principal, caller, mid, scheduleId, subscriptionId);
  return { redirect: `${PATH}/${mid}/${scheduleId}?done=subscription` };
}

const ONE = `${PATH}/:mid/:scheduleId`;
const SUBSCRIPTION = `${ONE}/subscriptions/:subscriptionId`;

export const schedulePages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'schedules.view', scope: 'accounts', handle: showList },
  { method: 'GET', path: ONE, permission: 'schedules.view', scope: 'accounts', handle: showSchedule },
  {
    method: 'GET',
    path: `${ONE}/stop`,
    permission: 'schedules.stop',
    scope: 'accounts',
    confirmFirst: true,
    handle: confirmStop,
  },
  {
    method: 'POST',
    path: `${ONE}/stop`,
    permission: 'schedules.stop',
    scope: 'accounts',
    confirmFor: ONE,
    handle: stop,
  },
  {
    method: 'GET',
    path: `${SUBSCRIPTION}/stop`,
    permission: 'schedules.stop',
    scope: 'accounts',
    confirmFirst: true,
    handle: confirmStopSubscription,
  },
  {
    method: 'POST',
    path: `${SUBSCRIPTION}/stop`,
    permission: 'schedules.stop',
    scope: 'accounts',
    confirmFor: ONE,
    handle: stopSubscription,
  },
];
