/** Reads the figures of reports: the stored sums, together with the rows that are not contained in them yet. */
import type pg from 'pg';
import { LIMITS } from '../../rules/limits.ts';
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Portion } from '../projections/projection.ts';
import { readProjection } from '../projections/read.ts';
import { declineClasses, reports, totalsBefore } from './projection.ts';
import { declinesOf, events, FIGURES } from './rollup-deltas.ts';
import { DECLINE_CLASS_SUMS, type Grain, SUMS, type Sum } from './rollup-tables.ts';

/** A range of whole hours, and the accounts; null means all. */
export interface FigureRange {
  mids: readonly string[] | null;
  from: number;
  to: number;
}

/** The columns that figures are grouped by. */
export type FigureGroup = 'day' | 'mid' | 'brand' | 'connector' | 'decline_class';

/** Sums of one currency; amounts are minor units. */
export interface FigureRow {
  payments: number;
  settled: number;
  declined: number;
  chargebacks: number;
  captured: bigint;
  refunded: bigint;
  chargedBack: bigint;
  paidOut: bigint;
  currency: string;
}

/** One group of figures; the columns that it is not grouped by are null. */
export type GroupedFigures = FigureRow & {
  /** The start of the hour or day. */
  at: number | null;
  mid: string | null;
  brand: string | null;
  connector: string | null;
  declineClass: string | null;
};

export interface OverviewFigures {
  isComplete: boolean;
  /** By time, by brand, by connector, and by account those with the most payments. */
  figures: GroupedFigures[];
  declines: { reason: string; declined: number }[];
  /** By time, provider and duration. */
  calls: { at: number; connector: string; bucket: number; calls: number; unanswered: number }[];
  deliveries: { delivered: number; failed: number };
}

export interface ReportFigures {
  isComplete: boolean;
  rows: GroupedFigures[];
}

/** What waits for something at the moment. No count exceeds `LIMITS.countedMost`. */
export interface OpenWork {
  attention: { attention: string; payments: number }[];
  paymentsInDoubt: number;
  operationsInDoubt: number;
  callbacksWaiting: number;
  callbacksParked: number;
  /** Those parked callbacks that were tried: the others belong to accounts without an address. */
  callbacksGivenUp: number;
  notificationsUnmatched: number;
  /** Refunds that need a second person. */
  refundsWaiting: number;
  /** The endpoints of waiting callbacks that failed at least once. */
  failing: { mid: string; url: string | null; callbacks: number; oldestAt: number }[];
  failingEndpoints: number;
}

export interface FigureStore {
  /** Grouped by these columns and by the currency, in this order; one row more than `most` if there are more. */
  report(range: FigureRange, groups: readonly FigureGroup[], most: number): Promise<ReportFigures>;
  overview(range: FigureRange, bucket: 'hour' | 'day'): Promise<OverviewFigures>;
  openWork(mids: readonly string[] | null): Promise<OpenWork>;
  /** The number of payments and refunds on the attention list; of each, up to `LIMITS.badgeMost` are counted. */
  marked(mids: readonly string[] | null): Promise<number>;
  /** The payments on the attention list, by mark. */
  attention(mids: readonly string[] | null): Promise<OpenWork['attention']>;
  /** The number of refunds that wait for a second person. */
  refundsWaiting(mids: readonly string[] | null): Promise<number>;
}

interface Statement {
  text: string;
  values: unknown[];
}

/** What the sums do not contain in the snapshot that is read. */
export interface Missing {
  tail: Portion;
  /** Days before this one have no totals; null: all have. */
  totalsBefore: number | null;
}

const FIGURE_SUMS = `
  sum(payments)::int as payments, sum(settled)::int as settled, sum(declined)::int as declined,
  sum(chargebacks)::int as chargebacks, sum(captured)::text as captured, sum(refunded)::text as refunded,
  sum(charged_back)::text as "chargedBack", sum(paid_out)::text as "paidOut"`;

/** A group whose only payments were moved to another brand is left out. */
const IS_USED = FIGURES.map((figure) => `sum(${figure}) <> 0`).join(' or ');

const dayStart = (ms: number): number => Math.floor(ms / LIMITS.dayMs) * LIMITS.dayMs;

