/** Logs in partitions: they are added ahead of time, and dropped or archived when they are old, while others go on. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Gateway } from '../../../src/core/context.ts';
import { maintainLogPartitions } from '../../../src/core/installation/log-partitions.ts';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { firstIdAt, LAST_ID } from '../../../src/lib/crypto/id.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import type { PartitionedTable } from '../../../src/rules/partitions.ts';
import { RETENTION_DEFAULTS, type Retention } from '../../../src/rules/retention.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { lockFolder } from '../../../src/store/embedded/folder-lock.ts';
import type { Partition } from '../../../src/store/installation/partitions.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

const DAY = LIMITS.dayMs;
const NONE: Retention = { ...RETENTION_DEFAULTS, apiCalls: 0 };

let shop: TestGateway;
let archive: string;
let today: number;

beforeAll(async () => {
  archive = await mkdtemp(join(tmpdir(), 'turnpike-archive-'));
});
afterAll(() => rm(archive, { recursive: true }));
beforeEach(async () => {
  shop = await startTestGateway();
  today = Date.now();
});
afterEach(() => shop.close());

/** The gateway so many days later, with these settings. */
const gatewayIn = (days: number, retention: Partial<Retention> = {}, archiveFolder?: string): Gateway => ({
  ...shop.gateway,
  clock: { ...shop.gateway.clock, real: () => today + days * DAY },
  retention: { ...NONE, ...retention },
  archiveFolder,
});
const maintain = async (...options: Parameters<typeof gatewayIn>) => {
  await foldProjections(shop.gateway);
  await maintainLogPartitions(gatewayIn(...options));
};

async function partitionsOf(table: PartitionedTable): Promise<Partition[]> {
  let partitions: Partition[] = [];
  await shop.gateway.partitions.exclusively(async (tools) => {
    partitions = await tools.list(table);
  });
  return partitions;
}

const count = async (table: string): Promise<number> =>
  (await shop.rows(`select count(*)::int as count from ${table}`))[0]?.count as number;

/** An attempt for a payment that was opened so many days from now. */
const attempt = (opened: number, at = opened, attempt = 1): string => `insert into callback_attempts
  (mid, payment_id, seq, attempt, at, status, fault, took_ms) values ('${shop.merchant.mid}',
  '${firstIdAt(today + opened * DAY)}', 2, ${attempt}, '${new Date(today + at * DAY).toISOString()}', 500, e'A "quoted"\\\\ fault\\n', 12)`;

const call = (day: number): string => `insert into api_calls
  (mid, call_id, at, request_id, protocol, action, address, status, took_ms, request, answer) values ('${shop.merchant.mid}',
  '${firstIdAt(today + day * DAY)}', '${new Date(today + day * DAY).toISOString()}', 'r', 's2s', 'SALE', '', 200, 1, '[]', '')`;

/** Each partition begins where the one before ends, and the last one ends after this day, but not long after it. */
async function expectNoGap(table: PartitionedTable, day: number): Promise<Partition[]> {
  const partitions = await partitionsOf(table);
  expect(partitions.slice(1).map(({ from }) => from)).toEqual(partitions.slice(0, -1).map(({ to }) => to));
  const until = partitions.at(-1)?.to as string;
  expect(until > firstIdAt(today + day * DAY)).toBe(true);
  expect(until < firstIdAt(today + (day + 32) * DAY)).toBe(true);
  return partitions;
}

test('partitions follow each other without a gap, and are there before they are needed', async () => {
  await maintain(200);
  await maintain(200);
  const [first, ...months] = await expectNoGap('callback_attempts', 230);
  expect(first?.from).toBe(null);
  expect(months.length).toBeLessThan(10);
  expect(months.every(({ name }) => /^callback_attempts_\d{6}01$/.test(name))).toBe(true);
});

test('partitions are added while a gateway has the lock on its data folder', async () => {
  const lock = await lockFolder(shop.connection);
  const before = await partitionsOf('api_calls');
  await maintain(30);
  expect((await partitionsOf('api_calls')).length).toBeGreaterThan(before.length);
  await lock?.release();
});

