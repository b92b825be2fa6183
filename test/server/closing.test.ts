/** A server that closes answers the requests that are on their way, as it answers others. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createApp } from '../../src/server/app.ts';
import { newOrderId, openShop, saleFields } from '../support/gateway.ts';

const shop = openShop();

const sale = (order_id: string): string => {
  const form = new URLSearchParams(saleFields(shop.merchant, { order_id })).toString();
  return `Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`;
};

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
  const socket = connect(Number(port), '127.0.0.1');
  const received = text(socket);
  const request = `POST ${path} HTTP/1.1\r\n${sale(order)}`;
  socket.write(request.slice(0, 20));
  await pause(50);
  const closed = app.close();
  socket.write(request.slice(20));
  expect(await received).toMatch(new RegExp(`^HTTP/1\\.1 200 OK.*connection: close.*"order_id":"${order}"`, 'is'));
  await closed;
});
