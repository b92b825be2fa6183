/** Health, metrics and one log line per request, none of which ever contains a secret. */
import { connect } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { PaymentWithDetails } from '../../src/store/payments/payments.ts';
import { query } from '../support/database.ts';
import { UNKNOWN_ROUTE } from '../support/entries.ts';
import { ADMIN_TOKEN, type Fields, saleFields, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { allowBursts } from '../support/limits.ts';
import { preparedPayment } from '../support/payments.ts';

allowBursts();

interface Line {
  level: string;
  msg: string;
  request_id?: string;
  [name: string]: unknown;
}

const lines = (shop: TestGateway): Line[] => shop.logs.map((line) => JSON.parse(line));
const requestLines = (shop: TestGateway): Line[] => lines(shop).filter((line) => line.msg === 'request');

/** The log line of a response, which is written right after it. */
async function logLineOf(shop: TestGateway, headers: Headers): Promise<Line> {
  const id = headers.get('x-request-id');
  const find = () => requestLines(shop).filter((line) => line.request_id === id);
  await expect.poll(find).toHaveLength(1);
  return find()[0] as Line;
}

describe('health', () => {
  let shop: TestGateway;
  beforeAll(async () => {
    shop = await startTestGateway();
  });
  afterAll(() => shop.close());

  const get = async (path: string) => {
    const response = await fetch(shop.url + path);
    return { status: response.status, body: await response.json() };
  };

  test('live and ready', async () => {
    expect(await get('/health/live')).toEqual({ status: 200, body: { status: 'live' } });
    expect(await get('/health/ready')).toEqual({ status: 200, body: { status: 'ready' } });
  });

  test('a read-only database: live, but not ready until it accepts writes again', async () => {
    const { database } = shop.connection;
    const server = inject('database');
    const reconnect = () =>
      query(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
    await query(server, `alter database ${database} set default_transaction_read_only = on`);
    await reconnect();
    await expect
      .poll(() => get('/health/ready'))
      .toEqual({
        status: 503,
        body: {
          result: 'ERROR',
          error_code: 100000,
          error_message: 'The gateway cannot accept requests safely at the moment.',
          errors: [],
        },
      });
    expect(await get('/health/live')).toEqual({ status: 200, body: { status: 'live' } });
    expect((await shop.sale()).status).toBe(503);
    await query(server, `alter database ${database} reset default_transaction_read_only`);
    await reconnect();
    await expect.poll(async () => (await get('/health/ready')).status).toBe(200);
    await expect.poll(async () => (await shop.sale()).status).toBe(200);
  });
});

describe('metrics', () => {
  let shop: TestGateway;
  beforeAll(async () => {
    shop = await startTestGateway();
  });
  afterAll(() => shop.close());

  /** The value of the only sample with this prefix. */
  const sample = (text: string, name: string): number => {
    const found = text.split('\n').filter((line) => line.startsWith(`${name} `));
    return found.length === 1 ? Number(found[0]?.slice(name.length)) : Number.NaN;
  };
  const metrics = async (): Promise<string> => (await fetch(`${shop.url}/metrics`)).text();

  test('requests by action and outcome, their duration, batches, payments by state', async () => {
    const began = performance.now();
    await shop.sale();
    const { body: sale } = await shop.sale();
    await shop.sale({ identifier: 'decline@example.com' });
    await shop.sale({ auth: 'Y' });
    await shop.sale({ order_amount: 'x' });
    await shop.sale({ hash: '0'.repeat(40) });
    await shop.status(sale.trans_id);
    await shop.status('01990000-0000-7000-8000-000000000000');
    await shop.post({ action: 'NOPE' });
    await shop.admin('GET', '/accounts', undefined, 'wrong');
    const last = await shop.admin('GET', '/payments');
    await logLineOf(shop, last.headers);
    const text = await metrics();
    const requests = (labels: string) => sample(text, `turnpike_requests_total{${labels}}`);
    expect({
      success: requests('action="SALE",outcome="SUCCESS"'),
      declined: requests('action="SALE",outcome="DECLINED"'),
      refused: requests('action="SALE",outcome="error 100000"'),
      status: requests('action="GET_TRANS_STATUS",outcome="SUCCESS"'),
      unknownTransaction: requests('action="GET_TRANS_STATUS",outcome="error 101000"'),
      unknownAction: requests('action="unknown",outcome="error 0"'),
      admin: requests('action="admin",outcome="200"'),
      made: requests('action="admin",outcome="201"'),
      turnedAway: requests('action="admin",outcome="error 100000"'),
    }).toEqual({
      success: 3,
      declined: 1,
      refused: 2,
      status: 1,
      unknownTransaction: 1,
      unknownAction: 1,
      admin: 1,
      made: 1,
      turnedAway: 1,
    });
    expect(sample(text, 'turnpike_request_seconds_count{action="SALE"}')).toBe(6);
    expect(sample(text, 'turnpike_request_seconds_bucket{le="+Inf",action="SALE"}')).toBe(6);
    expect(sample(text, 'turnpike_request_seconds_sum{action="SALE"}')).toBeGreaterThan(0);
    const passed = (performance.now() - began) / 1000;
    expect(sample(text, 'turnpike_request_seconds_sum{action="SALE"}')).toBeLessThan(passed);
    expect(sample(text, 'turnpike_payments_total{state="SETTLED"}')).toBe(2);
    expect(sample(text, 'turnpike_payments_total{state="DECLINED"}')).toBe(1);
    expect(sample(text, 'turnpike_payments_total{state="PENDING"}')).toBe(1);
    // Four payments, each opened and then changed.
    expect(sample(text, 'turnpike_batch_items_sum{statement="open"}')).toBe(4);
    expect(sample(text, 'turnpike_batch_items_sum{statement="transition"}')).toBe(4);
  });

  test('concurrent requests share batches', async () => {
    const before = await metrics();
    // On a busy machine the requests of a round can arrive one after the other.
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 60 }, () => shop.sale()));
    const after = await metrics();
    const grown = (name: string) => sample(after, name) - sample(before, name);
    for (const statement of ['open', 'transition']) {
      expect(grown(`turnpike_batch_items_sum{statement="${statement}"}`)).toBe(300);
      expect(grown(`turnpike_batch_items_count{statement="${statement}"}`)).toBeLessThan(300);
    }
  });

  test('are in the Prometheus format, with the event loop lag', async () => {
    const response = await fetch(`${shop.url}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    expect(sample(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(text).not.toContain(shop.merchant.mid);
  });
});

describe('the log', () => {
  let shop: TestGateway;
  beforeAll(async () => {
    shop = await startTestGateway();
  });
  afterAll(() => shop.close());

  test('a request writes one line: account, action, outcome, duration', async () => {
    const began = performance.now();
    const { body, headers } = await shop.sale();
    const line = await logLineOf(shop, headers);
    const passed = performance.now() - began;
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      request_id: headers.get('x-request-id'),
      action: 'SALE',
      outcome: 'SUCCESS',
      status: 200,
      mid: shop.merchant.mid,
      payment_id: body.trans_id,
      ms: expect.any(Number),
      msg: 'request',
    });
    expect(line.ms).toBeGreaterThan(0);
    expect(line.ms).toBeLessThan(passed);
  });

  test.each<[string, () => Promise<{ headers: Headers }>, Partial<Line>]>([
    [
      'a decline',
      () => shop.sale({ identifier: 'decline@example.com' }),
      { action: 'SALE', outcome: 'DECLINED', status: 200 },
    ],
    ['a bad field', () => shop.sale({ order_amount: 'x' }), { action: 'SALE', outcome: 'error 100000', status: 400 }],
    ['a wrong hash', () => shop.sale({ hash: 'x' }), { action: 'SALE', outcome: 'error 100000', status: 400 }],
    [
      'an unknown transaction',
      () => shop.status('x'),
      { action: 'GET_TRANS_STATUS', outcome: 'error 101000', status: 400 },
    ],
  ])('%s is logged with the account, because its key was known', async (_, send, expected) => {
    expect(await logLineOf(shop, (await send()).headers)).toMatchObject({
      ...expected,
      mid: shop.merchant.mid,
    });
  });

  test('a refused address is logged with the account', async () => {
    const merchant = await shop.newMerchant({ ip_allowlist: ['203.0.113.7'] });
    const { headers } = await shop.sale({}, merchant);
    expect(await logLineOf(shop, headers)).toMatchObject({ outcome: 'error 100000', mid: merchant.mid });
  });

  test.each<[string, () => Promise<{ headers: Headers }>, Partial<Line>]>([
    [
      'an unknown key',
      () => shop.post({ action: 'SALE', client_key: 'x' }),
      { action: 'SALE', outcome: 'error 100000' },
    ],
    ['an unknown action', () => shop.post({ action: 'x' }), { action: 'unknown', outcome: 'error 0', status: 404 }],
    ['a wrong token', () => shop.admin('GET', '/accounts', undefined, 'x'), { action: 'admin', status: 401 }],
    ['an admin call', () => shop.admin('GET', '/accounts'), { action: 'admin', outcome: '200', status: 200 }],
  ])('%s is logged without an account', async (_, send, expected) => {
    const line = await logLineOf(shop, (await send()).headers);
    expect(line).toMatchObject(expected);
    expect(line).not.toHaveProperty('mid');
    expect(line).not.toHaveProperty('payment_id');
  });

  test('a hundred requests write a hundred lines with a hundred ids', async () => {
    const before = requestLines(shop).length;
    const answers = await Promise.all(Array.from({ length: 100 }, () => shop.sale()));
    await expect.poll(() => requestLines(shop).length).toBe(before + 100);
    const requestIds = answers.map(({ headers }) => headers.get('x-request-id')).sort();
    expect(new Set(requestIds).size).toBe(100);
    expect(
      requestLines(shop)
        .slice(before)
        .map((line) => line.request_id)
        .sort(),
    ).toEqual(requestIds);
  });

  test.each([
    ['POST', '/post'],
    ['GET', '/post'],
    ['GET', '/nowhere'],
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
    ['GET', '/metrics'],
    ['GET', '/admin/api/accounts'],
    ['GET', '/admin/api/nowhere'],
    ['GET', '/%zz'],
    ['GET', `/admin/api/accounts/${'x'.repeat(201)}`],
  ])('%s %s is answered with a request id', async (method, path) => {
    const response = await fetch(shop.url + path, { method });
    expect(response.headers.get('x-request-id')).toMatch(/^[a-p]{10}-[0-9a-z]+$/);
  });

  test.each(['/%zz', '/post/%zz', `/admin/api/accounts/${'x'.repeat(201)}`])(
    'the malformed path %s is unknown like any other',
    async (path) => {
      const response = await fetch(shop.url + path);
      expect([response.status, await response.json()]).toEqual([404, UNKNOWN_ROUTE]);
    },
  );

  test('ignores a request id that the client sends', async () => {
    const { headers } = await shop.post(saleFields(shop.merchant), {
      'x-request-id': 'made-up',
      'request-id': 'made-up',
    });
    expect(headers.get('x-request-id')).not.toBe('made-up');
    await logLineOf(shop, headers);
    expect(shop.logs.join('')).not.toContain('made-up');
  });
});

describe('no secret is ever logged', () => {
  const PAN = '4111111111111111';
  const CVV = '9473';
  let shop: TestGateway;
  let callbackSecret: string;
  beforeAll(async () => {
    shop = await startTestGateway({ logLevel: 'trace', trustedProxies: ['127.0.0.0/8'] });
    const { body } = await shop.admin('POST', '/accounts', { name: 'Test Shop' });
    shop.merchant = body;
    callbackSecret = body.callback_secret;
  });
  afterAll(() => shop.close());

  /** The values that must not be found, by the name that a failure reports. */
  const secrets = (): Record<string, string> => ({
    pan: PAN,
    'pan with spaces': '4111 1111 1111 1111',
    'pan with dashes': '4111-1111-1111-1111',
    password: shop.merchant.password,
    hash: sign(shop.merchant.password, 'anything'),
    'admin token': ADMIN_TOKEN,
    'callback secret': callbackSecret,
  });

  /** The log without our own ids, which may contain any digits. */
  const logged = (): string =>
    lines(shop)
      .map(({ time, request_id, ms, mid, payment_id, ...rest }) => JSON.stringify(rest))
      .join('\n');

  const expectNoSecrets = (): void => {
    const text = logged();
    for (const [name, secret] of Object.entries(secrets())) expect(text.includes(secret), name).toBe(false);
    expect(text.includes(PAN.slice(0, 12)), 'most of the pan').toBe(false);
    expect(text.replaceAll(/[^0-9a-z]/gi, '').includes(PAN), 'the digits of the pan').toBe(false);
    expect(text.includes(CVV), 'cvv').toBe(false);
  };

  const SALE_FIELDS = [
    ...['action', 'client_key', 'brand', 'identifier', 'order_id', 'order_amount', 'order_currency', 'hash'],
    ...['order_description', 'payer_ip', 'payer_first_name', 'payer_address', 'payer_email', 'payer_phone'],
    ...['return_url', 'term_url_3ds', 'callback_url', 'auth', 'recurring_init', 'schedule_id', 'custom_data[x]'],
    ...['card_number', 'card_cvv', 'password', 'token'],
  ];

  test.each(SALE_FIELDS)('sent as %s', async (field) => {
    const before = requestLines(shop).length;
    const values = [...Object.values(secrets()), CVV];
    const answers = await Promise.all(
      values.flatMap((value) => [
        shop.post({ ...saleFields(shop.merchant), [field]: value }),
        shop.post({ ...saleFields(shop.merchant), [field]: `https://x.example/?number=${encodeURIComponent(value)}` }),
        shop.sale(field === 'hash' ? {} : { [field]: value }),
      ]),
    );
    expect(answers).toHaveLength(24);
    await expect.poll(() => requestLines(shop).length).toBe(before + 24);
    expectNoSecrets();
  });

  test('sent in the name of a field, twice, as a file, as JSON, broken', async () => {
    const fields: Fields = saleFields(shop.merchant);
    for (const value of [...Object.values(secrets()), CVV]) {
      await shop.post({ ...fields, [value]: value });
      await shop.post({ ...fields, [`custom_data[${value}]`]: 'x' });
      for (const [body, type] of [
        [`action=SALE&order_id=${value}&order_id=${value}`, 'application/x-www-form-urlencoded'],
        [`action=SALE&${value}=%zz`, 'application/x-www-form-urlencoded'],
        [JSON.stringify({ action: 'SALE', card_number: value }), 'application/json'],
        [value, `text/${encodeURIComponent(value)}`],
        [`--x\r\ncontent-disposition: form-data; name="${value}"\r\n\r\n${value}`, 'multipart/form-data; boundary=x'],
      ] as const) {
        await fetch(`${shop.url}/post`, { method: 'POST', body, headers: { 'content-type': type } });
      }
      const form = new FormData();
      form.set('action', 'SALE');
      form.set('order_id', new File([value], value));
      await fetch(`${shop.url}/post`, { method: 'POST', body: form });
    }
    expectNoSecrets();
  });

  test('sent in headers', async () => {
    for (const value of [...Object.values(secrets()), CVV]) {
      const headers = {
        authorization: `Bearer ${value}x`,
        'user-agent': value,
        referer: `https://x.example/${encodeURIComponent(value)}`,
        cookie: `session=${value}`,
        'x-forwarded-for': value,
        'x-request-id': value,
        'x-card': value,
      };
      await shop.post(saleFields(shop.merchant), headers);
      for (const path of ['/health/live', '/metrics', '/nowhere', '/admin/api/accounts']) {
        await (await fetch(shop.url + path, { headers })).text();
      }
    }
    expectNoSecrets();
  });

  test('sent in paths and queries', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    for (const value of [...Object.values(secrets()), CVV].map(encodeURIComponent)) {
      for (const path of [
        `/${value}`,
        `/post/${value}`,
        `/post?card=${value}`,
        `/%zz${value}`,
        `/admin/api/${value}`,
        `/admin/api/accounts/${value}`,
        `/admin/api/payments/${value}`,
        `/admin/api/payments/${value}${'x'.repeat(300)}`,
        `/admin/api/payments?order_id=${value}`,
        `/admin/api/payments?${value}=${value}`,
      ]) {
        for (const method of ['GET', 'POST']) await (await fetch(shop.url + path, { method, headers })).text();
      }
    }
    expectNoSecrets();
  });

  test('sent to the admin API', async () => {
    for (const value of [...Object.values(secrets()), CVV]) {
      await shop.admin('POST', '/accounts', { name: 'x', [value]: value });
      await shop.admin('POST', '/accounts', { name: value, descriptor: value });
      await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { brand_aliases: { [value]: value } });
      await shop.admin('POST', '/clock', { advance_seconds: value, mid: value });
      await fetch(`${shop.url}/admin/api/accounts`, {
        method: 'POST',
        body: `{"name": "${value}" ${value}`,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      });
    }
    await shop.admin('POST', `/accounts/${shop.merchant.mid}/rotate-password`);
    expectNoSecrets();
  });

  test('sent as something that is not HTTP', async () => {
    for (const value of Object.values(secrets())) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(shop.url).port), '127.0.0.1', () => socket.end(`PAY ${value}\r\n\r\n`));
        socket.on('data', () => undefined).on('close', () => resolve());
      });
    }
    expectNoSecrets();
  });

  test('while the database fails', async () => {
    const failures = () => lines(shop).filter((line) => line.msg === 'request failed').length;
    const before = failures();
    await shop.rows('alter table history rename to history_away');
    for (const value of [PAN, '4111 1111 1111 1111', callbackSecret, ADMIN_TOKEN, CVV]) {
      const { status, body } = await shop.sale({
        payer_zip: value,
        order_id: `${value} ${before}`,
        card_cvv: CVV,
      });
      expect(status).toBe(500);
      expect(JSON.stringify(body)).not.toContain('history');
    }
    await shop.rows('alter table history_away rename to history');
    expect(failures()).toBe(before + 5);
    expectNoSecrets();
  });

  test('in an error that the database describes with the values themselves', async () => {
    const before = shop.logs.length;
    const bad: Partial<PaymentWithDetails>[] = [
      { amount: 0n },
      { currency: '4111 1111 1111 1111' },
      { currency: `card_number=${PAN}&cvv=${CVV}` },
      { currency: `{${shop.merchant.password}` },
    ];
    for (const changes of bad) {
      const details = { description: PAN, identifier: shop.merchant.password, payer: { cvv: CVV } };
      const error = await shop.gateway.payments.open(preparedPayment(shop, { details, ...changes })).catch((e) => e);
      expect(error).toBeInstanceOf(pg.DatabaseError);
      shop.gateway.log.error({ err: error }, 'request failed');
    }
    // A value that does not fit into its type at all is not sent, and not shown either.
    const unsent: [string, Partial<PaymentWithDetails>][] = [
      ['uuid', { scheduleId: `card_number=${PAN}&cvv=${CVV}` }],
      ['protocol', { protocol: PAN as 's2s' }],
    ];
    for (const [type, changes] of unsent) {
      const error = await shop.gateway.payments.open(preparedPayment(shop, changes)).catch((e) => e);
      expect(error.message).toBe(`A value is not valid for the type ${type}.`);
      shop.gateway.log.error({ err: error }, 'request failed');
    }
    expect(shop.logs.length).toBe(before + bad.length + unsent.length);
    expectNoSecrets();
  });
});

