/** Waits for the transactions that are writing a table, so that what they have begun is visible or rolled back. */
import type pg from 'pg';
import { pollUntil } from '../../lib/flow/poll.ts';

/**
 * The transactions that write a table. A statement takes this lock before its snapshot and keeps it until its
 * transaction ends, so every statement that does not see an earlier commit is listed here. Transaction ids do not work:
 * a statement gets one with its first write, after its snapshot.
 */
const WRITERS = `
  select virtualtransaction as writer from pg_locks
  where locktype = 'relation' and relation = $1::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Waits until every transaction that is writing the table now has ended; false if one takes longer than `mostMs`. */
export async function awaitWriters(
  pool: pg.Pool,
  table: 'payments' | 'history' | 'callback_attempts',
  mostMs: number,
): Promise<boolean> {
  const writing = async (condition = '', values: unknown[] = []): Promise<string[]> =>
    (await pool.query<{ writer: string }>(WRITERS + condition, [table, ...values])).rows.map(({ writer }) => writer);
  const left = await pollUntil(
    await writing(),
    (writers) => writing(' and virtualtransaction = any($2)', [writers]),
    (writers) => writers.length === 0,
    { mostMs, firstPauseMs: 2 },
  );
  return left.length === 0;
}
