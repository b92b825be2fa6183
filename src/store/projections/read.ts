/** Reads a projection together with the rows that it does not contain yet: everything that is committed until now. */
import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { LAST_NUMBERS, NO_ROWS, type Numbers, type ProgressRow, progressOf, tail } from './portions.ts';
import type { Portion, Projection } from './projection.ts';

export interface Reading {
  client: pg.PoolClient;
  /** The rows that the tables of the projection do not contain in this snapshot, apart from those of a backfill. */
  tail: Portion;
  /** False before the first portion, and while a backfill still adds rows from before the projection was built. */
  isComplete: boolean;
}

// More memory, so that sums are grouped by hashing.
const BEGIN = `begin isolation level repeatable read read only;
  set local enable_seqscan = off; set local jit = off; set local work_mem = '32MB'`;

/** Reads from one snapshot, in which every row of a log is either contained in the projection or in its tail. */
export const readProjection = <Result>(
  { pool }: Pick<Database, 'pool'>,
  { name, logs }: Pick<Projection, 'name' | 'logs'>,
  read: (reading: Reading) => Promise<Result>,
): Promise<Result> =>
  inTransaction(pool, BEGIN, async (client) => {
    const text = `select p.*, ${LAST_NUMBERS} from projections p where name = $1`;
    const { rows } = await client.query<ProgressRow & Numbers>(text, [name]);
    const progress = rows[0] && progressOf(rows[0]);
    const missing = rows[0] && progress ? tail(progress, rows[0], logs) : NO_ROWS;
    return read({ client, tail: missing, isComplete: progress?.backfillBefore === null });
  });
