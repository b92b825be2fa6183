/** A failover of the database: the gateway leaves the former primary, even if it still answers. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { isOutage } from '../../../src/lib/flow/faults.ts';
import { openClient } from '../../../src/store/database/bounded-client.ts';
import { type ChangeListener, listenToChanges } from '../../../src/store/database/changes.ts';
import { type Database, openDatabase } from '../../../src/store/database/database.ts';
import type { PipelinedConnection } from '../../../src/store/database/pipelined-connection.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../../src/store/embedded/embedded.ts';
import { query } from '../../support/database.ts';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { lengthenLimits, shortenLimits } from '../../support/limits.ts';

shortenLimits({ heartbeatMs: 100, heartbeatTimeoutMs: 4000 });
lengthenLimits({ primaryProbeTimeoutMs: 10_000, primaryChoiceMs: 5000 });

/** A server that was a standby and was promoted, so that its timeline is newer than that of the server of the tests. */
async function startPromoted(at: string): Promise<EmbeddedDatabase> {
  await (await startEmbedded({ folder: at })).stop();
  await writeFile(join(at, 'standby.signal'), '');
  const server = await startEmbedded({ folder: at });
  await query(server.connection, 'select pg_promote()');
  return server;
}

let folder: string;
let successor: EmbeddedDatabase;
let proxy: FreezingProxy;
let database: Database;
let changes: ChangeListener;
let happened: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-changes-'));
  successor = await startPromoted(join(folder, 'postgres'));
  proxy = await startFreezingProxy(inject('database'));
  const { user } = inject('database');
  const connection = { host: proxy.host, port: proxy.port, user, database: 'postgres' };
  database = openDatabase(connection, () => undefined);
  changes = await listenToChanges(connection, {
    onChange: () => undefined,
    onGap: () => void happened.push('gap'),
    onFailover(server) {
      happened.push('failover');
      database.leaveOtherServers(server);
    },
  });
});
afterAll(async () => {
  await changes.close();
  await database.close();
  await proxy.close();
  await successor.stop();
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
  proxy.redirect(successor.connection);
  // The pool connects to the new server before the failover is noticed, and keeps that connection.
  const connected = await Promise.all(Array.from({ length: 2 }, () => database.pool.query(BACKEND)));
  proxy.freeze('listen turnpike_changes');
  await expect.poll(() => happened).toEqual(['gap', 'failover', 'gap']);
  expect(isOutage(await inFlight)).toBe(true);
  const kept = connected.map(({ rows }) => rows[0]).find(({ server }) => server === join(folder, 'postgres'));
  expect((await database.pool.query(BACKEND)).rows[0]).toEqual(kept);
  const servers = new Set((await backends()).map(({ server }) => server));
  expect(servers).toEqual(new Set([join(folder, 'postgres')]));
  expect(servers).not.toContain(before[0]?.server);
});

describe('an address of several hosts', () => {
  let proxies: FreezingProxy[];
  beforeEach(async () => {
    proxies = await Promise.all([inject('database'), successor.connection].map(startFreezingProxy));
  });
  afterEach(() => Promise.all(proxies.map((each) => each.close())));

  async function serverAt(ports: readonly (number | undefined)[]): Promise<string> {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
    const client = await openClient({ connectionString: `postgres://${inject('database').user}@${hosts}/postgres` });
    return client
      .query(BACKEND.text)
      .then(({ rows }) => rows[0].server)
      .finally(() => client.end());
  }

  test('leads to the server with the newest timeline, whatever their order, and if another one is silent', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const [old, promoted] = proxies.map(({ port }) => port);
    const { port } = silent.address() as { port: number };
    for (const ports of [
      [old, promoted],
      [promoted, old],
      [port, old, promoted],
    ])
      expect(await serverAt(ports)).toBe(join(folder, 'postgres'));
    silent.close();
  });

  test('does not lead back to the former primary when the new one is down', async () => {
    const ports = proxies.map(({ port }) => port);
    expect(await serverAt(ports)).toBe(join(folder, 'postgres'));
    await proxies[1]?.close();
    await expect(serverAt(ports)).rejects.toThrow();
    // A process that has not seen the new one takes what there is.
    expect(await serverAt(ports.toReversed())).not.toBe(join(folder, 'postgres'));
  });
});
