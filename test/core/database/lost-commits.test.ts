/** Connections to the database that are lost at a commit: the write is looked up by its key, and never guessed. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { newOrderId, startTestGateway, type TestGateway } from '../../support/gateway.ts';

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

const paymentsOf = (orderId: string) => shop.rows(`select state from payments where order_id = '${orderId}'`);

test.each([
  ['intent', (orderId: string) => orderId],
  ['outcome', () => 'settled'],
])('a sale goes on when the response to the commit of its %s is lost', async (_, textFor) => {
  // The statement is prepared by then: only its values are sent.
  await shop.sale();
  const order_id = newOrderId();
  proxy.cutAt(textFor(order_id), 'answer');
  const { status, body } = await shop.sale({ order_id });
  expect([status, body.status]).toEqual([200, 'SETTLED']);
  expect(await shop.events(body.trans_id)).toEqual(['opened', 'settled']);
  expect(await paymentsOf(order_id)).toEqual([{ state: 'SETTLED' }]);
});

test('a refund goes on when the response to the commit of its intent is lost, and is made once', async () => {
  const { trans_id } = (await shop.sale()).body;
  proxy.cutAt('requested refund', 'answer');
  const { status } = await shop.admin('POST', `/payments/${trans_id}/refund`, { amount: '4.00' });
  expect(status).toBe(200);
  expect((await shop.inspect(trans_id)).refunded).toBe('4.00');
  expect(await shop.events(trans_id)).toEqual(['opened', 'settled', 'requested refund', 'partlyRefunded']);
});

test('a sale whose intent did not reach the database is answered with 503, and a repeat is made', async () => {
  await shop.sale();
  const order_id = newOrderId();
  proxy.cutAt(order_id, 'request');
  expect((await shop.sale({ order_id })).status).toBe(503);
  expect(await paymentsOf(order_id)).toEqual([]);
  expect((await shop.sale({ order_id })).body.status).toBe('SETTLED');
  expect(await paymentsOf(order_id)).toEqual([{ state: 'SETTLED' }]);
});
