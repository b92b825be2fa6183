/** One gateway per data folder: the lock lives as long as a connection, so a killed process leaves none behind. */
import pg from 'pg';
import type { Connection } from './database.ts';

const LOCK = 7_402_202;

/** Takes the lock, or says undefined when another gateway has it. */
export async function lockFolder(connection: Connection): Promise<{ release(): Promise<void> } | undefined> {
  const client = new pg.Client({ ...connection, keepAlive: true });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK]);
  if (rows[0]?.taken) return { release: () => client.end() };
  await client.end();
  return undefined;
}
