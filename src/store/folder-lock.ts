/** One gateway per data folder: an advisory lock that PostgreSQL releases when the connection ends, also after a kill. */
import pg from 'pg';
import type { Connection } from './database.ts';

const LOCK = 7_402_202;

/** Takes the lock; undefined when another gateway holds it. */
export async function lockFolder(connection: Connection): Promise<{ release(): Promise<void> } | undefined> {
  const client = new pg.Client({ ...connection, keepAlive: true });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK]);
  if (rows[0]?.locked) return { release: () => client.end() };
  await client.end();
  return undefined;
}
