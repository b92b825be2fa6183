/** PostgreSQL hangs and comes back: requests get 503 meanwhile, and none of them takes effect afterwards. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type PausableServer, startPausableServer } from '../../support/faulty-database.ts';
import { newOrderId, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';

shortenLimits({ hotStatementTimeoutMs: 4000, answerGraceMs: 1000, probeTimeoutMs: 500 });

let server: PausableServer;
let shop: TestGateway;
beforeAll(async () => {
  server = await startPausableServer();
  shop = await startTestGateway({ server: server.connection, logLevel: 'error' });
});
afterEach(() => server.resume());
afterAll(async () => {
  await shop.close();
  await server.stop();
});

/** The sessions of the database that wrote payments last. */
const writers = (): Promise<Record<string, unknown>[]> =>
  shop.rows(`select pid from pg_stat_activity
    where datname = current_database() and query ~ '(insert into|update) payments' and pid <> pg_backend_pid()`);

test('a sale that was refused while PostgreSQL hung is not made later, and a repeat is made at once', async () => {
  expect((await shop.sale()).status).toBe(200);
  const before = await writers();
  expect(before).toHaveLength(1);
  const orders = Array.from({ length: 5 }, newOrderId);
  server.pause();
  try {
    // Readiness is proved on the connection that payments use.
    const ready = fetch(`${shop.url}/health/ready`);
    const answers = await Promise.all(orders.map((order_id) => shop.sale({ order_id })));
    expect(answers.map(({ status }) => status)).toEqual(orders.map(() => 503));
    expect((await ready).status).toBe(503);
  } finally {
    server.resume();
  }
  // The session that got their statements has worked on them when it is gone.
  await expect.poll(writers).not.toEqual(expect.arrayContaining(before));
  const listed = orders.map((order) => `'${order}'`).join(',');
  expect(await shop.rows(`select state from payments where order_id in (${listed})`)).toEqual([]);
  const repeats = await Promise.all(orders.map((order_id) => shop.sale({ order_id })));
  await expect.poll(async () => (await fetch(`${shop.url}/health/ready`)).status).toBe(200);
  expect(repeats.map(({ status, body }) => [status, body.status])).toEqual(orders.map(() => [200, 'SETTLED']));
  await shop.advanceClock(3600);
  expect(
    await shop.rows(`select count(*)::int, count(distinct order_id)::int as orders from payments
    where order_id in (${listed})`),
  ).toEqual([{ count: orders.length, orders: orders.length }]);
});
