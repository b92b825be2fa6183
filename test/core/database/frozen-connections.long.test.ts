/** Connections to the database that died without a word: requests get 503, and new connections are made. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';

shortenLimits({ statementTimeoutMs: 4000, hotStatementTimeoutMs: 3000, answerGraceMs: 1000, probeTimeoutMs: 1000 });

let proxy: FreezingProxy;
let shop: TestGateway;
beforeAll(async () => {
  proxy = await startFreezingProxy(inject('database'));
  shop = await startTestGateway({ through: proxy, logLevel: 'error' });
});
afterAll(async () => {
  await shop.close();
  await proxy.close();
});

test('sales on frozen connections are refused with 503, and then sales work again', async () => {
  expect((await shop.sale()).status).toBe(200);
  const { trans_id } = (await shop.sale()).body;
  expect((await shop.status(trans_id)).status).toBe(200);
  const ready = async (): Promise<number> => (await fetch(`${shop.url}/health/ready`)).status;
  await expect.poll(ready).toBe(200);
  proxy.freeze();
  // What was proved a moment ago counts for that moment.
  await expect.poll(ready).toBe(503);
  const statuses = await Promise.all(
    [shop.sale(), shop.sale(), shop.status(trans_id)].map(async (a) => (await a).status),
  );
  // One batch is in flight at a time: the second sale may be sent over a new connection, after the first was given up.
  expect(statuses).toEqual([503, expect.toBeOneOf([200, 503]), 503]);
  await expect.poll(async () => (await shop.sale()).status).toBe(200);
  await expect.poll(ready).toBe(200);
  await expect.poll(async () => (await shop.status(trans_id)).status).toBe(200);
});
