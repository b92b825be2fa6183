/** The Checkout API: sessions, status, credit and operations on a payment, one table each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Body,
  CHECKOUT_STATES,
  type CheckoutState,
  checkoutOf,
  creditFields,
  fill,
  IMPOSSIBLE_SESSIONS,
  newOrder,
  REFUSED_CREDITS,
  REFUSED_OPERATIONS,
  REFUSED_QUERIES,
  REFUSED_REPETITIONS,
  REFUSED_SESSIONS,
  refusal,
  SENTENCES,
  SIGNED,
  sessionFields,
  signed,
  TOLERATED_SESSIONS,
  UNKNOWN_ID,
  VCARD,
} from '../support/checkout.ts';
import { UNKNOWN_ROUTE } from '../support/entries.ts';
import { type Merchant, newOrderId, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { operationFields, statusAndBody } from '../support/operations.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let otherMerchant: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  checkout = checkoutOf(shop);
  otherMerchant = await shop.newMerchant();
});
afterAll(() => shop.close());

const { blank, invalid, notSingle } = SENTENCES;
const A_UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const A_DATE = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const WRONG_HASH = refusal('wrongHash', 'hash: Hash is not valid.');
const DUPLICATE = refusal('duplicate', 'order_id: Duplicate payment.');

const send = (path: string, fields: Body, merchant?: Merchant) => statusAndBody(checkout.send(path, fields, merchant));
const sendSession = (fields: Body, merchant?: Merchant) => send('session', sessionFields(fields), merchant);
const storedPayment = (id: string, columns: string) =>
  shop.rows(`select ${columns} from payments where payment_id = '${id}'`);

describe('a session', () => {
  test('is answered with the address of its page, and waits for its payer', async () => {
    const { status, body, headers } = await checkout.send('session', sessionFields());
    expect([status, Object.keys(body)]).toEqual([200, ['redirect_url']]);
    expect(body.redirect_url).toMatch(new RegExp(`^${shop.url}/pay/[0-9a-f-]{36}\\.[\\w-]{22}$`));
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each(REFUSED_SESSIONS)('%s is refused', async (_, fields, ...entries) => {
    expect(await sendSession(fields)).toEqual(refusal('invalidData', ...entries));
  });

  test.each(TOLERATED_SESSIONS)('%s is accepted', async (_, fields) => {
    const { status, body } = await sendSession(fields);
    expect(status, JSON.stringify(body)).toBe(200);
  });

  test.each(IMPOSSIBLE_SESSIONS)(
    'a character that cannot be stored, %s, causes no internal error',
    async (_, fields) => {
      expect((await sendSession(fields)).status).toBeLessThan(500);
    },
  );

  test('deep nesting causes no internal error', async () => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const body = `${JSON.stringify(signed('session', sessionFields(), shop.merchant)).slice(0, -1)},"x":${nested}}`;
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    expect((await checkout.raw('session', init)).status).toBeLessThan(500);
  });

  test('refuses a schedule_id that is not a UUID before the lookup', async () => {
    const notUuid = refusal('notUuid', 'schedule_id: This is not a valid UUID.');
    expect(await sendSession({ schedule_id: '17', recurring_init: true })).toEqual(notUuid);
    expect(await sendSession({ schedule_id: UNKNOWN_ID, recurring_init: true })).toEqual(refusal('unknownSchedule'));
  });

  test('refuses a schedule without recurring_init', async () => {
    const refused = refusal('invalidData', 'recurring_init: This value should not be blank.');
    expect(await sendSession({ schedule_id: UNKNOWN_ID })).toEqual(refused);
    expect(await sendSession({ schedule_id: UNKNOWN_ID, recurring_init: 'N' })).toEqual(refused);
  });

  test('refuses a request that contains the password', async () => {
    const { status, body } = await sendSession({ custom_data: { note: `It is ${shop.merchant.password}` } });
    expect([status, body.error_message]).toEqual([400, 'Request data is invalid.']);
    expect(body.errors[0].error_message).toContain('contains the password of the account');
  });

  test.each([undefined, '', null, 1, '1', 30, '30', 720, '720'])('session_expiry %j', async (session_expiry) => {
    const { id } = await checkout.open({ session_expiry });
    const lasts = 'round(extract(epoch from payer_until - created_at))::int / 60 as minutes';
    expect(await storedPayment(id, lasts)).toEqual([{ minutes: Number(session_expiry || 60) }]);
  });

  const YES = [true, 'true', 'Y', '1', 1];
  const NO = [false, 'false', 'N', '0', 0, '', null, undefined];
  test.each([...YES, ...NO])('auth and recurring_init %j', async (value) => {
    const { id } = await checkout.open({ auth: value, recurring_init: value });
    const is = YES.includes(value as string);
    const flags = [{ is_authorisation: is, is_recurring_init: is }];
    expect(await storedPayment(id, 'is_authorisation, is_recurring_init')).toEqual(flags);
  });
});

describe('the order of checks', () => {
  test.each<[string, (password: string, number: string) => string, boolean]>([
    ['number, amount, currency, description', (p, n) => sign(p, n, '10.00', 'USD', 'Tea é'), true],
    ['upper-case hex', (p, n) => sign(p, n, '10.00', 'USD', 'Tea é').toUpperCase(), true],
    ['text upper-cased beyond ASCII', (p, n) => sign(p, n, '10.00', 'USD', 'TEA É'), true],
    ['another order of them', (p, n) => sign(p, n, 'USD', '10.00', 'Tea é'), false],
    ['no description', (p, n) => sign(p, n, '10.00', 'USD'), false],
    ['the password first', (p, n) => sign('', p, n, '10.00', 'USD', 'Tea é'), false],
    ['another account’s password', (_, n) => sign(otherMerchant.password, n, '10.00', 'USD', 'Tea é'), false],
    ['nothing', () => 'x', false],
  ])('a hash over %s', async (_, hash, isRight) => {
    const order = { number: newOrderId(), description: 'Tea é' };
    const result = await sendSession({ order, hash: hash(shop.merchant.password, order.number) });
    expect(result).toEqual(isRight ? { status: 200, body: expect.anything() } : WRONG_HASH);
  });

  test('the first failed check answers: key, environment, address, fields, hash', async () => {
    const merchant = await shop.newMerchant({ ip_allowlist: ['192.0.2.1'] });
    const wrong: Body = { ...sessionFields({ order: { amount: '1' } }), hash: 'wrong' };
    const withKey = (key: unknown, more: Body = {}) =>
      statusAndBody(checkout.sendBody('session', { ...wrong, ...more, merchant_key: key }));
    for (const key of ['nobody', `test_${'0'.repeat(32)}`, merchant.client_key, 17]) {
      expect(await withKey(key)).toEqual(refusal('invalidData', `merchant_key: ${invalid}`));
    }
    const noKey = refusal('invalidData', `merchant_key: ${blank}`);
    expect(await withKey(undefined)).toEqual(noKey);
    expect(await withKey(undefined, { client_key: merchant.client_key })).toEqual(noKey);
    expect(await withKey([merchant.merchant_key])).toEqual(refusal('invalidData', `merchant_key: ${notSingle}`));
    expect(await withKey(`live_${'0'.repeat(32)}`)).toEqual(
      refusal('wrongEnvironment', 'merchant_key: Use merchant test key.'),
    );
    expect(await withKey(merchant.merchant_key)).toEqual(refusal('addressNotAllowed'));
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: [] });
    expect(await withKey(merchant.merchant_key)).toEqual(refusal('invalidData', `order.amount: ${invalid}`));
    expect(await withKey(merchant.merchant_key, { order: sessionFields().order })).toEqual(WRONG_HASH);
    expect((await sendSession({}, merchant)).status).toBe(200);
  });

  const validBody = () => JSON.stringify(signed('session', sessionFields(), shop.merchant));
  const JSON_TYPE = 'application/json';
  const NO_JSON = 'content-type: This value should be application/json.';
  const NO_OBJECT = 'body: The body should be a JSON object.';
  const BROKEN = 'body: The body is not valid JSON.';
  test.each<[string, string, () => string, string | undefined]>([
    ['a charset', 'application/json; charset=utf-8', validBody, undefined],
    ['the content type of a form', 'application/x-www-form-urlencoded', validBody, NO_JSON],
    ['a truncated object', JSON_TYPE, () => validBody().slice(0, -1), BROKEN],
    ['single quotes', JSON_TYPE, () => validBody().replaceAll('"', "'"), BROKEN],
    ['nothing', JSON_TYPE, () => '', NO_OBJECT],
    ['null', JSON_TYPE, () => 'null', NO_OBJECT],
    ['a list', JSON_TYPE, () => `[${validBody()}]`, NO_OBJECT],
  ])('a body with %s', async (_, type, body, entry) => {
    const init = { method: 'POST', body: body(), headers: { 'content-type': type } };
    const right = { status: 200, body: expect.anything() };
    expect(await statusAndBody(checkout.raw('session', init))).toEqual(entry ? refusal('invalidData', entry) : right);
  });

  test.each(['session', 'payment/status', 'session/x', 'Session', '', 'payment', 'payment/credit', 'payment/sale'])(
    'answers only POST on known paths: %j',
    async (path) => {
      const [status, methods] = path in SIGNED ? [405, ['GET', 'PUT']] : [404, ['GET', 'POST']];
      for (const method of methods) {
        expect(await statusAndBody(checkout.raw(path, { method }))).toEqual({ status, body: UNKNOWN_ROUTE });
      }
    },
  );
});

describe('duplicates', () => {
  const again = (request: Body, changes: Body = {}) =>
    statusAndBody(checkout.sendBody('session', { ...request, ...changes }));
  const sameAs = (redirect_url: string) => ({ status: 200, body: { redirect_url } });

  test('an identical request within fifteen seconds gets the same page; any other is a duplicate', async () => {
    const merchant = await shop.newMerchant();
    const { url, request, orderId } = await checkout.open({}, merchant);
    await shop.advanceClock(3, merchant.mid);
    expect(await Promise.all(Array.from({ length: 9 }, () => again(request)))).toEqual(Array(9).fill(sameAs(url)));
    expect(await again(request, { success_url: 'https://shop.example/other' })).toEqual(DUPLICATE);
    await shop.advanceClock(12, merchant.mid);
    expect(await again(request)).toEqual(DUPLICATE);
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(1);
  });

  test('the order of the members does not matter', async () => {
    const { url, request } = await checkout.open();
    expect(await again(Object.fromEntries(Object.entries(request).toReversed()))).toEqual(sameAs(url));
  });

  test('after a decline: the same page inside the window, whatever the payer did; a new one after it', async () => {
    const merchant = await shop.newMerchant();
    const { url, request, orderId } = await checkout.paid({}, merchant, 'decline');
    expect(await again(request)).toEqual(sameAs(url));
    await fill(url, VCARD.decline);
    expect(await again(request)).toEqual(sameAs(url));
    await shop.advanceClock(15, merchant.mid);
    expect(await again(request)).not.toEqual(sameAs(url));
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(3);
  });

  test('the fifteen seconds count from the request, not from later attempts of the payer', async () => {
    const merchant = await shop.newMerchant();
    const { url, request, orderId } = await checkout.open({ methods: ['vcard'] }, merchant);
    await shop.advanceClock(60, merchant.mid);
    for (let n = 0; n < 2; n++) await fill(url, VCARD.decline);
    const answer = await again(request, { success_url: 'https://shop.example/other' });
    expect(answer).toEqual({ status: 200, body: { redirect_url: expect.any(String) } });
    expect(answer).not.toEqual(sameAs(url));
    expect(await again(request)).toEqual(DUPLICATE);
    expect(await checkout.attempts(orderId, merchant)).toHaveLength(3);
  });

  test.each<[string, Body, CheckoutState, number]>([
    ['a declined order', {}, 'decline', 200],
    ['a declined order, with order_id_reuse=never', { order_id_reuse: 'never' }, 'decline', 400],
    ['a voided order', {}, 'void', 200],
    ['a paid order', {}, 'settled', 400],
    ['a refunded order', {}, 'refund', 400],
  ])('%s, requested again after the window', async (_, settings, state, expected) => {
    const merchant = await shop.newMerchant(settings);
    const { order_id: number } = await checkout.inspect(await checkout.inState(state, merchant));
    await shop.advanceClock(15, merchant.mid);
    const answer = await sendSession({ order: { number } }, merchant);
    expect(answer).toEqual(expected === 400 ? DUPLICATE : { status: 200, body: { redirect_url: expect.any(String) } });
  });

  test('a refused request claims no order; an order of /post is taken; another account’s is independent', async () => {
    const number = newOrderId();
    expect((await sendSession({ order: { number }, hash: 'wrong' })).status).toBe(400);
    await shop.sale({ order_id: number });
    expect(await sendSession({ order: { number } })).toEqual(DUPLICATE);
    expect((await sendSession({ order: { number } }, otherMerchant)).status).toBe(200);
  });
});

describe('status', () => {
  test('is the same by payment_id, by trans_id and by order_id', async () => {
    const customer = { name: 'Ada King Byron', email: 'ada@example.com' };
    const { id, request, orderId } = await checkout.paid({ customer, order: { amount: '10.50', currency: 'EUR' } });
    const body = { payment_id: id, date: A_DATE, status: 'settled', order: request.order, customer };
    const empty = [
      { payment_id: '', trans_id: id },
      { payment_id: null, trans_id: id, order_id: '' },
    ];
    for (const named of [{ payment_id: id }, { trans_id: id }, { order_id: orderId }, ...empty]) {
      expect(await send('payment/status', named)).toEqual({ status: 200, body });
    }
  });

  test.each(REFUSED_QUERIES)('refuses a query for %s', async (_, fields, ...expected) => {
    expect(await send('payment/status', fields)).toEqual(refusal(...expected));
  });

  test('of another account’s payment is unknown, and the hash covers what was sent', async () => {
    const { id, orderId } = await checkout.open();
    expect(await send('payment/status', { payment_id: id }, otherMerchant)).toEqual(refusal('noPayment'));
    expect(await send('payment/status', { order_id: orderId }, otherMerchant)).toEqual(refusal('noOrder'));
    const hash = (text: string) => sign(shop.merchant.password, text);
    expect(await send('payment/status', { payment_id: id, hash: hash(orderId) })).toEqual(WRONG_HASH);
    expect(await send('payment/status', { order_id: orderId, hash: hash(id) })).toEqual(WRONG_HASH);
  });

  test('size lists the attempts, newest first, and no more than requested', async () => {
    const { url, orderId, id } = await checkout.paid({ methods: ['vcard', 'pin-a'] }, shop.merchant, 'decline');
    for (let n = 0; n < 2; n++) await fill(url, { method: 'pin-a', 'parameters[pin]': '1234567812340000' });
    const { body: all } = await checkout.status({ order_id: orderId, size: 100 });
    expect(all.map(({ status }: Body) => status)).toEqual(['decline', 'decline', 'decline']);
    expect(all[2].payment_id).toBe(id);
    expect((await checkout.status({ order_id: orderId, size: '2' })).body).toEqual(all.slice(0, 2));
    expect((await checkout.status({ order_id: orderId })).body).toEqual(all[0]);
  });

  test.each(CHECKOUT_STATES)('the state %s', async (state) => {
    const merchant = await shop.newMerchant();
    const payment_id = await checkout.inState(state, merchant);
    const { status, reason } = (await checkout.status({ payment_id }, merchant)).body;
    expect([status, reason]).toEqual([state, state === 'decline' ? 'Declined by the test connector.' : undefined]);
  });

  test('declines an unpaid session at the second of its expiry, and its order may be opened again', async () => {
    const merchant = await shop.newMerchant();
    const { id, orderId: number } = await checkout.open({ session_expiry: '1' }, merchant);
    await shop.advanceClock(20, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe('prepare');
    await shop.advanceClock(40, merchant.mid);
    const { body } = await checkout.status({ order_id: number }, merchant);
    expect([body.status, body.reason]).toEqual(['decline', 'The payer did not finish in time.']);
    expect((await sendSession({ order: { number } }, merchant)).status).toBe(200);
  });
});

describe('credit', () => {
  test.each(REFUSED_CREDITS)('with %s', async (_, fields, ...expected) => {
    expect(await send('payment/card/credit', creditFields(fields))).toEqual(refusal(...expected));
  });

  test('lists all errors of the old nested format', async () => {
    const order = { number: '1', amount: '5.00', currency: 'USD', description: 'Tea' };
    const { status, body } = await send('payment/card/credit', { operation: 'credit', order, card_token: ['x'] });
    expect([status, body.error_code, body.error_message]).toEqual([400, 100000, 'Request data is invalid.']);
    const missing = ['currency', 'amount', 'description', 'id'].map((name) => `order_${name}: ${blank}`);
    const entries = [`card_token: ${notSingle}`, `order: ${notSingle}`, ...missing];
    expect(body.errors.map(({ error_message }: Body) => error_message).toSorted()).toEqual(entries.toSorted());
  });

  test('the hash covers id, amount, currency and description in this order', async () => {
    const fields = creditFields();
    const hash = sign(shop.merchant.password, fields.order_id, '5.00', 'Too much tea', 'USD');
    expect(await send('payment/card/credit', { ...fields, hash })).toEqual(WRONG_HASH);
  });
});

describe('operations on a payment', () => {
  const ok = (body: Body) => ({ status: 200, body: { operation_id: A_UUID, ...body } });

  test.each(REFUSED_OPERATIONS)('%s in the state %s with %j is refused', async (path, state, fields, ...expected) => {
    const merchant = await shop.newMerchant();
    const payment_id = await checkout.inState(state, merchant);
    expect(await send(`payment/${path}`, { payment_id, ...fields }, merchant)).toEqual(refusal(...expected));
    expect(await checkout.stateOf(payment_id, merchant)).toBe(state);
  });

  test.each(['refund', 'void', 'capture'])(
    '%s refuses an unknown payment, another account’s payment, and a wrong hash',
    async (path) => {
      const payment_id = await checkout.inState('pending', shop.merchant);
      const to = (fields: Body, merchant?: Merchant) => send(`payment/${path}`, fields, merchant);
      expect(await to({})).toEqual(refusal('invalidData', `payment_id: ${blank}`));
      expect(await to({ payment_id: UNKNOWN_ID })).toEqual(refusal('unknownPayment'));
      expect(await to({ payment_id: 'x' })).toEqual(refusal('unknownPayment'));
      expect(await to({ payment_id }, otherMerchant)).toEqual(refusal('unknownPayment'));
      expect(await to({ payment_id, hash: sign(shop.merchant.password) })).toEqual(WRONG_HASH);
      const unsigned = { payment_id, amount: '5.00', hash: sign(shop.merchant.password, payment_id) };
      if (path !== 'void') expect(await to(unsigned)).toEqual(WRONG_HASH);
    },
  );

  test('refunds in parts, the rest without an amount, where the account allows refunds', async () => {
    const merchant = await shop.newMerchant({ refunds_allowed: false });
    const withoutRefunds = { payment_id: await checkout.inState('settled', merchant) };
    expect(await send('payment/refund', withoutRefunds, merchant)).toEqual(refusal('refundNotAllowed'));
    const payment_id = await checkout.inState('settled', shop.merchant);
    expect(await send('payment/refund', { payment_id, amount: '4.00' })).toEqual(
      ok({ payment_id, result: 'accepted' }),
    );
    expect(await checkout.stateOf(payment_id)).toBe('settled');
    expect(await send('payment/refund', { payment_id, amount: '6.01' })).toEqual(refusal('refundTooMuch'));
    expect(await send('payment/refund', { payment_id })).toEqual(ok({ payment_id, result: 'accepted' }));
    expect((await checkout.inspect(payment_id)).refunded).toBe('10.00');
  });

  test.each([undefined, '10.00', '7.50'])('voids; captures %s, once', async (amount) => {
    const voided = await checkout.inState('pending', shop.merchant);
    expect(await send('payment/void', { payment_id: voided })).toEqual(ok({ payment_id: voided, result: 'accepted' }));
    const payment_id = await checkout.inState('pending', shop.merchant);
    const captured = { status: 'settled', trans_status: 'SUCCESS', date: A_DATE };
    expect(await send('payment/capture', { payment_id, amount })).toEqual(ok({ payment_id, ...captured }));
    expect((await checkout.inspect(payment_id)).captured).toBe(amount ?? '10.00');
    expect(await send('payment/capture', { payment_id, amount })).toEqual(refusal('captureNotPending'));
  });
});

describe('recurring', () => {
  const repeat = (fields: Body, merchant?: Merchant) => send('payment/recurring', fields, merchant);
  const first = async () => {
    const { id } = await checkout.paid({ recurring_init: 'Y', customer: { name: 'Ada Byron' } });
    const { recurring_token } = (await checkout.status({ payment_id: id })).body;
    expect(recurring_token).toBeTypeOf('string');
    return { recurring_init_trans_id: id, recurring_token, order: newOrder() };
  };

  test('repeats the payment without its payer, and answers like status', async () => {
    const request = await first();
    const answer = await repeat(request);
    const completeOrder = { ...request.order, currency: 'USD' };
    const body = {
      payment_id: A_UUID,
      date: A_DATE,
      status: 'settled',
      order: completeOrder,
      customer: { name: 'Ada Byron' },
    };
    expect(answer).toEqual({ status: 200, body });
    expect(await repeat(request)).toEqual(answer);
    expect(await send('payment/status', { payment_id: answer.body.payment_id })).toEqual(answer);
    expect(await repeat({ ...request, order: { ...request.order, amount: '4.00' } })).toEqual(DUPLICATE);
  });

  test('accepts another currency and authorisation only', async () => {
    const request = await first();
    const euros = newOrder({ currency: 'EUR' });
    expect((await repeat({ ...request, order: euros })).body).toMatchObject({ status: 'settled', order: euros });
    const { body } = await repeat({ ...request, order: newOrder({ currency: 'JPY', amount: '300' }), auth: 'Y' });
    expect(body).toMatchObject({ status: 'pending', order: { currency: 'JPY', amount: '300' } });
    expect((await send('payment/capture', { payment_id: body.payment_id, amount: '200' })).status).toBe(200);
  });

  test.each(REFUSED_REPETITIONS)('%s is refused', async (_, fields, ...expected) => {
    expect(await repeat({ ...(await first()), ...fields })).toEqual(refusal(...expected));
  });

  test('refuses another account’s payment, and one without recurring_init', async () => {
    const request = await first();
    expect(await repeat(request, otherMerchant)).toEqual(refusal('incorrectTransaction'));
    const recurring_init_trans_id = await checkout.inState('settled', shop.merchant);
    expect(await repeat({ ...request, recurring_init_trans_id })).toEqual(refusal('incorrectTransaction'));
  });
});

describe('one payment, several protocols', () => {
  test('status, capture and creditvoid of /post work on a payment of a session', async () => {
    expect((await shop.status((await checkout.open()).id)).body).toMatchObject({ status: 'PREPARE', amount: '10.00' });
    const id = await checkout.inState('pending', shop.merchant);
    const post = async (action: 'CAPTURE' | 'VOID' | 'CREDITVOID') =>
      (await shop.post(operationFields(shop.merchant, action, id))).body;
    expect((await shop.status(id)).body).toMatchObject({ result: 'SUCCESS', status: 'PENDING', trans_id: id });
    expect(await post('CAPTURE')).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', trans_id: id });
    expect(await post('VOID')).toMatchObject({ error_code: 204005 });
    expect(await post('CREDITVOID')).toMatchObject({ result: 'ACCEPTED', trans_id: id });
    expect(await checkout.stateOf(id)).toBe('refund');
  });

  test('the operations of Checkout work on a sale of /post', async () => {
    const { trans_id, order_id } = (await shop.sale({ auth: 'Y' })).body;
    expect((await checkout.status({ order_id })).body).toMatchObject({ payment_id: trans_id, status: 'pending' });
    expect((await send('payment/capture', { payment_id: trans_id })).status).toBe(200);
    expect((await send('payment/refund', { payment_id: trans_id })).body.result).toBe('accepted');
    expect((await shop.status(trans_id)).body.status).toBe('REFUND');
  });
});
