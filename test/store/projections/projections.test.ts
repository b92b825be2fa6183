/** The engine of projections: every row of the logs is folded once, before and after a build, by several processes. */
import { beforeAll, expect, test, vi } from 'vitest';
import { foldDueProjections, foldProjections } from '../../../src/core/projections/projections.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type Database, openDatabase, types } from '../../../src/store/database/database.ts';
import type { Projection } from '../../../src/store/projections/projection.ts';
import { createProjectionStore } from '../../../src/store/projections/projections.ts';
import { readProjection } from '../../../src/store/projections/read.ts';
import { openShop } from '../../support/gateway.ts';
import { openPool } from '../../support/pool.ts';
import { CREATE_ROWS, rowProjection } from '../../support/row-projection.ts';

const shop = openShop();

const rowsOf = (log: string): Promise<Record<string, unknown>[]> =>
  shop.rows(`select mid, payment_id, seq from ${log} order by 1, 2, 3`);
const foldedOf = (log: string): Promise<Record<string, unknown>[]> =>
  shop.rows(`select mid, payment_id, seq from folded_rows where log = '${log}' order by 1, 2, 3`);
const foldAll = (): Promise<void> => foldProjections(shop.gateway, undefined, [rowProjection]);
const status = async () => (await shop.gateway.projections.statuses([rowProjection]))[0];

beforeAll(async () => {
  await shop.rows(CREATE_ROWS);
  const { mid } = shop.merchant;
  await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: `${shop.url}/sandbox/callbacks/${mid}` });
  for (let sale = 0; sale < 5; sale++) await shop.sale();
  await shop.gateway.deliverer.drain();
});

test('a new projection takes the rows that exist by payment, the newest payments first', async () => {
  await shop.rows(
    'update history set number = null where payment_id = (select min(payment_id::text)::uuid from payments)',
  );
  await foldAll();
  expect(await foldedOf('history')).toEqual(await rowsOf('history'));
  expect(await foldedOf('callback_attempts')).toEqual(await rowsOf('callback_attempts'));
  const payments = (order: string) =>
    shop.rows(`select payment_id from folded_rows group by payment_id order by ${order}`);
  expect(await payments('min(fold)')).toEqual(await payments('payment_id desc'));
});

test('rows that follow are taken in their order', async () => {
  for (let sale = 0; sale < 3; sale++) await shop.sale();
  await shop.gateway.deliverer.drain();
  expect((await status())?.rowsBehind).toBeGreaterThan(0n);
  await foldAll();
  expect(await foldedOf('history')).toEqual(await rowsOf('history'));
  expect(await foldedOf('callback_attempts')).toEqual(await rowsOf('callback_attempts'));
  expect(await status()).toMatchObject({ rowsBehind: 0n, secondsBehind: 0, backfilled: null });
});

test('a rebuild takes everything again, and keeps what the log may no longer have', async () => {
  await shop.rows(`delete from folded_rows where log = 'history' and seq = 1`);
  expect(await shop.gateway.projections.rebuild(rowProjection)).toBe(true);
  expect(await foldedOf('history')).toEqual([]);
  expect(await status()).toMatchObject({ backfilled: 0 });
  await shop.sale();
  await foldAll();
  expect(await foldedOf('history')).toEqual(await rowsOf('history'));
});

test('a rebuild of much takes longer than any other statement may', async () => {
  const pool = openPool({ ...shop.connection, types, query_timeout: 1500, statement_timeout: 1500 });
  const slowly: Projection = {
    ...rowProjection,
    async reset(client) {
      await client.query('select pg_sleep(2)');
      await rowProjection.reset(client);
    },
  };
  expect(await createProjectionStore({ pool } as Database).rebuild(slowly)).toBe(true);
  await pool.end();
  expect(await foldedOf('history')).toEqual([]);
  await foldAll();
  expect(await foldedOf('history')).toEqual(await rowsOf('history'));
});

test('a projection that fails does not stop the others, and is tried again after a while', async () => {
  const retryMs = LIMITS.projectionRetryMs;
  let tries = 0;
  const failing: Projection = {
    ...rowProjection,
    name: 'failing',
    async fold(client, portion) {
      tries++;
      if (tries < 3) await client.query('select from no_such_table');
      await client.query(`create table if not exists tried (rows bigint)`);
      await client.query(`insert into tried select count(*) from (${portion.history}) h`);
    },
  };
  const fold = () => foldDueProjections(shop.gateway, undefined, [failing, rowProjection]);
  try {
    await shop.sale();
    await fold();
    await fold();
    expect(tries).toBe(1);
    expect(await foldedOf('history')).toEqual(await rowsOf('history'));
    expect(
      shop.logs.filter((line) => line.includes('projection failed') && line.includes('no_such_table')),
    ).toHaveLength(1);
    expect(await shop.gateway.metrics.text()).toContain('turnpike_projection_failures_total{projection="failing"} 1');
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + retryMs);
    Object.assign(LIMITS, { projectionRetryMs: 20 });
    await expect.poll(fold).toSatisfy(() => tries > 3);
    expect(await shop.rows('select sum(rows)::int as rows from tried')).toEqual([
      { rows: (await rowsOf('history')).length },
    ]);
  } finally {
    Object.assign(LIMITS, { projectionRetryMs: retryMs });
  }
});

test('while sales, a rebuild and two processes run, every snapshot has each row once, in the projection or in its tail', async () => {
  const other = await shop.anotherGateway();
  const database = openDatabase(shop.connection, () => undefined);
  let isDone = false;
  let readings = 0;
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (!isDone) await work();
  };
  const read = () =>
    readProjection(database, rowProjection, async ({ client, tail, isComplete }) => {
      const { rows } = await client.query(`
        select (select count(*) from history)::int as all, (select count(*) from folded_rows where log = 'history')::int as folded,
          (select count(*) from (${tail.history}) h)::int as tail`);
      const [counts] = rows;
      if (isComplete) expect(counts.folded + counts.tail).toBe(counts.all);
      else expect(counts.folded + counts.tail).toBeLessThanOrEqual(counts.all);
      readings++;
    });
  const running = [repeat(foldAll), repeat(() => foldProjections(other, undefined, [rowProjection])), repeat(read)];
  for (let made = 0; made < 40; made += 8) {
    if (made === 16) expect(await shop.gateway.projections.rebuild(rowProjection)).toBe(true);
    await Promise.all(Array.from({ length: 8 }, () => shop.sale()));
  }
  isDone = true;
  await Promise.all(running);
  await foldAll();
  expect(readings).toBeGreaterThan(3);
  expect(await foldedOf('history')).toEqual(await rowsOf('history'));
  expect(await foldedOf('callback_attempts')).toEqual(await rowsOf('callback_attempts'));
  await database.close();
});
