/** The embedded database with real server processes: first start, takeover, crashes, damage and odd places. */

import { execFile, spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { StartupError } from '../../../src/lib/flow/startup-error.ts';
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from '../../../src/store/embedded/embedded.ts';

vi.setConfig({ testTimeout: 120_000 });

const execute = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A cluster that was started once and stopped; a copy of it spares the other tests the time to create one. */
let created: string;
beforeAll(async () => {
  const parent = await fs.mkdtemp(join(tmpdir(), 'embedded-test-'));
  await fs.chmod(parent, 0o755);
  created = join(parent, 'postgres');
  await (await startEmbedded({ folder: created, settings: { shared_buffers: '16MB' } })).stop();
});
afterAll(() => fs.rm(dirname(created), { recursive: true, force: true }));

/** A place that holds a cluster already, which is not running. */
async function clusterPlace(mode?: number): Promise<string> {
  const folder = await place(mode);
  await execute('cp', ['-a', created, folder]);
  return folder;
}

async function place(mode = 0o755): Promise<string> {
  const parent = await fs.mkdtemp(join(tmpdir(), 'embedded-test-'));
  cleanups.push(() => fs.rm(parent, { recursive: true, force: true }));
  await fs.chmod(parent, mode);
  return join(parent, 'postgres');
}

async function start(folder: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ folder, settings: { shared_buffers: '16MB' }, ...options });
  cleanups.push(() => database.stop());
  return database;
}

