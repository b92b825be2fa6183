/** The page on reports: the figures of some days, grouped as the operator chooses, and their download. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Gateway } from '../../../core/context.ts';
import { type ReportRequest, reportCsv, reportRange } from '../../../core/exports/reports.ts';
import { accountsOf, type GroupedFigures, netOf, report, tally } from '../../../core/reports/reports.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { amountText } from '../../../lib/money/money.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { declineClassNamed } from '../../../rules/declines.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { REPORT_GROUPS, type ReportGroup } from '../../../rules/reports.ts';
import { providerName } from '../connections/provider-name.ts';
import { accountNames, dayStart, downloadLink } from '../frame/filters.ts';
import {
  type Column,
  choiceField,
  copyLink,
  empty,
  field,
  money,
  notice,
  count as number,
  table,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { CHART_SCRIPTS } from '../frame/script.ts';
import { panelTexts } from '../locales/index.ts';
import { methodName } from '../payments/methods.ts';
import { reportTabs } from '../reconciliations/reconciliations.ts';
import { lineChart } from './charts.ts';

const text = panelTexts.reports;

/** A longer report is a file only. */
const MOST_ROWS = 1000;

type Query = PanelRequest['query'];

/** The checkbox of a group. */
const boxOf = (group: ReportGroup): string => `by_${group}`;

const groupsOf = (query: Query): ReportGroup[] => REPORT_GROUPS.filter((group) => query[boxOf(group)] !== undefined);

/** What the form shows before it is submitted: the last 30 days by day. */
function startQuery(gateway: Gateway): Query {
  const today = gateway.clock.now();
  const first = today - LIMITS.reportMs + LIMITS.dayMs;
  return { from: utcDay(first), to: utcDay(today), [boxOf('day')]: '1' };
}

/** Reads the query of the page and of its download; the last day is part of the range. */
function readReport({ gateway, session }: PanelRequest, query: Query): ReportRequest {
  const [from, to] = [dayStart(query.from), dayStart(query.to)];
  const mid = query.mid?.toLowerCase();
  const problems: Problem[] = [];
  if (query.from !== undefined && from === undefined) problems.push({ field: 'from', sentence: text.notADay });
  if (query.to !== undefined && to === undefined) problems.push({ field: 'to', sentence: text.notADay });
  if (from !== undefined && to !== undefined && from > to) problems.push({ field: 'from', sentence: text.fromAfterTo });
  if (mid !== undefined && !isUuid(mid)) problems.push({ field: 'mid', sentence: text.unknownAccount });
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  const end = to === undefined ? undefined : to + LIMITS.dayMs;
  const range = reportRange(gateway, { from, to: end, mid }, LIMITS.reportMs, LIMITS.dayMs);
  return { range, mids: session.principal.mids, mid, groups: groupsOf(query) };
}

async function showReport(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway } = request;
  const query = Object.keys(request.query).length > 0 ? request.query : startQuery(gateway);
  const names = await accountNames(request);
  const page = (body: Html, problems: readonly Problem[] = [], download: Html | false = false): PanelAnswer => ({
    title: panelTexts.sections.reports,
    status: problems.length > 0 ? 400 : 200,
    scripts: CHART_SCRIPTS,
    body: html`<div class="head"><h1>${panelTexts.sections.reports}</h1>${download && html`<div class="actions">${copyLink(withQuery('/admin/reports', query))}${download}</div>`}</div>
${reportTabs(request, 'figures')}
${filters(query, names, problems)}
${body}`,
  });
  try {
    const wanted = readReport(request, query);
    const { body, isEmpty } = await figures(gateway, wanted, names);
    return page(body, [], !isEmpty && downloadLink('/admin/reports.csv', query));
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return page(html``, error.problems);
  }
}

function filters(query: Query, names: ReadonlyMap<string, string>, problems: readonly Problem[]): Html {
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const groups = groupsOf(query);
  const box = (group: ReportGroup): Html =>
    html`<label class="choice"><input type="checkbox" name="${boxOf(group)}" value="1"${groups.includes(group) && html` checked`}>${text.groups[group]}</label>`;
  return html`<form class="filters" action="/admin/reports">
${field({ name: 'from', label: text.from, value: query.from, type: 'date', error: errorOf('from') })}
${field({ name: 'to', label: text.to, value: query.to, type: 'date', error: errorOf('to') })}
${choiceField({ name: 'mid', label: text.account, value: query.mid, error: errorOf('mid') }, [['', text.allAccounts], ...names])}
<fieldset class="bare choices"><legend>${text.groupBy}</legend>${REPORT_GROUPS.map(box)}</fieldset>
<button>${text.show}</button>
</form>`;
}

