/** Sums of what happened, per hour and per day: adds new rows of the history to them, each row exactly once. */
import type pg from 'pg';
import { LIMITS } from '../rules/limits.ts';
import { iso } from './columns.ts';
import type { Database } from './database.ts';
import { events } from './rollup-deltas.ts';
import { addAll, FILL_TOTALS, NOTE_TOTALS, TOTALS_BEFORE } from './rollup-tables.ts';
import { awaitWriters } from './writers.ts';

/** Up to which numbers the rows of the history and of callback attempts are contained in the sums. */
export interface RollupProgress {
  history: bigint;
  attempts: bigint;
  /** Rows from before the sums were introduced are not contained if their payment is before this one; null: none. */
  backfillBefore: string | null;
  /** The totals of days before this one are not filled yet; null: all are. */
  totalsBefore: number | null;
}

export interface RollupStore {
  /**
   * Adds a portion of the rows that are not contained in the sums yet. Returns whether there may be more; false also
   * while another process adds rows, or a transaction that writes them takes long.
   */
  addPortion(): Promise<boolean>;
}

export const PROGRESS = `
  select history_number as history, callback_attempts_number as attempts, backfill_before as "backfillBefore",
    ${TOTALS_BEFORE} as "totalsBefore"
  from rollup_progress`;

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
      const hasMore = await locked(async (client, { history, attempts, backfillBefore, totalsBefore }) => {
        const portion = BigInt(portions.rows);
        // Another process may have passed the numbers since they were read.
        const toHistory = most(history, least(last.history, history + portion));
        const toAttempts = most(attempts, least(last.attempts, attempts + portion));
        const hasNew = toHistory > history || toAttempts > attempts;
        if (hasNew) await client.query(ADD_NEW, [history, toHistory, attempts, toAttempts]);
        if (backfillBefore !== null) await client.query(ADD_FORMER, [backfillBefore, portions.payments]);
        // Until a day is filled its totals contain only what was added since the upgrade.
        if (totalsBefore !== null) await client.query(FILL_TOTALS, [iso(totalsBefore)]);
        const isFilling = backfillBefore !== null || totalsBefore !== null;
        if (hasNew || isFilling) await client.query(NOTE_TOTALS);
        return isFilling || toHistory < last.history || toAttempts < last.attempts;
      });
      return hasMore ?? false;
    },
  };
}
