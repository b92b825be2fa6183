/** The upstream connector against a fake provider: the requests that it sends, and how it reads each answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NotSent, type Outcome, type ProviderOperation, type Submission } from '../../src/connectors/connector.ts';
import { createUpstream, type Upstream } from '../../src/connectors/upstream.ts';
import { Deadline } from '../../src/lib/time/deadline.ts';
import { testOperation, testSubmission } from '../support/submissions.ts';

const soon = (): Deadline => new Deadline(30_000);

const KEY = 'key-that-must-stay-secret';
const NOTIFICATION_SECRET = Buffer.from('secret-that-must-stay-secret').toString('base64');
const PIN = '6337180011223344';

interface Call {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  body: unknown;
}

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

const calls: Call[] = [];
let respond: Responder;
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  calls.push({
    method: request.method,
    path: request.url,
    authorization: request.headers.authorization,
    contentType: request.headers['content-type'],
    body: text === '' ? undefined : JSON.parse(text),
  });
  respond(request, response);
});
const respondJson =
  (body: unknown, status = 200): Responder =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const respondText =
  (text: string | Buffer, headers: Record<string, string> = {}): Responder =>
  (_request, response) =>
    void response.writeHead(200, headers).end(text);

let url: string;
let provider: Upstream;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = createUpstream({ url, key: KEY, notificationSecret: NOTIFICATION_SECRET });
});
afterAll(async () => {
  await provider.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  calls.length = 0;
});

const submission = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({
    reference: '01a1dd06-691f-7000-87fc-b0749d0543ed',
    amount: 123_456_789_012_345_678n,
    description: 'Two teapots “čaj”',
    identifier: 'asha@example.com',
    payer: { first_name: 'Asha', country: 'IN', ip: '203.0.113.7' },
    parameters: () => ({ pin: PIN, list: [{ type: 'IBAN' }] }),
    ...changes,
  });
const PATH = '/v1/payments/01a1dd06-691f-7000-87fc-b0749d0543ed';

/** The outcome of an answer; a submission and a query read it the same way. */
async function outcomeOf(body: unknown): Promise<Outcome> {
  respond = respondJson(body);
  const queried = await provider.query(submission(), soon());
  expect(await provider.submit(submission(), soon())).toEqual(queried);
  return queried;
}

describe('a submission', () => {
  beforeEach(() => {
    respond = respondJson({ status: 'settled' });
  });

  test('sends the lines of the order, which add up to the amount', async () => {
    const items = [
      { name: 'Teapot', quantity: 2, unitAmount: '450', amount: '900' },
      { name: 'Cup', quantity: 3, amount: '100' },
    ];
    await provider.submit(submission({ lines: { items, shipping: '50', discount: '25' } }), soon());
    expect(calls[0]?.body).toMatchObject({
      lines: [
        { type: 'item', name: 'Teapot', quantity: 2, unit_amount: '450', amount: '900' },
        { type: 'item', name: '3 × Cup', quantity: 1, unit_amount: '100', amount: '100' },
        { type: 'shipping', name: 'Shipping', quantity: 1, unit_amount: '50', amount: '50' },
        { type: 'discount', name: 'Discount', quantity: 1, unit_amount: '-25', amount: '-25' },
      ],
    });
  });

  test('sends all fields, and the amount as a string without rounding', async () => {
    await provider.submit(submission(), soon());
    expect(calls).toEqual([
      {
        method: 'POST',
        path: '/v1/payments',
        authorization: `Bearer ${KEY}`,
        contentType: 'application/json',
        body: {
          reference: '01a1dd06-691f-7000-87fc-b0749d0543ed',
          brand: 'pin-a',
          direction: 'in',
          merchant: { mid: '01a1dd00-0000-7000-8000-000000000001', name: 'Demo Shop' },
          amount: '123456789012345678',
          currency: 'EUR',
          capture: true,
          description: 'Two teapots “čaj”',
          descriptor: '',
          identifier: 'asha@example.com',
          payer: { first_name: 'Asha', country: 'IN', ip: '203.0.113.7' },
          parameters: { pin: PIN, list: [{ type: 'IBAN' }] },
          return_url: 'https://pay.example.com/return/1',
          notify_url: 'https://pay.example.com/inbound/upstream',
        },
      },
    ]);
  });

  test.each<[string, Partial<Submission>, Record<string, unknown>]>([
    ['a payout has the direction out', { isPayout: true }, { direction: 'out' }],
    ['an authorisation is not captured', { authoriseOnly: true }, { capture: false }],
    ['sub-methods are listed', { methods: ['S1', 'S4'] }, { methods: ['S1', 'S4'] }],
    ['empty payer', { identifier: '', payer: {} }, { identifier: '', payer: {} }],
  ])('%s', async (_, changes, expected) => {
    await provider.submit(submission(changes), soon());
    expect(calls[0]?.body).toMatchObject(expected);
  });

  test('keeps the path of the provider URL', async () => {
    const below = createUpstream({ url: `${url}/gateway/eu/`, key: KEY, notificationSecret: NOTIFICATION_SECRET });
    await below.submit(submission(), soon());
    await below.query(submission(), soon());
    await below.close();
    expect(calls.map(({ path }) => path)).toEqual(['/gateway/eu/v1/payments', `/gateway/eu${PATH}`]);
  });
});