/** The tables of a report. */
async function figures(
  gateway: Gateway,
  { range, mids, mid, groups }: ReportRequest,
  known: ReadonlyMap<string, string>,
): Promise<{ body: Html; isEmpty: boolean }> {
  const scope = { ...range, mids: accountsOf(mids, mid) };
  const found = await report(gateway, scope, groups, MOST_ROWS);
  const totals = found.isTooLong ? (await report(gateway, scope, [], MOST_ROWS)).rows : totalsOf(found.rows);
  const incomplete = !found.isComplete && notice(panelTexts.overview.incomplete, 'wait');
  if (totals.length === 0)
    return { isEmpty: true, body: html`${incomplete}<div class="card">${empty(text.none, text.noneHint)}</div>` };
  const names = new Map(known);
  for (const { mid: one } of found.rows) {
    if (one !== null && !names.has(one)) names.set(one, (await findAccount(gateway, one))?.name ?? one);
  }
  const isGrouped = groups.some((group) => group !== 'currency');
  const totalTable = table(text.totals, columnsOf([], names), totals);
  return {
    isEmpty: false,
    body: html`${incomplete}<section class="card flush dense"><h2 class="inset">${text.totals}</h2>${totalTable}</section>
${!found.isTooLong && groups.includes('day') && dailyChart(found.rows)}
${found.isTooLong && notice(text.tooLong, 'wait')}
${
  isGrouped &&
  !found.isTooLong &&
  html`<section class="card flush dense"><h2 class="inset">${text.rows}</h2>${table(text.rows, columnsOf(groups, names), found.rows)}</section>`
}`,
  };
}

/** The captured amounts of each day, in the currency with the most payments. */
function dailyChart(rows: readonly GroupedFigures[]): Html | false {
  const paymentsOf = (same: readonly GroupedFigures[]): number => tally(same).payments;
  const [main] = [...Map.groupBy(rows, (row) => row.currency)].sort(([, a], [, b]) => paymentsOf(b) - paymentsOf(a));
  if (!main) return false;
  const [currency, same] = main;
  const days = [...Map.groupBy(same, ({ at }) => at)].sort(([a], [b]) => Number(a) - Number(b));
  if (days.length < 2) return false;
  const exponent = exponentOf(currency);
  const captured = (of: readonly GroupedFigures[]): number =>
    Number(
      amountText(
        of.reduce((sum, row) => sum + row.captured, 0n),
        exponent,
      ),
    );
  const label = `${text.captured} (${currency})`;
  return html`<section class="card"><h2>${label}</h2>${lineChart(
    days.map(([at]) => Number(at)),
    [{ label, unit: 'amount', values: days.map(([, of]) => captured(of)) }],
    label,
  )}</section>`;
}

/** The sums of each currency. */
const totalsOf = (rows: readonly GroupedFigures[]): GroupedFigures[] =>
  [...Map.groupBy(rows, ({ currency }) => currency)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => {
      const { amounts, payments, settled, declined, chargebacks } = tally(same);
      return amounts.map((sums) => ({
        ...(same[0] as GroupedFigures),
        ...sums,
        payments,
        settled,
        declined,
        chargebacks,
      }));
    });

/** A name that does not break, so that rows stay low. */
const key = (name: string | null): Html => html`<span class="key">${name}</span>`;

function columnsOf(groups: readonly ReportGroup[], names: ReadonlyMap<string, string>): Column<GroupedFigures>[] {
  const cells: Readonly<Record<ReportGroup, Column<GroupedFigures>['cell']>> = {
    day: ({ at }) => key(at === null ? null : utcDay(at)),
    mid: ({ mid }) => html`<a href="/admin/accounts/${mid}">${names.get(mid as string)}</a>`,
    brand: ({ brand }) => key(brand === null ? null : methodName(brand)),
    currency: ({ currency }) => currency,
    connection: ({ connector }) => key(connector === null ? null : providerName(connector)),
    decline_class: ({ declineClass }) => panelTexts.payment.declineClasses[declineClassNamed(declineClass)],
  };
  const count = (label: string, read: (row: GroupedFigures) => number): Column<GroupedFigures> => ({
    label,
    isNumber: true,
    cell: (row) => number(read(row)),
  });
  const amount = (label: string, read: (row: GroupedFigures) => bigint): Column<GroupedFigures> => ({
    label,
    isNumber: true,
    cell: (row) => money(read(row), row.currency),
  });
  return [
    ...REPORT_GROUPS.filter((group) => group === 'currency' || groups.includes(group)).map((group) => ({
      label: text.groups[group],
      cell: cells[group],
    })),
    count(text.payments, (row) => row.payments),
    count(text.settled, (row) => row.settled),
    count(text.declined, (row) => row.declined),
    amount(text.captured, (row) => row.captured),
    amount(text.refunded, (row) => row.refunded),
    amount(text.chargedBack, (row) => row.chargedBack),
    amount(text.paidOut, (row) => row.paidOut),
    amount(text.net, netOf),
  ];
}

async function downloadReport(request: PanelRequest): Promise<PanelAnswer> {
  return { download: await reportCsv(request.gateway, readReport(request, request.query)) };
}

export const reportPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/reports', permission: 'reports.view', scope: 'accounts', handle: showReport },
  {
    method: 'GET',
    path: '/admin/reports.csv',
    permission: 'reports.view',
    scope: 'accounts',
    isDownload: true,
    handle: downloadReport,
  },
];
