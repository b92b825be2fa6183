/** Connections to the database that died without a word: requests get 503, and new connections are made. */
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';

shortenLimits({ statementTimeoutMs: 2000, hotStatementTimeoutMs: 1000, answerGraceMs: 500, probeTimeoutMs: 500 });

/** The longest that a request may take: it waits for one connection that is dead, and then for a new one. */
const outcomeTimeoutMs = (): number =>
  LIMITS.hotStatementTimeoutMs + LIMITS.answerGraceMs + LIMITS.databaseConnectTimeoutMs;

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

test('sales on frozen connections are refused with 503 in time, and then sales work again', async () => {
  expect((await shop.sale()).status).toBe(200);
  const { trans_id } = (await shop.sale()).body;
  expect((await shop.status(trans_id)).status).toBe(200);
  const ready = () => fetch(`${shop.url}/health/ready`, { signal: AbortSignal.timeout(2 * LIMITS.probeTimeoutMs) });
  expect((await ready()).status).toBe(200);
  proxy.freeze();
  // What was proved a moment ago counts for that moment.
  await vi.waitFor(async () => expect((await ready()).status).toBe(503), 4 * LIMITS.probeTimeoutMs);
  const statuses = await Promise.all(
    [shop.sale(), shop.sale(), shop.status(trans_id)].map(async (a) => (await a).status),
  );
  // One batch is in flight at a time: the second sale may be sent over a new connection, after the first was given up.
  expect(statuses).toEqual([503, expect.toBeOneOf([200, 503]), 503]);
  await vi.waitFor(async () => expect((await shop.sale()).status).toBe(200), {
    timeout: outcomeTimeoutMs(),
    interval: 100,
  });
  expect((await ready()).status).toBe(200);
  await vi.waitFor(async () => expect((await shop.status(trans_id)).status).toBe(200), {
    timeout: outcomeTimeoutMs(),
    interval: 100,
  });
}, 60_000);
