/** Admin calls on figures: the overview, and reports as JSON and CSV. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import {
  type ReportRequest,
  reportAmount,
  reportCsv,
  reportRange,
  rowView,
  wholeReport,
} from '../../core/exports/reports.ts';
import { type Amounts, accountsOf, overview, type ReportRange, type Tally, tally } from '../../core/reports/reports.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { ATTENTIONS } from '../../rules/attention.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REPORT_GROUPS, type ReportGroup } from '../../rules/reports.ts';
import { needs } from '../bearer.ts';
import { dateTime, expecting, readQuery, uuidText } from './input.ts';

/** A range that is extended to whole hours or days stays within the dates of the database. */
const LATEST = Date.UTC(9999, 0, 1);
const reportTime = expecting(dateTime.expected, (text: string): number | undefined => {
  const ms = dateTime(text);
  return ms !== undefined && ms >= 0 && ms <= LATEST ? ms : undefined;
});
const RANGE = { from: reportTime, to: reportTime, mid: uuidText };

export function reportRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/overview', needs('reports.view', 'accounts'), async (request) => {
    const { mids } = request.principal;
    const query = readQuery(request.query, RANGE);
    const range = reportRange(gateway, query, LIMITS.overviewMs, LIMITS.hourMs);
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
        refunds_to_approve: openWork.refundsWaiting,
      },
    };
  });

  const readReport = ({ query: sent, principal: { mids } }: FastifyRequest): ReportRequest => {
    const { from, to, mid, group_by: groups = [] } = readQuery(sent, { ...RANGE, group_by: readGroups });
    return { range: reportRange(gateway, { from, to, mid }, LIMITS.reportMs, LIMITS.dayMs), mids, mid, groups };
  };

  app.get('/reports', needs('reports.view', 'accounts'), async (request) => {
    const wanted = readReport(request);
    const { rows, isComplete } = await wholeReport(gateway, wanted, LIMITS.reportRowsMost);
    return {
      ...rangeView(wanted.range, isComplete),
      group_by: wanted.groups,
      items: rows.map((row) => rowView(row, wanted.groups)),
      totals: tally(rows).amounts.map(amountsView),
    };
  });

  app.get('/reports.csv', needs('reports.view', 'accounts'), async (request, reply) => {
    const {
      filename,
      chunks: [text],
    } = await reportCsv(gateway, readReport(request));
    reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${filename}"`);
    return text;
  });
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

const amountsView = ({ currency, captured, refunded, chargedBack, paidOut, net }: Amounts) => ({
  currency,
  captured: reportAmount(captured, currency),
  refunded: reportAmount(refunded, currency),
  charged_back: reportAmount(chargedBack, currency),
  paid_out: reportAmount(paidOut, currency),
  net: reportAmount(net, currency),
});

/** Counts, and the captured amount of each currency. */
const tallyView = ({ payments, settled, declined, successRate, amounts }: Tally) => ({
  payments,
  settled,
  declined,
  success_rate: successRate,
  volume: Object.fromEntries(amounts.map(({ currency, captured }) => [currency, reportAmount(captured, currency)])),
});

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
