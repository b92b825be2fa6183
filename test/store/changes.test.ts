/** The LISTEN connection notices a failover, and all connections to the former primary are dropped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { isOutage } from '../../src/lib/faults.ts';
import { type ChangeListener, listenToChanges } from '../../src/store/changes.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded.ts';
import type { PipelinedConnection } from '../../src/store/pipelined-connection.ts';
import { type FreezingProxy, startFreezingProxy } from '../support/faulty-database.ts';
import { shortenLimits } from '../support/limits.ts';

shortenLimits({ heartbeatMs: 100, heartbeatTimeoutMs: 500 });

let folder: string;
let standby: EmbeddedDatabase;
let proxy: FreezingProxy;
let database: Database;
let changes: ChangeListener;
let happened: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-changes-'));
  standby = await startEmbedded({ folder: join(folder, 'postgres') });
  proxy = await startFreezingProxy(inject('database'));
  const { user } = inject('database');
  const connection = { host: proxy.host, port: proxy.port, user, database: 'postgres' };
  database = openDatabase(connection, () => undefined);
  changes = await listenToChanges(connection, {
    onChange: () => undefined,
    onGap: () => void happened.push('gap'),
    onFailover() {
      happened.push('failover');
      database.dropConnections();
    },
  });
});
afterAll(async () => {
  await changes.close();
  await database.close();
  await proxy.close();
  await standby.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  happened = [];
});

const BACKEND = {
  name: 'backend',
  text: `select pg_backend_pid() as pid, current_setting('data_directory') as server`,
  values: [],
};
const backends = async (): Promise<{ pid: number; server: string }[]> => {
  const { pool, writes, reads, deliveries, isolated } = database;
  const all = [pool as unknown as PipelinedConnection, writes, reads, deliveries, isolated];
  return Promise.all(all.map(async (each) => (await each.query(BACKEND)).rows[0] as { pid: number; server: string }));
};

test('a connection that is restored to the same server leaves the others as they are', async () => {
  const before = await backends();
  proxy.freeze('listen turnpike_changes');
  await expect.poll(() => happened).toEqual(['gap', 'gap']);
  expect(await backends()).toEqual(before);
});

test('after a failover no statement is answered by the former primary, although it still answers', async () => {
  const before = await backends();
  const inFlight = database.reads
    .query({ name: 'sleep', text: 'select pg_sleep(60)', values: [] })
    .catch((error) => error);
  proxy.redirect(standby.connection);
  proxy.freeze('listen turnpike_changes');
  await expect.poll(() => happened).toEqual(['gap', 'failover', 'gap']);
  expect(isOutage(await inFlight)).toBe(true);
  const servers = new Set((await backends()).map(({ server }) => server));
  expect(servers).toEqual(new Set([join(folder, 'postgres')]));
  expect(servers).not.toContain(before[0]?.server);
});