/**
 * The parts of a statement over a range. `sum` selects sums with the keys that are asked for and the column `at`, the
 * start of the hour or day. Whole days are read from the sums of days unless hours are needed, and totals instead of
 * sums where they have the keys. What is not contained in the sums is read from the logs.
 */
function openRange(range: FigureRange, missing: Missing) {
  const values: unknown[] = [];
  const value = (parameter: unknown, type: string): string => `$${values.push(parameter)}::${type}`;
  // Bound when they are used: PostgreSQL refuses a parameter that the statement does not contain.
  const times = new Map<number, string>();
  const time = (ms: number): string => {
    const bound = times.get(ms) ?? value(iso(ms), 'timestamptz');
    times.set(ms, bound);
    return bound;
  };
  const mids = value(range.mids, 'uuid[]');
  const [first, last] = [dayStart(range.from + LIMITS.dayMs - 1), dayStart(range.to)];
  const parts = (unit: Grain): [grain: Grain, from: number, to: number][] =>
    unit === 'day' && first < last
      ? [
          ['day', first, last],
          ['hour', range.from, first],
          ['hour', last, range.to],
        ]
      : [['hour', range.from, range.to]];
  const hasTotals = missing.totalsBefore === null || missing.totalsBefore <= dayStart(range.from);
  const sum = ({ sums, totals, rows, figures }: Sum, keys: readonly string[], unit: Grain): string => {
    const columns = [...keys, ...figures].join(', ');
    const needed = range.mids === null ? keys : ['mid', ...keys];
    const truncated = (column: string): string => `date_trunc('${unit}', ${column}, 'UTC')`;
    const stored = parts(unit).map(([grain, start, end]) => {
      const fitting = totals.find(
        (total) => total.grains.includes(grain) && needed.every((key) => total.keys.includes(key)),
      );
      const { table } = (hasTotals && fitting) || sums;
      return `select ${grain === unit ? 'starts_at' : truncated('starts_at')} as at, ${columns} from ${table}
         where grain = '${grain}' and starts_at >= ${time(start)} and starts_at < ${time(end)}
         ${range.mids === null ? '' : `and mid = any(${mids})`}`;
    });
    const live = `select ${truncated('at')}, ${columns} from (${rows}) live where at >= ${time(range.from)} and at < ${time(range.to)}`;
    return [...stored, live].join(' union all ');
  };
  const isInScope = `(${mids} is null or h.mid = any(${mids}))`;
  const newEvents = (select = events): string =>
    `events as materialized (${select(`(${missing.tail.history}) h`, isInScope)})`;
  const newAttempts = (): string =>
    `attempts as materialized (select h.mid, h.at, h.status from (${missing.tail.attempts}) h where ${isInScope})`;
  return { values, value, sum, newEvents, newAttempts };
}

/** The rows of figures, grouped by these columns and by the currency. */
function grouped(groups: readonly FigureGroup[], most: string): string {
  const columns = groups.map((group) => (group === 'day' ? 'at' : group));
  const order = [...groups.map((_, index) => index + 1), groups.length + 1].join(', ');
  return `
    select ${[...columns, 'currency', FIGURE_SUMS].join(', ')}
    from figures group by ${order} having ${IS_USED} order by ${order} limit ${most}`;
}

/** The keys of sums for these groups. */
const keysOf = (groups: readonly FigureGroup[]): string[] => [...groups.filter((group) => group !== 'day'), 'currency'];

/** The statement of a report. */
export function reportStatement(
  range: FigureRange,
  groups: readonly FigureGroup[],
  most: number,
  missing: Missing,
): Statement {
  const { values, value, sum, newEvents } = openRange(range, missing);
  const text = `
    with ${newEvents()}, figures as (${sum(SUMS.rollups, keysOf(groups), 'day')}) ${grouped(groups, value(most + 1, 'int'))}`;
  return { text, values };
}

/** The statement of a report by the class of declines: its other figures are 0. */
export function declineStatement(
  range: FigureRange,
  groups: readonly FigureGroup[],
  most: number,
  tail: Portion,
): Statement {
  const { values, value, sum, newEvents } = openRange(range, { tail, totalsBefore: null });
  const others = FIGURES.filter((figure) => figure !== 'declined').map((figure) => `0 as ${figure}`);
  const text = `
    with ${newEvents(declinesOf)},
    declines as (${sum(DECLINE_CLASS_SUMS.declineClasses, keysOf(groups), 'day')}),
    figures as (select *, ${others.join(', ')} from declines)
    ${grouped(groups, value(most + 1, 'int'))}`;
  return { text, values };
}

