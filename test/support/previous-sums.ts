/** Adds to the sums of reports as the version before projections does, with its statements over `rollup_progress`. */
import type pg from 'pg';
import { LAST_ID } from '../../src/lib/crypto/id.ts';
import { awaitWriters } from '../../src/store/database/writers.ts';
import { events } from '../../src/store/reports/rollup-deltas.ts';
import { addAll, SUMS } from '../../src/store/reports/rollup-tables.ts';

const PROGRESS_TEXT = `concat_ws(' ', history_number, callback_attempts_number, coalesce(backfill_before::text, '-'))`;

const LOCK = `
  select history_number as history, callback_attempts_number as attempts, backfill_before as "backfillBefore",
    case when totals_progress = ${PROGRESS_TEXT} then totals_before else timestamptz '9999-01-01' end as "totalsBefore"
  from rollup_progress for update skip locked`;

const ADD_NEW = `
  with ${addAll(
    SUMS,
    events('history h', 'h.number > $1::bigint and h.number <= $2::bigint'),
    'select mid, at, status from callback_attempts where number > $3::bigint and number <= $4::bigint',
  )}
  update rollup_progress set history_number = $2::bigint, callback_attempts_number = $4::bigint`;

const ADD_FORMER = `
  with portion as materialized (
    select mid, payment_id from payments where payment_id < $1::uuid order by payment_id desc limit $2::int
  ), ${addAll(
    SUMS,
    events('portion b join history h on h.mid = b.mid and h.payment_id = b.payment_id and h.number is null', 'true'),
    `select a.mid, a.at, a.status from portion b
     join callback_attempts a on a.mid = b.mid and a.payment_id = b.payment_id and a.number is null`,
  )}
  update rollup_progress set backfill_before =
    case when (select count(*) from portion) = $2::int then (select payment_id from portion order by payment_id limit 1) end`;

const LAST = `
  select case when h.is_called then h.last_value else 0 end as history,
    case when a.is_called then a.last_value else 0 end as attempts
  from history_number h, callback_attempts_number a`;

const PAYMENTS = 2;

/** What a portion found: no row to lock, that the totals are to be filled, or what it added. */
export type PreviousPortion = 'locked' | 'unfilled totals' | { rows: number; isBackfilling: boolean };

/** Adds everything that is new, and a portion of a backfill. */
export async function addAsPreviousVersion(pool: pg.Pool): Promise<PreviousPortion> {
  const last = (await pool.query(LAST)).rows[0];
  for (const log of ['history', 'callback_attempts'] as const) await awaitWriters(pool, log, 5000);
  const client = await pool.connect();
  try {
    await client.query('begin; set local enable_seqscan = off; set local jit = off');
    const [progress] = (await client.query(LOCK)).rows;
    if (!progress) return 'locked';
    if (progress.totalsBefore !== null) return 'unfilled totals';
    const next = [progress.history, last.history, progress.attempts, last.attempts].map(Number);
    const [from = 0, to = 0, fromAttempt = 0, toAttempt = 0] = next;
    const limits = [from, Math.max(from, to), fromAttempt, Math.max(fromAttempt, toAttempt)];
    await client.query(ADD_NEW, limits);
    const isBackfilling = progress.backfillBefore !== null;
    if (isBackfilling) await client.query(ADD_FORMER, [progress.backfillBefore ?? LAST_ID, PAYMENTS]);
    await client.query(`update rollup_progress set totals_progress = ${PROGRESS_TEXT}`);
    await client.query('commit');
    return { rows: Math.max(0, to - from), isBackfilling };
  } finally {
    await client.query('rollback');
    client.release();
  }
}
