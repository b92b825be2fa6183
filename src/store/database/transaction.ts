/** A transaction on one connection of the pool, for statements that are written as text. */
import type pg from 'pg';

/** Runs the work after `begin` and these statements; what it throws rolls everything back. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  opening: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(opening);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}
