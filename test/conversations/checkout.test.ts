/** Checkout as merchants speak it: sessions, status, credit and what can be done to a payment, one table each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Body,
  CHECKOUT_STATES,
  type CheckoutState,
  checkoutOf,
  fill,
  IMPOSSIBLE_SESSIONS,
  REFUSED_SESSIONS,
  refusal,
  SENTENCES,
  sessionFields,
  signed,
  TOLERATED_SESSIONS,
  VCARD,
} from '../support/checkout.ts';
import { type Merchant, newOrderId, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { operationFields, said } from '../support/operations.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let rival: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ outside: true });
  checkout = checkoutOf(shop);
  rival = await shop.newMerchant();
});
afterAll(() => shop.close());

const { blank, invalid, notSingle, noText, noChoice } = SENTENCES;
const A_UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const A_DATE = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const NOWHERE = '01a1dd06-691f-7000-87fc-b0749d0543ed';
const WRONG_HASH = refusal('wrongHash', 'hash: Hash is not valid.');
const DUPLICATE = refusal('duplicate', 'order_id: Duplicate payment.');
const IN_TIME = 'The payer did not finish in time.';

const send = (path: string, fields: Body, merchant?: Merchant) => said(checkout.send(path, fields, merchant));
const sendSession = (fields: Body, merchant?: Merchant) => send('session', sessionFields(fields), merchant);
const stateOf = async (id: string, merchant?: Merchant): Promise<string> =>
  (await checkout.status({ payment_id: id }, merchant)).body.status;
const kept = async (id: string, columns: string) =>
  (await shop.rows(`select ${columns} from payments where payment_id = '${id}'`))[0];

describe('a session', () => {
  test('is answered with the address of its page, and waits for its payer', async () => {
    const customer = { name: 'Ada Byron', email: 'ada@example.com' };
    const { status, body, headers } = await checkout.send('session', sessionFields({ customer }));
    expect([status, Object.keys(body)]).toEqual([200, ['redirect_url']]);
    expect(body.redirect_url).toMatch(new RegExp(`^${shop.url}/pay/[0-9a-f-]{36}\\.[\\w-]{22}$`));
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each(REFUSED_SESSIONS)('%s is refused', async (_, fields, ...entries) => {
    expect(await sendSession(fields)).toEqual(refusal('invalidData', ...entries));
  });

  test.each(TOLERATED_SESSIONS)('%s will do', async (_, fields) => {
    const { status, body } = await sendSession(fields);
    expect(status, JSON.stringify(body)).toBe(200);
  });

  test.each(IMPOSSIBLE_SESSIONS)('a character that cannot be kept, %s: no fault of ours', async (_, fields) => {
    expect((await sendSession(fields)).status).toBeLessThan(500);
  });

  test('nesting without end is no fault of ours', async () => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const body = `${JSON.stringify(signed('session', sessionFields(), shop.merchant)).slice(0, -1)},"x":${nested}}`;
    const headers = { 'content-type': 'application/json' };
    expect((await checkout.raw('session', { method: 'POST', body, headers })).status).toBeLessThan(500);
  });

  test('a schedule_id that is no UUID is refused before anybody looks for it', async () => {
    const entry = 'schedule_id: This is not a valid UUID.';
    expect(await sendSession({ schedule_id: '17' })).toEqual(refusal('notUuid', entry));
    const unknown = { schedule_id: NOWHERE, recurring_init: true };
    expect(await sendSession(unknown)).toEqual(refusal('unknownSchedule'));
  });

  test.each<Body>([{ order: { description: 'It is PASSWORD' } }, { custom_data: { note: 'PASSWORD' } }])(
    'a password that is sent is stopped: %j',
    async (fields) => {
      const text = JSON.stringify(sessionFields(fields)).replace('PASSWORD', shop.merchant.password);
      const { status, body } = await send('session', JSON.parse(text));
      expect([status, body.error_message]).toEqual([400, 'Request data is invalid.']);
      expect(body.errors[0].error_message).toContain('contains the password of the account');
      expect(JSON.stringify(body)).not.toContain(shop.merchant.password);
    },
  );

  const MINUTES: [unknown, number][] = [
    ...[undefined, '', null].map((value): [unknown, number] => [value, 60]),
    ...[1, 30, 720].flatMap((minutes): [unknown, number][] => [
      [minutes, minutes],
      [String(minutes), minutes],
    ]),
  ];
  test.each(MINUTES)('session_expiry %j is %i minutes', async (session_expiry, minutes) => {
    const { id } = await checkout.open({ session_expiry });
    const lasts = 'round(extract(epoch from payer_until - created_at))::int / 60 as minutes';
    expect(await kept(id, lasts)).toEqual({ minutes });
  });

  test.each<[unknown, boolean]>([
    ...[true, 'true', 'Y', '1', 1].map((value): [unknown, boolean] => [value, true]),
    ...[false, 'false', 'N', '0', 0, '', null, undefined].map((value): [unknown, boolean] => [value, false]),
  ])('auth and recurring_init %j mean %j', async (value, is) => {
    const { id } = await checkout.open({ auth: value, recurring_init: value });
    const flags = { is_authorisation: is, is_recurring_init: is };
    expect(await kept(id, 'is_authorisation, is_recurring_init')).toEqual(flags);
  });
});

describe('the gates', () => {
  test.each<[string, (password: string, number: string) => string, boolean]>([
    ['number, amount, currency, description', (p, n) => sign(p, n, '10.00', 'USD', 'Tea é'), true],
    ['the same in capital digits', (p, n) => sign(p, n, '10.00', 'USD', 'Tea é').toUpperCase(), true],
    ['all capitals of the alphabet', (p, n) => sign(p, n, '10.00', 'USD', 'TEA É'), true],
    ['another order of them', (p, n) => sign(p, n, 'USD', '10.00', 'Tea é'), false],
    ['no description', (p, n) => sign(p, n, '10.00', 'USD'), false],
    ['another amount', (p, n) => sign(p, n, '10', 'USD', 'Tea é'), false],
    ['the password first', (p, n) => sign('', p, n, '10.00', 'USD', 'Tea é'), false],
    ['somebody else’s password', (_, n) => sign(rival.password, n, '10.00', 'USD', 'Tea é'), false],
    ['nothing', () => 'x', false],
  ])('a hash over %s', async (_, hash, isRight) => {
    const number = newOrderId();
    const order = { number, description: 'Tea é' };
    const answer = await sendSession({ order, hash: hash(shop.merchant.password, number) });
    if (isRight) expect(answer.status).toBe(200);
    else expect(answer).toEqual(WRONG_HASH);
  });

  test('the first gate that is shut answers: key, environment, address, fields, hash', async () => {
    const merchant = await shop.newMerchant({ ip_allowlist: ['192.0.2.1'] });
    const wrong: Body = { ...sessionFields({ order: { amount: '1' } }), hash: 'wrong' };
    const withKey = (merchant_key: unknown, more: Body = {}) =>
      said(checkout.sendBody('session', { ...wrong, ...more, merchant_key }));
    for (const key of ['nobody', `test_${'0'.repeat(32)}`, merchant.client_key, 17]) {
      expect(await withKey(key)).toEqual(refusal('invalidData', `merchant_key: ${invalid}`));
    }
    const noKey = refusal('invalidData', `merchant_key: ${blank}`);
    expect(await withKey(undefined)).toEqual(noKey);
    expect(await withKey(undefined, { client_key: merchant.client_key })).toEqual(noKey);
    expect(await withKey([merchant.merchant_key])).toEqual(refusal('invalidData', `merchant_key: ${notSingle}`));
    expect(await withKey(`live_${'0'.repeat(32)}`)).toEqual(refusal('wrongEnvironment'));
    expect(await withKey(merchant.merchant_key)).toEqual(refusal('addressNotAllowed'));
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: [] });
    expect(await withKey(merchant.merchant_key)).toEqual(refusal('invalidData', `order.amount: ${invalid}`));
    expect(await withKey(merchant.merchant_key, { order: sessionFields().order })).toEqual(WRONG_HASH);
    expect((await sendSession({}, merchant)).status).toBe(200);
  });

  const whole = () => JSON.stringify(signed('session', sessionFields(), shop.merchant));
  const JSON_TYPE = 'application/json';
  const NO_JSON = 'content-type: This value should be application/json.';
  const NO_OBJECT = 'body: The body should be a JSON object.';
  const BROKEN = 'body: The body is not valid JSON.';
  test.each<[string, string, () => string, string | undefined]>([
    ['a charset', 'application/json; charset=utf-8', whole, undefined],
    ['the type of a form', 'application/x-www-form-urlencoded', whole, NO_JSON],
    ['the type of a text', 'text/plain', whole, NO_JSON],
    ['a broken end', JSON_TYPE, () => whole().slice(0, -1), BROKEN],
    ['single quotes', JSON_TYPE, () => whole().replaceAll('"', "'"), BROKEN],
    ['nothing', JSON_TYPE, () => '', NO_OBJECT],
    ['null', JSON_TYPE, () => 'null', NO_OBJECT],
    ['a list', JSON_TYPE, () => `[${whole()}]`, NO_OBJECT],
    ['a text', JSON_TYPE, () => '"purchase"', NO_OBJECT],
  ])('a body with %s', async (_, type, body, entry) => {
    const headers = { 'content-type': type };
    const answer = await said(checkout.raw('session', { method: 'POST', body: body(), headers }));
    if (entry === undefined) expect(answer.status).toBe(200);
    else expect(answer).toEqual(refusal('invalidData', entry));
  });

  test.each(
    ['session/', 'Session', '', 'payment', 'payment/credit', 'payment/sale', 'nothing']
      .map((path) => ['POST', path])
      .concat([
        ['GET', 'session'],
        ['PUT', 'session'],
        ['GET', 'payment/status'],
        ['GET', 'nothing'],
      ]) as [string, string][],
  )('%s /api/v1/%s does not exist', async (method, path) => {
    const init = method === 'GET' ? {} : { body: '{}', headers: { 'content-type': JSON_TYPE } };
    const message = 'Route or parameters is not supported';
    expect(await said(checkout.raw(path, { method, ...init }))).toEqual({
      status: 404,
      body: { result: 'ERROR', error_code: 0, error_message: message, errors: [] },
    });
  });
});

describe('duplicates', () => {
  const again = (request: Body, changes: Body = {}) => said(checkout.sendBody('session', { ...request, ...changes }));
  const sameAs = (redirect_url: string) => ({ status: 200, body: { redirect_url } });
  const OTHER = { success_url: 'https://shop.example/other' };

  test('the same within fifteen seconds leads to the same page; anything else is a duplicate', async () => {
    const merchant = await shop.newMerchant();
    const { url, request, orderId } = await checkout.open({}, merchant);
    await shop.advanceClock(14, merchant.mid);
    expect(await again(request)).toEqual(sameAs(url));
    expect(await again(request, OTHER)).toEqual(DUPLICATE);
    await shop.advanceClock(1, merchant.mid);
    expect(await again(request)).toEqual(DUPLICATE);
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(1);
  });

  test('the same in another order of its keys is the same', async () => {
    const { url, request } = await checkout.open();
    expect(await again(Object.fromEntries(Object.entries(request).toReversed()))).toEqual(sameAs(url));
  });

  test('ten at the same moment are one', async () => {
    const request = signed('session', sessionFields(), shop.merchant);
    const answers = await Promise.all(Array.from({ length: 10 }, () => again(request)));
    expect(new Set(answers.map(({ body }) => body.redirect_url)).size).toBe(1);
  });

  test('after a decline: the same page inside the window, whatever the payer tries; a new one after it', async () => {
    const merchant = await shop.newMerchant();
    const { url, request, orderId } = await checkout.paid({}, merchant, 'decline');
    expect(await again(request)).toEqual(sameAs(url));
    await fill(url, VCARD.decline);
    expect(await again(request)).toEqual(sameAs(url));
    await shop.advanceClock(15, merchant.mid);
    const { status, body } = await again(request);
    expect(status).toBe(200);
    expect(body.redirect_url).not.toBe(url);
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(3);
  });

  test('after the session has expired: a new one', async () => {
    const merchant = await shop.newMerchant();
    const { request, orderId } = await checkout.open({ session_expiry: 1 }, merchant);
    await shop.advanceClock(60, merchant.mid);
    expect((await again(request, OTHER)).status).toBe(200);
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(2);
  });

  test.each<[string, Body, 'success' | 'decline']>([
    ['what was paid', {}, 'success'],
    ['what was declined, where the account says never', { order_id_reuse: 'never' }, 'decline'],
  ])('%s cannot be opened again', async (_, settings, outcome) => {
    const merchant = await shop.newMerchant(settings);
    const { request } = await checkout.paid({}, merchant, outcome);
    await shop.advanceClock(15, merchant.mid);
    expect(await again(request)).toEqual(DUPLICATE);
  });

  test('an order of the other protocol is taken; one that was refused is not; another account’s is its own', async () => {
    const number = newOrderId();
    expect((await sendSession({ order: { number }, hash: 'wrong' })).status).toBe(400);
    await shop.sale({ order_id: number });
    expect(await sendSession({ order: { number } })).toEqual(DUPLICATE);
    expect((await sendSession({ order: { number } }, rival)).status).toBe(200);
  });
});

describe('status', () => {
  test('is the same by payment_id, by trans_id and by order_id', async () => {
    const customer = { name: 'Ada King Byron', email: 'ada@example.com' };
    const { id, request, orderId } = await checkout.paid({ customer, order: { amount: '10.50', currency: 'EUR' } });
    const { order } = request;
    const answer = { status: 200, body: { payment_id: id, date: A_DATE, status: 'settled', order, customer } };
    for (const named of [{ payment_id: id }, { trans_id: id }, { order_id: orderId }]) {
      expect(await send('payment/status', named)).toEqual(answer);
    }
    expect(await send('payment/status', { order_id: orderId, size: '5' })).toEqual({ ...answer, body: [answer.body] });
  });

  test.each<[string, (id: string, order: string, password: string) => Body, ReturnType<typeof refusal>]>([
    ['nothing', () => ({}), refusal('invalidData', `payment_id: ${blank}`)],
    ['a random id', () => ({ payment_id: NOWHERE }), refusal('noPayment')],
    ['an id that is none', () => ({ trans_id: 'x' }), refusal('noPayment')],
    ['an unknown order', () => ({ order_id: 'nothing' }), refusal('noOrder')],
    ['an unknown order, as a list', () => ({ order_id: 'nothing', size: 5 }), refusal('noOrder')],
    ['an id as a list', (id) => ({ payment_id: [id] }), refusal('invalidData', `payment_id: ${notSingle}`)],
    ['an order as a number', () => ({ order_id: 17 }), refusal('invalidData', `order_id: ${noText}`)],
    ...[0, 101, '0', '101', 'x', 1.5, -1].map(
      (size): [string, (id: string, order: string) => Body, ReturnType<typeof refusal>] => [
        `size ${JSON.stringify(size)}`,
        (_, order_id) => ({ order_id, size }),
        refusal('invalidData', `size: ${invalid}`),
      ],
    ),
    ['the hash of the order', (id, order, p) => ({ payment_id: id, hash: sign(p, order) }), WRONG_HASH],
    ['the hash of the payment', (id, order, p) => ({ order_id: order, hash: sign(p, id) }), WRONG_HASH],
  ])('a query for %s is refused', async (_, fields, expected) => {
    const { id, orderId } = await checkout.open();
    expect(await send('payment/status', fields(id, orderId, shop.merchant.password))).toEqual(expected);
  });

  test('another account’s payment and order are unknown', async () => {
    const { id, orderId } = await checkout.open();
    expect(await send('payment/status', { payment_id: id }, rival)).toEqual(refusal('noPayment'));
    expect(await send('payment/status', { order_id: orderId }, rival)).toEqual(refusal('noOrder'));
  });

  test('size lists the attempts, newest first, and no more of them than asked for', async () => {
    const { url, orderId, id } = await checkout.paid({ methods: ['vcard', 'pin-a'] }, shop.merchant, 'decline');
    for (let n = 0; n < 2; n++) await fill(url, { method: 'pin-a', 'parameters[pin]': '1234567812340000' });
    const { body: all } = await checkout.status({ order_id: orderId, size: 100 });
    expect(all.map(({ status }: Body) => status)).toEqual(['decline', 'decline', 'decline']);
    expect(all[2].payment_id).toBe(id);
    expect((await checkout.status({ order_id: orderId, size: '2' })).body).toEqual(all.slice(0, 2));
    expect((await checkout.status({ order_id: orderId, size: 1 })).body).toEqual(all.slice(0, 1));
    expect((await checkout.status({ order_id: orderId })).body).toEqual(all[0]);
  });

  test.each(CHECKOUT_STATES)('the state %s', async (state) => {
    const merchant = await shop.newMerchant();
    const payment_id = await checkout.inState(state, merchant);
    const { status, reason } = (await checkout.status({ payment_id }, merchant)).body;
    expect([status, reason]).toEqual([state, state === 'decline' ? 'Declined by the test connector.' : undefined]);
  });

  test('a session that nobody paid is declined to the second', async () => {
    const merchant = await shop.newMerchant();
    const { id, orderId } = await checkout.open({ session_expiry: '1' }, merchant);
    await shop.advanceClock(59, merchant.mid);
    expect(await stateOf(id, merchant)).toBe('prepare');
    await shop.advanceClock(1, merchant.mid);
    for (const named of [{ payment_id: id }, { order_id: orderId }]) {
      expect((await checkout.status(named, merchant)).body).toMatchObject({ status: 'decline', reason: IN_TIME });
    }
  });
});

describe('credit', () => {
  const CREDIT = { order_amount: '5.00', order_currency: 'USD', order_description: 'Too much tea', card_token: 'x' };
  const credit = (fields: Body = {}) => ({ operation: 'credit', order_id: newOrderId(), ...CREDIT, ...fields });
  const entries = (sentence: string, ...names: string[]) =>
    refusal('invalidData', ...names.map((name) => `${name}: ${sentence}`));

  test.each<[string, Body, ReturnType<typeof refusal>]>([
    ['a token that nobody knows', {}, refusal('noCardToken')],
    ['a name', { name: 'Ada Byron' }, refusal('noCardToken')],
    ['a list of tokens', { card_token: ['x'] }, entries(notSingle, 'card_token')],
    ['an empty list of tokens', { card_token: [] }, entries(notSingle, 'card_token')],
    ['an order beside the flat fields', { order: { number: '1' } }, entries(notSingle, 'order')],
    ...['operation', ...Object.keys(CREDIT), 'order_id', 'hash'].map(
      (name): [string, Body, ReturnType<typeof refusal>] => [`no ${name}`, { [name]: undefined }, entries(blank, name)],
    ),
    ['another operation', { operation: 'refund' }, entries(noChoice, 'operation')],
    ['an amount as a number', { order_amount: 5 }, entries(noText, 'order_amount')],
    ['an amount without cents', { order_amount: '5' }, entries(invalid, 'order_amount')],
    ['a wrong hash', { hash: 'x' }, WRONG_HASH],
  ])('with %s', async (_, fields, expected) => {
    expect(await send('payment/card/credit', credit(fields))).toEqual(expected);
  });

  test('in the nested shape of old, everything that is missing is listed', async () => {
    const order = { number: '1', amount: '5.00', currency: 'USD', description: 'Tea' };
    const { status, body } = await send('payment/card/credit', { operation: 'credit', order, card_token: ['x'] });
    const missing = ['order_id', 'order_amount', 'order_currency', 'order_description'].map(
      (name) => `${name}: ${blank}`,
    );
    expect([status, body.error_code, body.error_message]).toEqual([400, 100000, 'Request data is invalid.']);
    expect(body.errors.map(({ error_message }: Body) => error_message).toSorted()).toEqual(
      [`card_token: ${notSingle}`, `order: ${notSingle}`, ...missing].toSorted(),
    );
  });

  test('the hash covers id, amount, currency and description in this order', async () => {
    const { order_id, ...fields } = credit();
    const sorted = sign(shop.merchant.password, order_id, '5.00', 'Too much tea', 'USD');
    expect(await send('payment/card/credit', { ...fields, order_id, hash: sorted })).toEqual(WRONG_HASH);
  });
});

describe('what is done to a payment', () => {
  const accepted = (payment_id: string) => ({
    status: 200,
    body: { payment_id, result: 'accepted', operation_id: A_UUID },
  });
  const captured = (payment_id: string) => ({
    status: 200,
    body: { payment_id, status: 'settled', trans_status: 'success', date: A_DATE, operation_id: A_UUID },
  });

  test.each<[string, CheckoutState, Body, ...Parameters<typeof refusal>]>([
    ['refund', 'prepare', {}, 'notSupported'],
    ['refund', 'pending', {}, 'refundNotSettled'],
    ['refund', 'decline', {}, 'refundNotSettled'],
    ['refund', 'void', {}, 'refundNotSettled'],
    ['refund', 'refund', {}, 'refundNotSettled'],
    ['refund', 'settled', { amount: '10.01' }, 'refundTooMuch'],
    ['refund', 'settled', { amount: 5 }, 'invalidData', `amount: ${noText}`],
    ['refund', 'settled', { amount: '5' }, 'invalidData', `amount: ${invalid}`],
    ['refund', 'settled', { amount: '0.00' }, 'invalidData', `amount: ${SENTENCES.tooLittle}`],
    ['void', 'prepare', {}, 'notSupported'],
    ['void', 'redirect', {}, 'notSupported'],
    ['void', 'settled', {}, 'notSupported'],
    ['void', 'decline', {}, 'notSupported'],
    ['void', 'void', {}, 'notSupported'],
    ['capture', 'prepare', {}, 'captureNotPending'],
    ['capture', 'settled', {}, 'captureNotPending'],
    ['capture', 'decline', {}, 'captureNotPending'],
    ['capture', 'expired', {}, 'captureNotPending'],
    ['capture', 'pending', { amount: '10.01' }, 'captureTooMuch'],
    ['capture', 'pending', { amount: '10.0' }, 'invalidData', `amount: ${invalid}`],
  ])('%s in the state %s with %j is refused', async (path, state, fields, ...expected) => {
    const merchant = await shop.newMerchant();
    const payment_id = await checkout.inState(state, merchant);
    expect(await send(`payment/${path}`, { payment_id, ...fields }, merchant)).toEqual(refusal(...expected));
    expect(await stateOf(payment_id, merchant)).toBe(state);
  });

  test.each(['refund', 'void', 'capture'])('%s of a payment that is not ours, or not signed for', async (path) => {
    const payment_id = await checkout.inState('pending', shop.merchant);
    const to = (fields: Body, merchant?: Merchant) => send(`payment/${path}`, fields, merchant);
    expect(await to({})).toEqual(refusal('invalidData', `payment_id: ${blank}`));
    expect(await to({ payment_id: NOWHERE })).toEqual(refusal('unknownPayment'));
    expect(await to({ payment_id: 'x' })).toEqual(refusal('unknownPayment'));
    expect(await to({ payment_id }, rival)).toEqual(refusal('unknownPayment'));
    expect(await to({ payment_id, hash: sign(shop.merchant.password) })).toEqual(WRONG_HASH);
    const unsigned = { payment_id, amount: '5.00', hash: sign(shop.merchant.password, payment_id) };
    if (path !== 'void') expect(await to(unsigned)).toEqual(WRONG_HASH);
  });

  test('a refund in parts, the rest without an amount', async () => {
    const payment_id = await checkout.inState('settled', shop.merchant);
    expect(await send('payment/refund', { payment_id, amount: '4.00' })).toEqual(accepted(payment_id));
    expect(await stateOf(payment_id)).toBe('settled');
    expect(await send('payment/refund', { payment_id, amount: '6.01' })).toEqual(refusal('refundTooMuch'));
    expect(await send('payment/refund', { payment_id })).toEqual(accepted(payment_id));
    expect(await stateOf(payment_id)).toBe('refund');
    expect((await checkout.inspect(payment_id)).refunded).toBe('10.00');
  });

  test('a refund where the account does not allow them', async () => {
    const merchant = await shop.newMerchant({ refunds_allowed: false });
    const payment_id = await checkout.inState('settled', merchant);
    expect(await send('payment/refund', { payment_id }, merchant)).toEqual(refusal('refundNotAllowed'));
  });

  test.each([undefined, '10.00', '7.50'])('a capture of %s, once', async (amount) => {
    const payment_id = await checkout.inState('pending', shop.merchant);
    expect(await send('payment/capture', { payment_id, amount })).toEqual(captured(payment_id));
    expect((await checkout.inspect(payment_id)).captured).toBe(amount ?? '10.00');
    expect(await send('payment/capture', { payment_id, amount })).toEqual(refusal('captureNotPending'));
  });

  test('a void', async () => {
    const payment_id = await checkout.inState('pending', shop.merchant);
    expect(await send('payment/void', { payment_id })).toEqual(accepted(payment_id));
    expect(await stateOf(payment_id)).toBe('void');
  });
});

describe('recurring', () => {
  const first = async () => {
    const { id } = await checkout.paid({ recurring_init: 'Y', customer: { name: 'Ada Byron' } });
    const { recurring_token } = (await checkout.status({ payment_id: id })).body;
    expect(recurring_token).toBeTypeOf('string');
    return { recurring_init_trans_id: id, recurring_token };
  };
  const order = (fields: Body = {}) => ({ number: newOrderId(), amount: '3.00', description: 'More tea', ...fields });

  test('repeats the payment without its payer, and answers like status', async () => {
    const request = { ...(await first()), order: order() };
    const answer = await send('payment/recurring', request);
    expect(answer).toEqual({
      status: 200,
      body: {
        payment_id: A_UUID,
        date: A_DATE,
        status: 'settled',
        order: { ...request.order, currency: 'USD' },
        customer: { name: 'Ada Byron' },
      },
    });
    expect(await send('payment/recurring', request)).toEqual(answer);
    const { payment_id } = answer.body;
    expect(await send('payment/status', { payment_id })).toEqual(answer);
    expect(await send('payment/recurring', { ...request, order: { ...request.order, amount: '4.00' } })).toEqual(
      DUPLICATE,
    );
  });

  test.each<[string, Body, ...Parameters<typeof refusal>]>([
    ['another token', { recurring_token: 'x' }, 'incorrectTransaction'],
    ['an unknown payment', { recurring_init_trans_id: NOWHERE }, 'incorrectTransaction'],
    ['an id that is none', { recurring_init_trans_id: 'x' }, 'incorrectTransaction'],
    ['no token', { recurring_token: '' }, 'invalidData', `recurring_token: ${blank}`],
    ['no number', { order: order({ number: '' }) }, 'invalidData', `order.number: ${blank}`],
    ['an amount as a number', { order: order({ amount: 3 }) }, 'invalidData', `order.amount: ${noText}`],
    ['dollars without cents', { order: order({ amount: '3' }) }, 'invalidData', `order.amount: ${invalid}`],
    ['an unknown schedule', { schedule_id: NOWHERE }, 'unknownSchedule'],
    ['a schedule that is none', { schedule_id: 'x' }, 'notUuid', 'schedule_id: This is not a valid UUID.'],
    ['a wrong hash', { hash: 'x' }, 'wrongHash', 'hash: Hash is not valid.'],
  ])('%s is refused', async (_, fields, ...expected) => {
    const request = { ...(await first()), order: order(), ...fields };
    expect(await send('payment/recurring', request)).toEqual(refusal(...expected));
  });

  test('another account’s payment, and one that was not meant to be repeated, are refused', async () => {
    const pair = await first();
    expect(await send('payment/recurring', { ...pair, order: order() }, rival)).toEqual(
      refusal('incorrectTransaction'),
    );
    const recurring_init_trans_id = await checkout.inState('settled', shop.merchant);
    const request = { ...pair, recurring_init_trans_id, order: order() };
    expect(await send('payment/recurring', request)).toEqual(refusal('incorrectTransaction'));
  });
});

describe('one payment, three protocols', () => {
  test('status, capture and creditvoid of /post work on the payment of a session', async () => {
    const id = await checkout.inState('pending', shop.merchant);
    const post = async (action: 'CAPTURE' | 'VOID' | 'CREDITVOID') =>
      (await shop.post(operationFields(shop.merchant, action, id))).body;
    expect((await shop.status(id)).body).toMatchObject({ result: 'SUCCESS', status: 'PENDING', trans_id: id });
    expect(await post('CAPTURE')).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', trans_id: id });
    expect(await stateOf(id)).toBe('settled');
    expect(await post('VOID')).toMatchObject({ error_code: 204005 });
    expect(await post('CREDITVOID')).toMatchObject({ result: 'ACCEPTED', trans_id: id });
    expect(await stateOf(id)).toBe('refund');
  });

  test('and those of Checkout on a sale of /post', async () => {
    const { trans_id, order_id } = (await shop.sale({ auth: 'Y' })).body;
    expect((await checkout.status({ order_id })).body).toMatchObject({ payment_id: trans_id, status: 'pending' });
    expect((await send('payment/capture', { payment_id: trans_id })).status).toBe(200);
    expect((await send('payment/refund', { payment_id: trans_id })).body.result).toBe('accepted');
    expect((await shop.status(trans_id)).body.status).toBe('REFUND');
  });

  test('before the payer chose: PREPARE, and nothing can be taken', async () => {
    const { id } = await checkout.open();
    expect((await shop.status(id)).body).toMatchObject({ status: 'PREPARE', amount: '10.00', currency: 'USD' });
    expect((await shop.post(operationFields(shop.merchant, 'CAPTURE', id))).body.error_code).toBe(208003);
  });
});