test('a query sends only the reference and the key', async () => {
  respond = respondJson({ status: 'settled' });
  await provider.query(submission({ parameters: () => expect.unreachable('The secrets are not needed.') }), soon());
  expect(calls).toMatchObject([{ method: 'GET', path: PATH, authorization: `Bearer ${KEY}`, body: undefined }]);
});

describe('the status of an answer', () => {
  test.each([
    ['settled', 'settled'],
    ['executed', 'settled'],
    ['authorised', 'authorised'],
    ['pending', 'accepted'],
    ['declined', 'declined'],
    ['rejected', 'declined'],
    ['voided', 'declined'],
  ])('%s means %s', async (status, kind) => {
    expect(await outcomeOf({ status })).toMatchObject({ kind });
  });

  test.each(['', 'SETTLED', 'settled ', 'refunded', 'failed', 'constructor', '__proto__', 'toString'])(
    '%j leaves the outcome unknown',
    async (status) => {
      expect(await outcomeOf({ status })).toEqual({ kind: 'unknown' });
    },
  );

  test.each<{ status: unknown }>([
    { status: undefined },
    { status: null },
    { status: 7 },
    { status: true },
    { status: ['settled'] },
    { status: { toString: 'settled' } },
  ])('%j leaves the outcome unknown', async (answer) => {
    expect(await outcomeOf(answer)).toEqual({ kind: 'unknown' });
  });

  test('reads the id and the amount', async () => {
    expect(await outcomeOf({ status: 'settled', id: 'prv_1', amount: '1000', currency: 'EUR' })).toEqual({
      kind: 'settled',
      providerReference: 'prv_1',
      reportedAmount: { amount: 1000n, currency: 'EUR' },
    });
    expect(await outcomeOf({ status: 'settled', amount: '999999999999999999', currency: 'JPY' })).toMatchObject({
      reportedAmount: { amount: 999_999_999_999_999_999n, currency: 'JPY' },
    });
  });

  test('has no amount if the answer has none', async () => {
    expect(await outcomeOf({ status: 'settled' })).toEqual({
      kind: 'settled',
      providerReference: undefined,
      reportedAmount: undefined,
    });
  });

  /** Treating an invalid amount as a missing one would accept the outcome. */
  test.each<[unknown, unknown]>([
    [1000, 'EUR'],
    ['10.00', 'EUR'],
    ['-1000', 'EUR'],
    ['1e3', 'EUR'],
    ['', 'EUR'],
    ['9'.repeat(19), 'EUR'],
    ['1000', 978],
  ])('an amount %j of currency %j is invalid, which is not the same as none', async (amount, currency) => {
    expect(await outcomeOf({ status: 'settled', amount, currency })).toMatchObject({
      kind: 'settled',
      reportedAmount: 'invalid',
    });
    expect(provider.interpretNotification({ type: 'bank_status', code: 'ACSC', amount, currency })).toMatchObject({
      reportedAmount: 'invalid',
    });
  });

  test.each([
    ['a sentence', 'The voucher is used up.', 'The voucher is used up.'],
    ['a long one, which is cut', 'x'.repeat(300), 'x'.repeat(255)],
    ['an empty one', '', 'Declined by the provider.'],
    ['none', undefined, 'Declined by the provider.'],
    ['an object', { code: 7 }, 'Declined by the provider.'],
    ['a character that the database cannot store', '\0', 'Declined by the provider.'],
    ['half of a surrogate pair', '\ud83d', 'Declined by the provider.'],
  ])('declined with a reason: %s', async (_, reason, expected) => {
    expect(await outcomeOf({ status: 'declined', reason })).toMatchObject({ kind: 'declined', reason: expected });
  });

  test.each([
    [{ qr: 'K:PR|V:01' }, { code: 'K:PR|V:01', instructions: undefined }],
    [{ qr: 7 }, { code: undefined }],
    [
      { instructions: { account_number: '1', holder: 'Shop' } },
      { instructions: { account_number: '1', holder: 'Shop' } },
    ],
    [{ instructions: { account_number: 1 } }, { instructions: { account_number: '' } }],
    [{ instructions: ['1'] }, { instructions: undefined }],
    [{}, { code: undefined, instructions: undefined }],
  ])('pending with %j', async (more, expected) => {
    expect(await outcomeOf({ status: 'pending', ...more })).toMatchObject({ kind: 'accepted', ...expected });
  });
});

