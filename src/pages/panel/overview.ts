/** The overview: figures over time, what needs a person, and the figures by brand, account and provider. */
import { findAccount } from '../../core/accounts.ts';
import { type Overview, overview, type Tally, wholeHours } from '../../core/reports.ts';
import { expiringWallets } from '../../core/wallet-roots.ts';
import { type Html, html } from '../../lib/html.ts';
import { ATTENTIONS } from '../../rules/attention.ts';
import { LIMITS } from '../../rules/limits.ts';
import { en } from './locales/en.ts';
import { brandText, type Column, empty, money, notice, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';
import { CHART_SCRIPTS } from './script.ts';

const text = en.overview;

/** The ranges that the page offers, in days. */
const RANGES = { '1': text.day, '7': text.week, '30': text.month } as const;

const percent = (rate: number | null): string => (rate === null ? '–' : `${(rate * 100).toFixed(1)} %`);
const count = (value: number): string => value.toLocaleString('en');
const volumes = ({ amounts }: Tally): Html =>
  amounts.length === 0
    ? html`–`
    : html`${amounts.map(({ currency, captured }, index) => html`${index > 0 && html`<br>`}${money(captured, currency)}`)}`;

async function showOverview({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const days = Object.hasOwn(RANGES, query.days ?? '') ? (query.days as keyof typeof RANGES) : '1';
  const to = gateway.clock.now();
  const range = wholeHours({ from: to - Number(days) * LIMITS.dayMs, to });
  const found = await overview(gateway, { ...range, mids: session.principal.mids });
  const names = new Map<string, string>();
  for (const [mid] of found.byMid) names.set(mid, (await findAccount(gateway, mid))?.name ?? mid);
  const { totals } = found;
  return {
    title: en.sections.overview,
    scripts: CHART_SCRIPTS,
    body: html`<div class="head" data-refresh="60"><h1>${en.sections.overview}</h1><div class="actions" role="group" aria-label="${text.range}">${Object.entries(
      RANGES,
    ).map(
      ([value, label]) =>
        html`<a class="button ${value === days ? '' : 'quiet'}" href="/admin?days=${value}"${value === days && html` aria-current="true"`}>${label}</a>`,
    )}</div></div>
${!found.isComplete && notice(text.incomplete, 'wait')}${expiringWallets(gateway).map(({ wallet, expiresAt }) => html`<div class="notice bad" role="status">${text.walletRoots} ${wallet}: ${time(expiresAt)}</div>`)}
<div class="cards">${card(text.payments, count(totals.payments))}${card(text.success, percent(totals.successRate))}${card(text.volume, volumes(totals))}${card(text.chargebacks, count(totals.chargebacks))}</div>
${needsPerson(found)}
${totals.payments + totals.settled + totals.declined > 0 ? html`${chart(found)}${breakdowns(found, names)}` : html`<div class="card">${empty(text.none, text.noneHint)}</div>`}`,
  };
}

const card = (label: string, figure: Html | string): Html =>
  html`<section class="card"><h2 class="soft small">${label}</h2><p class="figure">${figure}</p></section>`;

/** Links to what a person has to look at; nothing if everything is fine. */
function needsPerson({ openWork }: Overview): Html {
  const marked = new Map(openWork.attention.map(({ attention, payments }) => [attention as string, payments]));
  const items: [label: string, path: string, count: number][] = [
    ...ATTENTIONS.map((one): [string, string, number] => [
      en.payments.attentions[one],
      `/admin/attention?mark=${one}`,
      marked.get(one) ?? 0,
    ]),
    [text.parked, '/admin/callbacks?state=parked', openWork.callbacksParked],
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

/** The chart, and its values as a table. */
function chart({ series, bucket }: Overview): Html {
  const rates = series.map(({ successRate }) => (successRate === null ? null : Math.round(successRate * 1000) / 10));
  const data = {
    times: series.map(({ at }) => at / 1000),
    series: [
      { label: text.payments, values: series.map(({ payments }) => payments) },
      { label: text.success, unit: '%', values: rates },
    ],
  };
  const when = (at: number): string =>
    new Date(at)
      .toISOString()
      .slice(0, bucket === 'hour' ? 16 : 10)
      .replace('T', ' ');
  const columns: Column<Overview['series'][number]>[] = [
    { label: bucket === 'hour' ? text.hour : text.dayColumn, cell: ({ at }) => when(at) },
    ...tallyColumns((row: Overview['series'][number]) => row),
  ];
  return html`<section class="card" aria-labelledby="over-time"><h2 id="over-time">${text.overTime}</h2><div class="chart" data-chart="${JSON.stringify(data)}"></div>
<details><summary>${text.showTable}</summary>${table(text.overTime, columns, series)}</details></section>`;
}

function tallyColumns<Row>(tallyOf: (row: Row) => Tally): Column<Row>[] {
  return [
    { label: text.payments, isNumber: true, cell: (row) => count(tallyOf(row).payments) },
    { label: text.settled, isNumber: true, cell: (row) => count(tallyOf(row).settled) },
    { label: text.declined, isNumber: true, cell: (row) => count(tallyOf(row).declined) },
    { label: text.success, isNumber: true, cell: (row) => percent(tallyOf(row).successRate) },
    { label: text.volume, isNumber: true, cell: (row) => volumes(tallyOf(row)) },
  ];
}

function breakdowns(
  { byBrand, byMid, byConnection, declines, latency, deliveries, openWork }: Overview,
  names: ReadonlyMap<string, string>,
): Html {
  const group = (label: string, rows: readonly [string, Tally][], cell: (name: string) => Html | string): Html =>
    html`<section class="card flush"><h2 class="inset">${label}</h2>${table(
      label,
      [
        { label: text.group, cell: ([name]: [string, Tally]) => cell(name) },
        ...tallyColumns(([, tally]: [string, Tally]) => tally),
      ],
      rows,
    )}</section>`;
  return html`${group(text.byBrand, byBrand, (brand) => html`<a href="/admin/payments?brand=${brand}">${brandText(brand)}</a>`)}
${group(text.byAccount, byMid, (mid) => html`<a href="/admin/accounts/${mid}">${names.get(mid)}</a>`)}
${group(text.byProvider, byConnection, (connector) => connector)}
<div class="columns even"><section class="card flush"><h2 class="inset">${text.declines}</h2>${
    declines.length > 0
      ? table(
          text.declines,
          [
            { label: text.reason, cell: ({ reason }: Overview['declines'][number]) => reason },
            { label: text.declined, isNumber: true, cell: ({ declined }) => count(declined) },
          ],
          declines,
        )
      : html`<p class="inset soft">${text.noDeclines}</p>`
  }</section>
<section class="card flush"><h2 class="inset">${text.latency}</h2>${table(
    text.latency,
    [
      { label: text.provider, cell: ({ connection }: Overview['latency'][number]) => connection },
      { label: text.calls, isNumber: true, cell: ({ calls }) => count(calls) },
      { label: text.unanswered, isNumber: true, cell: ({ unanswered }) => count(unanswered) },
      { label: 'p50', isNumber: true, cell: ({ p50 }) => (p50 === null ? '–' : `${p50} ms`) },
      { label: 'p95', isNumber: true, cell: ({ p95 }) => (p95 === null ? '–' : `${p95} ms`) },
    ],
    latency,
  )}</section></div>
<section class="card"><h2>${en.sections.callbacks}</h2><div class="cards inner">${card(text.delivered, count(deliveries.delivered))}${card(text.failedAttempts, count(deliveries.failed))}${card(text.waiting, count(openWork.callbacksWaiting))}${card(text.parked, count(openWork.callbacksParked))}</div></section>`;
}

export const overviewPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin', permission: 'reports.view', handle: showOverview },
];
