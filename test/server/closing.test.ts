/** A server that closes answers the requests that are on their way, as it answers others. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createApp } from '../../src/server/app.ts';
import { newOrderId, openShop } from '../support/gateway.ts';
import { rawSale } from '../support/raw-sale.ts';

const shop = openShop();

test.each([
  ['the listener', '/post'],
  ['the framework', '/post/'],
])('a sale whose first bytes came before: %s', async (_, path) => {
  const app = createApp(shop.gateway, {
    ...{ isTrustedProxy: () => false, takesRequests: true, requestsPerAddress: 0 },
    adminTokenDigest: Buffer.alloc(32),
  });
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const order = newOrderId();
  const accepted = once(app.server, 'connection');
  const socket = connect(Number(port), '127.0.0.1');
  const received = text(socket);
  const request = rawSale(shop.merchant, order, path);
  socket.write(request.slice(0, 20));
  const [served] = (await accepted) as [Socket];
  await expect.poll(() => served.bytesRead).toBe(20);
  const closed = app.close();
  socket.write(request.slice(20));
  expect(await received).toMatch(new RegExp(`^HTTP/1\\.1 200 OK.*connection: close.*"order_id":"${order}"`, 'is'));
  await closed;
});