/** The statement of the overview: rows of four kinds, as JSON. */
export function overviewStatement(range: FigureRange, bucket: 'hour' | 'day', missing: Missing): Statement {
  const { values, sum, newEvents, newAttempts } = openRange(range, missing);
  // Read twice.
  const rollups = { ...SUMS.rollups, rows: 'select * from new_figures' };
  const text = `
    with ${newEvents()}, ${newAttempts()}, new_figures as materialized (${SUMS.rollups.rows}),
    figures as (${sum(rollups, ['brand', 'connector', 'currency'], bucket)}),
    accounts as materialized (
      select mid, currency, sum(payments) as rank, ${FIGURE_SUMS} from (${sum(rollups, ['mid', 'currency'], 'day')}) s
      group by mid, currency having ${IS_USED}
    )
    select 'figures' as part, to_jsonb(f) as row from (
      select at, brand, connector, currency, ${FIGURE_SUMS}
      from figures
      group by grouping sets ((at, currency), (brand, currency), (connector, currency))
      having ${IS_USED}
    ) f
    union all
    select 'figures', to_jsonb(a) - 'rank' from accounts a where mid in (
      select mid from accounts group by mid order by sum(rank) desc, mid limit ${LIMITS.overviewItems}
    )
    union all
    select 'declines', to_jsonb(d) from (
      select reason, sum(declined)::int as declined from (${sum(SUMS.declines, ['reason'], bucket)}) s
      group by reason order by 2 desc, 1 limit ${LIMITS.overviewItems}
    ) d
    union all
    select 'calls', to_jsonb(c) from (
      select at, connector, bucket, sum(calls)::int as calls, sum(unanswered)::int as unanswered
      from (${sum(SUMS.calls, ['connector', 'bucket'], bucket)}) s group by at, connector, bucket
    ) c
    union all
    select 'deliveries', to_jsonb(d) from (
      select coalesce(sum(delivered), 0)::int as delivered, coalesce(sum(failed), 0)::int as failed
      from (${sum(SUMS.deliveries, [], bucket)}) s
    ) d`;
  return { text, values };
}

/** Counts rows up to a limit, so that a long backlog does not make the overview slow. */
const countUpTo = (table: string, condition: string, most: number = LIMITS.countedMost): string =>
  `(select count(*)::int from (select from ${table} where ${condition} limit ${most}) counted)`;

const IN_SCOPE = '($1::uuid[] is null or mid = any($1::uuid[]))';

const REFUNDS_WAITING = `state = 'waiting' and ${IN_SCOPE}`;

/**
 * A payment in doubt is queried again within a day, by the clock of its account. Payments that are due later, such as
 * authorisations, are skipped in the index.
 */
const IS_IN_DOUBT = `
  due_at < now() + interval '25 hours' + (select coalesce(sum(ms), 0) from (
    select max(offset_ms) as ms from clock_offsets group by mid is null
  ) offsets) * interval '1 ms' and in_doubt and ${IN_SCOPE}`;

/** A notification without a payment has no account, so it is counted for all accounts only. */
const COUNTS = `
  select ${countUpTo('payments', IS_IN_DOUBT)} as "paymentsInDoubt",
    ${countUpTo('operations', `due_at is not null and query_count > 0 and ${IN_SCOPE}`)} as "operationsInDoubt",
    ${countUpTo('callbacks', `due_at is not null and ${IN_SCOPE}`)} as "callbacksWaiting",
    ${countUpTo('callbacks', `state = 'parked' and ${IN_SCOPE}`)} as "callbacksParked",
    ${countUpTo('callbacks', `state = 'parked' and attempts > 0 and ${IN_SCOPE}`)} as "callbacksGivenUp",
    ${countUpTo('refund_requests', REFUNDS_WAITING)} as "refundsWaiting",
    ${countUpTo('provider_notifications', `state = 'unmatched' and $1::uuid[] is null`)} as "notificationsUnmatched"`;

