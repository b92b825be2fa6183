/** One gateway per data folder: an advisory lock that PostgreSQL releases when the connection ends, also after a kill. */
import { tryLock } from '../database/advisory-lock.ts';
import { openClient } from '../database/bounded-client.ts';
import type { Connection } from '../database/database.ts';

/** Takes the lock; undefined when another gateway holds it. */
export async function lockFolder(connection: Connection): Promise<{ release(): Promise<void> } | undefined> {
  const client = await openClient({ ...connection, keepAlive: true });
  if (await tryLock(client, 'folder')) return { release: () => client.end() };
  await client.end();
  return undefined;
}