test('a month of attempts is archived and dropped when all of its rows are old; later attempts of its payments fit in', async () => {
  await maintain(300);
  for (const day of [100, 101, 102, 160]) await shop.rows(attempt(day));
  // The callback of an old payment was sent again later.
  await shop.rows(attempt(160, 250, 2));
  expect(await count('callback_attempts')).toBe(5);

  await maintain(240, { callbackAttempts: 30 }, archive);
  const [left] = await shop.rows(
    'select count(*)::int as count, min(payment_id::text) as first from callback_attempts',
  );
  expect(left?.first).toBe(firstIdAt(today + 160 * DAY));
  expect(left?.count).toBe(2);
  const lines: Record<string, unknown>[] = [];
  for (const name of await readdir(archive)) {
    expect(name).toMatch(/^callback_attempts_\d{8}-\d{4}-\d\d-\d\d\.jsonl\.gz$/);
    const text = gunzipSync(await readFile(join(archive, name))).toString();
    lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  }
  expect(lines.map(({ payment_id }) => payment_id).sort()).toEqual(
    [100, 101, 102].map((day) => firstIdAt(today + day * DAY)),
  );
  expect(lines[0]).toMatchObject({
    mid: shop.merchant.mid,
    seq: 2,
    attempt: 1,
    fault: 'A "quoted"\\ fault\n',
    took_ms: 12,
  });

  await shop.rows(attempt(100, 240, 2));
  await maintain(275, { callbackAttempts: 30 });
  expect(await count('callback_attempts'), 'the later attempt of day 250 is not old yet').toBe(2);
  await maintain(300, { callbackAttempts: 30 });
  expect(await count('callback_attempts')).toBe(0);
  const names = (await partitionsOf('callback_attempts')).map(({ name }) => name);
  expect(
    await shop.rows(`select relname from pg_class where relname like 'callback_attempts_%' and relkind = 'r'`),
  ).toHaveLength(names.length);
});

test('API calls are dropped by days, and not archived; with 0 days they are kept', async () => {
  for (const day of [3, 6, 9, 12, 15, 18, 20]) await maintain(day, { apiCalls: 31 });
  expect((await expectNoGap('api_calls', 22)).length).toBeGreaterThan(17);
  const before = await readdir(archive);
  for (const day of [8, 9, 10, 11, 12, 19]) await shop.rows(call(day));
  await maintain(20, { apiCalls: 0 }, archive);
  expect(await count('api_calls')).toBe(6);
  await maintain(20, { apiCalls: 9 }, archive);
  const date = new Date(today).toISOString().slice(0, 10);
  const kept = await shop.rows(
    `select (at at time zone 'UTC')::date - '${date}'::date as day from api_calls order by at`,
  );
  expect(kept.map(({ day }) => day)).toEqual([11, 12, 19]);
  expect(await readdir(archive)).toEqual(before);
  const [first] = await partitionsOf('api_calls');
  expect(first?.from).not.toBe(null);
  await maintain(400, { apiCalls: 7 });
  expect(await partitionsOf('api_calls'), 'no days are added on which no process ran').toHaveLength(4);
});

test('while a partition is dropped the log is read and written; a transaction that takes long delays the drop only', async () => {
  await maintain(300);
  await shop.rows(attempt(100));
  const [reader, writer] = [new pg.Client(shop.connection), new pg.Client(shop.connection)];
  await Promise.all([reader.connect(), writer.connect()]);
  await writer.query(`set lock_timeout = '20s'`);
  await reader.query('begin; select from callback_attempts limit 1');
  let isOver = false;
  const dropping = maintain(240, { callbackAttempts: 30 }).finally(() => {
    isOver = true;
  });
  dropping.catch(() => undefined);
  let written = 0;
  for (; !isOver; written++) {
    await writer.query(attempt(240, 240, written + 1));
    await writer.query('select from callback_attempts where payment_id = $1', [firstIdAt(today + 100 * DAY)]);
  }
  await expect(dropping).rejects.toThrow('lock timeout');
  expect(written).toBeGreaterThan(0);
  await reader.query('commit');
  await maintain(240, { callbackAttempts: 30 });
  expect(await count('callback_attempts')).toBe(written);
  await shop.rows(attempt(100, 240, 2));
  await Promise.all([reader.end(), writer.end()]);
});

