/** The callback client against real servers that accept, refuse, misbehave or cannot be reached; and what it sends. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createReceiver, type Delivery, FAULT_MESSAGES, type Receiver } from '../../src/connectors/receiver.ts';
import { callbackReach } from '../../src/rules/callback-address.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { selfSigned } from '../support/certificate.ts';
import {
  answers,
  answersAfterHints,
  answersWithHugeHeaders,
  type Behaviour,
  closesBeforeAnswer,
  closesInAnswer,
  drips,
  dripsHeaders,
  floods,
  hangs,
  inTurn,
  redirectsTo,
  speaksNonsense,
  startReceiver,
  type TestReceiver,
  writes,
} from '../support/receivers.ts';

const SANDBOX = callbackReach(true, []);
const SECRET_ANSWER = 'what-the-server-said';

let shop: TestReceiver;
let line: Receiver;
/** The same with short timeouts, for servers that never answer. */
let hurried: Receiver;
beforeAll(async () => {
  shop = await startReceiver();
});
afterAll(() => shop.close());
beforeEach(() => {
  shop.behaviour = answers(200);
  shop.received.length = 0;
  line = createReceiver(SANDBOX);
  hurried = createReceiver({ ...SANDBOX, totalMs: 2000, connectMs: 1800 });
});
afterEach(async () => {
  await line.close();
  await hurried.close();
});

const HEADERS = { 'content-type': 'application/x-www-form-urlencoded', 'webhook-id': 'msg_1', 'X-Odd-Case': 'Yes' };
const BODY = 'order_number=%C4%8D-1&hash=abc+d';

const send = (receiver = line, url = shop.url, body: Buffer | string = BODY): Promise<Delivery> =>
  receiver.send({ url, headers: HEADERS, body });
const answered = (status: number, retryAfterMs?: number) => ({
  kind: 'answered',
  status,
  retryAfterMs,
  tookMs: expect.any(Number),
});
const failed = (fault: string) => ({ kind: 'failed', fault, tookMs: expect.any(Number) });

