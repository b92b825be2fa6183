/** The figures of the overview and of reports. */
import { ATTENTIONS, type Attention } from '../../rules/attention.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DECLINE_CAUSES } from '../../rules/reasons.ts';
import { durationAt, REPORT_GROUPS, type ReportGroup } from '../../rules/reports.ts';
import type { FigureGroup, FigureRow, GroupedFigures, OpenWork } from '../../store/reports/figures.ts';
import type { Gateway } from '../context.ts';

export type { GroupedFigures } from '../../store/reports/figures.ts';

export interface ReportRange {
  from: number;
  to: number;
}

const hourStart = (ms: number): number => Math.floor(ms / LIMITS.hourMs) * LIMITS.hourMs;

/** The whole hours that contain a range. */
export const wholeHours = ({ from, to }: ReportRange): ReportRange => ({
  from: hourStart(from),
  to: hourStart(to + LIMITS.hourMs - 1),
});

/** The accounts of a request: those that the caller may see, or the one that it filters by. */
export function accountsOf(mids: readonly string[] | null, mid: string | undefined): readonly string[] | null {
  if (mid === undefined) return mids;
  return mids === null || mids.includes(mid) ? [mid] : [];
}

/** Sums of one currency in minor units. */
export type Amounts = Pick<FigureRow, 'currency' | 'captured' | 'refunded' | 'chargedBack' | 'paidOut'> & {
  /** What remains of the captured amounts after refunds, chargebacks and payouts. */
  net: bigint;
};

/** Counts of payments, and amounts of each currency; amounts of different currencies are never added. */
export interface Tally {
  payments: number;
  settled: number;
  declined: number;
  chargebacks: number;
  /** The share of payments that settled among those with an outcome; null without any. */
  successRate: number | null;
  amounts: Amounts[];
}

export const netOf = ({ captured, refunded, chargedBack, paidOut }: Omit<Amounts, 'net' | 'currency'>): bigint =>
  captured - refunded - chargedBack - paidOut;

const rateOf = (part: number, whole: number): number | null =>
  whole <= 0 ? null : Math.round((part / whole) * 1e4) / 1e4;

/** Adds rows, each currency by itself. */
export function tally(rows: readonly FigureRow[]): Tally {
  const total = (read: (row: FigureRow) => number): number => rows.reduce((sum, row) => sum + read(row), 0);
  const settled = total((row) => row.settled);
  const declined = total((row) => row.declined);
  const byCurrency = [...Map.groupBy(rows, ({ currency }) => currency)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    payments: total((row) => row.payments),
    settled,
    declined,
    chargebacks: total((row) => row.chargebacks),
    successRate: rateOf(settled, settled + declined),
    amounts: byCurrency.map(([currency, same]) => {
      const amount = (read: (row: FigureRow) => bigint): bigint => same.reduce((sum, row) => sum + read(row), 0n);
      const sums = {
        captured: amount((row) => row.captured),
        refunded: amount((row) => row.refunded),
        chargedBack: amount((row) => row.chargedBack),
        paidOut: amount((row) => row.paidOut),
      };
      return { currency, ...sums, net: netOf(sums) };
    }),
  };
}

/** The connection of a payment is its connector. */
const GROUP_COLUMNS: Readonly<Record<Exclude<ReportGroup, 'currency'>, FigureGroup>> = {
  day: 'day',
  mid: 'mid',
  brand: 'brand',
  connection: 'connector',
  decline_class: 'decline_class',
};

export interface Report {
  /** False while rows from before an upgrade are still being added to the sums. */
  isComplete: boolean;
  rows: GroupedFigures[];
  /** There are more rows than `most`. */
  isTooLong: boolean;
}

/** Sums over a range of whole hours, grouped by these columns, and always by the currency. */
export async function report(
  gateway: Gateway,
  range: ReportRange & { mids: readonly string[] | null },
  groups: readonly ReportGroup[],
  most: number,
): Promise<Report> {
  const columns = REPORT_GROUPS.filter((group) => groups.includes(group)).flatMap((group) =>
    group === 'currency' ? [] : [GROUP_COLUMNS[group]],
  );
  const { rows, isComplete } = await gateway.figures.report(range, columns, most);
  return { isComplete, rows: rows.slice(0, most), isTooLong: rows.length > most };
}

export interface ConnectionLatency {
  connection: string;
  calls: number;
  unanswered: number;
  p50: number | null;
  p95: number | null;
}

/** How far payers came: each number is a part of the one before. */
export interface Funnel {
  opened: number;
  /** The payer chose a method. */
  chosen: number;
  /** The provider got the payment and answered; the payer did not leave before. */
  submitted: number;
  paid: number;
}

export interface Overview {
  isComplete: boolean;
  bucket: 'hour' | 'day';
  series: (Tally & { at: number })[];
  totals: Tally;
  funnel: Funnel;
  /** The share of submitted payments that were paid: what banks and providers decide, not the payer. */
  authorisationRate: number | null;
  /** The currencies, the one with the most payments first. */
  currencies: string[];
  byBrand: [string, Tally][];
  byMid: [string, Tally][];
  byConnection: [string, Tally][];
  declines: { reason: string; declined: number }[];
  latency: ConnectionLatency[];
  /** Per provider, the duration that 95 % of the calls did not exceed, for each entry of `series`. */
  latencySeries: [connection: string, p95: (number | null)[]][];
  deliveries: { delivered: number; failed: number };
  openWork: OpenWork;
}

