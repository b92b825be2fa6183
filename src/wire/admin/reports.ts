/** Admin calls on figures: the overview, and reports as JSON and CSV. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import {
  type Amounts,
  accountsOf,
  type GroupedFigures,
  netOf,
  overview,
  type Report,
  type ReportRange,
  report,
  type Tally,
  tally,
  wholeHours,
} from '../../core/reports.ts';
import { wireDate } from '../../lib/clock.ts';
import { csvRows } from '../../lib/csv.ts';
import { amountText } from '../../lib/money.ts';
import { ATTENTIONS } from '../../rules/attention.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { invalidField } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REPORT_GROUPS, type ReportGroup } from '../../rules/reports.ts';
import { needs } from '../bearer.ts';
import { dateTime, readQuery, uuidText } from './input.ts';

/** A range that is extended to whole hours or days stays within the dates of the database. */
const LATEST = Date.UTC(9999, 0, 1);
const reportTime = (text: string): number | undefined => {
  const ms = dateTime(text);
  return ms !== undefined && ms >= 0 && ms <= LATEST ? ms : undefined;
};
const RANGE = { from: reportTime, to: reportTime, mid: uuidText };

export function reportRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/overview', needs('reports.view'), async (request) => {
    const { mids } = request.principal;
    const query = readQuery(request.query, RANGE);
    const range = readRange(gateway, query, LIMITS.overviewMs, LIMITS.hourMs);
    const found = await overview(gateway, { ...range, mids: accountsOf(mids, query.mid) });
    const { openWork } = found;
    const marked = new Map(openWork.attention.map(({ attention, payments }) => [attention, payments]));
    return {
      ...rangeView(range, found.isComplete),
      bucket: found.bucket,
      series: found.series.map(({ at, ...rest }) => ({ at: wireDate(at), ...tallyView(rest) })),
      totals: { ...tallyView(found.totals), amounts: found.totals.amounts.map(amountsView) },
      by_brand: found.byBrand.map(([brand, sums]) => ({ brand, ...tallyView(sums) })),
      by_mid: found.byMid.map(([mid, sums]) => ({ mid, ...tallyView(sums) })),
      by_connection: found.byConnection.map(([connection, sums]) => ({ connection, ...tallyView(sums) })),
      declines: found.declines,
      latency: found.latency.map(({ p50, p95, ...rest }) => ({ ...rest, p50_ms: p50, p95_ms: p95 })),
      callbacks: {
        delivered: found.deliveries.delivered,
        failed_attempts: found.deliveries.failed,
        waiting: openWork.callbacksWaiting,
        parked: openWork.callbacksParked,
        failing_endpoints: openWork.failingEndpoints,
        failing: openWork.failing.map(({ mid, url, callbacks, oldestAt }) => ({
          mid,
          // The path and the query string may contain credentials. Without an address it is the account's own.
          origin: url === null ? null : originOf(url),
          waiting: callbacks,
          oldest_at: wireDate(oldestAt),
        })),
      },
      needs_attention: {
        payments: Object.fromEntries(ATTENTIONS.map((attention) => [attention, marked.get(attention) ?? 0])),
        payments_in_doubt: openWork.paymentsInDoubt,
        operations_in_doubt: openWork.operationsInDoubt,
        chargebacks: found.totals.chargebacks,
        parked_callbacks: openWork.callbacksParked,
        unmatched_notifications: openWork.notificationsUnmatched,
      },
    };
  });

  const readReport = async (
    { query: sent, principal: { mids } }: Pick<FastifyRequest, 'query' | 'principal'>,
    rowsMost: number,
  ): Promise<Report & { range: ReportRange; groups: ReportGroup[] }> => {
    const query = readQuery(sent, { ...RANGE, group_by: readGroups });
    const range = readRange(gateway, query, LIMITS.reportMs, LIMITS.dayMs);
    const groups = query.group_by ?? [];
    const found = await report(gateway, { ...range, mids: accountsOf(mids, query.mid) }, groups, rowsMost);
    if (found.isTooLong)
      throw invalidField('group_by', `The report has more than ${rowsMost} rows: shorten the range or group by less.`);
    return { ...found, range, groups };
  };

  app.get('/reports', needs('reports.view'), async (request) => {
    const { rows, range, groups, isComplete } = await readReport(request, LIMITS.reportRowsMost);
    return {
      ...rangeView(range, isComplete),
      group_by: groups,
      items: rows.map((row) => rowView(row, groups)),
      totals: tally(rows).amounts.map(amountsView),
    };
  });

  app.get('/reports.csv', needs('reports.view'), async (request, reply) => {
    const { rows, range, groups } = await readReport(request, LIMITS.reportCsvRowsMost);
    const columns = reportColumns(groups);
    const days = [range.from, range.to - 1].map((ms) => wireDate(ms).slice(0, 10)).join('-to-');
    reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="report-${days}.csv"`);
    const cells = (row: GroupedFigures): (string | number)[] => {
      const view: Record<string, string | number> = rowView(row, groups);
      return columns.map((column) => view[column] ?? '');
    };
    return csvRows([columns, ...rows.map(cells)]);
  });
}

/**
 * Reads a range; it is extended to whole hours. The default end is the present by the clock of the account, in whole
 * hours or days.
 */
function readRange(
  gateway: Gateway,
  { from, to, mid }: { from?: number; to?: number; mid?: string },
  defaultMs: number,
  unitMs: number,
): ReportRange {
  const present = Math.max(gateway.clock.now(mid), from ?? 0);
  const end = to ?? Math.ceil(present / unitMs) * unitMs;
  const start = from ?? Math.max(0, end - defaultMs);
  if (start >= end) throw invalidField('from', 'This value should be before to.');
  if (end - start > LIMITS.reportMostMs)
    throw invalidField('from', `The range should not be longer than ${LIMITS.reportMostMs / LIMITS.dayMs} days.`);
  return wholeHours({ from: start, to: end });
}

/** Reads a list such as `day,brand`; each name is accepted once. */
function readGroups(text: string): ReportGroup[] | undefined {
  const names = text.split(',');
  const isValid = names.every(
    (name, index) => REPORT_GROUPS.some((group) => group === name) && names.indexOf(name) === index,
  );
  return isValid ? REPORT_GROUPS.filter((group) => names.includes(group)) : undefined;
}

const rangeView = ({ from, to }: ReportRange, isComplete: boolean) => ({
  from: wireDate(from),
  to: wireDate(to),
  complete: isComplete,
});

const format = (minor: bigint, currency: string): string => amountText(minor, CURRENCIES[currency]?.exponent ?? 2);

const FIGURE_COLUMNS = ['payments', 'settled', 'declined', 'captured', 'refunded', 'charged_back', 'paid_out', 'net'];

/** A report always has the currency, because amounts of different currencies cannot be added. */
const reportColumns = (groups: readonly ReportGroup[]): string[] => [
  ...REPORT_GROUPS.filter((group) => group === 'currency' || groups.includes(group)),
  ...FIGURE_COLUMNS,
];

function rowView(row: GroupedFigures, groups: readonly ReportGroup[]) {
  const has = (group: ReportGroup): boolean => groups.includes(group);
  const { currency, captured, refunded, chargedBack, paidOut } = row;
  return {
    ...(has('day') && { day: wireDate(row.at as number).slice(0, 10) }),
    ...(has('mid') && { mid: row.mid as string }),
    ...(has('brand') && { brand: row.brand as string }),
    currency,
    ...(has('connection') && { connection: row.connector as string }),
    payments: row.payments,
    settled: row.settled,
    declined: row.declined,
    captured: format(captured, currency),
    refunded: format(refunded, currency),
    charged_back: format(chargedBack, currency),
    paid_out: format(paidOut, currency),
    net: format(netOf(row), currency),
  };
}

const amountsView = ({ currency, captured, refunded, chargedBack, paidOut, net }: Amounts) => ({
  currency,
  captured: format(captured, currency),
  refunded: format(refunded, currency),
  charged_back: format(chargedBack, currency),
  paid_out: format(paidOut, currency),
  net: format(net, currency),
});

/** Counts, and the captured amount of each currency. */
const tallyView = ({ payments, settled, declined, successRate, amounts }: Tally) => ({
  payments,
  settled,
  declined,
  success_rate: successRate,
  volume: Object.fromEntries(amounts.map(({ currency, captured }) => [currency, format(captured, currency)])),
});

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