describe('a redirect', () => {
  test.each([
    [{ url: 'https://p.example/1' }, { url: 'https://p.example/1', method: 'GET', params: {} }],
    [
      { url: 'http://p.example/1', method: 'POST', params: { a: 'b' } },
      { url: 'http://p.example/1', method: 'POST', params: { a: 'b' } },
    ],
    [
      { url: 'https://p.example', method: 'DELETE', params: 'a=b' },
      { url: 'https://p.example', method: 'GET', params: {} },
    ],
    [
      { url: 'https://p.example', params: { a: 1 } },
      { url: 'https://p.example', method: 'GET', params: { a: '' } },
    ],
  ])('%j', async (redirect, expected) => {
    expect(await outcomeOf({ status: 'redirect', redirect })).toMatchObject({ kind: 'redirected', ...expected });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'https://p.example'],
    ['a list', ['https://p.example']],
    ['no address', {}],
    ['an empty address', { url: '' }],
    ['a number', { url: 7 }],
    ['an address without a host', { url: '/pay/1' }],
    ['a script', { url: 'javascript:alert(1)' }],
    ['a page in the address', { url: 'data:text/html,x' }],
    ['a blank before the address', { url: ' https://p.example' }],
    ['an endless address', { url: `https://p.example/${'x'.repeat(2048)}` }],
  ])('to %s leaves the outcome unknown', async (_, redirect) => {
    expect(await outcomeOf({ status: 'redirect', redirect })).toEqual({ kind: 'unknown' });
  });
});

describe('a 404', () => {
  test.each([
    ['a submission', () => provider.submit(submission(), soon())],
    ['a query', () => provider.query(submission(), soon())],
    ['an operation', () => provider.operate(operation(), soon())],
    ['a query of an operation', () => provider.queryOperation(operation(), soon())],
  ])('%s is not found', async (_, call) => {
    respond = respondJson({ error: 'There is nothing.' }, 404);
    expect(await call()).toEqual({ kind: 'notFound' });
  });
});

const INVALID_ANSWERS: [string, Responder][] = [
  ...[201, 204, 301, 302, 400, 401, 403, 409, 429, 500, 502, 503].map((status): [string, Responder] => [
    `status ${status}`,
    (_request, response) => void response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end(),
  ]),
  ['an error that echoes what it was sent', respondJson({ error: `Wrong pin ${PIN}, key ${KEY}` }, 500)],
  ['an empty body', respondText('')],
  ['no JSON', respondText(`<html>${PIN} ${KEY}</html>`)],
  ['half of an object', respondText(`{"status":"settled","id":"${KEY}`)],
  ['a list', respondJson([{ status: 'settled' }])],
  ['a text', respondJson(PIN)],
  ['null', respondJson(null)],
  ['more than 256 KB', respondJson({ status: 'settled', more: 'x'.repeat(256 * 1024) })],
  ['bytes that are no text', respondText(Buffer.from([0xff, 0xfe, 0x00]))],
  ['a connection that is closed at once', (request) => void request.socket.destroy()],
  [
    'a connection that is closed in the middle of the answer',
    (request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"status":"settled"');
      setTimeout(() => request.socket.destroy(), 20);
    },
  ],
  ['something that is not HTTP', (request) => void request.socket.end('SETTLED\r\n\r\n')],
];

