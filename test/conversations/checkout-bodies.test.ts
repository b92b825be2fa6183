/** The syntax of Checkout requests: paths, bytes and JSON, then objects and lists among the fields. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallbackMerchant, callbacksOf } from '../support/callbacks.ts';
import {
  type Body,
  checkoutOf,
  choices,
  fill,
  refusal,
  sessionFields,
  show,
  signed,
  VCARD,
} from '../support/checkout.ts';
import { UNKNOWN_ROUTE } from '../support/entries.ts';
import { ADMIN_TOKEN, type Merchant, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { statusAndBody } from '../support/operations.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let callbacks: Awaited<ReturnType<typeof callbacksOf>>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  checkout = checkoutOf(shop);
  callbacks = await callbacksOf(shop);
});
afterAll(async () => {
  await shop.close();
  await callbacks.close();
});

const post = (path: string, body: string | Buffer, method = 'POST') =>
  statusAndBody(checkout.raw(path, { method, body, headers: { 'content-type': 'application/json' } }));
const sessionText = (fields: Body = {}): string =>
  JSON.stringify(signed('session', sessionFields(fields), shop.merchant));
/** A session with one additional member, as text. */
const withMember = (member: string): string => `${sessionText().slice(0, -1)},${member}}`;
const sendSession = (fields: Body, merchant?: Merchant) =>
  statusAndBody(checkout.send('session', sessionFields(fields), merchant));
const invalid = (...entries: string[]) => refusal('invalidData', ...entries);
const ACCEPTED = { status: 200, body: { redirect_url: expect.any(String) } };

