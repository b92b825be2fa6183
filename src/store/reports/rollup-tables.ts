/** The tables of the sums: what each is keyed by, and the statements that add to them, empty, fill and check them. */
import { DURATION_BOUNDS_MS } from '../../rules/reports.ts';
import { calls, DECLINE_CLASSES, DECLINES, DELIVERIES, DELTAS, FIGURES } from './rollup-deltas.ts';

export type Grain = 'hour' | 'day';

/** A table of sums. Besides these keys every row has its grain and the start of its hour or day. */
export interface SumTable {
  table: string;
  keys: readonly string[];
  grains: readonly Grain[];
}

export interface Sum {
  /** Selects the rows to add, with the columns `at`, the keys and the figures. */
  rows: string;
  figures: readonly string[];
  /** The sums themselves. */
  sums: SumTable;
  /** The same over fewer keys, from the fewest rows to the most. */
  totals: readonly SumTable[];
  /** The keys that are always derived alike; the others are those of the payment at the time when a row is added. */
  fixedKeys: readonly string[];
  /** Old rows of the log are dropped, so that the sums cannot be derived again. */
  isKept?: true;
}

const BOUNDS = `'{${DURATION_BOUNDS_MS.join(', ')}}'::int[]`;
const GRAINS = ['hour', 'day'] as const;
const sumTable = (table: string, keys: readonly string[], grains: readonly Grain[] = GRAINS): SumTable => ({
  table,
  keys,
  grains,
});

/** The tables that one projection adds to. */
export type Sums = Readonly<Record<string, Sum>>;

export const SUMS = {
  rollups: {
    rows: DELTAS,
    figures: FIGURES,
    sums: sumTable('rollups', ['mid', 'brand', 'connector', 'currency']),
    totals: [
      sumTable('rollup_totals', ['brand', 'connector', 'currency']),
      sumTable('rollup_account_totals', ['mid', 'currency'], ['day']),
    ],
    fixedKeys: ['mid', 'currency'],
  },
  declines: {
    rows: DECLINES,
    figures: ['declined'],
    sums: sumTable('rollup_declines', ['mid', 'reason']),
    totals: [sumTable('rollup_decline_totals', ['reason'])],
    fixedKeys: ['mid'],
  },
  calls: {
    rows: calls(BOUNDS),
    figures: ['calls', 'unanswered'],
    sums: sumTable('rollup_calls', ['mid', 'connector', 'bucket']),
    totals: [sumTable('rollup_call_totals', ['connector', 'bucket'])],
    fixedKeys: ['mid', 'connector', 'bucket'],
  },
  deliveries: {
    rows: DELIVERIES,
    figures: ['delivered', 'failed'],
    sums: sumTable('rollup_deliveries', ['mid']),
    totals: [sumTable('rollup_delivery_totals', [])],
    fixedKeys: ['mid'],
    isKept: true,
  },
} as const satisfies Sums;

/** Declines by their class: a projection of its own, because it was added when the other sums were in use. */
export const DECLINE_CLASS_SUMS = {
  declineClasses: {
    rows: DECLINE_CLASSES,
    figures: ['declined'],
    sums: sumTable('rollup_decline_classes', ['mid', 'brand', 'connector', 'currency', 'decline_class']),
    totals: [],
    fixedKeys: ['mid', 'currency'],
  },
} as const satisfies Sums;

const tablesOf = (sums: Sums): Sum[] => Object.values(sums);
const totalTablesOf = (sums: Sums) => tablesOf(sums).flatMap((sum) => sum.totals.map((total) => ({ ...sum, total })));

const grainList = (grains: readonly Grain[]): string => grains.map((grain) => `'${grain}'`).join(', ');
const columnsOf = (keys: readonly string[]): string[] => ['grain', 'starts_at', ...keys];
const summed = (figures: readonly string[]): string =>
  figures.map((figure) => `sum(${figure}) as ${figure}`).join(', ');

/** Inserts the rows of `source`, or changes the figures of those that exist to the value. */
const upsert = (
  { table, keys }: SumTable,
  figures: readonly string[],
  source: string,
  value: (figure: string) => string,
): string => `
  insert into ${table} (${[...columnsOf(keys), ...figures].join(', ')}) ${source}
  on conflict (${columnsOf(keys).join(', ')}) do update
  set ${figures.map((figure) => `${figure} = ${value(figure)}`).join(', ')}`;

/** Adds the sums of hours in `source` to the sums of these hours and of their days. */
const add = (to: SumTable, figures: readonly string[], source: string): string => {
  const rows = `
    select g.grain, date_trunc(g.grain, d.hour, 'UTC') as starts_at,
      ${[...to.keys.map((key) => `d.${key}`), summed(figures)].join(', ')}
    from ${source} d cross join unnest(array[${grainList(to.grains)}]) g(grain)
    group by ${columnsOf(to.keys)
      .map((_, index) => index + 1)
      .join(', ')}`;
  return upsert(to, figures, rows, (figure) => `${to.table}.${figure} + excluded.${figure}`);
};