test('the database stores no password, callback secret or admin token in clear', async () => {
  const shop = await startTestGateway();
  const { body: account } = await shop.admin('POST', '/accounts', { name: 'Sealed' });
  const merchant = { ...account, callbackSecret: account.callback_secret };
  await shop.sale({}, merchant);
  const { body: rotated } = await shop.admin('POST', `/accounts/${account.mid}/rotate-password`);
  await shop.sale({}, { ...merchant, password: rotated.password });
  const tables = await shop.rows(`select tablename as name from pg_tables where schemaname = 'public'`);
  let dump = '';
  for (const { name } of tables) {
    for (const row of await shop.rows(`select * from ${name}`)) {
      for (const value of Object.values(row)) {
        dump += Buffer.isBuffer(value) ? `${value.toString('latin1')}\n` : `${JSON.stringify(value)}\n`;
      }
    }
  }
  expect(dump).toContain(account.client_key);
  for (const secret of [account.password, rotated.password, account.callback_secret, ADMIN_TOKEN]) {
    const bytes = Buffer.from(secret.replace('whsec_', ''));
    for (const form of [
      secret,
      secret.toUpperCase(),
      bytes.toString(),
      bytes.toString('hex'),
      bytes.toString('base64'),
    ]) {
      expect(dump.includes(form)).toBe(false);
    }
    // A hex secret could also be stored as its bytes.
    expect(dump.includes(Buffer.from(secret, 'hex').toString('latin1') || 'none')).toBe(false);
  }
  await shop.close();
});
