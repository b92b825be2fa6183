/** The advisory locks of an installation: each has a number of its own, and PostgreSQL releases it with its connection. */
import type pg from 'pg';

/** The numbers are arbitrary. Earlier versions hold `folder` under the same number. */
const NUMBERS = {
  folder: 7_402_202,
  migration: 7_402_203,
  partitions: 7_402_204,
  prices: 7_402_205,
  costs: 7_402_206,
} as const;

/** Takes a lock until the connection ends; false if another connection has it. */
export async function tryLock(client: Pick<pg.ClientBase, 'query'>, name: keyof typeof NUMBERS): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    NUMBERS[name],
  ]);
  return rows[0]?.locked === true;
}

/** A query that takes a lock until the transaction ends, and waits for it. Shared ones exclude only others. */
export const lockQuery = (name: keyof typeof NUMBERS, isShared = false): string =>
  `select pg_advisory_xact_lock${isShared ? '_shared' : ''}(${NUMBERS[name]})`;