describe('a request', () => {
  test('is one POST with these headers and these bytes, to the path and query of the address', async () => {
    expect(await send(line, `${shop.url}/a%20b?x=1&y=%2F`)).toEqual(answered(200));
    const [request, ...others] = shop.received;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', path: '/callbacks/a%20b?x=1&y=%2F' });
    expect(request?.body.toString()).toBe(BODY);
    const host = `127.0.0.1:${shop.port}`;
    expect(request?.headers).toEqual({
      host,
      connection: 'keep-alive',
      'content-type': 'application/x-www-form-urlencoded',
      'webhook-id': 'msg_1',
      'x-odd-case': 'Yes',
      'content-length': String(BODY.length),
    });
    expect(request?.rawHeaders).toContain('X-Odd-Case');
  });

  test('carries the bytes of a buffer unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await send(line, shop.url, bytes);
    expect(shop.received[0]?.body.equals(bytes)).toBe(true);
  });

  test('has no cookie, even if the server set one', async () => {
    shop.behaviour = answers(200, { 'set-cookie': 'session=1; Path=/' });
    await send();
    await send();
    expect(shop.received.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  test('does not use a proxy of the environment', async () => {
    const proxy = await startReceiver();
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`;
    const direct = createReceiver(SANDBOX);
    try {
      expect(await send(direct)).toEqual(answered(200));
      expect(proxy.connections).toBe(0);
    } finally {
      for (const name of names) delete process.env[name];
      await direct.close();
      await proxy.close();
    }
  });

  test('reuses a connection', async () => {
    const server = await startReceiver();
    for (let turn = 0; turn < 20; turn++) expect(await send(line, server.url)).toEqual(answered(200));
    expect(server.received).toHaveLength(20);
    expect(server.connections).toBeLessThanOrEqual(2);
    await server.close();
  });

  test(`uses ${LIMITS.callbackConnections} connections to one server at most, and still sends everything`, async () => {
    const server = await startReceiver((response) => void setTimeout(() => response.writeHead(204).end(), 20));
    const all = await Promise.all(Array.from({ length: 200 }, () => send(line, server.url)));
    expect(all).toEqual(Array(200).fill(answered(204)));
    expect(server.received).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(LIMITS.callbackConnections);
    await server.close();
  });
});

describe('an answer', () => {
  test.each([200, 201, 204, 299, 400, 401, 404, 410, 429, 500, 502, 503, 599])(
    'of %i is returned as it is',
    async (status) => {
      shop.behaviour = answers(status);
      expect(await send()).toEqual(answered(status));
    },
  );

  test.each([301, 302, 303, 307, 308])('of %i is not followed', async (status) => {
    const elsewhere = await startReceiver();
    shop.behaviour = redirectsTo(elsewhere.url, status);
    expect(await send()).toEqual(answered(status));
    expect(shop.received).toHaveLength(1);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });

  test('may follow informational responses', async () => {
    shop.behaviour = answersAfterHints;
    expect(await send()).toEqual(answered(200));
  });

  test('is reduced to status and duration, without anything that the server wrote', async () => {
    shop.behaviour = answers(500, { 'x-secret': SECRET_ANSWER }, SECRET_ANSWER);
    expect(JSON.stringify(await send())).not.toContain(SECRET_ANSWER);
  });

  test('counts even if its body is too long, and the rest is not read', async () => {
    const wholeness: boolean[] = [];
    const server = await startReceiver((response, request) => {
      response.once('close', () => wholeness.push(response.writableFinished));
      const size = request.path === '/callbacks/short' ? LIMITS.callbackAnswerBytes : 64 * 1024 * 1024;
      floods(size)(response, request);
    });
    expect(await send(line, `${server.url}/short`)).toEqual(answered(200));
    await expect.poll(() => wholeness).toEqual([true]);
    expect(await send(line, `${server.url}/long`)).toEqual(answered(200));
    await expect.poll(() => wholeness).toEqual([true, false]);
    await server.close();
  });

  test.each<[string, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    ['999999999', 999_999_999_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['9999999999', undefined],
    ['soon', undefined],
    ['', undefined],
    ['Thu, 99 Foo 2030 00:00:00 GMT', undefined],
    ['2030-01-01T00:00:00Z', undefined],
  ])('with Retry-After %j requests a pause of %s', async (value, pause) => {
    shop.behaviour = answers(429, { 'retry-after': value });
    expect(await send()).toEqual(answered(429, pause));
  });

  test('with a date in Retry-After requests a pause until then', async () => {
    shop.behaviour = answers(503, { 'retry-after': new Date(Date.now() + 90_000).toUTCString() });
    const { retryAfterMs } = (await send()) as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(30_000);
    expect(retryAfterMs).toBeLessThanOrEqual(90_000);
  });
});

describe('a server that misbehaves', () => {
  test.each<[string, Behaviour, string]>([
    ['hangs', hangs, 'timeout'],
    ['sends its headers byte by byte', dripsHeaders(), 'timeout'],
    ['sends its body byte by byte', drips(), 'timeout'],
    ['hangs after an informational response', writes('HTTP/1.1 103 Early Hints\r\n\r\n'), 'timeout'],
    ['closes before it answers', closesBeforeAnswer, 'closed'],
    ['closes in the middle of its answer', closesInAnswer, 'closed'],
    ['does not speak HTTP', speaksNonsense, 'broken'],
    ['sends binary data', writes('\0\u0001\u0002\u0003\r\n\r\n'), 'broken'],
    ['sends no status', writes('HTTP/1.1 OK\r\n\r\n'), 'broken'],
    ['sends huge headers', answersWithHugeHeaders(), 'broken'],
    [
      'sends two content lengths',
      writes('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      'broken',
    ],
    ['sends broken chunks', writes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'), 'broken'],
    ['switches the protocol', writes('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'), 'closed'],
  ])('and %s fails, and its connection is closed', async (_, behaviour, fault) => {
    const server = await startReceiver(inTurn(behaviour, answers(200)));
    expect(await send(fault === 'timeout' ? hurried : line, server.url)).toEqual(failed(fault));
    await expect.poll(() => server.open).toBe(0);
    expect(await send(line, server.url)).toEqual(answered(200));
    await server.close();
  });

  test('does not delay the others', async () => {
    const slow = await startReceiver(hangs);
    const waiting = Array.from({ length: 64 }, () => send(hurried, slow.url));
    expect(await send(hurried)).toEqual(answered(200));
    expect(await Promise.all(waiting)).toEqual(Array(64).fill(failed('timeout')));
    await slow.close();
  });

  test('whose name is resolved only after the timeout is not called', async () => {
    const server = await startReceiver();
    const late = createReceiver({
      ...SANDBOX,
      totalMs: 50,
      lookup: (_name, _options, callback) =>
        void setTimeout(() => callback(null, [{ address: '127.0.0.1', family: 4 }]), 300),
    });
    expect(await send(late, `http://shop.example:${server.port}/`)).toEqual(failed('timeout'));
    await expect.poll(() => server.connections).toBe(1);
    await expect.poll(() => server.open).toBe(0);
    expect(server.received).toEqual([]);
    await late.close();
    await server.close();
  });

  test('and closes an idle connection gets the next callback on a new one', async () => {
    const server = await startReceiver();
    for (let turn = 0; turn < 5; turn++) {
      server.behaviour = answers(200, { connection: 'close' });
      expect(await send(line, server.url)).toEqual(answered(200));
    }
    expect(server.connections).toBe(5);
    await server.close();
  });
});

/** A raw TCP server: the handler decides what it does with a connection. */
async function startRaw(onConnection: Parameters<typeof createServer>[1]): Promise<{ server: Server; url: string }> {
  const server = createServer({}, onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe('a server that cannot be reached', () => {
  test('refuses the connection', async () => {
    const server = await startReceiver();
    await server.close();
    expect(await send(line, server.url)).toEqual(failed('refused'));
  });

  test('closes the connection at once', async () => {
    const { server, url } = await startRaw((socket) => socket.on('error', () => undefined).destroy());
    expect(await send(hurried, url)).toEqual(failed('closed'));
    expect(await send(hurried, url.replace('http:', 'https:'))).toEqual(failed('closed'));
    server.close();
  });

  test('has an unknown name', async () => {
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND shop.example'), { code: 'ENOTFOUND' });
    const lost = createReceiver({ ...SANDBOX, lookup: (_name, _options, callback) => callback(unknown, []) });
    expect(await send(lost, 'http://shop.example/')).toEqual(failed('nameNotFound'));
    await lost.close();
  });

  test('has a name that is not resolved in time', async () => {
    const silent = createReceiver({ ...SANDBOX, connectMs: 100, lookup: () => undefined });
    expect(await send(silent, 'http://shop.example/')).toEqual(failed('timeout'));
    await silent.close();
  });

  test('has an address that is invalid or not allowed', async () => {
    for (const url of ['', 'shop.example', 'ftp://127.0.0.1/', 'http://user@127.0.0.1/', `${shop.url}#x`]) {
      expect(await send(line, url)).toEqual(failed('badAddress'));
    }
    expect(shop.received).toEqual([]);
  });

  test('is called over http in the sandbox only', async () => {
    const strict = createReceiver({ ...SANDBOX, allowsHttp: false });
    expect(await send(strict)).toEqual(failed('badAddress'));
    expect(shop.received).toEqual([]);
    await strict.close();
  });
});

describe('TLS', () => {
  const good = selfSigned(['shop.test', '127.0.0.1']);
  const other = selfSigned(['other.test']);
  const old = selfSigned(['shop.test', '127.0.0.1'], -1);
  const usual = getCACertificates('default');

  const toLoopback = createReceiver({
    ...SANDBOX,
    lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  beforeAll(() => setDefaultCACertificates([good.cert, other.cert, old.cert]));
  afterAll(async () => {
    setDefaultCACertificates(usual);
    await toLoopback.close();
  });

  test('with a valid certificate for the name or the address is accepted', async () => {
    const server = await startReceiver(answers(204), { certificate: good });
    expect(await send(line, server.url)).toEqual(answered(204));
    expect(await send(toLoopback, `https://shop.test:${server.port}/`)).toEqual(answered(204));
    expect(server.received.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.1:${server.port}`,
      `shop.test:${server.port}`,
    ]);
    await server.close();
  });

  test.each([
    ['is signed by an unknown authority', selfSigned(['127.0.0.1'])],
    ['is for another name', other],
    ['has expired', old],
  ])('is refused when the certificate %s, each time and whatever the environment sets', async (_, certificate) => {
    const server = await startReceiver(answers(200), { certificate });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      for (let turn = 0; turn < 3; turn++) expect(await send(line, server.url)).toEqual(failed('tls'));
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(server.received).toEqual([]);
    await server.close();
  });

  test('is refused when the server answers in plain HTTP', async () => {
    expect(await send(line, shop.url.replace('http:', 'https:'))).toEqual(failed('tls'));
    expect(shop.received).toEqual([]);
  });

  test('handshakes that never end are subject to the connect timeout', async () => {
    const { server, url } = await startRaw((socket) => void socket.on('error', () => undefined));
    expect(await send(hurried, url.replace('http:', 'https:'))).toEqual(failed('timeout'));
    server.close();
  });
});

test('closing aborts calls in flight, and nothing is sent afterwards', async () => {
  shop.behaviour = hangs;
  const waiting = send();
  await expect.poll(() => shop.received.length).toBe(1);
  await line.close();
  expect(await waiting).toEqual(failed('stopped'));
  expect(await send()).toEqual(failed('stopped'));
  expect(shop.received).toHaveLength(1);
});

test('a header that cannot be sent is a failure, not an exception', async () => {
  const delivery = await line.send({ url: shop.url, headers: { 'x-bad': 'a\r\nb: c' }, body: '' });
  expect(delivery).toEqual(failed('broken'));
  expect(shop.received).toEqual([]);
});

test('every fault has a sentence for the delivery log', () => {
  for (const words of Object.values(FAULT_MESSAGES)) expect(words).toMatch(/^[A-Z].+[^.]\.$/);
});
