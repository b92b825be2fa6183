/** The report on margins: fees less costs of some days, by account, method and provider, drawn over time. */
import { marginsCsv } from '../../../core/exports/ledger.ts';
import { MARGIN_GROUPS, type Margin, type MarginGroup, margins } from '../../../core/ledger/ledger.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { providerName } from '../connections/provider-name.ts';
import { accountNames, dayStart, downloadLink } from '../frame/filters.ts';
import { type Column, choiceField, empty, field, fill, money, notice, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { CHART_SCRIPTS } from '../frame/script.ts';
import { panelTexts } from '../locales/index.ts';
import { methodName } from '../payments/methods.ts';
import { lineChart } from '../reports/charts.ts';
import { ledgerTabs, PATHS } from './parts.ts';

const text = panelTexts.ledger;

/** Read for each page, because pages have languages. */
const labels = (): Readonly<Record<MarginGroup, string>> => ({
  day: text.day,
  mid: text.account,
  brand: text.brand,
  connector: text.connection,
});

/** The query of the page before its form is submitted: the last 30 days, by account. */
function queryOf({ gateway, query }: PanelRequest): PanelRequest['query'] {
  if (Object.keys(query).length > 0) return query;
  const today = gateway.clock.now();
  return { from: utcDay(today - LIMITS.reportMs + LIMITS.dayMs), to: utcDay(today), by_mid: '1' };
}

function readMargins(query: PanelRequest['query']) {
  const [from, to] = [dayStart(query.from), dayStart(query.to)];
  const problems: Problem[] = [];
  if (from === undefined) problems.push({ field: 'from', sentence: text.notADay });
  if (to === undefined) problems.push({ field: 'to', sentence: text.notADay });
  if (from !== undefined && to !== undefined && from > to) problems.push({ field: 'from', sentence: text.fromAfterTo });
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  const mid = isUuid(query.mid ?? '') ? query.mid?.toLowerCase() : undefined;
  const groups = MARGIN_GROUPS.filter((group) => query[`by_${group}`] !== undefined);
  return { days: { from: query.from ?? '', to: query.to ?? '', mid }, groups };
}

function columnsOf(groups: readonly MarginGroup[], names: ReadonlyMap<string, string>): Column<Margin>[] {
  const cells: Readonly<Record<MarginGroup, (row: Margin) => Html | string | null>> = {
    day: ({ day }) => day,
    mid: ({ mid }) => mid && html`<a href="/admin/accounts/${mid}">${names.get(mid) ?? mid}</a>`,
    brand: ({ brand }) => brand && methodName(brand),
    connector: ({ connector }) => connector && providerName(connector),
  };
  const amount = (label: string, read: (row: Margin) => bigint): Column<Margin> => ({
    label,
    isNumber: true,
    cell: (row) => money(read(row), row.currency),
  });
  return [
    ...groups.map((group) => ({ label: labels()[group], cell: cells[group] })),
    { label: text.currency, cell: ({ currency }) => currency },
    amount(text.fees, ({ fees }) => fees),
    amount(text.costs, ({ costs }) => costs),
    amount(text.margin, ({ fees, costs }) => fees - costs),
  ];
}

/** The margin of each day in one currency: that with the highest fees and costs. */
function chart(rows: readonly Margin[], from: string, to: string): Html | false {
  const byCurrency = [...Map.groupBy(rows, ({ currency }) => currency)];
  const volume = (same: readonly Margin[]): bigint => same.reduce((sum, { fees, costs }) => sum + fees + costs, 0n);
  const [main] = byCurrency.sort(([, a], [, b]) => (volume(b) > volume(a) ? 1 : -1));
  if (!main) return false;
  const [currency, days] = main;
  const byDay = new Map(days.map(({ day, fees, costs }) => [day, fees - costs]));
  const first = Date.parse(from);
  const times = Array.from({ length: (Date.parse(to) - first) / LIMITS.dayMs + 1 }, (_, n) => first + n * LIMITS.dayMs);
  const unit = 10 ** exponentOf(currency);
  const label = fill(text.marginOverTime, { currency });
  const values = times.map((at) => Number(byDay.get(utcDay(at)) ?? 0n) / unit);
  return html`<section class="card"><h2>${label}</h2>${lineChart(times, [{ label: text.margin, values, unit: 'amount' }], label)}</section>`;
}

async function showMargin(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway } = request;
  const query = queryOf(request);
  const names = await accountNames(request);
  const page = (body: Html, problems: readonly Problem[] = []): PanelAnswer => {
    const errorOf = (name: string): string | undefined => problems.find((one) => one.field === name)?.sentence;
    const box = (group: MarginGroup): Html =>
      html`<label class="choice"><input type="checkbox" name="by_${group}" value="1"${query[`by_${group}`] !== undefined && html` checked`}>${labels()[group]}</label>`;
    return {
      title: text.margin,
      status: problems.length > 0 ? 400 : 200,
      scripts: CHART_SCRIPTS,
      body: html`<div class="head"><h1>${text.margin}</h1><div class="actions">${problems.length === 0 && downloadLink(`${PATHS.margin}.csv`, query)}</div></div>
${ledgerTabs(request, 'margin')}
<p class="soft">${text.marginAbout}</p>
<form class="filters" action="${PATHS.margin}">${field({ name: 'from', label: text.from, value: query.from, type: 'date', error: errorOf('from') })}
${field({ name: 'to', label: text.to, value: query.to, type: 'date', error: errorOf('to') })}
${choiceField({ name: 'mid', label: text.account, value: query.mid }, [['', text.allAccounts], ...names])}
<fieldset class="bare choices"><legend>${text.groupBy}</legend>${MARGIN_GROUPS.map(box)}</fieldset>
<button>${text.show}</button></form>
${body}`,
    };
  };
  try {
    const { days, groups } = readMargins(query);
    const { rows, isComplete } = await margins(gateway, days, groups);
    const { rows: totals } = await margins(gateway, days, []);
    const { rows: daily } = await margins(gateway, days, ['day']);
    if (totals.length === 0) return page(html`<div class="card">${empty(text.noMargin, text.noMarginHint)}</div>`);
    return page(html`${!isComplete && notice(text.incomplete, 'wait')}
<section class="card flush dense"><h2 class="inset">${text.totals}</h2>${table(text.totals, columnsOf([], names), totals)}</section>
${chart(daily, days.from, days.to)}
${groups.length > 0 && html`<section class="card flush dense"><h2 class="inset">${text.margin}</h2>${table(text.margin, columnsOf(groups, names), rows)}</section>`}`);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return page(html``, error.problems);
  }
}

async function download(request: PanelRequest): Promise<PanelAnswer> {
  const { days, groups } = readMargins(queryOf(request));
  const { rows } = await margins(request.gateway, days, groups);
  return { download: marginsCsv(rows, groups, days) };
}

const common = { method: 'GET', permission: 'ledger.view', scope: 'installation' } as const;

export const marginPages: readonly PanelRoute[] = [
  { ...common, path: PATHS.margin, handle: showMargin },
  { ...common, path: `${PATHS.margin}.csv`, isDownload: true, handle: download },
];