const FAILING = `
  with waiting as materialized (
    select mid, endpoint, url, attempts, created_at from callbacks
    where due_at is not null and ${IN_SCOPE} order by due_at limit ${LIMITS.countedMost}
  ), failing as (
    select mid, max(url) as url, count(*)::int as callbacks, min(created_at) as "oldestAt"
    from waiting where attempts > 0 group by mid, endpoint
  )
  select *, (select count(*)::int from failing) as total from failing order by callbacks desc, mid limit ${LIMITS.overviewItems}`;

const MARKED = `select ${countUpTo('payments', `attention is not null and ${IN_SCOPE}`, LIMITS.badgeMost)}
  + ${countUpTo('refund_requests', REFUNDS_WAITING, LIMITS.badgeMost)} as marked`;

const ATTENTION = `
  select attention, count(*)::int as payments from (
    select attention from payments where attention is not null and ${IN_SCOPE} limit ${LIMITS.countedMost}
  ) marked group by attention order by attention`;

export function createFigureStore(database: Database): FigureStore {
  const { pool } = database;
  /** Reads the sums, and what they do not contain. */
  const read = <Result>(
    statement: (missing: Missing) => Statement,
    result: (rows: pg.QueryResultRow[], isComplete: boolean) => Result,
  ): Promise<Result> =>
    readProjection(database, reports, async ({ client, tail, isComplete }) => {
      const { rows } = await client.query(statement({ tail, totalsBefore: await totalsBefore(client) }));
      return result(rows, isComplete);
    });

  return {
    report: (range, groups, most) =>
      groups.includes('decline_class')
        ? readProjection(database, declineClasses, async ({ client, tail, isComplete }) => {
            const { rows } = await client.query(declineStatement(range, groups, most, tail));
            return { rows: rows.map(groupedFigures), isComplete };
          })
        : read(
            (missing) => reportStatement(range, groups, most, missing),
            (rows, isComplete) => ({ rows: rows.map(groupedFigures), isComplete }),
          ),
    overview: (range, bucket) =>
      read(
        (missing) => overviewStatement(range, bucket, missing),
        (rows, isComplete) => {
          const parts = Map.groupBy(rows, ({ part }) => part as string);
          // biome-ignore lint/suspicious/noExplicitAny: JSON of the statement above
          const part = (name: string): any[] => (parts.get(name) ?? []).map(({ row }) => row);
          return {
            isComplete,
            figures: part('figures').map(groupedFigures),
            declines: part('declines'),
            calls: part('calls').map((call) => ({ ...call, at: Date.parse(call.at) })),
            deliveries: part('deliveries')[0] ?? { delivered: 0, failed: 0 },
          };
        },
      ),
    async marked(mids) {
      return (await pool.query<{ marked: number }>(MARKED, [mids])).rows[0]?.marked ?? 0;
    },
    async attention(mids) {
      return (await pool.query<OpenWork['attention'][number]>(ATTENTION, [mids])).rows;
    },
    async refundsWaiting(mids) {
      const text = `select ${countUpTo('refund_requests', REFUNDS_WAITING)} as waiting`;
      return (await pool.query<{ waiting: number }>(text, [mids])).rows[0]?.waiting ?? 0;
    },
    async openWork(mids) {
      const [counts, attention, failing] = await Promise.all([
        pool.query<Omit<OpenWork, 'attention' | 'failing' | 'failingEndpoints'>>(COUNTS, [mids]),
        pool.query<OpenWork['attention'][number]>(ATTENTION, [mids]),
        pool.query<OpenWork['failing'][number] & { total: number }>(FAILING, [mids]),
      ]);
      return {
        ...(counts.rows[0] as (typeof counts.rows)[number]),
        attention: attention.rows,
        failing: failing.rows.map(({ total: _total, ...endpoint }) => endpoint),
        failingEndpoints: failing.rows[0]?.total ?? 0,
      };
    },
  };
}

function groupedFigures(row: pg.QueryResultRow): GroupedFigures {
  const { at = null, mid = null, brand = null, connector = null, decline_class: declineClass = null, currency } = row;
  const { payments, settled, declined, chargebacks } = row;
  return {
    // A text in JSON.
    at: typeof at === 'string' ? Date.parse(at) : at,
    mid,
    brand,
    connector,
    declineClass,
    currency,
    payments,
    settled,
    declined,
    chargebacks,
    captured: BigInt(row.captured),
    refunded: BigInt(row.refunded),
    chargedBack: BigInt(row.chargedBack),
    paidOut: BigInt(row.paidOut),
  };
}
