/** The overview: figures over time, what needs a person, and the figures by brand, account and provider. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../core/context.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import { type Overview, overview, type Tally, wholeHours } from '../../../core/reports/reports.ts';
import { expiringWallets } from '../../../core/wallets/roots.ts';
import { amountText } from '../../../lib/money/money.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ATTENTIONS } from '../../../rules/attention.ts';
import { NO_BRAND_YET } from '../../../rules/brands.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { DOCS } from '../../../rules/docs.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { tabPath } from '../accounts/page.ts';
import { providerName } from '../connections/provider-name.ts';
import { type Column, count, empty, fill, money, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { CHART_SCRIPTS } from '../frame/script.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { methodName } from '../payments/methods.ts';
import { REFUNDS_TO_APPROVE } from '../payments/refund-requests.ts';
import { type Bar, bars, type Line, lineChart } from './charts.ts';
import { quickActions, startPage } from './start.ts';

const text = panelTexts.overview;

/** The ranges that the page offers, in days. */
const RANGES = ['1', '7', '30'] as const;
const rangeNames = (): Record<(typeof RANGES)[number], string> => ({ '1': text.day, '7': text.week, '30': text.month });

const MOST_BARS = 8;
const MOST_LINES = 3;

const percent = (rate: number | null): string =>
  rate === null
    ? '–'
    : rate.toLocaleString(languageTag(), { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Amounts of each currency that has any, the one with the most payments first. */
const captured = ({ amounts }: Tally, currencies: readonly string[]): string[] =>
  amounts
    .filter((one) => one.captured !== 0n)
    .toSorted((a, b) => currencies.indexOf(a.currency) - currencies.indexOf(b.currency))
    .map((one) => money(one.captured, one.currency));

/** Each amount on a line of its own, which does not break. */
const amountLines = (amounts: readonly string[]): Html =>
  amounts.length === 0
    ? html`–`
    : html`${amounts.map((amount, index) => html`${index > 0 && html`<br>`}<span class="amount">${amount}</span>`)}`;

async function showOverview({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const ranges = rangeNames();
  const days = RANGES.find((one) => one === query.days) ?? '1';
  const to = gateway.clock.now();
  const lengthMs = Number(days) * LIMITS.dayMs;
  const range = wholeHours({ from: to - lengthMs, to });
  const { mids, role } = session.principal;
  const before = { from: range.from - lengthMs, to: range.to - lengthMs };
  const [found, previous] = await Promise.all([
    overview(gateway, { ...range, mids }),
    overview(gateway, { ...before, mids }),
  ]);
  const accounts = new Map<string, Account>();
  for (const [mid] of found.byMid) {
    const account = await findAccount(gateway, mid);
    if (account) accounts.set(mid, account);
  }
  const seesProviders = isAllowed(role, 'connections.view');
  const { totals, currencies } = found;
  const [first, ...others] = captured(totals, currencies);
  return {
    title: panelTexts.sections.overview,
    scripts: CHART_SCRIPTS,
    body: html`<div class="head" data-refresh="60"><h1>${panelTexts.sections.overview}</h1><div class="actions" role="group" aria-label="${text.range}">${RANGES.map(
      (value) =>
        html`<a class="button ${value === days ? '' : 'quiet'}" href="/admin?days=${value}"${value === days && html` aria-current="true"`}>${ranges[value]}</a>`,
    )}</div></div>
${quickActions(session)}${!found.isComplete && notice(text.incomplete, 'wait')}${untrustedProxy(gateway, session)}${expiringWallets(gateway).map(({ wallet, expiresAt }) => html`<div class="notice bad" role="status">${text.walletRoots} ${methodName(wallet)}: ${time(expiresAt)}</div>`)}
<div class="cards">${card(text.payments, count(totals.payments), changeText(totals.payments, previous.totals.payments))}${card(
      text.authorisation,
      percent(found.authorisationRate),
      changeText(found.authorisationRate, previous.authorisationRate, true),
      text.authorisationHint,
    )}${card(text.conversion, percent(totals.successRate), changeText(totals.successRate, previous.totals.successRate, true), text.conversionHint)}${card(
      text.volume,
      html`<span class="amount${(first ?? '').length > 11 && ' long'}">${first ?? '–'}</span>`,
      others.length > 0 && html`<span class="small">${amountLines(others)}</span>`,
    )}${card(text.chargebacks, count(totals.chargebacks), changeText(totals.chargebacks, previous.totals.chargebacks))}</div>
${needsPerson(found)}${withoutAddress([...accounts.values()], isAllowed(role, 'accounts.change_own'))}
${totals.payments + totals.settled + totals.declined > 0 ? html`${pictures(found, previous, seesProviders)}${breakdowns(found, accounts, seesProviders)}` : html`<div class="card">${empty(text.none, text.noneHint)}</div>`}`,
  };
}

/** How a figure differs from that of the time before. */
function changeText(now: number | null, then: number | null, isRate = false): Html {
  if (now === null || then === null || (!isRate && then === 0))
    return html`<span class="soft">${text.noComparison}</span>`;
  const difference = isRate ? now - then : (now - then) / then;
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : '±';
  const size = Math.abs(difference * 100).toLocaleString(languageTag(), { maximumFractionDigits: 1 });
  return html`<span class="soft">${fill(isRate ? text.pointsChange : text.percentChange, { change: `${sign}${size}` })}</span>`;
}

/** For those who can do something about it. */
const untrustedProxy = ({ untrustedProxy: peer }: Gateway, { principal: { role, mids } }: Session): Html | false =>
  peer !== undefined &&
  mids === null &&
  isAllowed(role, 'operators.manage') &&
  html`<div class="notice wait" role="status">${text.untrustedProxy} ${peer}. ${text.untrustedProxyHint} <a href="${DOCS.proxies}">${text.untrustedProxyLink}</a></div>`;

const card = (label: string, figure: Html | string, note: Html | false = false, hint?: string): Html =>
  html`<section class="card"><h2 class="soft small">${label}</h2><p class="figure">${figure}</p>${note && html`<p class="small">${note}</p>`}${hint !== undefined && html`<p class="hint">${hint}</p>`}</section>`;

/** Accounts whose shops learn nothing of their payments; not an error, so not in red. */
function withoutAddress(accounts: readonly Account[], mayChange: boolean): Html | false {
  const silent = accounts.filter(({ settings }) => settings.callback_url === '');
  return (
    silent.length > 0 &&
    html`<p class="notice">${text.noCallbackAddress} ${silent.map(
      (account, index) => html`${index > 0 && ', '}<a href="${tabPath(account, 'notifications')}">${account.name}</a>`,
    )}${mayChange && html`. ${text.noCallbackAddressHint}`}</p>`
  );
}

/** Links to what a person has to look at; nothing if everything is fine. */
function needsPerson({ openWork }: Overview): Html {
  const marked = new Map(openWork.attention.map(({ attention, payments }) => [attention as string, payments]));
  const items: [label: string, path: string, count: number][] = [
    ...ATTENTIONS.map((one): [string, string, number] => [
      panelTexts.payments.attentions[one],
      `/admin/attention?mark=${one}`,
      marked.get(one) ?? 0,
    ]),
    [panelTexts.refundRequests.title, REFUNDS_TO_APPROVE, openWork.refundsWaiting],
    [text.givenUp, '/admin/callbacks?state=parked', openWork.callbacksGivenUp],
    [text.failingReceivers, '/admin/callbacks?state=waiting', openWork.failingEndpoints],
    [text.inDoubt, '/admin/payments?status=PENDING', openWork.paymentsInDoubt + openWork.operationsInDoubt],
  ];
  const open = items.filter(([, , number]) => number > 0);
  if (open.length === 0) return html`<div class="notice good" role="status">${text.allFine}</div>`;
  return html`<section class="card" aria-labelledby="person"><h2 id="person">${text.needsPerson}</h2><ul class="tasks">${open.map(
    ([label, path, number]) =>
      html`<li><a href="${path}">${label}</a> <span class="badge bad">${count(number)}</span></li>`,
  )}</ul></section>`;
}

/** A rate of fewer payments says nothing. */
const FEWEST = 5;

/** The charts, and the values of the first as a table. */
function pictures(
  { series, bucket, funnel, currencies, byBrand, declines, latencySeries }: Overview,
  previous: Overview,
  seesProviders: boolean,
): Html {
  const times = series.map(({ at }) => at);
  const rates = series.map(({ successRate, settled, declined }) =>
    successRate === null || settled + declined < FEWEST ? null : Math.round(successRate * 1000) / 10,
  );
  const same = <Value>(values: readonly Value[]): (Value | null)[] => times.map((_, index) => values[index] ?? null);
  const overTime: Line[] = [
    { label: text.payments, values: series.map(({ payments }) => payments) },
    { label: text.conversion, unit: '%', values: rates },
    { label: text.paymentsBefore, isPrevious: true, values: same(previous.series.map(({ payments }) => payments)) },
  ];
  const [currency] = currencies;
  const inMain = ({ amounts }: Tally): number =>
    Number(amountText(amounts.find((one) => one.currency === currency)?.captured ?? 0n, exponentOf(currency ?? '')));
  const amounts: Line[] = [
    { label: `${text.volume} (${currency})`, unit: 'amount', values: series.map(inMain) },
    { label: text.volumeBefore, unit: 'amount', isPrevious: true, values: same(previous.series.map(inMain)) },
  ];
  const when = (at: number): string =>
    new Date(at)
      .toISOString()
      .slice(0, bucket === 'hour' ? 16 : 10)
      .replace('T', ' ');
  const columns: Column<Overview['series'][number]>[] = [
    { label: bucket === 'hour' ? text.hour : text.dayColumn, cell: ({ at }) => when(at) },
    ...tallyColumns((row: Overview['series'][number]) => row, currencies),
  ];
  const share = (value: number, whole: number): string => percent(whole === 0 ? null : value / whole);
  const steps: Bar[] = (['opened', 'chosen', 'submitted', 'paid'] as const).map((step) => ({
    label: text.funnelSteps[step],
    value: funnel[step],
    note: share(funnel[step], funnel.opened),
  }));
  const section = (id: string, title: string, content: Html): Html =>
    html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
  const paid = byBrand.filter(([, { settled }]) => settled > 0).toSorted(([, a], [, b]) => b.settled - a.settled);
  const allPaid = paid.reduce((sum, [, { settled }]) => sum + settled, 0);
  const allDeclined = declines.reduce((sum, { declined }) => sum + declined, 0);
  return html`${section(
    'over-time',
    text.overTime,
    html`${lineChart(times, overTime, text.overTime)}<details><summary>${text.showTable}</summary>${table(text.overTime, columns, series)}</details>`,
  )}
<div class="columns even">${currency !== undefined && section('amounts', text.amounts, lineChart(times, amounts, text.amounts))}
${section('funnel', text.funnel, html`${bars(text.funnel, steps)}<p class="hint">${text.funnelHint}</p>`)}
${section(
  'methods',
  text.methods,
  paid.length > 0
    ? bars(
        text.methods,
        paid
          .slice(0, MOST_BARS)
          .map(([brand, { settled }]) => ({ label: methodName(brand), value: settled, note: share(settled, allPaid) })),
      )
    : html`<p class="soft">${text.noPaid}</p>`,
)}
${section(
  'declines',
  text.declines,
  declines.length > 0
    ? bars(
        text.declines,
        declines.slice(0, MOST_BARS).map(({ reason, declined }) => ({
          label: reason,
          value: declined,
          note: share(declined, allDeclined),
          tone: 'bad',
        })),
      )
    : html`<p class="soft">${text.noDeclines}</p>`,
)}</div>
${
  seesProviders &&
  latencySeries.length > 0 &&
  section(
    'latency-over-time',
    text.latencyOverTime,
    lineChart(
      times,
      latencySeries
        .slice(0, MOST_LINES)
        .map(([connection, values]) => ({ label: providerName(connection), unit: 'ms', values })),
      text.latencyOverTime,
    ),
  )
}`;
}

function tallyColumns<Row>(tallyOf: (row: Row) => Tally, currencies: readonly string[]): Column<Row>[] {
  return [
    { label: text.payments, isNumber: true, cell: (row) => count(tallyOf(row).payments) },
    { label: text.settled, isNumber: true, cell: (row) => count(tallyOf(row).settled) },
    { label: text.declined, isNumber: true, cell: (row) => count(tallyOf(row).declined) },
    { label: text.conversion, isNumber: true, cell: (row) => percent(tallyOf(row).successRate) },
    { label: text.volume, isNumber: true, cell: (row) => amountLines(captured(tallyOf(row), currencies)) },
  ];
}

function breakdowns(
  { byBrand, byMid, byConnection, latency, deliveries, openWork, currencies }: Overview,
  accounts: ReadonlyMap<string, Account>,
  seesProviders: boolean,
): Html {
  const group = (label: string, rows: readonly [string, Tally][], cell: (name: string) => Html | string): Html =>
    html`<section class="card flush"><h2 class="inset">${label}</h2>${table(
      label,
      [
        { label: text.group, cell: ([name]: [string, Tally]) => cell(name) },
        ...tallyColumns(([, tally]: [string, Tally]) => tally, currencies),
      ],
      rows,
    )}</section>`;
  const chosen = byBrand.filter(([brand]) => brand !== NO_BRAND_YET);
  return html`${group(text.byBrand, chosen, (brand) => html`<a href="/admin/payments?brand=${brand}">${methodName(brand)}</a>`)}
${group(text.byAccount, byMid, (mid) => html`<a href="/admin/accounts/${mid}">${accounts.get(mid)?.name ?? mid}</a>`)}
${
  seesProviders &&
  html`${group(text.byProvider, byConnection, providerName)}
<section class="card flush"><h2 class="inset">${text.latency}</h2>${table(
    text.latency,
    [
      { label: text.provider, cell: ({ connection }: Overview['latency'][number]) => providerName(connection) },
      { label: text.calls, isNumber: true, cell: ({ calls }) => count(calls) },
      { label: text.unanswered, isNumber: true, cell: ({ unanswered }) => count(unanswered) },
      { label: text.half, isNumber: true, cell: ({ p50 }) => (p50 === null ? '–' : `${p50} ms`) },
      { label: text.most, isNumber: true, cell: ({ p95 }) => (p95 === null ? '–' : `${p95} ms`) },
    ],
    latency,
  )}</section>`
}
<section class="card"><h2>${panelTexts.sections.callbacks}</h2><div class="cards inner">${card(text.delivered, count(deliveries.delivered))}${card(text.failedAttempts, count(deliveries.failed))}${card(text.waiting, count(openWork.callbacksWaiting))}${card(text.givenUp, count(openWork.callbacksGivenUp))}</div></section>`;
}

export const overviewPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: '/admin',
    permission: 'any',
    scope: 'accounts',
    handle: async (request) =>
      isAllowed(request.session.principal.role, 'reports.view') ? showOverview(request) : startPage(request),
  },
];
