/** Clients that close their side after a sale: every payment that was begun is answered, however its packets fall. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newOrderId, openShop } from '../support/gateway.ts';
import { FORM_HEAD, rawSale, saleBody } from '../support/raw-sale.ts';
import { sized } from '../support/size.ts';

const shop = openShop();

/** Ways to send the same sale: the listener answers the first one, the framework the others. */
const SPELLINGS: Record<string, (order: string) => string> = {
  plain: (order) => rawSale(shop.merchant, order),
  'another path': (order) => rawSale(shop.merchant, order, '/post/'),
  chunked(order) {
    const body = saleBody(shop.merchant, order);
    return `POST /post HTTP/1.1\r\n${FORM_HEAD}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  },
};

/** Sends the packets and closes the side of the client; resolves to the results of the responses. */
async function results(packets: readonly string[], apartMs: number): Promise<string[]> {
  const { port } = new URL(shop.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }).setNoDelay();
  for (const [place, packet] of packets.entries()) {
    if (place > 0) await pause(apartMs);
    socket.write(packet);
  }
  socket.end();
  const received = await text(socket);
  return [...received.matchAll(/"(?:result|order_id)":"([^"]*)"/g)].map(([, value]) => value as string);
}

const answersTo = (...orders: string[]): string[] => orders.flatMap((order) => ['SUCCESS', order]);

for (const [name, spell] of Object.entries(SPELLINGS)) {
  test(`${name}: in one packet, or head and body apart`, async () => {
    for (const apartMs of [0, 30]) {
      const order = newOrderId();
      const sale = spell(order);
      const body = sale.indexOf('\r\n\r\n') + 4;
      const packets = apartMs === 0 ? [sale] : [sale.slice(0, body), sale.slice(body)];
      expect((await results(packets, apartMs)).toSorted()).toEqual(answersTo(order).toSorted());
    }
  });

  test(`${name}: split at any byte`, { timeout: 300_000 }, async () => {
    const { length } = spell(newOrderId());
    for (let at = 1; at < length; at += sized(41, 1)) {
      const order = newOrderId();
      const sale = spell(order);
      expect((await results([sale.slice(0, at), sale.slice(at)], 2)).toSorted(), `split at ${at}`).toEqual(
        answersTo(order).toSorted(),
      );
    }
  });
}

test('three requests in one packet', async () => {
  for (let round = 0; round < sized(5, 30); round++) {
    const orders = [newOrderId(), newOrderId(), newOrderId()];
    const sales = Object.values(SPELLINGS).map((spell, place) => spell(orders[place] as string));
    const received = await results([sales.join('')], 0);
    expect(received.filter((value) => orders.includes(value))).toEqual(orders);
    expect(received.filter((value) => value === 'SUCCESS')).toHaveLength(3);
  }
});

test('a sale before a request that is cut off', async () => {
  for (const spell of Object.values(SPELLINGS)) {
    const order = newOrderId();
    const received = await results([spell(order) + spell(newOrderId()).slice(0, -10)], 0);
    expect(received).toEqual(expect.arrayContaining([...answersTo(order), 'ERROR']));
  }
});
