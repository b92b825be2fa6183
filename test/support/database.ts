/** One real PostgreSQL for the whole run, with a migrated template that every test file clones. */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrateAt } from '../../src/store/database/migrate.ts';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';

export type ServerConnection = Awaited<ReturnType<typeof startEmbedded>>['connection'];

declare module 'vitest' {
  interface ProvidedContext {
    database: ServerConnection;
  }
}

/** Files in memory: a database is a thousand files, and each test file clones one. */
const MEMORY = '/dev/shm';
const MEMORY_LEAST_BYTES = 4 * 1024 ** 3;

/** The server of the tests need not survive a crash; those that are about crashes start servers of their own. */
const FORGETFUL = {
  // Each process of a test has up to thirty connections, and some tests start ten of them.
  max_connections: '600',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  min_wal_size: '128MB',
  max_wal_size: '512MB',
};

export const TEMPLATE = 'turnpike_template';

export default async function setup(project: { provide(key: 'database', value: ServerConnection): void }) {
  const folder = await mkdtemp(join((await hasMemory()) ? MEMORY : tmpdir(), 'turnpike-test-'));
  const server = await startEmbedded({ folder: join(folder, 'postgres'), settings: FORGETFUL });
  await query(server.connection, `create database ${TEMPLATE}`);
  await migrateAt({ ...server.connection, database: TEMPLATE });
  project.provide('database', server.connection);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

async function hasMemory(): Promise<boolean> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free >= MEMORY_LEAST_BYTES;
}

/** Runs one statement on a connection of its own. */
export async function query(connection: ServerConnection, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
