/** The tables of the sums: what each is keyed by, and the statements that add to them, fill and check their totals. */
import { DURATION_BOUNDS_MS } from '../rules/reports.ts';
import { calls, DECLINES, DELIVERIES, DELTAS, FIGURES } from './rollup-deltas.ts';

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
}

const BOUNDS = `'{${DURATION_BOUNDS_MS.join(', ')}}'::int[]`;
const GRAINS = ['hour', 'day'] as const;
const sumTable = (table: string, keys: readonly string[], grains: readonly Grain[] = GRAINS): SumTable => ({
  table,
  keys,
  grains,
});

export const SUMS: Readonly<Record<'rollups' | 'declines' | 'calls' | 'deliveries', Sum>> = {
  rollups: {
    rows: DELTAS,
    figures: FIGURES,
    sums: sumTable('rollups', ['mid', 'brand', 'connector', 'currency']),
    totals: [
      sumTable('rollup_totals', ['brand', 'connector', 'currency']),
      sumTable('rollup_account_totals', ['mid', 'currency'], ['day']),
    ],
  },
  declines: {
    rows: DECLINES,
    figures: ['declined'],
    sums: sumTable('rollup_declines', ['mid', 'reason']),
    totals: [sumTable('rollup_decline_totals', ['reason'])],
  },
  calls: {
    rows: calls(BOUNDS),
    figures: ['calls', 'unanswered'],
    sums: sumTable('rollup_calls', ['mid', 'connector', 'bucket']),
    totals: [sumTable('rollup_call_totals', ['connector', 'bucket'])],
  },
  deliveries: {
    rows: DELIVERIES,
    figures: ['delivered', 'failed'],
    sums: sumTable('rollup_deliveries', ['mid']),
    totals: [sumTable('rollup_delivery_totals', [])],
  },
};

const ALL = Object.entries(SUMS);
const TOTALS = ALL.flatMap(([, sum]) => sum.totals.map((total) => ({ ...sum, total })));

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

/** Adds the rows of `source` to the sums of their hour and of their day. */
const add = (to: SumTable, figures: readonly string[], source: string): string => {
  const rows = `
    select g.grain, date_trunc(g.grain, d.at, 'UTC') as starts_at,
      ${[...to.keys.map((key) => `d.${key}`), summed(figures)].join(', ')}
    from ${source} d cross join unnest(array[${grainList(to.grains)}]) g(grain)
    group by ${columnsOf(to.keys)
      .map((_, index) => index + 1)
      .join(', ')}`;
  return upsert(to, figures, rows, (figure) => `${to.table}.${figure} + excluded.${figure}`);
};

/** Adds the rows of the tables `events` and `attempts` to all sums and totals. */
export const addAll = (eventRows: string, attemptRows: string): string =>
  [
    `events as materialized (${eventRows})`,
    `attempts as materialized (${attemptRows})`,
    ...ALL.flatMap(([name, { rows, figures, sums, totals }]) => [
      `new_${name} as materialized (${rows})`,
      ...[sums, ...totals].map((to) => `added_${to.table} as (${add(to, figures, `new_${name}`)})`),
    ]),
  ].join(', ');

/** The totals of the sums that meet the condition. */
const totalsOf = ({ sums, figures, total }: (typeof TOTALS)[number], condition: string): string => `
  select ${[...columnsOf(total.keys), summed(figures)].join(', ')} from ${sums.table}
  where grain in (${grainList(total.grains)}) and ${condition} group by ${columnsOf(total.keys).join(', ')}`;

const PROGRESS_TEXT = `concat_ws(' ', history_number, callback_attempts_number, coalesce(backfill_before::text, '-'))`;

/**
 * The day before which totals are not filled, from the progress; null if all are. None are when an earlier version, which
 * knows no totals, has added to the sums: during an upgrade both versions run.
 */
export const TOTALS_BEFORE = `
  case when totals_progress = ${PROGRESS_TEXT} then totals_before else timestamptz '9999-01-01' end`;

/** Notes that the totals contain what the sums contain. */
export const NOTE_TOTALS = `update rollup_progress set totals_progress = ${PROGRESS_TEXT}`;

/** Fills the totals of the newest day before $1 that has sums, and notes that day in the progress. */
export const FILL_TOTALS = `
  with next as materialized (select greatest(${ALL.map(
    ([, { sums }]) => `(select max(starts_at) from ${sums.table} where grain = 'day' and starts_at < $1::timestamptz)`,
  ).join(', ')}) as day),
  ${TOTALS.map((part) => {
    const day = `starts_at >= (select day from next) and starts_at < (select day + interval '24 hours' from next)`;
    const filling = upsert(part.total, part.figures, totalsOf(part, day), (figure) => `excluded.${figure}`);
    return `filled_${part.total.table} as (${filling})`;
  }).join(', ')}
  update rollup_progress set totals_before = (select day from next)`;

/** Selects the tables of totals that differ from their sums, each with the first hour or day that does. */
export const DIFFERENT_TOTALS = TOTALS.map((part) => {
  const { table, keys } = part.total;
  const filled = `starts_at >= coalesce((select ${TOTALS_BEFORE} from rollup_progress), '-infinity')`;
  const stored = `select ${[...columnsOf(keys), ...part.figures].join(', ')} from ${table} where ${filled}`;
  const expected = totalsOf(part, filled);
  return `select '${table}' as "table", min(starts_at at time zone 'UTC')::text as "startsAt" from (
      (${stored} except ${expected}) union all (${expected} except ${stored})
    ) different having count(*) > 0`;
}).join(' union all ');
