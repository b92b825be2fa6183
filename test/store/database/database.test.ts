/** Connections to PostgreSQL: their settings, and when they are not used again. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isOutage } from '../../../src/lib/flow/faults.ts';
import { type Database, openDatabase } from '../../../src/store/database/database.ts';
import { openPipelinedConnection, type PipelinedConnection } from '../../../src/store/database/pipelined-connection.ts';

let database: Database;
beforeAll(() => {
  database = openDatabase(inject('database'), () => undefined);
});
afterAll(() => database.close());

const BACKEND = { name: 'backend', text: 'select pg_backend_pid() as pid', values: [] };
const sleep = (seconds: number) => ({ name: `sleep_${seconds}`, text: `select pg_sleep(${seconds})`, values: [] });

/** The driver supports this option of a statement, but its types lack it. */
const impatient = (text: string): pg.QueryConfig => ({ text, query_timeout: 100 }) as pg.QueryConfig;

test('a pooled connection is not reused after a response timeout', async () => {
  const client = await database.pool.connect();
  const { pid } = (await client.query(BACKEND.text)).rows[0];
  const error = await client.query(impatient('select pg_sleep(20)')).catch((fault) => fault);
  expect(isOutage(error)).toBe(true);
  client.release();
  expect((await database.pool.query(BACKEND.text)).rows[0].pid).not.toBe(pid);
});

test('a pipelined connection fails everything in flight after a response timeout, and reconnects', async () => {
  const faults: Error[] = [];
  const connection = openPipelinedConnection({ ...inject('database'), query_timeout: 5000 }, (fault) =>
    faults.push(fault),
  );
  const before = (await connection.query(BACKEND)).rows;
  const errors = await Promise.all(
    [sleep(20), BACKEND, sleep(0)].map((statement) => connection.query(statement).then(String, (fault) => fault)),
  );
  expect(errors.map(isOutage)).toEqual([true, true, true]);
  expect((await connection.query(BACKEND)).rows).not.toEqual(before);
  expect(faults).toHaveLength(1);
  await connection.end();
});

test('a connection to a server that became read-only is not used again', async () => {
  const write = { name: 'write', text: 'create temporary table t ()', values: [] };
  const readOnly = {
    name: 'read_only',
    text: `select set_config('default_transaction_read_only', 'on', false)`,
    values: [],
  };
  for (const connection of [database.pool, database.writes] as PipelinedConnection[]) {
    const [before] = (await connection.query(BACKEND)).rows as { pid: number }[];
    await connection.query(readOnly);
    const error = await connection.query(write).then(String, (fault) => fault);
    expect([error.code, isOutage(error)]).toEqual(['25006', true]);
    const [after] = (await connection.query(BACKEND)).rows as { pid: number }[];
    expect(after?.pid).not.toBe(before?.pid);
    await connection.query(write);
  }
});

test('sessions have their settings whatever the server and the role prefer', async () => {
  const settings = `select current_setting('timezone') as timezone, current_setting('jit') as jit,
    current_setting('client_min_messages') as messages, current_setting('statement_timeout') as timeout`;
  const usual = { timezone: 'UTC', jit: 'off', messages: 'warning' };
  expect((await database.pool.query(settings)).rows).toEqual([{ ...usual, timeout: '30s' }]);
  expect((await database.reads.query({ name: 'settings', text: settings, values: [] })).rows).toEqual([
    { ...usual, timeout: '10s' },
  ]);
});
