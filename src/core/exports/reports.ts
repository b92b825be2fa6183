/** Reports as the admin API and the panel show them: the range, the columns and rows, and the CSV. */

import { amountText } from '../../lib/money/money.ts';
import { csvRows } from '../../lib/text/csv.ts';
import { utcDay } from '../../lib/time/day.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REPORT_GROUPS, type ReportGroup } from '../../rules/reports.ts';
import type { Gateway } from '../context.ts';
import {
  accountsOf,
  type GroupedFigures,
  netOf,
  type Report,
  type ReportRange,
  report,
  wholeHours,
} from '../reports/reports.ts';
import type { Download } from './download.ts';

/**
 * Completes a range to whole hours. The default end is the present by the clock of the account, in whole hours or days.
 */
export function reportRange(
  gateway: Pick<Gateway, 'clock'>,
  { from, to, mid }: { from?: number | undefined; to?: number | undefined; mid?: string | undefined },
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

export interface ReportRequest {
  range: ReportRange;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  /** The one that the report is restricted to. */
  mid: string | undefined;
  groups: readonly ReportGroup[];
}

/** A report of at most so many rows; a longer one is refused. */
export async function wholeReport(
  gateway: Gateway,
  { range, mids, mid, groups }: ReportRequest,
  rowsMost: number,
): Promise<Report> {
  const found = await report(gateway, { ...range, mids: accountsOf(mids, mid) }, groups, rowsMost);
  if (found.isTooLong)
    throw invalidField('group_by', `The report has more than ${rowsMost} rows: shorten the range or group by less.`);
  return found;
}

/** A report is composed at once, because its rows are limited. */
export async function reportCsv(gateway: Gateway, request: ReportRequest): Promise<Download & { chunks: [string] }> {
  const { range, groups } = request;
  const { rows } = await wholeReport(gateway, request, LIMITS.reportCsvRowsMost);
  const columns = reportColumns(groups);
  const days = [range.from, range.to - 1].map((ms) => utcDay(ms)).join('-to-');
  const cells = (row: GroupedFigures): (string | number)[] => {
    const view: Record<string, string | number> = rowView(row, groups);
    return columns.map((column) => view[column] ?? '');
  };
  return { filename: `report-${days}.csv`, chunks: [csvRows([columns, ...rows.map(cells)])] };
}

export const reportAmount = (minor: bigint, currency: string): string => amountText(minor, exponentOf(currency));

const FIGURE_COLUMNS = ['payments', 'settled', 'declined', 'captured', 'refunded', 'charged_back', 'paid_out', 'net'];

/** A report always has the currency, because amounts of different currencies cannot be added. */
const reportColumns = (groups: readonly ReportGroup[]): string[] => [
  ...REPORT_GROUPS.filter((group) => group === 'currency' || groups.includes(group)),
  ...FIGURE_COLUMNS,
];

export function rowView(row: GroupedFigures, groups: readonly ReportGroup[]) {
  const has = (group: ReportGroup): boolean => groups.includes(group);
  const { currency, captured, refunded, chargedBack, paidOut } = row;
  return {
    ...(has('day') && { day: utcDay(row.at as number) }),
    ...(has('mid') && { mid: row.mid as string }),
    ...(has('brand') && { brand: row.brand as string }),
    currency,
    ...(has('connection') && { connection: row.connector as string }),
    ...(has('decline_class') && { decline_class: row.declineClass as string }),
    payments: row.payments,
    settled: row.settled,
    declined: row.declined,
    captured: reportAmount(captured, currency),
    refunded: reportAmount(refunded, currency),
    charged_back: reportAmount(chargedBack, currency),
    paid_out: reportAmount(paidOut, currency),
    net: reportAmount(netOf(row), currency),
  };
}
