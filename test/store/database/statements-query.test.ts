/** Statements of a pipelined connection, and packets of them: their rows are read alike, described or not. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database/database.ts';
import { createPacket, type Packet } from '../../../src/store/database/packet.ts';
import type { Rows, Statement } from '../../../src/store/database/statements-query.ts';

let database: Database;
beforeAll(() => {
  database = openDatabase(inject('database'), () => undefined);
});
afterAll(() => database.close());

const VALUES: Statement = {
  name: 'values',
  text: `select n, n * 10000000000 as large, null::text as nothing, 'x' || n as text, n > 1 as is_large,
    '2026-01-31T12:00:00.25Z'::timestamptz as at, array[n::text, null] as list, jsonb_build_object('n', n) as json
    from generate_series(1, $1::int) n`,
  values: [2],
};
const row = (n: number) => ({
  ...{ n, large: BigInt(n) * 10_000_000_000n, nothing: null, text: `x${n}`, is_large: n > 1 },
  ...{ at: Date.UTC(2026, 0, 31, 12) + 250, list: [String(n), null], json: { n } },
});
const SILENT: Statement = { name: 'silent', text: `set local statement_timeout = '1min'`, values: [] };
const divide = (by: number): Statement => ({ name: 'divide', text: 'select 1 / $1::int as one', values: [by] });

const reject = (promise: Promise<unknown>): Promise<string> => promise.then(String, ({ message }) => message);

test('rows have the types of their columns, when the statement is new and when it is known', async () => {
  for (let time = 0; time < 3; time++) {
    expect(await database.writes.query(VALUES)).toEqual({ rows: [row(1), row(2)] });
    expect(await database.writes.query({ ...VALUES, values: [0] })).toEqual({ rows: [] });
  }
});

test('statements that are sent at once get their own rows', async () => {
  const statements = [VALUES, divide(1), { ...VALUES, values: [1] }, divide(-1)];
  const results = await Promise.all(statements.map((statement) => database.reads.query(statement)));
  expect(results.map(({ rows }) => rows)).toEqual([[row(1), row(2)], [{ one: 1 }], [row(1)], [{ one: -1 }]]);
});

test('a statement that fails changes nothing for the others, and runs again', async () => {
  const { writes } = database;
  for (let time = 0; time < 2; time++) {
    const failed = reject(writes.query(divide(0)));
    const next = writes.query(divide(1));
    expect(await failed).toBe('division by zero');
    expect((await next).rows).toEqual([{ one: 1 }]);
  }
  expect(await reject(writes.query({ name: 'wrong', text: 'select from nowhere', values: [] }))).toMatch(/nowhere/);
  expect(await reject(writes.query({ name: 'wrong', text: 'select from nowhere', values: [] }))).toMatch(/nowhere/);
});

/** Sends a packet over the connection of the writes. */
async function sent(add: (packet: Packet) => Promise<Rows>[]): Promise<unknown[]> {
  const packet = createPacket();
  const results = Promise.allSettled(add(packet));
  await database.writes.send?.(packet).catch(() => undefined);
  return (await results).map((result) => (result.status === 'fulfilled' ? result.value.rows : result.reason.message));
}

test('a packet has the rows of each of its statements, also of those that return none', async () => {
  for (let time = 0; time < 3; time++) {
    expect(
      await sent((packet) => [
        packet.query(SILENT),
        packet.query(VALUES),
        packet.query(divide(1)),
        packet.query(SILENT),
      ]),
    ).toEqual([[], [row(1), row(2)], [{ one: 1 }], []]);
  }
});

test('if a statement of a packet fails, all of them fail, and the next packet does not', async () => {
  const both = (by: number) => sent((packet) => [packet.query(VALUES), packet.query(divide(by))]);
  const failure = 'division by zero';
  expect([await both(0), await both(1), await both(0), await both(1)]).toEqual([
    [failure, failure],
    [[row(1), row(2)], [{ one: 1 }]],
    [failure, failure],
    [[row(1), row(2)], [{ one: 1 }]],
  ]);
});