describe('throws on an invalid answer, without secrets in the error', () => {
  test.each(INVALID_ANSWERS)('%s', async (_, answer) => {
    respond = answer;
    for (const call of [
      () => provider.submit(submission(), soon()),
      () => provider.query(submission(), soon()),
      () => provider.operate(operation(), soon()),
      () => provider.queryOperation(operation(), soon()),
    ]) {
      const error = await Promise.resolve(call()).then(
        (outcome) => expect.unreachable(`returned ${JSON.stringify(outcome)}`),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      const { message, stack, cause } = error as Error;
      for (const secret of [KEY, PIN, NOTIFICATION_SECRET]) {
        expect(`${message} ${stack} ${String(cause)} ${JSON.stringify(error)}`).not.toContain(secret);
      }
    }
  });

  test('a provider that cannot be reached', async () => {
    const unreachable = createUpstream({
      url: 'http://127.0.0.1:9',
      key: KEY,
      notificationSecret: NOTIFICATION_SECRET,
    });
    const thrown = await Promise.resolve(unreachable.submit(submission(), soon())).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(String(thrown)).not.toMatch(new RegExp(`${KEY}|${PIN}`));
    await unreachable.close();
  });

  test('reads an answer just below the size limit', async () => {
    respond = respondJson({ status: 'settled', more: 'x'.repeat(255 * 1024) });
    expect(await provider.query(submission(), soon())).toMatchObject({ kind: 'settled' });
  });

  test('the next call succeeds', async () => {
    expect(await outcomeOf({ status: 'settled' })).toMatchObject({ kind: 'settled' });
  });
});

const operation = (changes: Partial<ProviderOperation> = {}): ProviderOperation =>
  testOperation({
    reference: '01a1dd06-691f-7000-87fc-b0749d0543ed',
    operation: '01a1dd07-0000-7000-8000-000000000001',
    amount: 500n,
    ...changes,
  });

describe('operations', () => {
  test.each(['capture', 'void', 'refund'] as const)('%s sends its own id and the amount', async (verb) => {
    respond = respondJson({ status: 'done' });
    expect(await provider.operate(operation({ verb }), soon())).toEqual({ kind: 'done' });
    expect(calls).toEqual([
      {
        method: 'POST',
        path: `${PATH}/${verb}`,
        authorization: `Bearer ${KEY}`,
        contentType: 'application/json',
        body: { operation: '01a1dd07-0000-7000-8000-000000000001', amount: '500' },
      },
    ]);
  });

  test('a query names the payment and the operation', async () => {
    respond = respondJson({ status: 'done' });
    expect(await provider.queryOperation(operation(), soon())).toEqual({ kind: 'done' });
    expect(calls).toMatchObject([
      { method: 'GET', path: `${PATH}/operations/01a1dd07-0000-7000-8000-000000000001`, body: undefined },
    ]);
  });

  test.each<[Record<string, unknown>, Record<string, string>]>([
    [{ status: 'done' }, { kind: 'done' }],
    [{ status: 'pending' }, { kind: 'accepted' }],
    [
      { status: 'declined', reason: 'Too late.' },
      { kind: 'declined', reason: 'Too late.' },
    ],
    [{ status: 'declined' }, { kind: 'declined', reason: 'Declined by the provider.' }],
    [{ status: 'settled' }, { kind: 'unknown' }],
    [{ status: 'DONE' }, { kind: 'unknown' }],
    [{}, { kind: 'unknown' }],
  ])('%j means %j', async (answer, expected) => {
    respond = respondJson(answer);
    expect(await provider.operate(operation(), soon())).toEqual(expected);
    expect(await provider.queryOperation(operation(), soon())).toEqual(expected);
  });

  test.each<[Record<string, unknown>, unknown]>([
    [{}, undefined],
    [{ amount: '500' }, { amount: 500n }],
    [
      { amount: '500', currency: 'EUR' },
      { amount: 500n, currency: 'EUR' },
    ],
    [{ amount: 500 }, 'invalid'],
    [{ amount: '5.00' }, 'invalid'],
    [{ currency: 'EUR' }, 'invalid'],
    [{ amount: '500', currency: 978 }, 'invalid'],
  ])('reads the amount of %o, or reports it as invalid', async (amounts, reportedAmount) => {
    respond = respondJson({ status: 'done', ...amounts });
    expect(await provider.operate(operation(), soon())).toEqual({ kind: 'done', reportedAmount });
  });
});

describe('a deadline', () => {
  const thrownBy = (call: unknown): Promise<unknown> =>
    Promise.resolve(call).then(
      (outcome) => expect.unreachable(`answered ${JSON.stringify(outcome)}`),
      (error: unknown) => error,
    );

  test('that has passed prevents sending', async () => {
    respond = respondJson({ status: 'settled' });
    expect(await thrownBy(provider.submit(submission(), new Deadline(0)))).toBeInstanceOf(NotSent);
    expect(await thrownBy(provider.submit(submission(), new Deadline(1000, 2000)))).toBeInstanceOf(NotSent);
    expect(calls).toEqual([]);
  });

  test('that passes while connecting: the request is never written', async () => {
    // A server without TLS: the connection is established, but nothing can be written to it.
    const silent = createTcpServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const slow = createUpstream({
      url: `https://127.0.0.1:${port}`,
      key: KEY,
      notificationSecret: NOTIFICATION_SECRET,
    });
    expect(await thrownBy(slow.submit(submission(), new Deadline(100)))).toBeInstanceOf(NotSent);
    await slow.close();
    silent.close();
  });

  test('that passes after the request was sent aborts the call, and the outcome is unknown', async () => {
    const closed = new Promise<void>((resolve) => {
      respond = (request) => void request.socket.once('close', () => resolve());
    });
    const error = await thrownBy(provider.submit(submission(), new Deadline(3000)));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(NotSent);
    expect(calls).toHaveLength(1);
    await closed;
  });

  test('a provider that cannot be reached has received nothing', async () => {
    const missing = createUpstream({ url: 'http://127.0.0.1:9', key: KEY, notificationSecret: NOTIFICATION_SECRET });
    expect(await thrownBy(missing.submit(submission(), soon()))).toBeInstanceOf(NotSent);
    await missing.close();
  });
});

test('escapes references in the path', async () => {
  respond = respondJson({ status: 'settled' });
  await provider.query(submission({ reference: '../../admin?x=1#y' }), soon());
  await provider.queryOperation(operation({ operation: '../refund' }), soon());
  expect(calls.map(({ path }) => path)).toEqual([
    '/v1/payments/..%2F..%2Fadmin%3Fx%3D1%23y',
    `${PATH}/operations/..%2Frefund`,
  ]);
});

describe('notifications', () => {
  test.each([
    ['ACSC', 'settled'],
    ['ACCC', 'settled'],
    ['RJCT', 'declined'],
    ['PDNG', 'accepted'],
    ['ACTC', 'accepted'],
    ['ACCP', 'accepted'],
    ['ACSP', 'accepted'],
    ['ACWC', 'accepted'],
    ['PART', 'accepted'],
    ['ZZZZ', 'accepted'],
    ['acsc', 'accepted'],
    ['constructor', 'accepted'],
    [undefined, 'accepted'],
  ])('bank status %s: %s', (code, kind) => {
    expect(
      provider.interpretNotification({ type: 'bank_status', code, amount: '1000', currency: 'RSD' }),
    ).toMatchObject({
      kind,
      reportedAmount: { amount: 1000n, currency: 'RSD' },
    });
  });

  test.each([
    [{ type: 'payment', status: 'executed' }, { kind: 'settled' }],
    [
      { type: 'payment', status: 'declined', reason: 'No.' },
      { kind: 'declined', reason: 'No.' },
    ],
    [{ type: 'payment', status: 'odd' }, { kind: 'unknown' }],
    [
      { type: 'bank_status', code: 'RJCT' },
      { kind: 'declined', reason: 'Rejected by the bank.' },
    ],
    [
      { type: 'bank_status', code: 'RJCT', reason: 'AC04' },
      { kind: 'declined', reason: 'AC04' },
    ],
    [{ type: 'chargeback', amount: '5', currency: 'EUR' }, { kind: 'chargedBack' }],
  ])('%j', (body, meaning) => {
    expect(provider.interpretNotification(body)).toMatchObject(meaning);
  });

  test.each([{ type: 'holiday' }, { type: 'constructor' }, { type: '__proto__' }, { type: 7 }, {}])(
    '%j has no effect',
    (body) => {
      expect(provider.interpretNotification(body)).toBeUndefined();
    },
  );
});
