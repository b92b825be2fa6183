/** The end of a connection whose request is answered before it has arrived: the client may go on sending. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { lengthenLimits } from '../support/limits.ts';

// The clients here send without a pause, but may have to wait for a core.
lengthenLimits({ lingerMs: 20_000 });

const shop = openShop();

/** Sends the rest of a request after its response; resolves to the response, and to the error of the connection. */
async function sendOn(head: string, length: number): Promise<{ status: string; error: string }> {
  const socket = connect({ port: Number(new URL(shop.url).port), host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  let error = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    error = code ?? 'unknown';
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const ended = Promise.race([closed, new Promise((resolve) => socket.once('end', resolve))]);
  socket.write(`${head}\r\n\r\nthe first part`);
  await ended;
  const part = Buffer.alloc(16_384, 'x');
  for (let left = length; left > 0 && !socket.destroyed; left -= part.length) {
    await new Promise((resolve) => socket.write(part.subarray(0, left), resolve));
    await new Promise(setImmediate);
  }
  socket.end();
  await closed;
  return { status: text.slice(9, 12), error };
}

const CLOSE = 'host: x\r\nconnection: close';
const JSON_TYPE = 'content-type: application/json';
const FORM = 'content-type: application/x-www-form-urlencoded';

test.each<[string, string, string, number]>([
  ['a body that no route reads', `GET / HTTP/1.1\r\n${CLOSE}`, '200', 60_000],
  ['a long body that no route reads', `GET / HTTP/1.1\r\n${CLOSE}`, '200', 4_000_000],
  ['an unknown path', `POST /unknown HTTP/1.1\r\n${CLOSE}`, '404', 60_000],
  ['a malformed path', `POST /% HTTP/1.1\r\n${CLOSE}`, '404', 60_000],
  ['a body above the limit', `POST /api/v1/session HTTP/1.1\r\n${CLOSE}\r\n${JSON_TYPE}`, '413', 4_000_000],
  ['a declared length above the limit', `POST /post HTTP/1.1\r\n${CLOSE}\r\n${FORM}`, '413', 8_000_000],
  ['an expectation', `POST /post HTTP/1.1\r\n${CLOSE}\r\nexpect: something`, '400', 60_000],
  ['no host', 'POST /post HTTP/1.1\r\nconnection: close', '400', 60_000],
])('%s: the client gets the response, and no reset', async (_, head, status, length) => {
  expect(await sendOn(`${head}\r\ncontent-length: ${length}`, length - 14)).toEqual({ status, error: '' });
});

test('a request that is not valid HTTP: the client gets one response, and no reset', async () => {
  expect(await sendOn('GET / HTTP/1.1\r\nnot a header', 1_000_000)).toEqual({ status: '400', error: '' });
});
