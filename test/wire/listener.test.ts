/** The listener of merchants' requests: its responses are those of the framework, which answers paths with a slash. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { sessionFields, signed } from '../support/checkout.ts';
import { type Fields, openShop, saleFields } from '../support/gateway.ts';

const shop = openShop({ trustedProxies: ['127.0.0.1'], requestsPerAddress: 2 });

const FORM = 'application/x-www-form-urlencoded';

const send = (path: string, form: Fields, headers: Fields = {}) => sendBody(path, new URLSearchParams(form), headers);

async function sendBody(path: string, body: URLSearchParams | string, headers: Fields) {
  const response = await fetch(shop.url + path, { method: 'POST', body, headers });
  const { date: _date, 'x-request-id': id, 'content-length': _length, ...rest } = Object.fromEntries(response.headers);
  return { status: response.status, id: id as string, headers: rest, body: (await response.json()) as Fields };
}

/** The log line of a request, without what differs between two requests. */
function logged(id: string): Record<string, unknown> {
  const line = shop.logs.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === id);
  const { time: _time, request_id: _id, ms: _ms, payment_id: _payment, ...rest } = line;
  return rest;
}

/** The names in a response, and the values of an error but for the order number. */
const withoutOrder = (body: Fields): unknown =>
  body.result === 'ERROR' ? JSON.stringify(body).replace(/order-[a-j]+-\d+/gi, '') : Object.keys(body);

/** Expects that two responses, and the log lines of their requests, differ only in what is new in every request. */
async function expectEqual(here: Awaited<ReturnType<typeof send>>, there: typeof here): Promise<void> {
  expect(here.status).toBe(there.status);
  expect(here.headers).toEqual(there.headers);
  expect(withoutOrder(here.body)).toEqual(withoutOrder(there.body));
  await vi.waitFor(() => expect(logged(here.id)).toEqual(logged(there.id)), 10_000);
}

describe('the same response and log line as the framework', () => {
  const cases: Record<string, () => Fields> = {
    'a sale': () => saleFields(shop.merchant),
    'a declined sale': () => saleFields(shop.merchant, { identifier: 'fail@example.com' }),
    'invalid fields': () => saleFields(shop.merchant, { order_amount: 'much' }),
    'a wrong hash': () => saleFields(shop.merchant, { hash: '0'.repeat(40) }),
    'an unknown action': () => ({ action: 'STEAL' }),
    'an empty body': () => ({}),
  };
  for (const [name, form] of Object.entries(cases)) {
    test(name, async () => {
      await expectEqual(await send('/post', form()), await send('/post/', form()));
    });
  }

  const json = 'application/json';
  const session = () => signed('session', sessionFields(), shop.merchant);
  const bodies: Record<string, () => { path?: string; body: string; type?: string }> = {
    'a session': () => ({ body: JSON.stringify(session()) }),
    'a session with another charset': () => ({ body: JSON.stringify(session()), type: `${json}; charset=utf-16` }),
    'a status': () => ({
      path: 'payment/status',
      body: JSON.stringify({ merchant_key: shop.merchant.merchant_key, payment_id: 'none', hash: 'none' }),
    }),
    'a session with a wrong hash': () => ({ body: JSON.stringify({ ...session(), hash: '0'.repeat(40) }) }),
    'a session with an invalid field': () => ({ body: JSON.stringify({ ...session(), success_url: 'nowhere' }) }),
    'text that is not JSON': () => ({ body: '{' }),
    'JSON that is not an object': () => ({ body: '[]' }),
    'JSON with a prototype': () => ({ body: '{"__proto__":{"a":1}}' }),
    'JSON that repeats a field': () => ({ body: '{"hash":"1","hash":"2"}' }),
    'JSON that is nested too deep': () => ({ body: '['.repeat(20_000) + ']'.repeat(20_000) }),
    'an empty JSON body': () => ({ body: '' }),
    'another content type': () => ({ body: JSON.stringify(session()), type: 'text/plain' }),
  };
  for (const [name, request] of Object.entries(bodies)) {
    test(name, async () => {
      const { path = 'session', body, type = json } = request();
      const headers = { 'content-type': type };
      await expectEqual(
        await sendBody(`/api/v1/${path}`, body, headers),
        await sendBody(`/api/v1/${path}/`, body, headers),
      );
    });
  }

  test('too many requests of an address', async () => {
    const flood = async (path: string, from: string) => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => send(path, { action: 'STEAL' }, { 'x-forwarded-for': from })),
      );
      return answers.find(({ status }) => status === 429);
    };
    const [here, there] = [await flood('/post', '192.0.2.1'), await flood('/post/', '192.0.2.2')];
    expect(here?.headers).toEqual(there?.headers);
    expect(here?.headers['retry-after']).toBe('1');
    expect(here?.body).toEqual(there?.body);
  });
});

/** Sends the pieces of a request one after another, and returns what arrives until the server closes or falls silent. */
async function converse(pieces: string[]): Promise<string> {
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  for (const piece of pieces) {
    socket.write(piece);
    await pause(20);
  }
  await expect.poll(() => received).toContain('}');
  socket.destroy();
  return received;
}

const head = (length: number, type = FORM): string =>
  `POST /post HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;

test('reads a body that arrives in pieces', async () => {
  const form = new URLSearchParams(saleFields(shop.merchant)).toString();
  const received = await converse([head(form.length, `${FORM}; charset=utf-8`), form.slice(0, 40), form.slice(40)]);
  expect(received).toContain('"result":"SUCCESS"');
});

test('answers pipelined requests in their order', async () => {
  const forms = [saleFields(shop.merchant), { action: 'STEAL' }].map((form) => new URLSearchParams(form).toString());
  const received = await converse([forms.map((form) => head(form.length) + form).join('')]);
  await pause(0);
  expect(received.indexOf('"result":"SUCCESS"')).toBeGreaterThan(0);
  expect(received.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe('HTTP/1.1 200');
});

test('reads bodies whole whose pieces arrive together', async () => {
  const body = `${' '.repeat(30_000)}{"merchant_key":"nobody"}`;
  const request = `POST /api/v1/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const socket = connect({ port: Number(new URL(shop.url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.end(request.repeat(40));
  const received = await text(socket);
  expect(received.match(/merchant_key: This value is not valid/g)).toHaveLength(40);
});

test('records a request whose client disconnects before the end of the body', async () => {
  const before = shop.logs.length;
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
  await new Promise((resolve) => socket.write(`${head(100)}action=SALE`, resolve));
  await pause(50);
  socket.destroy();
  await expect
    .poll(() => shop.logs.slice(before).map((line) => JSON.parse(line)))
    .toContainEqual(expect.objectContaining({ action: 'unknown', status: 400, msg: 'request' }));
});