/** How many payments of these accounts have each mark. */
export async function attentionCounts(
  { figures }: Pick<Gateway, 'figures'>,
  mids: readonly string[] | null,
): Promise<Record<Attention, number>> {
  const marked = new Map((await figures.attention(mids)).map(({ attention, payments }) => [attention, payments]));
  return Object.fromEntries(ATTENTIONS.map((mark) => [mark, marked.get(mark) ?? 0])) as Record<Attention, number>;
}

/** Everything that the overview shows of a range of whole hours. */
export async function overview(
  gateway: Gateway,
  range: ReportRange & { mids: readonly string[] | null },
): Promise<Overview> {
  const bucket = range.to - range.from > LIMITS.hourlySeriesMs ? 'day' : 'hour';
  const [found, openWork] = await Promise.all([
    gateway.figures.overview(range, bucket),
    gateway.figures.openWork(range.mids),
  ]);
  const { figures, calls, isComplete, declines, deliveries } = found;
  const byBucket = Map.groupBy(figures, (row) => row.at);
  const buckets = bucketsOf(range, bucket);
  const totals = tally(figures.filter((row) => row.at !== null));
  const funnel = funnelOf(totals, tally(figures.filter(({ brand }) => brand === NO_BRAND_YET)), declines);
  return {
    isComplete,
    bucket,
    series: buckets.map((at) => ({ at, ...tally(byBucket.get(at) ?? []) })),
    totals,
    funnel,
    authorisationRate: rateOf(funnel.paid, funnel.submitted),
    currencies: currenciesOf(figures.filter((row) => row.at !== null)),
    byBrand: largest(figures, (row) => row.brand),
    byMid: largest(figures, (row) => row.mid),
    byConnection: largest(figures, (row) => row.connector),
    declines,
    latency: latencies(calls),
    latencySeries: latencySeries(calls, buckets),
    deliveries,
    openWork,
  };
}

/** Declines that the payer caused by leaving. */
const LEFT: readonly string[] = [DECLINE_CAUSES.outOfTime.reason, DECLINE_CAUSES.cancelledByPayer.reason];

function funnelOf(
  { payments, settled, declined }: Tally,
  unchosen: Tally,
  declines: readonly { reason: string; declined: number }[],
): Funnel {
  const left = declines.filter(({ reason }) => LEFT.includes(reason)).reduce((sum, one) => sum + one.declined, 0);
  // Payments that ended in this time may have been opened before it.
  const opened = Math.max(payments, settled + declined);
  const submitted = settled + Math.max(0, declined - Math.max(left, unchosen.declined));
  return { opened, chosen: Math.max(submitted, opened - unchosen.payments), submitted, paid: settled };
}

function currenciesOf(figures: readonly GroupedFigures[]): string[] {
  const counts = [...Map.groupBy(figures, ({ currency }) => currency)].map(
    ([currency, rows]) => [currency, tally(rows).payments] as const,
  );
  return counts.toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([currency]) => currency);
}

/** The start of every hour or day that the range touches. */
function bucketsOf({ from, to }: ReportRange, bucket: 'hour' | 'day'): number[] {
  const step = bucket === 'hour' ? LIMITS.hourMs : LIMITS.dayMs;
  const first = Math.floor(from / step) * step;
  return Array.from({ length: Math.ceil((to - first) / step) }, (_, index) => first + index * step);
}

/** The groups with the most payments. */
function largest(figures: readonly GroupedFigures[], key: (row: GroupedFigures) => string | null): [string, Tally][] {
  const groups = Map.groupBy(figures, key);
  groups.delete(null);
  return [...groups]
    .map(([name, rows]): [string, Tally] => [name as string, tally(rows)])
    .sort(([a, one], [b, other]) => other.payments - one.payments || (a < b ? -1 : 1))
    .slice(0, LIMITS.overviewItems);
}

type Calls = Awaited<ReturnType<Gateway['figures']['overview']>>['calls'];

const byConnector = (calls: Calls): [string, Calls][] =>
  [...Map.groupBy(calls, ({ connector }) => connector)].sort(([a], [b]) => (a < b ? -1 : 1));

/** The calls of each interval of durations. */
const callCounts = (calls: Calls): Map<number, number> =>
  new Map(
    [...Map.groupBy(calls, ({ bucket }) => bucket)].map(([bucket, rows]) => [
      bucket,
      rows.reduce((sum, row) => sum + row.calls, 0),
    ]),
  );

const latencies = (calls: Calls): ConnectionLatency[] =>
  byConnector(calls).map(([connection, rows]) => {
    const counts = callCounts(rows);
    return {
      connection,
      calls: rows.reduce((sum, row) => sum + row.calls, 0),
      unanswered: rows.reduce((sum, row) => sum + row.unanswered, 0),
      p50: durationAt(0.5, counts),
      p95: durationAt(0.95, counts),
    };
  });

const latencySeries = (calls: Calls, buckets: readonly number[]): Overview['latencySeries'] =>
  byConnector(calls).map(([connection, rows]) => {
    const byTime = Map.groupBy(rows, ({ at }) => at);
    return [connection, buckets.map((at) => durationAt(0.95, callCounts(byTime.get(at) ?? [])))];
  });
