/** Connections of Node's HTTP server: clients that send requests before the response to the last one, or do not read. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { lingerOnClose } from '../../src/server/lingering-close.ts';
import { answerInTurn, refuseInTurn } from '../../src/server/requests-in-turn.ts';
import { shortenLimits } from '../support/limits.ts';
import { sized } from '../support/size.ts';

shortenLimits({ stalledMs: 3000, lingerMs: 300 });

/** A server like the gateway's; returns a function that opens a client, which keeps its side open. */
async function serve(listener: RequestListener): Promise<() => Promise<Socket>> {
  const server = createServer(listener);
  lingerOnClose(server);
  answerInTurn(server);
  server.on('clientError', (_error, socket: Socket) =>
    refuseInTurn(socket, () => {
      if (!socket.destroyed) socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\nbroken');
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  return async () => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
}

/** The statuses and bodies of all responses until the server closes. */
async function answers(socket: Socket): Promise<string[]> {
  const received = await text(socket);
  return [...received.matchAll(/HTTP\/1\.1 (\d+).*?\r\n\r\n(?:\d+\r\n)?([^\r]*?)(?=HTTP\/1\.1|\r\n|$)/gs)].map(
    ([, status, body]) => `${status} ${body}`,
  );
}

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const post = (path: string, body: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (path: string, ...chunks: string[]): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${[...chunks, '']
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('')}`;

/** Answers with the path and the length of the body, some time after the request has arrived. */
function echo(performed: string[] = []): { listener: RequestListener; most: () => number } {
  let running = 0;
  let most = 0;
  return {
    async listener(request, response) {
      most = Math.max(most, ++running);
      performed.push(request.url ?? '');
      const body = await text(request).catch(() => '');
      await pause(1);
      running--;
      response.end(`${request.url}:${body.length}`);
    },
    most: () => most,
  };
}

test('requests that are sent together are performed one after another, in their order', async () => {
  const { listener, most } = echo();
  const open = await serve(listener);
  const kinds = [
    (path: string) => get(path),
    (path: string) => post(path, 'x'.repeat(300)),
    (path: string) => post(path, 'x'.repeat(200_000)),
    (path: string) => chunked(path, 'x'.repeat(3000), 'y'.repeat(30)),
    (path: string) => post(path, '', 'Expect: 100-continue\r\n'),
  ];
  const lengths = [0, 300, 200_000, 3030, 0];
  const socket = await open();
  const count = sized(60, 2000);
  const requests = Array.from({ length: count }, (_, place) => kinds[place % kinds.length]?.(`/${place}`));
  socket.end(requests.join(''));
  const received = await answers(socket);
  expect(received.filter((answer) => !answer.startsWith('100'))).toEqual(
    requests.map((_, place) => `200 /${place}:${lengths[place % kinds.length]}`),
  );
  expect(most()).toBe(1);
});

test('wherever the packets are split, every request gets its response', async () => {
  const open = await serve(echo().listener);
  const all = get('/a') + post('/b', 'body') + chunked('/c', 'chunk', 'x') + get('/d');
  const every = sized(7, 1);
  for (let at = 1; at < all.length; at += every) {
    const socket = await open();
    socket.setNoDelay().write(all.slice(0, at));
    await pause(2);
    socket.end(all.slice(at));
    expect(await answers(socket), `split at ${at}`).toEqual(['200 /a:0', '200 /b:4', '200 /c:6', '200 /d:0']);
  }
});

test('a connection with many requests does not keep others waiting', async () => {
  let flooded = 0;
  const open = await serve((request, response) => {
    if (request.url === '/flood') flooded++;
    response.end();
  });
  const count = sized(20_000, 100_000);
  const flooding = await open();
  flooding.resume().write(get('/flood').repeat(count));
  await expect.poll(() => flooded).toBeGreaterThan(0);
  const seen: number[] = [];
  for (let requests = 0; requests < 3; requests++) {
    const other = await open();
    other.write(get('/other'));
    await once(other, 'data');
    seen.push(flooded);
  }
  expect(seen.at(-1)).toBeLessThan(count);
  expect(new Set(seen).size, 'the flood goes on meanwhile').toBe(3);
});

test('a client that does not read its responses cannot have ever more requests performed, and is closed', async () => {
  let performed = 0;
  let isClosed = false;
  const large = 'x'.repeat(100_000);
  const open = await serve(({ socket }, response) => {
    if (performed++ === 0) {
      socket.once('close', () => {
        isClosed = true;
      });
    }
    response.end(large);
  });
  const socket = (await open()).pause();
  const most = 1000;
  socket.write(get('/large').repeat(most));
  await expect.poll(() => performed).toBeGreaterThan(1);
  await pause(300);
  expect(performed).toBeLessThan(most / 4);
  // It goes on sending.
  const sending = setInterval(() => socket.write('x'), 50);
  onTestFinished(() => clearInterval(sending));
  await expect.poll(() => isClosed).toBe(true);
  expect(performed).toBeLessThan(most / 4);
});

test('a client that half-closes and never reads is closed, too', async () => {
  let isClosed = false;
  const open = await serve((request, response) => {
    request.socket.once('close', () => {
      isClosed = true;
    });
    Readable.from(Array(500).fill('x'.repeat(100_000))).pipe(response);
  });
  (await open()).pause().end(get('/large'));
  await expect.poll(() => isClosed).toBe(true);
});

test('a slow client that reads a large response is not closed', async () => {
  const size = 30_000_000;
  const open = await serve((_request, response) => response.end('x'.repeat(size)));
  const socket = (await open()).pause();
  let received = 0;
  socket.on('data', (part: Buffer) => {
    received += part.length;
    socket.pause();
    // Eight pauses, which together are longer than a connection may stall.
    if (received % (size / 8) < part.length) setTimeout(() => socket.resume(), 600);
    else setImmediate(() => socket.resume());
  });
  socket.end(get('/large'));
  socket.resume();
  await once(socket, 'end');
  expect(received).toBeGreaterThan(size);
});

test('a request after the last response is not performed', async () => {
  const performed: string[] = [];
  const open = await serve((request, response) => {
    performed.push(request.url ?? '');
    response.setHeader('connection', 'close').end();
  });
  const socket = await open();
  socket.write(get('/a') + get('/b') + post('/c', 'x'.repeat(100_000)));
  await once(socket.resume(), 'end');
  socket.write(get('/d'));
  await once(socket.end(), 'close');
  expect(performed).toEqual(['/a']);
});

test('a request without a host is the last one', async () => {
  const performed: string[] = [];
  const open = await serve(echo(performed).listener);
  const socket = await open();
  socket.write(`GET /a HTTP/1.1\r\n\r\n${get('/b').repeat(1000)}`);
  expect(await answers(socket)).toEqual(['400 ']);
  expect(performed).toEqual([]);
});

test.each([
  ['text', 'not HTTP\r\n\r\n', []],
  ['half a request', 'GET /half HTTP/1.1\r\nHo', []],
  ['half a body', post('/half', 'body').slice(0, -2), ['/half']],
  ['a broken chunk', `${chunked('/half', 'x').slice(0, -8)}zz\r\n`, ['/half']],
])('%s after requests is answered after their responses', async (_name, broken) => {
  const performed: string[] = [];
  const open = await serve(echo(performed).listener);
  for (const isApart of [false, true]) {
    const socket = await open();
    socket.write(get('/a') + post('/b', 'body') + (isApart ? '' : broken));
    await pause(isApart ? 20 : 0);
    socket.end(isApart ? broken : '');
    expect(await answers(socket)).toEqual(['200 /a:0', '200 /b:4', '400 broken']);
  }
});

test('an unread body does not hold back the next request', async () => {
  const open = await serve((request, response) => response.end(request.url));
  const socket = await open();
  socket.end(post('/a', 'x'.repeat(500_000)) + get('/b'));
  expect(await answers(socket)).toEqual(['200 /a', '200 /b']);
});

test('a body that is read slowly is not buffered', async () => {
  let most = 0;
  const open = await serve(async (request, response) => {
    let received = 0;
    for await (const part of request) {
      received += (part as Buffer).length;
      most = Math.max(most, request.readableLength);
      await pause(0);
    }
    response.end(String(received));
  });
  const socket = await open();
  socket.end(get('/a') + post('/b', 'x'.repeat(5_000_000)));
  expect(await answers(socket)).toEqual(['200 0', '200 5000000']);
  expect(most).toBeLessThan(300_000);
});