/** Adds the rows of the tables `events` and `attempts` to these sums and their totals. The rows are grouped once, by hour. */
export const addAll = (to: Sums, eventRows: string, attemptRows: string): string =>
  [
    `events as materialized (${eventRows})`,
    `attempts as not materialized (${attemptRows})`,
    ...Object.entries(to).flatMap(([name, { rows, figures, sums, totals }]: [string, Sum]) => [
      `new_${name} as materialized (
        select ${[`date_trunc('hour', at, 'UTC') as hour`, ...sums.keys, summed(figures)].join(', ')} from (${rows}) r
        group by ${['1', ...sums.keys].join(', ')}
      )`,
      ...[sums, ...totals].map((table) => `added_${table.table} as (${add(table, figures, `new_${name}`)})`),
    ]),
  ].join(', ');

/** The totals of the sums that meet the condition. */
const totalsOf = ({ sums, figures, total }: ReturnType<typeof totalTablesOf>[number], condition: string): string => `
  select ${[...columnsOf(total.keys), summed(figures)].join(', ')} from ${sums.table}
  where grain in (${grainList(total.grains)}) and ${condition} group by ${columnsOf(total.keys).join(', ')}`;

const PROGRESS_TEXT = `concat_ws(' ', history_number, callback_attempts_number, coalesce(backfill_before::text, '-'))`;

/** Notes for the previous version that the totals contain what the sums contain. */
export const NOTE_TOTALS = `
  update projections set totals_progress = ${PROGRESS_TEXT}
  where name = 'reports' and totals_progress is distinct from ${PROGRESS_TEXT}`;

/** Removes the sums and totals that can be derived again. */
export const deleteSums = (of: Sums): string =>
  tablesOf(of)
    .flatMap(({ sums, totals, isKept }) => (isKept ? [] : [sums, ...totals].map(({ table }) => `delete from ${table}`)))
    .join('; ');

/** Fills the totals of the newest day before $1 that has sums, and notes that day in the progress. */
export const FILL_TOTALS = `
  with next as materialized (select greatest(${tablesOf(SUMS)
    .map(({ sums }) => `(select max(starts_at) from ${sums.table} where grain = 'day' and starts_at < $1::timestamptz)`)
    .join(', ')}) as day),
  ${totalTablesOf(SUMS)
    .map((part) => {
      const day = `starts_at >= (select day from next) and starts_at < (select day + interval '24 hours' from next)`;
      const filling = upsert(part.total, part.figures, totalsOf(part, day), (figure) => `excluded.${figure}`);
      return `filled_${part.total.table} as (${filling})`;
    })
    .join(', ')}
  update projections set totals_before = (select day from next) where name = 'reports'`;

/** A message for each table in which rows of one query are missing in the other, with the first hour or day of them. */
const difference = (table: string, what: string, parts: readonly string[]): string => `
  select 'The table ${table} differs from ${what}, first at ' || min(starts_at at time zone 'UTC')::text || ' UTC.' as violation
  from (${parts.join(' union all ')}) different having count(*) > 0`;

function differentTotals(part: ReturnType<typeof totalTablesOf>[number]): string {
  const { table, keys } = part.total;
  const filled = `starts_at >= coalesce((select totals_before from projections where name = 'reports'), '-infinity')`;
  const stored = `select ${[...columnsOf(keys), ...part.figures].join(', ')} from ${table} where ${filled}`;
  const expected = totalsOf(part, filled);
  return difference(table, 'the sums that it adds up', [
    `(${stored} except ${expected})`,
    `(${expected} except ${stored})`,
  ]);
}

/** Sums of the keys that do not change, from the rows of the logs and from the table; without those that are nothing. */
function differentSums({ rows, figures, sums, fixedKeys, isKept }: Sum): string {
  const grouped = (source: string): string => `
    select ${[...columnsOf(fixedKeys), summed(figures)].join(', ')} from (${source}) s
    group by ${columnsOf(fixedKeys).join(', ')} having ${figures.map((figure) => `sum(${figure}) <> 0`).join(' or ')}`;
  const stored = grouped(`select * from ${sums.table}`);
  const derived = grouped(
    `select g.grain, date_trunc(g.grain, d.at, 'UTC') as starts_at, d.* from (${rows}) d
     cross join unnest(array[${grainList(sums.grains)}]) g(grain)`,
  );
  const isMore = figures.map((figure) => `d.${figure} > coalesce(s.${figure}, 0)`).join(' or ');
  const missing = `select starts_at from (${derived}) d left join (${stored}) s using (${columnsOf(fixedKeys).join(', ')}) where ${isMore}`;
  const parts = isKept ? [missing] : [`(${stored} except ${derived})`, `(${derived} except ${stored})`];
  return difference(sums.table, 'the rows that it adds up', parts);
}

/** Selects what is wrong with sums that contain these rows, and with their totals. */
export const violations = (of: Sums, eventRows: string, attemptRows: string): string => `
  with events as not materialized (${eventRows}), attempts as not materialized (${attemptRows})
  ${[...totalTablesOf(of).map(differentTotals), ...tablesOf(of).map(differentSums)].join(' union all ')}`;
