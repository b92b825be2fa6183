/** Connections that are answered directly: every byte gets the response that Node's HTTP server alone would send. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readWholeRequest } from '../../src/lib/http/whole-request.ts';
import { acceptDirectly, type TakeRequest } from '../../src/server/direct-connections.ts';
import { answerInTurn } from '../../src/server/requests-in-turn.ts';
import type { Reply } from '../../src/wire/listener.ts';
import { chanceFrom } from '../support/chance.ts';
import { sized } from '../support/size.ts';

/** What the servers saw of a request, and send back. */
const echo = (path: string, contentType: string, forwardedFor: unknown, body: Buffer): string =>
  JSON.stringify({ path, contentType, forwardedFor, body: body.toString('latin1') });

const HEADERS = ['x-request-id', '1', 'content-type', 'application/json'];
let taken = 0;
const isTaken = (path: string): boolean => path === '/post';

const take: TakeRequest = ({ path, contentType, forwardedFor, body }, _address, reply) => {
  if (!isTaken(path)) return false;
  taken++;
  const text = echo(path, contentType, forwardedFor, body);
  const headers = [...HEADERS, 'content-length', String(Buffer.byteLength(text))];
  // Later, as the database answers later.
  setImmediate(() => reply.send(200, headers, text, 'utf8'));
  return true;
};

function nodeServer(): Server {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      const text = echo(url, headers['content-type'] ?? '', headers['x-forwarded-for'], Buffer.concat(chunks));
      setImmediate(() =>
        response.writeHead(200, [...HEADERS, 'content-length', String(Buffer.byteLength(text))]).end(text),
      );
    });
    request.on('error', () => undefined);
  });
  server.keepAliveTimeout = 72_000;
  return server;
}

const alone = Object.assign(nodeServer(), { httpAllowHalfOpen: true });
const direct = nodeServer();
let close: () => void;

beforeAll(async () => {
  answerInTurn(direct);
  close = acceptDirectly(direct, take);
  for (const server of [alone, direct]) {
    const sockets = new Map<number | undefined, Socket>();
    accepted.set(server, sockets);
    server.on('connection', (socket: Socket) => sockets.set(socket.remotePort, socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
});
afterAll(() => {
  close();
  for (const server of [alone, direct]) server.close().closeAllConnections();
});

/** The connections of each server, by the client's port. */
const accepted = new Map<Server, Map<number | undefined, Socket>>();
const bytesRead = (server: Server, { localPort }: Socket): number =>
  accepted.get(server)?.get(localPort)?.bytesRead ?? 0;

/** Sends the pieces one after another; resolves to what arrives until the server closes, or until nothing more arrives. */
async function converse(
  server: Server,
  pieces: readonly string[],
  { expected = 1, isEnded = false }: Conversation,
): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: isEnded });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true;
    });
  await once(socket, 'connect');
  let sent = 0;
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    sent += piece.length;
    // Each piece is read by itself. A server may also read nothing more.
    const isRead = (): boolean => isClosed || bytesRead(server, socket) >= sent;
    for (let waits = 0; pieces.length > 1 && !isRead() && waits < 400; waits++) await pause(1);
  }
  if (isEnded) socket.end();
  const count = (): number => received.split('HTTP/1.1 ').length - 1;
  for (let waits = 0; !isClosed && (isEnded || count() < expected) && waits < 400; waits++) await pause(2);
  // A further response, or the end of the connection, which may have been announced.
  if (!isClosed) await pause(5);
  for (let waits = 0; !isClosed && received.includes('Connection: close') && waits < 400; waits++) await pause(2);
  socket.destroy();
  // Node decides about keep-alive before it knows that the request was the last one.
  if (isEnded) received = received.replace(/(?:Connection|Keep-Alive): [^\r]*\r\n/g, '');
  return `${received.replace(/Date: [^\r]*/g, 'Date: now')}${isClosed ? '(closed)' : ''}`;
}

interface Conversation {
  /** The number of responses to wait for. */
  expected?: number;
  /** Whether the client closes its side after the last piece. */
  isEnded?: boolean;
}

/** Expects the same responses of both servers. */
async function expectSame(pieces: readonly string[], options: Conversation = {}): Promise<string> {
  const [theirs, ours] = await Promise.all([converse(alone, pieces, options), converse(direct, pieces, options)]);
  expect(ours, JSON.stringify(pieces)).toBe(theirs);
  return ours;
}