describe('an unknown path is refused before its body is read', () => {
  test.each<[string, () => string]>([
    ['a malformed body', () => '{'],
    ['an empty body', () => ''],
    ['a body that is too large', () => JSON.stringify({ x: 'x'.repeat(70_000) })],
    ['a name that is not allowed', () => '{"__proto__": 1}'],
    ['a valid body', sessionText],
  ])('with %s', async (_, body) => {
    expect(await post('payment/sale', body())).toEqual({ status: 404, body: UNKNOWN_ROUTE });
    expect(await post('session', body(), 'PUT')).toEqual({ status: 405, body: UNKNOWN_ROUTE });
  });

  test('closes the connection when the body does not end', async () => {
    const { hostname, port } = new URL(shop.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('POST /api/v1/nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const answer = String((await once(socket, 'data'))[0]);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    await once(socket.resume(), 'close');
  });

  test('counts it as an unknown path', async () => {
    await post('payment/nothing', '{');
    const { text } = await show(`${shop.url}/metrics`);
    expect(text).toMatch(/action="unknown",outcome="error 0"/);
  });
});

describe('the bytes', () => {
  test('may start with a byte order mark', async () => {
    expect(await post('session', `\ufeff${sessionText()}`)).toEqual(ACCEPTED);
  });

  test('may start with one where amounts are numbers', async () => {
    const merchant = await shop.newMerchant({ dialect: { number_amounts: true } });
    const text = JSON.stringify(signed('session', sessionFields({ order: { amount: '10.50' } }), merchant));
    expect(await post('session', `\ufeff${text.replace('"10.50"', '10.50')}`)).toEqual(ACCEPTED);
  });

  test('may start with one that is not counted where they stop being JSON', async () => {
    const hint = expect.stringContaining('Line 1, column 9: a name in double quotes is expected');
    expect(await post('session', '\ufeff{"a": 1,}')).toMatchObject({ status: 400, body: { errors: [{ hint }] } });
  });

  test('of the admin API may start with one', async () => {
    const call = async (body: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` };
      const { status, text } = await show(`${shop.url}/admin/api/accounts`, { method: 'POST', headers, body });
      return { status, body: JSON.parse(text) };
    };
    expect(await call('\ufeff{"name": "Tea"}')).toMatchObject({ status: 201 });
    const hint = expect.stringContaining('Line 1, column 16: ');
    expect(await call('\ufeff{"name": "Tea",}')).toMatchObject({ status: 400, body: { errors: [{ hint }] } });
  });

  test('are refused when they are not UTF-8', async () => {
    const text = sessionText({ customer: { name: 'José' } });
    expect(await post('session', Buffer.from(text, 'latin1'))).toEqual(invalid('body: The body should be UTF-8.'));
    expect(await post('session', Buffer.from(text))).toEqual(ACCEPTED);
  });

  const repeatedName = (name: string) => invalid(`${name}: This value should be sent once.`);
  test.each<[string, string, string]>([
    ['a field', '"success_url": "https://other.example/"', 'success_url'],
    ['an escaped field', '"success\\u005furl" : "https://other.example/"', 'success_url'],
    ['a nested field', '"customer": {"name": "Ada", "email": "", "name": "Eve"}', 'customer.name'],
    ['a deeply nested field', '"x": [{"a": 1}, {"a": {"b": 1, "b": 1}}]', 'x.a.b'],
    ['a name with a space', '"x": {"a b": 1, "a b": 2}', 'body'],
    ['a name that could be a password', `"${'0f'.repeat(16)}": 1, "${'0f'.repeat(16)}": 2`, 'body'],
  ])('must not repeat a member: %s', async (_, member, name) => {
    expect(await post('session', withMember(member))).toEqual(repeatedName(name));
  });

  test.each([
    '"x": [{"a": 1}, {"a": 1}]',
    '"x": {"order": {"number": "1"}}',
    '"x": "\\"success_url\\": {", "y": "}"',
    '"x": {"a": "b", "b": "a"}',
    '"x": "a:b\\\\", "y:\\"z": ":\\\\\\":"',
  ])('may repeat a name in another object or in a text: %s', async (member) => {
    expect(await post('session', withMember(member))).toEqual(ACCEPTED);
  });
});

describe('names that every JavaScript object has', () => {
  test.each(['toString', 'constructor', 'hasOwnProperty', 'valueOf'])(
    '%s is an unknown field like any other',
    async (name) => {
      const fields = { parameters: { [name]: { a: '1' }, 'doc-a': { [name]: 'x', document_number: '17' } } };
      const { id, url } = await checkout.open({ ...fields, methods: [name, 'doc-a'], custom_data: { [name]: 'x' } });
      const { session, custom_data } = (await checkout.inspect(id)).details;
      expect(session.parameters).toEqual({ 'doc-a': { document_number: '17' } });
      expect(custom_data).toEqual({ [name]: 'x' });
      expect((await show(url)).status).toBe(200);
    },
  );
});

test.each([[['']], [[null]], [['', null]], [{ 0: '' }]])('the methods %j are not all methods', async (methods) => {
  const expected = invalid('methods: This value should be a list of texts.');
  expect(await sendSession({ methods })).toMatchObject(expected);
});

test.each([[[]], [{}], [''], [null], [['vcard', '', 'vcard', null, 'nothing']], ['vcard']])(
  'the methods %j are accepted',
  async (methods) => {
    expect(await sendSession({ methods })).toMatchObject(ACCEPTED);
  },
);

test('an object that cannot become a text is refused like any other', async () => {
  const odd = { toString: 1, valueOf: 1 };
  const lines = [{ name: 'Tea', amount: '10.00' }];
  const { merchant_key } = shop.merchant;
  for (const order of [{ currency: odd, lines }, { lines: [{ ...lines[0], quantity: odd }] }]) {
    const answer = await checkout.sendBody('session', { merchant_key, ...sessionFields({ order }), hash: 'x' });
    expect(answer).toMatchObject({ status: 400, body: { error_message: 'Request data is invalid.' } });
  }
  const { mid } = shop.merchant;
  const invoice = { mid, currency: 'EUR', due_on: '2099-01-31', payer: { name: odd, email: odd } };
  const telephone = { mid, currency: 'EUR', amount: '1.00', description: odd };
  const link = { mid, currency: 'EUR', amount: '1.00', title: 'Tea', authorise: odd };
  for (const [path, body] of Object.entries({ invoices: invoice, 'telephone-orders': telephone, links: link })) {
    expect([path, (await shop.admin('POST', `/${path}`, body)).status]).toEqual([path, 400]);
  }
});

test('members that are not payer fields of a brand are not stored, whatever their name', async () => {
  const { id } = await checkout.open({
    parameters: {
      'pin-a': { PIN: '1234567812345678', voucher: 'x' },
      'wallet-a': { payment_token: 'x' },
      'transfer-a': { bank_cuil: '20123456786', cuil: 'x' },
    },
  });
  const { session } = (await checkout.inspect(id)).details;
  expect(session.parameters).toEqual({ 'pin-a': {}, 'transfer-a': { bank_cuil: '20123456786' } });
});

describe('more than a form can carry', () => {
  const members = (count: number): Body => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x']));
  const long = 'n'.repeat(255);

  test.each(['custom_data', 'parameters'])('%s', async (name) => {
    const tooMany = invalid(`${name}: This value should have 200 entries or less.`);
    const tooLong = invalid(`${name}: The names in this value should have 255 characters or less.`);
    expect(await sendSession({ [name]: { 'doc-a': members(200) } })).toEqual(ACCEPTED);
    expect(await sendSession({ [name]: { 'doc-a': members(201) } })).toEqual(tooMany);
    expect(await sendSession({ [name]: { 'doc-a': members(100), 'doc-b': members(101) } })).toEqual(tooMany);
    expect(await sendSession({ [name]: { [long]: {} } })).toEqual(ACCEPTED);
    expect(await sendSession({ [name]: { [long]: { n: 'x' } } })).toEqual(tooLong);
  });

  test('a name that is too long, at any depth', async () => {
    const tooLong = invalid('body: The names in this value should have 255 characters or less.');
    for (const value of [{ [`${long}n`]: 1 }, { x: [{ y: { [`${long}n`]: {} } }] }])
      expect(await sendSession(value)).toEqual(tooLong);
    expect(await sendSession({ unknown: [{ [long]: Array(300).fill(1) }] })).toEqual(ACCEPTED);
  });
});

test('finds a card number under a multi-line name', async () => {
  const entry = 'body: This value looks like a card number, which should never be sent here.';
  expect(await sendSession({ custom_data: { 'a\nb': '4111111111111111' } })).toEqual(invalid(entry));
});

describe('values that must be objects or lists', () => {
  const NO_OBJECT = 'This value should be an object.';
  test.each(['customer', 'billing_address', 'parameters', 'custom_data'])('%s', async (name) => {
    for (const value of ['x', 17, true])
      expect(await sendSession({ [name]: value })).toEqual(invalid(`${name}: ${NO_OBJECT}`));
    for (const value of [null, '', [], {}]) expect(await sendSession({ [name]: value })).toEqual(ACCEPTED);
    if (name !== 'custom_data') expect(await sendSession({ [name]: ['x'] })).toEqual(invalid(`${name}: ${NO_OBJECT}`));
  });

  test('the fields of a brand', async () => {
    const entry = `parameters.doc-a: ${NO_OBJECT}`;
    for (const value of ['x', 17, ['x']]) {
      expect(await sendSession({ parameters: { 'doc-a': value } })).toEqual(invalid(entry));
    }
    for (const value of [null, '', [], {}]) {
      expect(await sendSession({ parameters: { 'doc-a': value } })).toEqual(ACCEPTED);
    }
  });

  test('methods: a request for one method does not offer all of them', async () => {
    const entry = 'methods: This value should be a list of texts.';
    for (const value of [17, true, { a: 'card' }, { 0: 17 }, [17], [['card']], ['card', { a: 1 }]]) {
      expect(await sendSession({ methods: value })).toEqual(invalid(entry));
    }
    for (const value of [null, '', [], {}, 'card', ['card'], ['card', null, '']]) {
      expect(await sendSession({ methods: value })).toEqual(ACCEPTED);
    }
  });

  test('accepts an object with numeric keys as a list, as some languages encode a filtered list', async () => {
    const { url } = await checkout.open({ methods: { 0: 'vcard', 2: 'doc-a' } });
    expect(choices((await show(url)).text)).toEqual(['vcard', 'doc-a']);
  });

  test('accepts a single method', async () => {
    const { url } = await checkout.open({ methods: 'doc-a' });
    expect(choices((await show(url)).text)).toEqual([]);
    expect((await show(url)).text).toContain('parameters[document_number]');
  });
});

describe('custom_data', () => {
  /** The callback of a session that was paid. */
  async function callbackWith(custom_data: unknown, settings: Body = {}): Promise<Body> {
    const merchant: CallbackMerchant = await callbacks.newMerchant(settings);
    const { url } = await checkout.open({ methods: ['vcard'], custom_data }, merchant);
    await fill(url, VCARD.success);
    return (await callbacks.delivered(merchant)).at(-1) as Body;
  }
  const NESTED = { cart: { id: 17, items: ['tea', 'pot'], gift: false }, plan: 'gold', none: null, empty: {} };

  test.each(['form', 'json'])('with nested names is returned under them, as %s', async (callback_format) => {
    expect(await callbackWith(NESTED, { callback_format })).toMatchObject({
      'custom_data[cart][id]': '17',
      'custom_data[cart][items][0]': 'tea',
      'custom_data[cart][items][1]': 'pot',
      'custom_data[cart][gift]': 'false',
      'custom_data[plan]': 'gold',
    });
  });

  test.each(['form', 'json'])('with numbers as names is returned under them, as %s', async (callback_format) => {
    const custom_data = { 0: 'a', 10: 'b', '007': 'c', '-1': 'd', items: { 1: 'x', 0: 'y' } };
    await callbackWith(custom_data, { callback_format });
    const body = String(callbacks.receiver.received.at(-1)?.body);
    const items = { 0: 'y', 1: 'x' };
    if (callback_format === 'json') expect(JSON.parse(body).custom_data).toEqual({ ...custom_data, items });
    else {
      const names = ['0', '10', '007', '-1', 'items][1', 'items][0'].map((name) => `custom_data[${name}]`);
      const sent = new URLSearchParams(body);
      expect(names.map((name) => sent.get(name))).toEqual(['a', 'b', 'c', 'd', 'x', 'y']);
    }
  });

  test('may be a list', async () => {
    expect(await callbackWith(['tea', 'pot'])).toMatchObject({ 'custom_data[0]': 'tea', 'custom_data[1]': 'pot' });
  });

  test('is refused when a name in brackets means what another name has', async () => {
    const both = invalid('custom_data: This value should be a single text or have members, not both.');
    expect(await sendSession({ custom_data: { a: 'scalar', 'a[b]': 'deep' } })).toEqual(both);
    const once = invalid('custom_data: This value should be sent once.');
    expect(await sendSession({ custom_data: { a: { b: 'x' }, 'a[b]': 'y' } })).toEqual(once);
  });

  test('is refused when it contains a card number, also as a number', async () => {
    const entry = 'This value looks like a card number, which should never be sent here.';
    for (const number of ['4111111111111111', 4111111111111111]) {
      expect(await sendSession({ custom_data: { card: number } })).toEqual(invalid(`custom_data.card: ${entry}`));
      const nested = { a: [{ b: number }] };
      expect(await sendSession({ custom_data: nested })).toEqual(invalid(`custom_data.a.0.b: ${entry}`));
    }
  });
});

describe('the payer', () => {
  test('is taken from customer, whatever the billing address contains', async () => {
    const customer = { name: ' Ada  Byron ', email: 'ada@example.com', ip: '192.0.2.1' };
    const billing_address = { first_name: 'Eve', email: 'eve@example.com', ip: '192.0.2.2', city: 'London', zip: 'E1' };
    const { id } = await checkout.open({ customer, billing_address });
    const payer = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com', city: 'London', zip: 'E1' };
    expect((await checkout.inspect(id)).details.payer).toEqual(payer);
    const shown = { name: 'Ada Byron', email: 'ada@example.com' };
    expect((await checkout.status({ payment_id: id })).body.customer).toEqual(shown);
  });
});

test('shows a session to the operator under the names of its request', async () => {
  const { request, id } = await checkout.open({
    ...{ expiry_url: 'https://shop.example/late', error_url: 'https://shop.example/broken', url_target: '_top' },
    ...{ methods: ['doc-a'], card_token: ['x'], req_token: 'Y', session_expiry: 1, custom_data: { table: 4 } },
    ...{ customer: { email: 'ada@example.com' }, parameters: { 'doc-a': { document_number: 17 } } },
  });
  const { success_url, cancel_url, expiry_url, error_url, url_target, methods, card_token } = request;
  expect((await checkout.inspect(id)).details).toEqual({
    description: 'A test order',
    payer: { email: 'ada@example.com' },
    custom_data: { table: '4' },
    session: {
      ...{ first_payment_id: id, expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) },
      ...{ success_url, cancel_url, expiry_url, error_url, url_target, methods, card_token, req_token: true },
      parameters: { 'doc-a': { document_number: '17' } },
    },
  });
});
