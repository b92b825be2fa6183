/** Sums of what happened, per hour and per day: adds new rows of the history to them, each row exactly once. */
import type pg from 'pg';
import { LIMITS } from '../rules/limits.ts';
import { DURATION_BOUNDS_MS } from '../rules/reports.ts';
import type { Database } from './database.ts';
import { calls, DECLINES, DELIVERIES, DELTAS, events, FIGURES } from './rollup-deltas.ts';
import { awaitWriters } from './writers.ts';

/** Up to which numbers the rows of the history and of callback attempts are contained in the sums. */
export interface RollupProgress {
  history: bigint;
  attempts: bigint;
  /** Rows from before the sums were introduced are not contained if their payment is before this one; null: none. */
  backfillBefore: string | null;
}

export interface RollupStore {
  /**
   * Adds a portion of the rows that are not contained in the sums yet. Returns whether there may be more; false also
   * while another process adds rows, or a transaction that writes them takes long.
   */
  addPortion(): Promise<boolean>;
}

export const PROGRESS = `
  select history_number as history, callback_attempts_number as attempts, backfill_before as "backfillBefore"
  from rollup_progress`;

const BOUNDS = `'{${DURATION_BOUNDS_MS.join(', ')}}'::int[]`;

interface Sum {
  table: string;
  /** Selects the rows to add, with the columns `at`, the keys and the figures. */
  rows: string;
  keys: readonly string[];
  figures: readonly string[];
}

export const SUMS: Readonly<Record<'rollups' | 'declines' | 'calls' | 'deliveries', Sum>> = {
  rollups: { table: 'rollups', rows: DELTAS, keys: ['mid', 'brand', 'connector', 'currency'], figures: FIGURES },
  declines: { table: 'rollup_declines', rows: DECLINES, keys: ['mid', 'reason'], figures: ['declined'] },
  calls: {
    table: 'rollup_calls',
    rows: calls(BOUNDS),
    keys: ['mid', 'connector', 'bucket'],
    figures: ['calls', 'unanswered'],
  },
  deliveries: { table: 'rollup_deliveries', rows: DELIVERIES, keys: ['mid'], figures: ['delivered', 'failed'] },
};

/** Adds the rows to the sums of their hour and of their day. */
const add = ({ table, rows, keys, figures }: Sum): string => `
  insert into ${table} (grain, starts_at, ${[...keys, ...figures].join(', ')})
  select g.grain, date_trunc(g.grain, d.at, 'UTC'), ${keys.map((key) => `d.${key}`).join(', ')},
    ${figures.map((figure) => `sum(d.${figure})`).join(', ')}
  from (${rows}) d cross join (values ('hour'), ('day')) g(grain)
  group by ${[1, 2, ...keys.map((_, index) => index + 3)].join(', ')}
  on conflict (grain, starts_at, ${keys.join(', ')}) do update
  set ${figures.map((figure) => `${figure} = ${table}.${figure} + excluded.${figure}`).join(', ')}`;

/** Adds the rows of the tables `events` and `attempts` to all sums. */
const addAll = (eventRows: string, attemptRows: string): string => `
  events as materialized (${eventRows}),
  attempts as materialized (${attemptRows}),
  added_figures as (${add(SUMS.rollups)}),
  added_declines as (${add(SUMS.declines)}),
  added_calls as (${add(SUMS.calls)}),
  added_deliveries as (${add(SUMS.deliveries)})`;

/** Parameters: the numbers after which, and up to which, rows of the history and of callback attempts are added. */
export const ADD_NEW = `
  with ${addAll(
    events('history h', 'h.number > $1::bigint and h.number <= $2::bigint'),
    'select mid, at, status from callback_attempts where number > $3::bigint and number <= $4::bigint',
  )}
  update rollup_progress set history_number = $2::bigint, callback_attempts_number = $4::bigint`;

/** Parameters: the payment before which rows without a number are added, and of how many payments. Newest first. */
const ADD_FORMER = `
  with portion as materialized (
    select mid, payment_id from payments where payment_id < $1::uuid order by payment_id desc limit $2::int
  ), ${addAll(
    events('portion b join history h on h.mid = b.mid and h.payment_id = b.payment_id and h.number is null', 'true'),
    `select a.mid, a.at, a.status from portion b
     join callback_attempts a on a.mid = b.mid and a.payment_id = b.payment_id and a.number is null`,
  )}
  update rollup_progress set backfill_before =
    case when (select count(*) from portion) = $2::int then (select payment_id from portion order by payment_id limit 1) end`;

/** The last number of each sequence; a sequence that was never used shows its first number. */
const LAST_NUMBERS = `
  select case when h.is_called then h.last_value else 0 end as history,
    case when a.is_called then a.last_value else 0 end as attempts
  from history_number h, callback_attempts_number a`;

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** How many history rows, and after an upgrade the rows of how many payments, one transaction adds. */
const PORTIONS: { rows: number; payments: number } = { rows: LIMITS.rollupPortion, payments: LIMITS.backfillPortion };

export function createRollupStore({ pool }: Database, portions = PORTIONS): RollupStore {
  /** Runs a portion under the lock of the progress; undefined if another process holds it. */
  const locked = async <Result>(
    run: (client: pg.PoolClient, progress: RollupProgress) => Promise<Result>,
  ): Promise<Result | undefined> => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      // The planner must not read the whole history because its statistics are old; and compiling takes longer than it saves.
      await client.query('set local enable_seqscan = off; set local jit = off');
      const { rows } = await client.query<RollupProgress>(`${PROGRESS} for update skip locked`);
      const result = rows[0] && (await run(client, rows[0]));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
  };

  /** The numbers up to which no row can become visible any more; undefined while a writer takes long. */
  const settledNumbers = async (): Promise<{ history: bigint; attempts: bigint } | undefined> => {
    const { rows } = await pool.query<{ history: bigint; attempts: bigint }>(LAST_NUMBERS);
    // A writer that has taken one of these numbers holds its lock already.
    const areWritten =
      (await awaitWriters(pool, 'history', LIMITS.rollupWaitMs)) &&
      (await awaitWriters(pool, 'callback_attempts', LIMITS.rollupWaitMs));
    return areWritten ? rows[0] : undefined;
  };

  return {
    async addPortion() {
      const last = await settledNumbers();
      if (!last) return false;
      const hasMore = await locked(async (client, { history, attempts, backfillBefore }) => {
        const portion = BigInt(portions.rows);
        // Another process may have passed the numbers since they were read.
        const toHistory = most(history, least(last.history, history + portion));
        const toAttempts = most(attempts, least(last.attempts, attempts + portion));
        if (toHistory > history || toAttempts > attempts)
          await client.query(ADD_NEW, [history, toHistory, attempts, toAttempts]);
        if (backfillBefore !== null) await client.query(ADD_FORMER, [backfillBefore, portions.payments]);
        return toHistory < last.history || toAttempts < last.attempts || backfillBefore !== null;
      });
      return hasMore ?? false;
    },
  };
}
