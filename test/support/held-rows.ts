/** Rows that another session holds, so that a process that changes them waits there. */
import pg from 'pg';
import type { Connection } from '../../src/store/database/database.ts';

/** Keeps rows from being changed, but not from being referenced, for as long as something takes. */
export async function holding(connection: Connection, rows: string, something: () => Promise<unknown>): Promise<void> {
  const holder = new pg.Client(connection);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(`select from ${rows} for no key update`);
    await something();
    await holder.query('rollback');
  } finally {
    await holder.end();
  }
}

/** How many locks the sessions of this name, or all of the database, wait for, as a query. */
export const waitingLocksOf = (application?: string): string =>
  `select count(*)::int as locks from pg_locks join pg_stat_activity using (pid)
   where not granted and datname = current_database()
     ${application === undefined ? '' : `and application_name = '${application}'`}`;
