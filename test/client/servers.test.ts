/** The callback handlers for Express, Fastify and Next.js, with real requests. */
import { createHmac } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CallbackEvent, type Handle, sign, Turnpike } from '../../client/src/index.ts';

const [PASSWORD, SECRET] = ['the-password', 'whsec_dGhlLWNhbGxiYWNrLXNlY3JldA=='];
const { callbacks } = new Turnpike({ url: 'https://pay.example', password: PASSWORD, callbackSecret: SECRET });

const FIELDS = { trans_id: 'id-1', order_id: 'Grüße ☕', status: 'SETTLED', action: 'SALE', operation_id: 'id-1' };

/** A callback as the gateway sends it; `body` replaces the signed body. */
function callback({ isJson = false, body }: { isJson?: boolean; body?: string } = {}): RequestInit & { body: string } {
  const fields = { ...FIELDS, hash: sign([FIELDS.trans_id, FIELDS.order_id, FIELDS.status], PASSWORD) };
  const signed = isJson ? JSON.stringify(fields) : String(new URLSearchParams(fields));
  const [id, timestamp] = ['id-1-2', String(Math.floor(Date.now() / 1000))];
  const mac = createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64')).update(`${id}.${timestamp}.${signed}`);
  return {
    method: 'POST',
    body: body ?? signed,
    headers: {
      'content-type': isJson ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac.digest('base64')}`,
      'turnpike-sequence': '2',
    },
  };
}

let events: CallbackEvent[];
let fails: boolean;
const servers: Server[] = [];
const handle: Handle = async (event) => {
  if (fails) throw new Error('The database is away.');
  events.push(event);
};

beforeEach(() => {
  events = [];
  fails = false;
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(listener: RequestListener): Promise<(init: RequestInit) => Promise<number>> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return async (init) => (await fetch(`http://127.0.0.1:${port}/callback`, init)).status;
}

const onError = vi.fn();

/** Each server as a function that sends it a request and returns the status of the response. */
const SERVERS: Record<string, () => Promise<(init: RequestInit) => Promise<number>>> = {
  'node:http': () => listen(callbacks.express(handle, onError)),
  Express: () =>
    listen((request, response) =>
      callbacks.express(handle)(request, response, () => void response.writeHead(500).end()),
    ),
  'Express with express.raw()': () =>
    listen(async (request, response) => {
      Object.assign(request, { body: Buffer.concat(await request.toArray()) });
      await callbacks.express(handle)(request, response, () => void response.writeHead(500).end());
    }),
  async Fastify() {
    const app = fastify();
    app.post('/other', async (request) => request.body);
    app.register(callbacks.fastify(handle));
    await app.ready();
    const other = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } });
    expect(other.json(), 'the other routes keep their parsers').toEqual({ a: 1 });
    return async ({ body, headers }) => {
      const payload = body as string;
      return (
        await app.inject({ method: 'POST', url: '/callback', payload, headers: headers as Record<string, string> })
      ).statusCode;
    };
  },
  'Next.js': async () => {
    const POST = callbacks.next(handle);
    return async (init) => {
      try {
        return (await POST(new Request('https://shop.example/callback', init))).status;
      } catch {
        return 500; // as Next.js answers when a route handler throws
      }
    };
  },
};

describe.each(Object.entries(SERVERS))('%s', (_name, start) => {
  test.each([false, true])('accepts a callback (JSON: %s)', async (isJson) => {
    const post = await start();
    expect(await post(callback({ isJson }))).toBe(200);
    expect(events).toMatchObject([
      { id: 'id-1-2', protocol: 's2s', sequence: 2, paymentId: 'id-1', orderId: 'Grüße ☕', state: 'SETTLED' },
    ]);
  });

  test('refuses what the gateway did not sign', async () => {
    const post = await start();
    const changed = callback().body.replace('SETTLED', 'SETTLEd');
    expect(await post(callback({ body: changed }))).toBe(401);
    expect(await post({ method: 'POST', body: 'a=1' })).toBe(401);
    expect(await post({ method: 'POST', body: '', headers: { 'content-type': 'application/json' } })).toBe(401);
    expect(events).toEqual([]);
  });

  test('answers 500 when the handler fails, so that the gateway tries again', async () => {
    const post = await start();
    fails = true;
    expect(await post(callback())).toBe(500);
    fails = false;
    expect(await post(callback())).toBe(200);
    expect(events).toHaveLength(1);
  });
});

test('a body that a parser has read is an error of the setup, which is reported', async () => {
  onError.mockClear();
  const post = await listen(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    Object.assign(request, { body: Object.fromEntries(new URLSearchParams(text)) });
    await callbacks.express(handle, onError)(request, response);
  });
  expect(await post(callback())).toBe(500);
  expect(onError.mock.calls[0]?.[0].message).toMatch(/^A body parser has read the body of the callback/);
});

test('a body that is too long for a callback is refused', async () => {
  const post = await listen(callbacks.express(handle, onError));
  expect(await post(callback({ body: 'x'.repeat(2 * 1024 * 1024) }))).toBe(401);
});