async function ask(database: EmbeddedDatabase, statement: string): Promise<unknown[]> {
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    return (await client.query({ text: statement, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

const keepRow = (database: EmbeddedDatabase) => ask(database, 'create table kept as select 42 as value');
const keptRow = (database: EmbeddedDatabase) => ask(database, 'select value from kept');
const pidFile = (folder: string) => join(folder, 'postmaster.pid');
const serverPid = async (folder: string) => Number.parseInt(await fs.readFile(pidFile(folder), 'utf8'), 10);

async function refusal(folder: string): Promise<string> {
  const error = await start(folder).catch((error) => error);
  expect(error).toBeInstanceOf(StartupError);
  return error.message;
}

test('a first start creates the database, and a second one finds what was written', async () => {
  const folder = await place();
  const progress: string[] = [];
  const first = await start(folder, { onProgress: (sentence) => progress.push(sentence) });
  expect(first).toMatchObject({ firstStart: true, takenOver: false, connection: { host: folder, user: 'turnpike' } });
  expect(progress).toEqual([`Creating the database in ${folder}.`, `Starting the database in ${folder}.`]);
  await keepRow(first);
  const pid = await serverPid(folder);
  await first.stop();
  await expect(fs.stat(pidFile(folder))).rejects.toThrow('ENOENT');
  // Its parent, this process, may still have to take note of its end.
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 60_000);

  const second = await start(folder);
  expect(second).toMatchObject({ firstStart: false, takenOver: false });
  expect(await keptRow(second)).toEqual([42]);
});

test('the server is durable, silent about values, and reachable through a private socket alone', async () => {
  const folder = await clusterPlace();
  const database = await start(folder, { settings: {} });
  const shown = async (name: string) => (await ask(database, `show ${name}`))[0];
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums']) {
    expect(await shown(name)).toBe('on');
  }
  expect(await shown('listen_addresses')).toBe('');
  expect(await shown('shared_buffers')).toBe('256MB');
  expect(await shown('server_encoding')).toBe('UTF8');
  expect((await fs.stat(folder)).mode & 0o777).toBe(0o700);
  await ask(database, 'create table once (number text primary key)');
  await ask(database, "insert into once values ('4111111111111111')");
  await expect(ask(database, "insert into once values ('4111111111111111')")).rejects.toThrow('duplicate key');
  const log = await fs.readFile(`${folder}.log`, 'utf8');
  expect(log).toContain('duplicate key');
  expect(log).not.toContain('4111');
});

test('a server left running is taken over, and stopped by the process that took it over', async () => {
  const folder = await clusterPlace();
  await keepRow(await start(folder));
  const pid = await serverPid(folder);
  const again = await start(folder);
  expect(again).toMatchObject({ firstStart: false, takenOver: true });
  expect(await serverPid(folder)).toBe(pid);
  expect(await keptRow(again)).toEqual([42]);
  await again.stop();
  await expect(fs.stat(pidFile(folder))).rejects.toThrow('ENOENT');
});

test('a server that is shutting down is waited for', async () => {
  const folder = await clusterPlace();
  const first = await start(folder);
  await keepRow(first);
  const stopped = first.stop();
  const second = await start(folder);
  await stopped;
  expect(await keptRow(second)).toEqual([42]);
});

test('after the server was killed the next start recovers', async () => {
  const folder = await clusterPlace();
  await keepRow(await start(folder));
  process.kill(await serverPid(folder), 'SIGKILL');
  const again = await start(folder);
  expect(again.takenOver).toBe(false);
  expect(await keptRow(again)).toEqual([42]);
});

test('a lock whose process number passed to another process does not hinder the start', async () => {
  const folder = await clusterPlace();
  const first = await start(folder);
  await keepRow(first);
  const pid = await serverPid(folder);
  const locks = [pidFile(folder), join(folder, '.s.PGSQL.5432.lock')];
  const contents = await Promise.all(locks.map((lock) => fs.readFile(lock, 'utf8')));
  await first.stop();

  // Of the server's own user: only such a process does PostgreSQL take for a server.
  const { uid, gid } = await fs.stat(folder);
  const foreigner = spawn('sleep', ['600'], isRoot ? { uid, gid } : {});
  cleanups.push(async () => foreigner.kill());
  for (const [index, lock] of locks.entries()) {
    await fs.writeFile(lock, (contents[index] ?? '').replace(String(pid), String(foreigner.pid)));
    await fs.chown(lock, uid, gid);
  }
  const again = await start(folder);
  expect(again.takenOver).toBe(false);
  expect(await keptRow(again)).toEqual([42]);
  await again.stop();
  expect(foreigner.exitCode ?? foreigner.signalCode).toBeNull();
});

test('a folder that holds something else is refused and left as it is', async () => {
  const folder = await place();
  await fs.mkdir(folder);
  await fs.writeFile(join(folder, 'letter.txt'), 'dear');
  expect(await refusal(folder)).toContain(folder);
  expect(await fs.readdir(folder)).toEqual(['letter.txt']);
});

test('a folder of another PostgreSQL version is refused with both versions', async () => {
  const folder = await place();
  await fs.mkdir(folder);
  await fs.writeFile(join(folder, 'PG_VERSION'), '16\n');
  expect(await refusal(folder)).toMatch(new RegExp(`${folder}.*PostgreSQL 16.*18`));
});

test('a place that cannot be a folder is refused', async () => {
  const folder = await place();
  await fs.writeFile(folder, '');
  expect(await refusal(folder)).toContain(folder);
  expect(await refusal(join(folder, 'postgres'))).toContain(folder);
});

test.skipIf(isRoot)('a parent that cannot be written is refused', async () => {
  expect(await refusal(await place(0o555))).toContain('cannot be written');
});

test('a damaged cluster is refused with its complaint and its log', async () => {
  const folder = await clusterPlace();
  await (await start(folder)).stop();
  await fs.truncate(join(folder, 'global/pg_control'), 0);
  const message = await refusal(folder);
  expect(message).toContain('pg_control');
  expect(message).toContain(`${folder}.log`);
});

test('a setting the server rejects is refused with its complaint', async () => {
  const folder = await clusterPlace();
  const attempt = startEmbedded({ folder, settings: { shared_buffers: 'plenty' } });
  await expect(attempt).rejects.toThrow(/shared_buffers.*\.log/);
});

test('a path too long for a socket is served through a private folder elsewhere', async () => {
  const folder = join(await place(), 'long'.repeat(25), 'with a "quoted", comma');
  await fs.mkdir(dirname(folder), { recursive: true });
  await execute('cp', ['-a', created, folder]);
  const database = await start(folder);
  const { host } = database.connection;
  cleanups.splice(1, 0, () => fs.rm(host, { recursive: true }));
  expect(host.length).toBeLessThan(90);
  expect((await fs.stat(host)).mode & 0o777).toBe(0o700);
  await keepRow(database);
  expect(await keptRow(await start(folder))).toEqual([42]);
});

test('concurrent first starts share one server', async () => {
  const folder = await place();
  const databases = await Promise.all([start(folder), start(folder), start(folder)]);
  expect(databases.filter((database) => database.firstStart)).toHaveLength(1);
  expect(databases.filter((database) => !database.takenOver)).toHaveLength(1);
  const began = await Promise.all(
    databases.map((database) => ask(database, 'select pg_postmaster_start_time()::text')),
  );
  expect(new Set(began.flat()).size).toBe(1);
  expect((await fs.readdir(join(folder, '..'))).sort()).toEqual(['postgres', 'postgres.log']);
});

test('what a start that died while creating left behind is cleared away', async () => {
  const folder = await place();
  const dead = spawn('true');
  await new Promise((resolve) => dead.once('exit', resolve));
  await fs.mkdir(`${folder}.new-${dead.pid}-abcDEF`);
  await start(folder);
  expect((await fs.readdir(join(folder, '..'))).sort()).toEqual(['postgres', 'postgres.log']);
});

test.runIf(isRoot)('as root it works below a folder that only root may enter', async () => {
  const folder = await clusterPlace(0o700);
  const first = await start(folder);
  await keepRow(first);
  await first.stop();
  const second = await start(folder);
  expect(await keptRow(second)).toEqual([42]);
  expect((await fs.stat(folder)).uid).not.toBe(0);
  expect((await fs.stat(`/proc/${await serverPid(folder)}`)).uid).not.toBe(0);
});