const post = (body: string, more = '', line = 'POST /post HTTP/1.1'): string =>
  `${line}\r\nHost: shop.example\r\nContent-Type: application/x-www-form-urlencoded\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

describe('requests that are answered directly', () => {
  const cases: Record<string, string> = {
    'a plain request': post('a=1'),
    'with further headers': post('a=1', 'User-Agent: curl/8\r\nAccept: */*\r\nX-Empty:\r\nX_Odd: a\tb\r\n'),
    'with an address': post('a=1', 'X-Forwarded-For: 192.0.2.1, 198.51.100.2\r\n'),
    'with connection: keep-alive': post('a=1', 'connection: Keep-Alive\r\n'),
    'with connection: close': post('a=1', 'Connection: close\r\n'),
    'with bytes beyond ASCII': post('a=\xe4\xff', 'X-Name: \xe4\xff\r\n'),
  };
  for (const [name, request] of Object.entries(cases)) {
    test(name, async () => {
      const before = taken;
      expect(await expectSame([request])).toContain('"path":"/post"');
      expect(taken).toBe(before + 1);
    });
  }

  test('several on one connection', async () => {
    const before = taken;
    const socket = connect((direct.address() as AddressInfo).port, '127.0.0.1');
    for (const body of ['a=1', 'b=2', 'c=3']) {
      socket.write(post(body));
      expect(String((await once(socket, 'data'))[0])).toContain(body);
    }
    expect(taken).toBe(before + 3);
    socket.destroy();
  });

  test('a client that sends nothing more still gets its response', async () => {
    const socket = connect({
      port: (direct.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    socket.end(post('a=1'));
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 OK.*a=1/s);
    await once(socket, 'end');
  });
});

describe('requests that are left to Node', () => {
  const cases: Record<string, string | string[]> = {
    'another path': post('a=1', '', 'POST /other HTTP/1.1'),
    'a query': post('a=1', '', 'POST /post?x=1 HTTP/1.1'),
    'an absolute address': post('a=1', '', 'POST http://shop.example/post HTTP/1.1'),
    'another method': post('a=1', '', 'PUT /post HTTP/1.1'),
    'HTTP/1.0': post('a=1', '', 'POST /post HTTP/1.0'),
    'HTTP/2.0': post('a=1', '', 'POST /post HTTP/2.0'),
    'no host': 'POST /post HTTP/1.1\r\nContent-Type: a\r\nContent-Length: 1\r\n\r\na',
    'two hosts': post('a=1', 'Host: other.example\r\n'),
    'no content type': 'POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na',
    'no length': 'POST /post HTTP/1.1\r\nHost: a\r\nContent-Type: a\r\n\r\n',
    'two lengths': post('a=1', 'Content-Length: 3\r\n'),
    'two different lengths': post('a=1', 'Content-Length: 2\r\n'),
    'a length that is no number': post('a=1').replace('Length: 3', 'Length: +3'),
    'a length in hex': post('a=1').replace('Length: 3', 'Length: 0x3'),
    'a list of lengths': post('a=1').replace('Length: 3', 'Length: 3, 3'),
    chunks: post('3\r\na=1\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n').replace(/Content-Length: \d+\r\n/, ''),
    'chunks and a length': post('3\r\na=1\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'),
    'a space before the colon': post('a=1', 'Transfer-Encoding : chunked\r\n'),
    'a folded header': post('a=1', 'X-Long: a\r\n b\r\n'),
    'a folded header that hides another': post('a=1', 'X-Long: a\r\n Content-Length: 1\r\n'),
    'a bare line feed': post('a=1', 'X-A: b\nTransfer-Encoding: chunked\r\n'),
    'a bare carriage return': post('a=1', 'X-A: b\rTransfer-Encoding: chunked\r\n'),
    'a NUL in a header': post('a=1', 'X-A: b\0c\r\n'),
    'a name that is no token': post('a=1', 'X(A): b\r\n'),
    'a header without a name': post('a=1', ': b\r\n'),
    'a header without a colon': post('a=1', 'nothing\r\n'),
    'an expectation': post('a=1', 'Expect: 100-continue\r\n'),
    'an upgrade': post('a=1', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    'another connection option': post('a=1', 'Connection: keep-alive, x-other\r\n'),
    'two connection options': post('a=1', 'Connection: keep-alive\r\nConnection: close\r\n'),
    'spaces after a value': post('a=1', 'X-Forwarded-For: 192.0.2.1 \t\r\n'),
    'two addresses': post('a=1', 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n'),
    'a line break before the request': `\r\n${post('a=1')}`,
    'a large head': post('a=1', `X-Large: ${'x'.repeat(9000)}\r\n`),
    'too large a head': post('a=1', `X-Large: ${'x'.repeat(17_000)}\r\n`),
    'a head in two pieces': [post('a=1').slice(0, 30), post('a=1').slice(30)],
    'a body in a piece of its own': [post('a=1').slice(0, -3), 'a=1'],
    'text that is not HTTP': 'hello\r\n\r\n',
  };
  for (const [name, sent] of Object.entries(cases)) {
    test(name, async () => {
      const before = taken;
      expect(await expectSame([sent].flat())).toMatch(/^HTTP\/1\.1 \d{3} /);
      expect(taken).toBe(before);
    });
  }

  test('requests that do not wait for the response before them', async () => {
    await expectSame([post('a=1') + post('b=2')], { expected: 2 });
    await expectSame([post('a=1') + post('b=2') + post('c=3', '', 'PUT /other HTTP/1.1')], { expected: 3 });
    // The second request arrives while the first one is answered, or after that.
    await expectSame([post('a=1'), post('b=2'), post('c=3', 'Connection: close\r\n')], { expected: 3 });
  });

  test('a request after one that was answered directly', async () => {
    const before = taken;
    const answers = await expectSame([post('a=1'), post('b=2', '', 'PUT /other HTTP/1.1'), post('c=3')], {
      expected: 3,
    });
    expect(answers.match(/"path":"[^"]*"/g)).toEqual(['"path":"/post"', '"path":"/other"', '"path":"/post"']);
    expect(taken).toBe(before + 1);
  });
});

describe('clients that close their side', () => {
  const chunks = 'POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n0\r\n\r\n';
  const cases: Record<string, [pieces: string[], responses: number]> = {
    'nothing was sent': [[], 0],
    'one packet': [[post('a=1')], 1],
    'the last response was asked for': [[post('a=1', 'Connection: close\r\n')], 1],
    'head and body in two packets': [[post('a=1').slice(0, -3), 'a=1'], 1],
    'byte by byte': [post('a=1').split(''), 1],
    'another path': [[post('a=1', '', 'POST /other HTTP/1.1')], 1],
    chunks: [[chunks], 1],
    'chunks in two packets': [[chunks.slice(0, -7), chunks.slice(-7)], 1],
    'three requests in one packet': [[post('a=1') + post('b=2') + post('c=3')], 3],
    'three requests in three packets': [[post('a=1'), post('b=2'), post('c=3')], 3],
    'a request after chunks': [[chunks + post('b=2')], 2],
    'half a head': [[post('a=1').slice(0, 30)], 1],
    'half a body': [[post('a=1').slice(0, -1)], 1],
  };
  for (const [name, [pieces, responses]] of Object.entries(cases)) {
    test(name, async () => {
      const received = await expectSame(pieces, { isEnded: true });
      expect(received.split('HTTP/1.1 ').length - 1).toBe(responses);
      expect(received).toContain('(closed)');
    });
  }

  test('wherever two requests are split', { timeout: 120_000 }, async () => {
    const all = post('a=1') + post('b=2');
    for (let at = 1; at < all.length; at += sized(9, 1)) {
      const received = await expectSame([all.slice(0, at), all.slice(at)], { isEnded: true });
      expect(received.split('HTTP/1.1 200').length - 1, `split at ${at}`).toBe(2);
    }
  });
});

test('altered requests get the same responses', { timeout: 300_000 }, async () => {
  const { upTo, of } = chanceFrom(2026);
  const bits = [
    '\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    ':',
    ',',
    '\0',
    '\x7f',
    '\xa0',
    '0',
    '1',
    'HTTP/1.1',
    'Content-Length: 1\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    'Host: b\r\n',
    'X-Forwarded-For: a\r\n',
    'POST /post HTTP/1.1\r\n',
  ];
  const alter = (text: string): string => {
    const at = upTo(text.length);
    const length = upTo(4);
    return of([
      () => text.slice(0, at) + of(bits) + text.slice(at),
      () => text.slice(0, at) + of(bits) + text.slice(at + length),
      () => text.slice(0, at) + text.slice(at + length),
      () => text.slice(0, at) + text.slice(at, at + 1).toUpperCase() + text.slice(at + 1),
    ])();
  };
  const before = taken;
  const count = 400;
  for (let done = 0; done < count; done += 40) {
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        let text = post(of(['a=1', '', 'a=1&b=2']), of(['', 'User-Agent: a\r\n', 'X-Forwarded-For: 192.0.2.1\r\n']));
        for (let changes = upTo(3); changes > 0; changes--) text = alter(text);
        await expectSame([text]);
      }),
    );
  }
  // Enough of them are answered directly for the comparison to mean something.
  expect(taken - before).toBeGreaterThan(count / 10);
});

test('a long run of blanks takes no longer than other characters', () => {
  // The least of many runs: in one of them another process may have the core.
  const millisOf = (value: string): number => {
    const bytes = Buffer.from(post('a=1', `X-Long:${value}\0\r\n`), 'latin1');
    const runs = Array.from({ length: 20 }, () => {
      const started = performance.now();
      expect(readWholeRequest(bytes)).toBeUndefined();
      return performance.now() - started;
    });
    return Math.min(...runs);
  };
  // With backtracking it would take a thousand times as long.
  expect(millisOf(' '.repeat(7900))).toBeLessThan(100 * millisOf('x'.repeat(7900)));
});

/** A server whose requests `take` takes, and a client that keeps its side open when the server ends. */
async function openClient(
  take: TakeRequest,
  keepAliveMs = 72_000,
): Promise<{ server: Server; socket: Socket; stop: () => void }> {
  const server = nodeServer();
  server.keepAliveTimeout = keepAliveMs;
  const stop = acceptDirectly(server, take);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  onTestFinished(() => {
    socket.destroy();
    stop();
    server.close().closeAllConnections();
  });
  return { server, socket, stop };
}

test('a request after the last response is not performed', async () => {
  const bodies: string[] = [];
  const { socket } = await openClient((request, address, reply) => {
    bodies.push(String(request.body));
    return take(request, address, reply);
  });
  socket.write(post('a=1', 'Connection: close\r\n'));
  await once(socket, 'data');
  socket.write(post('b=2'));
  await pause(50);
  expect(bodies).toEqual(['a=1']);
});

test('a client that ends its side receives the whole response', async () => {
  const size = 8_000_000;
  const { socket } = await openClient((_request, _address, reply) => {
    reply.send(200, ['content-length', String(size)], 'x'.repeat(size), 'latin1');
    return true;
  });
  let received = 0;
  socket.pause().on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  socket.write(post('a=1'));
  await pause(50);
  socket.end();
  await pause(50);
  socket.resume();
  await once(socket, 'end');
  expect(received).toBeGreaterThan(size);
});

test('a client that does not receive its responses cannot send ever more requests', async () => {
  const large = 'x'.repeat(100_000);
  let requests = 0;
  const { server, socket } = await openClient((_request, _address, reply) => {
    requests++;
    reply.send(200, ['content-length', String(large.length)], large, 'latin1');
    return true;
  });
  server.removeAllListeners('request').on('request', (_request, response) => {
    requests++;
    response.end(large);
  });
  socket.pause();
  const most = 500;
  for (let sent = 0; sent < most; sent++) {
    const before = requests;
    socket.write(post('a=1'));
    for (let waits = 0; waits < 10 && requests === before; waits++) await pause(1);
  }
  expect(requests).toBeGreaterThan(1);
  expect(requests).toBeLessThan(most / 2);
});

test('a connection is closed when it was idle for longer than its responses say, but not while it is busy', async () => {
  const replies: Reply[] = [];
  const { socket } = await openClient((_request, _address, reply) => {
    replies.push(reply);
    return true;
  }, 1000);
  let isEnded = false;
  socket.resume().on('end', () => {
    isEnded = true;
  });
  socket.write(post('a=1'));
  await pause(2500);
  expect(isEnded).toBe(false);
  replies[0]?.send(200, ['content-length', '0'], '', 'latin1');
  await once(socket, 'end');
});

test('closing ends idle connections at once, and busy ones after their response', async () => {
  const received = Promise.withResolvers<Reply>();
  const {
    server,
    socket: idle,
    stop,
  } = await openClient((_request, _address, reply) => {
    received.resolve(reply);
    return true;
  });
  const busy = connect((server.address() as AddressInfo).port, '127.0.0.1');
  busy.write(post('a=1'));
  const reply = await received.promise;
  const idleClosed = once(idle.resume(), 'end');
  const closed = once(server.close(), 'close');
  stop();
  await idleClosed;
  idle.end();
  reply.send(200, ['content-length', '0'], '', 'latin1');
  expect(String((await once(busy, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 OK.*Connection: close/s);
  busy.end();
  await closed;
});
