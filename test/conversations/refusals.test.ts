/** Every refusal of `/post`: its code, message and status; nothing is stored and nothing leaks. */
import { describe, expect, test } from 'vitest';
import { cardSale } from '../support/dialect.ts';
import { entryOf, UNKNOWN_ROUTE } from '../support/entries.ts';
import {
  type Fields,
  type Merchant,
  newOrderId,
  openShop,
  saleFields,
  sign,
  startTestGateway,
} from '../support/gateway.ts';
import { operationFields } from '../support/operations.ts';

const shop = openShop({ trustedProxies: ['127.0.0.0/8'] });

const invalid = (...entries: string[]) => ({
  result: 'ERROR',
  error_code: 100000,
  error_message: 'Request data is invalid.',
  errors: entries.map((entry) => entryOf(entry)),
});

interface Envelope {
  error_code: number;
}

async function raw(body: string | Uint8Array<ArrayBuffer>, contentType = 'application/x-www-form-urlencoded') {
  const response = await fetch(`${shop.url}/post`, {
    method: 'POST',
    body,
    headers: { 'content-type': contentType },
  });
  return { status: response.status, body: (await response.json()) as Envelope };
}

describe('unknown actions: 404', () => {
  const NOT_MEMBERS = [
    'REFUND',
    'CREDIT',
    'REVERSAL',
    'REVERSE',
    'CHARGEBACK',
    'CANCEL_SCHEDULE',
    'STOP_SCHEDULE',
    'SCHEDULE_CANCEL',
    'CANCEL_RECURRING',
    'GET_SCHEDULE',
    'GET_SCHEDULE_STATUS',
    'RECURRING_PAYMENT',
    'REC_SALE',
    'REC_PAYMENT',
    'RECURRING_SALE_INIT',
  ];
  const MISSPELLED = [
    'sale',
    'Sale',
    'SALE ',
    ' SALE',
    'SALES',
    'get_trans_status',
    'Capture',
    'VOI',
    '',
    '0',
    'null',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ];
  test.each([...NOT_MEMBERS, ...MISSPELLED])('action %j', async (action) => {
    const { status, body } = await shop.post({ ...saleFields(shop.merchant), action });
    expect(status).toBe(404);
    expect(body).toEqual(UNKNOWN_ROUTE);
  });
  test('a missing action, an empty body, other methods and other paths', async () => {
    expect(await shop.post({ client_key: shop.merchant.client_key })).toMatchObject({
      status: 404,
      body: UNKNOWN_ROUTE,
    });
    expect(await raw('')).toEqual({ status: 404, body: UNKNOWN_ROUTE });
    for (const [method, path, allow = null] of [
      ['GET', '/post', 'POST'],
      ['PUT', '/post', 'POST'],
      ['POST', '/posts'],
      ['POST', '/', 'GET, HEAD'],
      ['POST', '/post/'],
      ['POST', '/api/v1/nothing'],
    ]) {
      const response = await fetch(shop.url + path, { method: method as string });
      const status = allow === null ? 404 : 405;
      expect([path, response.status, await response.json()]).toEqual([path, status, UNKNOWN_ROUTE]);
      expect(response.headers.get('allow')).toBe(allow);
    }
  });
  test.each([
    ['REFUND', 'There is no such action. Did you mean CREDITVOID?'],
    ['sale', 'There is no such action. Did you mean SALE?'],
    ['STOP_SCHEDULE', 'There is no such action. Did you mean DELETE_SCHEDULE?'],
    [
      '4111111111111111',
      expect.stringMatching(/^There is no such action: action is one of SALE, [A-Z_, ]+, in capital/),
    ],
    ['', expect.stringMatching(/^The field action is missing: action is one of SALE, /)],
  ])('the hint for the action %j', async (action, hint) => {
    expect((await shop.post({ client_key: shop.merchant.client_key, action })).body.hint).toEqual(hint);
  });
  test.each([
    ['POST', '/api/v1/sessions', 'There is no such address. Did you mean POST /api/v1/session?'],
    ['POST', '/session?x=1', 'There is no such address. Did you mean POST /api/v1/session?'],
    [
      'GET',
      '/admin/api/acounts',
      expect.stringMatching(/^There is no such address\. Did you mean (POST|GET) \/admin\/api\/accounts or /),
    ],
    ['GET', '/api/v1/payment/status', 'This address takes POST, not GET.'],
    ['DELETE', '/admin/api/accounts/x', 'This address takes GET and PATCH, not DELETE.'],
    ['GET', '/%zz', expect.stringMatching(/^There is no such address\. Requests of merchants go to POST \/post /)],
  ])('the hint for %s %s', async (method, path, hint) => {
    const response = await fetch(shop.url + path, { method });
    expect(((await response.json()) as { hint: string }).hint).toEqual(hint);
  });
  test('a browser gets a page that leads on, and a program JSON', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await fetch(`${shop.url}/api/v1/session`, { headers });
    expect([page.status, page.headers.get('content-type'), page.headers.get('allow')]).toEqual([
      405,
      'text/html; charset=utf-8',
      'POST',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const text = await page.text();
    for (const part of ['This address takes POST, not GET.', 'href="/docs"', 'href="/admin"'])
      expect(text).toContain(part);
    expect((await fetch(`${shop.url}/nowhere`, { headers })).status).toBe(404);
    expect(await (await fetch(`${shop.url}/nowhere`)).json()).toEqual(UNKNOWN_ROUTE);
  });
  test('ignores parameters in the query', async () => {
    const response = await fetch(`${shop.url}/post?action=SALE`, { method: 'POST' });
    expect(response.status).toBe(404);
  });
});

describe('unreadable bodies: 100000', () => {
  test.each(['application/json', 'text/plain', 'application/xml', 'x/y; z'])('content type %s', async (contentType) => {
    expect(await raw(JSON.stringify({ action: 'SALE' }), contentType)).toEqual({
      status: 400,
      body: invalid('content-type: This value should be application/x-www-form-urlencoded or multipart/form-data.'),
    });
  });
  test('more than 64 KiB: 413 with the error envelope', async () => {
    const error_message =
      'body: Only a sale with a long field may be larger than 64 KiB, and its action, client_key and brand should stand in the first 64 KiB.';
    expect(await raw(`action=SALE&order_description=${'x'.repeat(1024 * 1024)}`)).toEqual({
      status: 413,
      body: {
        result: 'ERROR',
        error_code: 100000,
        error_message: 'Request body is too large.',
        errors: [entryOf(error_message)],
      },
    });
  });
  test.each([
    [
      'invalid percent-encoding',
      'action=SALE&order_id=%zz',
      'order_id: This value is not valid percent-encoded UTF-8.',
    ],
    ['a truncated escape', 'action=SALE&order_id=%4', 'order_id: This value is not valid percent-encoded UTF-8.'],
    [
      'an escaped lone surrogate',
      'action=SALE&order_id=%ED%A0%80',
      'order_id: This value is not valid percent-encoded UTF-8.',
    ],
    ['a NUL', 'action=SALE&order_id=a%00b', 'order_id: This value is not valid.'],
    ['a repeated scalar', 'action=SALE&order_id=1&order_id=2', 'order_id: This value should be sent once.'],
    [
      'nesting deeper than three',
      'action=SALE&parameters[a][b][c][d]=1',
      'parameters[a][b][c][d]: This value is nested too deep. It should have 3 levels or less.',
    ],
    ['a name with an unclosed bracket', 'action=SALE&parameters[a=1', 'parameters[a: This name is not valid.'],
  ])('%s', async (_, body, entry) => {
    expect(await raw(body)).toEqual({ status: 400, body: invalid(entry) });
  });
  test('bytes that are not UTF-8', async () => {
    expect(await raw(Uint8Array.from([...Buffer.from('action=SALE&order_id='), 0xff, 0xfe]))).toEqual({
      status: 400,
      body: invalid('body: The body should be UTF-8.'),
    });
  });
  test('201 parameters, and 10,000', async () => {
    for (const count of [200, 10_000]) {
      const many = Array.from({ length: count }, (_, i) => `p${i.toString(36)}=`).join('&');
      expect(await raw(`action=SALE&${many}`)).toEqual({
        status: 400,
        body: invalid('body: The form has too many fields. It should have 200 or less.'),
      });
    }
  });
  test('an unknown action takes precedence over a malformed body', async () => {
    expect(await raw('action=NOPE&order_id=%zz')).toEqual({ status: 404, body: UNKNOWN_ROUTE });
  });
  test('action as a list', async () => {
    expect(await raw('action[]=SALE')).toEqual({
      status: 400,
      body: invalid('action: This value should be a single text, not a list or an object.'),
    });
  });
  test('malformed multipart', async () => {
    const { status, body } = await raw('--x\r\nnonsense', 'multipart/form-data; boundary=x');
    expect([status, body.error_code]).toEqual([400, 100000]);
    expect((await raw('anything', 'multipart/form-data')).status).toBe(400);
  });
  test('a file in multipart', async () => {
    const form = new FormData();
    form.set('action', 'SALE');
    form.set('order_id', new File(['x'], 'x.txt'));
    const response = await fetch(`${shop.url}/post`, { method: 'POST', body: form });
    expect(await response.json()).toEqual(invalid('order_id: This value should be a text, not a file.'));
  });
});

describe('keys', () => {
  test('missing', async () => {
    expect((await shop.post({ action: 'SALE' })).body).toEqual(invalid('client_key: This value should not be blank.'));
  });
  test.each(['nobody', 'test_unknown', '__proto__'])('%s is unknown', async (client_key) => {
    expect((await shop.post({ action: 'SALE', client_key })).body).toEqual(
      invalid('client_key: This value is not valid.'),
    );
  });
  test('a merchant_key is not a client_key', async () => {
    const { merchant_key } = shop.merchant;
    expect((await shop.post({ action: 'SALE', client_key: merchant_key })).body).toEqual(
      invalid('client_key: This value is not valid.'),
    );
  });
  test('a live key in the sandbox: 220002', async () => {
    const { status, body } = await shop.post({ action: 'SALE', client_key: 'live_anything' });
    expect(status).toBe(400);
    expect(body).toEqual({
      result: 'ERROR',
      error_code: 220002,
      error_message: 'Use merchant test key.',
      errors: [entryOf('client_key: Use merchant test key.')],
    });
  });
  test('a test key in production: 220002', async () => {
    const production = await startTestGateway({ environment: 'production' });
    expect((await production.post({ action: 'SALE', client_key: 'test_anything' })).body).toMatchObject({
      error_code: 220002,
      error_message: 'Use merchant test key.',
    });
    expect((await production.status('x')).body).toMatchObject({ error_code: 101000 });
    expect((await production.admin('POST', '/clock', { advance_seconds: 1 })).status).toBe(404);
    await production.close();
  });
});

describe('IP addresses', () => {
  const from = async (allowlist: string[], address: string) => {
    const merchant = await shop.newMerchant({ ip_allowlist: allowlist });
    return (await shop.post(saleFields(merchant), { 'x-forwarded-for': address })).body;
  };
  const NOT_ALLOWED = {
    result: 'ERROR',
    error_code: 100000,
    error_message: 'Request from this ip is not allowed.',
    errors: [],
  };
  test.each([
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.114.1', false],
    [['2001:db8::/32'], '2001:db8:1::5', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['203.0.113.7'], '::ffff:203.0.113.7', true],
    [['::ffff:203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '198.51.100.1, 203.0.113.7', true],
    [['198.51.100.1'], '198.51.100.1, 203.0.113.7', false],
    [['10.0.0.1'], 'garbage', false],
  ])('allowlist %j, from %s: %s', async (allowlist, address, isAllowed) => {
    expect(await from(allowlist, address)).toMatchObject(isAllowed ? { result: 'SUCCESS' } : NOT_ALLOWED);
  });
  test('are checked before the rate limit, which they do not use up, and before the suspension of the account', async () => {
    const limited = await shop.newMerchant({ ip_allowlist: ['203.0.113.7'], requests_per_second: 1 });
    const send = (fields: Fields, address: string) =>
      shop.post(saleFields(limited, fields), { 'x-forwarded-for': address });
    for (let sent = 0; sent < 10; sent++) expect((await send({}, '198.51.100.1')).body).toEqual(NOT_ALLOWED);
    expect((await send({}, '203.0.113.7')).body).toMatchObject({ result: 'SUCCESS' });
    await shop.admin('PATCH', `/accounts/${limited.mid}`, { suspended: true });
    expect((await send({ order_amount: 'x' }, '198.51.100.1')).body).toEqual(NOT_ALLOWED);
    expect((await send({ order_amount: 'x' }, '203.0.113.7')).body.errors).toEqual([
      entryOf('client_key: This account is suspended.'),
    ]);
  });
  test('ignores the header of an untrusted proxy', async () => {
    const direct = await startTestGateway();
    const merchant = await direct.newMerchant({ ip_allowlist: ['203.0.113.7'] });
    expect((await direct.post(saleFields(merchant), { 'x-forwarded-for': '203.0.113.7' })).body).toEqual(NOT_ALLOWED);
    await direct.close();
  });
});

describe('fields of SALE', () => {
  test('lists all missing fields in the order of the fields', async () => {
    expect((await shop.post({ action: 'SALE', client_key: shop.merchant.client_key })).body).toEqual(
      invalid(
        ...[
          'brand',
          'order_id',
          'order_amount',
          'order_currency',
          'order_description',
          'payer_ip',
          'return_url',
          'hash',
        ].map((name) => `${name}: This value should not be blank.`),
      ),
    );
  });
  test.each([
    ['order_amount', '1e3', 'This value is not valid.'],
    ['order_amount', '-1.00', 'This value is not valid.'],
    ['order_amount', '+1.00', 'This value is not valid.'],
    ['order_amount', '1,00', 'This value is not valid.'],
    ['order_amount', '1.005', 'This value is not valid.'],
    ['order_amount', '1', 'This value is not valid.'],
    ['order_amount', '0.00', 'This value should be greater than 0.'],
    ['order_amount', '100000000000000000000.00', 'This value is not valid.'],
    ['order_amount', '1.00\n', 'This value is not valid.'],
    ['order_currency', 'usd', 'The value you selected is not a valid choice.'],
    ['order_currency', 'XXX', 'The value you selected is not a valid choice.'],
    ['order_currency', 'constructor', 'The value you selected is not a valid choice.'],
    ['order_id', 'x'.repeat(256), 'This value is too long. It should have 255 characters or less.'],
    ['order_id', ' x', 'This value is not valid.'],
    ['order_id', 'x\u0007', 'This value is not valid.'],
    ['order_id', 'x\u200b', 'This value is not valid.'],
    ['order_description', 'x'.repeat(1025), 'This value is too long. It should have 1024 characters or less.'],
    ['payer_ip', '300.1.1.1', 'This value is not valid.'],
    ['return_url', 'not a url', 'This value is not a valid URL.'],
    ['return_url', 'javascript:alert(1)', 'This value is not a valid URL.'],
    ['return_url', 'https://user:pass@shop.example/', 'This value is not a valid URL.'],
    ['auth', 'yes', 'The value you selected is not a valid choice.'],
    ['recurring_init', '1', 'The value you selected is not a valid choice.'],
    ['brand', 'nothing', 'The value you selected is not a valid choice.'],
    ['brand', '__proto__', 'The value you selected is not a valid choice.'],
    ['identifier', '', 'This value should not be blank.'],
    ['identifier', 'somebody@example.com', 'The value you selected is not a valid choice.'],
  ])('%s=%j: %s', async (name, value, sentence) => {
    const { status, body } = await shop.sale({ [name]: value });
    expect(status).toBe(400);
    expect(body).toEqual(invalid(`${name}: ${sentence}`));
  });
  test.each(['a/b#c', 'two words', 'ünïcödé', '注文', 'x'.repeat(255), '😀'])('accepts the order_id %j', async (id) => {
    const order_id = id.length === 255 ? id : `${id}-${newOrderId()}`;
    expect((await shop.sale({ order_id })).body).toMatchObject({ result: 'SUCCESS', order_id });
  });
  test('a scalar as a list', async () => {
    const { order_id, ...rest } = saleFields(shop.merchant);
    const { body } = await shop.post({ ...rest, 'order_id[]': order_id as string });
    expect(body).toEqual(invalid('order_id: This value should be a single text, not a list or an object.'));
  });
  test('a schedule_id that is not a UUID, and one that does not exist', async () => {
    expect((await shop.sale({ recurring_init: 'Y', schedule_id: 'x' })).body).toMatchObject({
      error_code: 100000,
      error_message: 'This is not a valid UUID.',
      errors: [{ error_message: 'schedule_id: This is not a valid UUID.' }],
    });
    expect(
      (await shop.sale({ recurring_init: 'Y', schedule_id: '01990000-0000-7000-8000-000000000000' })).body,
    ).toMatchObject({ error_code: 100000, error_message: 'Schedule not found' });
  });
  test('a brand that the account may not use', async () => {
    const merchant = await shop.newMerchant({ 'vcard.success': ['ok@shop.example'] });
    expect((await shop.sale({}, merchant)).body).toEqual(
      invalid('identifier: The value you selected is not a valid choice.'),
    );
    expect((await shop.sale({ identifier: 'ok@shop.example' }, merchant)).body).toMatchObject({ result: 'SUCCESS' });
  });
  test('ignores unknown fields', async () => {
    expect((await shop.sale({ nobody: 'asked', __proto__x: '1', 'unknown[a]': '2' })).body).toMatchObject({
      result: 'SUCCESS',
    });
  });
  test('production accepts only https return addresses, and no test brand', async () => {
    const production = await startTestGateway({ environment: 'production' });
    expect((await production.sale({ return_url: 'http://shop.example/' })).body).toEqual(
      invalid('return_url: This value is not a valid URL.', 'brand: The value you selected is not a valid choice.'),
    );
    expect((await shop.sale({ return_url: 'http://localhost:3000/' })).body).toMatchObject({ result: 'SUCCESS' });
    await production.close();
  });
});

describe('the password of the account', () => {
  test.each(['password', 'order_description', 'custom_data[x]', 'payer_address'])(
    'is refused in %s and never logged',
    async (field) => {
      const { body } = await shop.sale({ [field]: `my ${shop.merchant.password}!` });
      expect(body.error_message).toBe('Request data is invalid.');
      expect(body.errors).toEqual([
        entryOf(`${field}: This value contains the password of the account, which should never be sent.`),
      ]);
      expect(shop.logs.join('')).not.toContain(shop.merchant.password);
      expect(JSON.stringify(body)).not.toContain(shop.merchant.password);
    },
  );
});

describe('the password in a card field', () => {
  const SENTENCE = 'This value contains the password of the account, which should never be sent.';
  const withPassword = (merchant: Merchant, field: string): Fields => ({ [field]: `my ${merchant.password}!` });
  const entriesOf = async (fields: Fields): Promise<string[]> =>
    (await shop.post(fields)).body.errors.map(({ error_message }: { error_message: string }) => error_message);

  test.each(['card_number', 'card_cvv2', 'card_exp_month', 'card_token'])(
    '%s is refused, with and without the others',
    async (field) => {
      const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
      const fields = withPassword(merchant, field);
      expect(await entriesOf(saleFields(shop.merchant, withPassword(shop.merchant, field)))).toContain(
        `${field}: ${SENTENCE}`,
      );
      expect(await entriesOf(saleFields(merchant, fields))).toContain(`${field}: ${SENTENCE}`);
      expect(await entriesOf({ ...cardSale(merchant, fields), hash: 'x' })).toContain(`${field}: ${SENTENCE}`);
      const trans_id = newOrderId();
      const status = { action: 'GET_TRANS_STATUS', client_key: merchant.client_key, trans_id, hash: 'x' };
      expect(await entriesOf({ ...status, ...fields })).toEqual([`${field}: ${SENTENCE}`]);
      expect(shop.logs.join('')).not.toContain(merchant.password);
    },
  );
});

describe('hash', () => {
  const WRONG_HASH = {
    result: 'ERROR',
    error_code: 100000,
    error_message: 'Hash is not valid',
    errors: [entryOf('hash: Hash is not valid.')],
  };
  const values = { identifier: 'success@example.com', order_id: 'h-1', order_amount: '10.00', order_currency: 'USD' };
  test.each([
    ['password first', (p: string) => sign('', p, ...Object.values(values))],
    ['another order', (p: string) => sign(p, ...Object.values(values).reverse())],
    ['formatted amount', (p: string) => sign(p, values.identifier, values.order_id, '10', 'USD')],
    ['another password', () => sign('0'.repeat(32), ...Object.values(values))],
    ['not a hash', () => 'zzz'],
    ['empty digest', () => 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ])('%s is wrong', async (_, make) => {
    const { status, body } = await shop.sale({ ...values, hash: make(shop.merchant.password) });
    expect(status).toBe(400);
    expect(body).toEqual(WRONG_HASH);
  });
  test('accepts upper-case hex', async () => {
    const fields = saleFields(shop.merchant);
    expect((await shop.post({ ...fields, hash: (fields.hash as string).toUpperCase() })).body).toMatchObject({
      result: 'SUCCESS',
    });
  });
  test('accepts both upper-casings of non-ASCII text', async () => {
    const { createHash } = await import('node:crypto');
    const unicode = (text: string) =>
      createHash('sha1').update(createHash('md5').update(text.toUpperCase()).digest('hex')).digest('hex');
    for (const order of ['čigra', 'straße', 'ılık']) {
      const order_id = `${order}-${newOrderId()}`;
      expect((await shop.sale({ order_id })).body).toMatchObject({ result: 'SUCCESS' });
      const other = `${order}-${newOrderId()}`;
      const hash = unicode(`success@example.com${other}10.00USD${shop.merchant.password}`);
      expect((await shop.sale({ order_id: other, hash })).body).toMatchObject({ result: 'SUCCESS' });
    }
  });
  test('accepts two passwords during a rotation, one after it', async () => {
    const merchant = await shop.newMerchant();
    const { body: rotated } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
    const renewed = { ...merchant, password: rotated.password };
    expect((await shop.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS' });
    expect((await shop.sale({}, renewed)).body).toMatchObject({ result: 'SUCCESS' });
    await shop.advanceClock(86401, merchant.mid);
    expect((await shop.sale({}, merchant)).body).toEqual(WRONG_HASH);
    expect((await shop.sale({}, renewed)).body).toMatchObject({ result: 'SUCCESS' });
  });
});

describe('operations on unknown payments', () => {
  const UNKNOWN = '01990000-0000-7000-8000-000000000000';
  const call = (action: string, fields: Record<string, string>, signed: string[]) =>
    shop.post({
      action,
      client_key: shop.merchant.client_key,
      ...fields,
      hash: sign(shop.merchant.password, ...signed),
    });
  test.each([
    ['CAPTURE', 101000, 'Transaction does not exist.'],
    ['VOID', 100000, 'Payment not found.'],
    ['CREDITVOID', 100000, 'Payment not found.'],
  ])('%s: %i %s', async (action, error_code, error_message) => {
    expect(await call(action, { trans_id: UNKNOWN }, [UNKNOWN])).toMatchObject({
      status: 400,
      body: { result: 'ERROR', error_code, error_message, errors: [] },
    });
  });
  test('RECURRING_SALE without its first payment: Incorrect transaction', async () => {
    const fields = {
      order_id: 'r-1',
      order_amount: '1.00',
      order_description: 'Again',
      recurring_first_trans_id: UNKNOWN,
      recurring_token: 'x',
    };
    expect((await call('RECURRING_SALE', fields, ['r-1'])).body).toMatchObject({
      error_code: 100000,
      error_message: 'Incorrect transaction',
    });
  });
  test.each(['DELETE_SCHEDULE', 'UPDATE_SCHEDULE'])('%s: a malformed id before an unknown one', async (action) => {
    expect((await call(action, { schedule_id: 'x' }, ['x'])).body).toMatchObject({
      error_code: 100000,
      error_message: 'This is not a valid UUID.',
    });
    expect((await call(action, { schedule_id: UNKNOWN }, [UNKNOWN])).body).toMatchObject({
      error_code: 100000,
      error_message: 'Schedule not found',
    });
    expect((await call(action, {}, [''])).body).toEqual(invalid('schedule_id: This value should not be blank.'));
  });
  test('CREATE_SCHEDULE lists the missing fields', async () => {
    expect((await call('CREATE_SCHEDULE', {}, [])).body).toEqual(
      invalid(
        ...['name', 'interval_length', 'interval_unit', 'payments_count'].map(
          (name) => `${name}: This value should not be blank.`,
        ),
      ),
    );
  });
});

describe('amounts with needless zeros', () => {
  test.each(['00000001.00', '010.00', '00.50', '01'])('%s is refused', async (order_amount) => {
    const { status, body } = await shop.sale({ order_amount });
    expect([status, body.errors[0].error_message]).toEqual([400, 'order_amount: This value is not valid.']);
  });

  test('of operations, too, and a single zero is accepted', async () => {
    const { body } = await shop.sale({ order_amount: '0.50' });
    expect(body).toMatchObject({ status: 'SETTLED', amount: '0.50' });
    const refund = (amount: string) =>
      shop.post(operationFields(shop.merchant, 'CREDITVOID', body.trans_id, { amount }));
    const refused = await refund('00.10');
    expect([refused.status, refused.body.errors[0].error_message]).toEqual([400, 'amount: This value is not valid.']);
    const byOperator = await shop.admin('POST', `/payments/${body.trans_id}/refund`, { amount: '00.10' });
    expect([byOperator.status, byOperator.body.errors[0].error_message]).toEqual([
      400,
      'amount: This value is not valid.',
    ]);
    expect((await refund('0.10')).body.result).toBe('ACCEPTED');
  });
});

describe('a name with a value and with members', () => {
  const SENTENCE = 'This value should be a single text or have members, not both.';
  test.each<[string, Fields]>([
    ['custom_data[a]', { 'custom_data[a]': 'scalar', 'custom_data[a][b]': 'deep' }],
    ['custom_data[a]', { 'custom_data[a][b]': 'deep', 'custom_data[a]': 'scalar' }],
    ['custom_data[a][b]', { 'custom_data[a][b]': 'x', 'custom_data[a][b][c]': 'y' }],
    ['custom_data', { custom_data: 'x', 'custom_data[a]': 'y' }],
    ['parameters[a]', { 'parameters[a]': 'x', 'parameters[a][0]': 'y' }],
  ])('%s is refused', async (name, fields) => {
    const { status, body } = await shop.sale(fields);
    expect([status, body.errors]).toEqual([400, [entryOf(`${name}: ${SENTENCE}`)]]);
  });

  test('other members are accepted', async () => {
    const { body } = await shop.sale({ 'custom_data[a]': 'x', 'custom_data[ab][c]': 'y', 'custom_data[ab][d]': 'z' });
    expect(body.status).toBe('SETTLED');
  });
});