test('attempts that are not contained in all projections are kept, however old they are', async () => {
  await maintain(300);
  await shop.rows(attempt(100));
  const gateway = gatewayIn(240, { callbackAttempts: 30 });
  await maintainLogPartitions(gateway);
  expect(await count('callback_attempts')).toBe(1);
  await foldProjections(shop.gateway);
  await shop.rows(`update projections set backfill_before = '${LAST_ID}'`);
  await maintainLogPartitions(gateway);
  expect(await count('callback_attempts')).toBe(1);
  await shop.rows('update projections set callback_attempts_since = null');
  await maintainLogPartitions(gateway);
  expect(await count('callback_attempts')).toBe(0);
});

test('a process that was stopped after it detached a partition leaves it to the next one', async () => {
  await maintain(300);
  await shop.rows(attempt(100));
  const partition = (await partitionsOf('callback_attempts')).find(({ to }) => to > firstIdAt(today + 100 * DAY));
  const name = partition?.name as string;
  await shop.gateway.partitions.exclusively((tools) => tools.detach('callback_attempts', name));
  await maintain(240, { callbackAttempts: 30 }, join(archive, 'after a stop'));
  expect(await readdir(join(archive, 'after a stop'))).toEqual([expect.stringMatching(name)]);
  await shop.rows(attempt(100, 240));
  expect(await count('callback_attempts')).toBe(1);
});

test('a folder that cannot be written delays the archive, and nothing else', async () => {
  await maintain(300, { apiCalls: 31 });
  await shop.rows(attempt(100));
  const file = join(archive, 'a file');
  await writeFile(file, '');
  await expect(maintain(240, { callbackAttempts: 30, apiCalls: 7 }, join(file, 'folder'))).rejects.toThrow('ENOTDIR');
  const full = join(archive, 'full');
  const [{ name }] = (await shop.rows(`select relname as name from pg_class where relkind = 'r' and not relispartition
    and relname like 'callback_attempts_%'`)) as [{ name: string }];
  const written = `${name}-${new Date(today + 240 * DAY).toISOString().slice(0, 10)}.jsonl.gz`;
  await mkdir(join(full, `${written}.incomplete`), { recursive: true });
  await expect(maintain(240, { callbackAttempts: 30 }, full)).rejects.toThrow('EISDIR');
  expect((await partitionsOf('api_calls'))[0]?.from, 'old API calls were dropped').not.toBe(null);
  await shop.rows(attempt(100, 240, 2));
  const folder = join(archive, 'later');
  await maintain(240, { callbackAttempts: 30 }, folder);
  expect(await readdir(folder)).toHaveLength(1);
  expect(await count('callback_attempts')).toBe(1);
});

test('an upgrade keeps the rows of both logs, and their indexes', async () => {
  await shop.rows(attempt(-100));
  await shop.rows(call(-3));
  for (const [table, indexes] of [
    ['callback_attempts', ['pkey', 'by_number']],
    ['api_calls', ['pkey', 'by_time', 'refused', 'by_action', 'by_error', 'by_order', 'by_payment']],
  ] as const) {
    await shop.rows(`alter table ${table} detach partition ${table}_before`);
    if (table === 'callback_attempts')
      await shop.rows('alter sequence callback_attempts_number owned by callback_attempts_before.number');
    await shop.rows(`drop table ${table}; alter table ${table}_before rename to ${table}`);
    const names = await shop.rows(`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = '${table}'::regclass order by 1`);
    expect(names.map(({ name }) => name)).toEqual(indexes.map((index) => `${table}_before_${index}`).sort());
    for (const index of indexes) await shop.rows(`alter index ${table}_before_${index} rename to ${table}_${index}`);
  }
  await shop.rows(`delete from migrations where name in ('0035_log_bounds.sql', '0036_log_partitions.sql')`);
  expect(await migrateAt(shop.connection)).toEqual(['0035_log_bounds.sql', '0036_log_partitions.sql']);
  expect([await count('callback_attempts'), await count('api_calls')]).toEqual([1, 1]);
  await shop.rows(attempt(1));
  await shop.rows(call(1));
  expect(await shop.rows('select number::int from callback_attempts order by number')).toEqual([
    { number: 1 },
    { number: 2 },
  ]);
  expect(await shop.rows('select indexrelid::regclass from pg_index where not indisvalid')).toEqual([]);
});
