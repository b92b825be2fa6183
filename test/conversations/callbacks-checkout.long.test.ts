/** Callbacks of Checkout payments: each attempt, the response of the card’s bank, and later operations. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALLBACK_MISMATCHES, type CallbackMerchant, callbacksOf } from '../support/callbacks.ts';
import {
  type Body,
  checkoutOf,
  creditFields,
  DOC_A,
  fill,
  newOrder,
  type Session,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Fields, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { allowBursts } from '../support/limits.ts';
import { type OperationAction, operationFields, operationsOf } from '../support/operations.ts';

allowBursts();

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let at: ReturnType<typeof operationsOf>;
let callbacks: Awaited<ReturnType<typeof callbacksOf>>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  checkout = checkoutOf(shop);
  at = operationsOf(shop);
  callbacks = await callbacksOf(shop);
});
afterAll(async () => {
  await shop.close();
  await callbacks.close();
});

const DAY = 86_400;
const OPERATION = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const TOKEN = expect.stringMatching(/^[0-9a-f]{48}$/);

const VISA = '4111111111111111';
const MASTERCARD = '5555555555554444';
const AMEX = '378282246310005';
const MASKED: Fields = { [VISA]: '411111******1111', [MASTERCARD]: '555555******4444', [AMEX]: '378282*****0005' };

const cardForm = (expiry: string, number = VISA): Fields => ({
  ...{ method: 'card', card_number: number, card_expiry: expiry, card_cvv: '123', card_holder: 'Ada Byron' },
});
const cardFields = (expiry: string, number = VISA): Fields => ({
  card: MASKED[number] as string,
  card_expiration_date: expiry.replace('/', '/20'),
});

interface Scene extends Session {
  merchant: CallbackMerchant;
  pass(seconds: number): Promise<void>;
}

/** A session of an account of its own, so that no other test moves its clock. */
async function open(fields: Body = {}, settings: Body = {}): Promise<Scene> {
  const merchant = await callbacks.newMerchant(settings);
  const session = await checkout.open(fields, merchant);
  return { ...session, merchant, pass: (seconds) => shop.advanceClock(seconds, merchant.mid) };
}

/** A session whose payer submitted a card. */
async function submitCard(expiry: string, fields: Body = {}, number = VISA): Promise<Scene> {
  const scene = await open({ methods: ['card'], ...fields });
  expect((await fill(scene.url, cardForm(expiry, number))).status).toBe(303);
  return scene;
}

/** Submits the form of a page with its hidden fields and the payer’s input. */
async function submitPage(
  page: { text: string; url: string },
  input: Fields = {},
): Promise<{ text: string; url: string }> {
  const action = /<form[^>]*\baction="([^"]*)"/.exec(page.text)?.[1] as string;
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const form = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
  return fill(new URL(action, page.url).href, { ...form, ...input });
}

/** The payer opens the bank’s page, answers there, and returns. */
async function answerBank({ url }: Scene, answer: Fields): Promise<void> {
  await submitPage(await submitPage(await submitPage(await show(url)), answer));
}

// Expected callbacks: the fields besides those that every callback of a payment has.
const callback = (type: string, status: string, order_status: string, more: Fields = {}): Fields => ({
  ...{ type, status, order_status },
  ...more,
});
const SETTLED = callback('sale', 'success', 'settled');
const AUTHORISED = callback('sale', 'success', 'pending');
const REDIRECT = callback('redirect', 'waiting', 'redirect');
const UNDEFINED = callback('sale', 'undefined', 'pending');
const declined = (reason: string): Fields => callback('sale', 'fail', 'decline', { reason });
const BY_BANK = declined('Declined by the simulated bank.');
const TOO_LATE = declined('The payer did not finish in time.');
const NOT_AUTHENTICATED = declined('The bank could not confirm who is paying.');
const done = (type: string, order_status: string, amount = '10.00'): Fields =>
  callback(type, 'success', order_status, { operation_amount: amount, operation_id: OPERATION });

const common = ({ id, orderId }: Pick<Session, 'id' | 'orderId'>): Fields => ({
  ...{ id, order_number: orderId, order_amount: '10.00', order_currency: 'USD', order_description: 'A test order' },
  operation_id: id,
});
const expectCallbacks = async (scene: Scene, expected: Fields[], more: Fields = {}): Promise<void> =>
  expect(await callbacks.delivered(scene.merchant)).toEqual(
    expected.map((row) => ({ ...common(scene), ...more, ...row })),
  );

describe('a card', () => {
  const proof = (transStatus: string, eci: string): Fields => ({ transStatus, eci, protocolVersion: '2.2.0' });

  test.each<[expiry: string, number: string, ...callbacks: Fields[]]>([
    ['01/38', VISA, SETTLED],
    ['01/38', MASTERCARD, SETTLED],
    ['01/38', AMEX, SETTLED],
    ['02/38', VISA, BY_BANK],
    ['04/38', VISA, { ...SETTLED, ...proof('I', '07') }],
    ['04/38', MASTERCARD, { ...SETTLED, ...proof('I', '00') }],
    ['07/38', VISA, { ...SETTLED, ...proof('Y', '05') }],
    ['07/38', MASTERCARD, { ...SETTLED, ...proof('Y', '02') }],
    ['07/38', AMEX, { ...SETTLED, ...proof('Y', '05') }],
    ['08/38', VISA, { ...SETTLED, ...proof('A', '06') }],
    ['08/38', MASTERCARD, { ...SETTLED, ...proof('A', '01') }],
    ['09/38', VISA, { ...NOT_AUTHENTICATED, ...proof('N', '07') }],
    ['09/38', MASTERCARD, { ...NOT_AUTHENTICATED, ...proof('N', '00') }],
    ['10/38', VISA, { ...SETTLED, ...proof('U', '07') }],
    ['10/38', MASTERCARD, { ...SETTLED, ...proof('U', '00') }],
    ['11/38', VISA, { ...declined('The bank rejected the payment.'), ...proof('R', '07') }],
    ['11/38', MASTERCARD, { ...declined('The bank rejected the payment.'), ...proof('R', '00') }],
  ])('%s of %s', async (expiry, number, ...expected) => {
    await expectCallbacks(await submitCard(expiry, {}, number), expected, cardFields(expiry, number));
  });

  const CHALLENGED = callback('3ds', 'waiting', '3ds', { transStatus: 'C', protocolVersion: '2.2.0' });
  const passed = (eci: string): Fields[] => [
    CHALLENGED,
    callback('3ds', 'success', '3ds', proof('Y', eci)),
    { ...SETTLED, ...proof('Y', eci) },
  ];
  const failed = (eci: string): Fields[] => [CHALLENGED, { ...NOT_AUTHENTICATED, ...proof('N', eci) }];
  const CODE = { code: '1234' };
  test.each<[what: string, expiry: string, number: string, answer: Fields, callbacks: Fields[]]>([
    ['passed', '05/38', VISA, CODE, passed('05')],
    ['passed', '05/38', MASTERCARD, CODE, passed('02')],
    ['cancelled', '05/38', VISA, { cancel: '1' }, failed('07')],
    ['failed', '06/38', VISA, CODE, failed('07')],
    ['failed', '06/38', MASTERCARD, CODE, failed('00')],
    ['passed, with a late result', '05/39', VISA, CODE, passed('05')],
    ['passed, with a duplicate result', '06/39', VISA, CODE, passed('05')],
    ['failed, though the browser claims the contrary', '08/39', VISA, CODE, failed('07')],
  ])('a challenge that is %s, %s of %s', async (_, expiry, number, answer, expected) => {
    const scene = await submitCard(expiry, {}, number);
    await expectCallbacks(scene, [CHALLENGED], cardFields(expiry, number));
    await answerBank(scene, answer);
    await at.becomes(scene.id, expected.length === 3 ? 'SETTLED' : 'DECLINED');
    await expectCallbacks(scene, expected, cardFields(expiry, number));
    await scene.pass(3600);
    await expectCallbacks(scene, expected, cardFields(expiry, number));
  });

  test.each<[what: string, expiry: string, visit: (scene: Scene) => Promise<unknown>]>([
    ['the payer never opens', '05/38', async () => undefined],
    ['the payer leaves', '05/38', async ({ url }) => submitPage(await show(url))],
    ['never has a result', '07/39', async ({ url }) => submitPage(await submitPage(await show(url)), CODE)],
  ])('a challenge that %s expires after ten minutes', async (_, expiry, visit) => {
    const scene = await submitCard(expiry);
    await visit(scene);
    await scene.pass(540);
    await expectCallbacks(scene, [CHALLENGED], cardFields(expiry));
    await scene.pass(60);
    await expectCallbacks(scene, [CHALLENGED, TOO_LATE], cardFields(expiry));
    await scene.pass(DAY);
    await expectCallbacks(scene, [CHALLENGED, TOO_LATE], cardFields(expiry));
  });

  test('a challenge that is passed after it expired changes nothing', async () => {
    const scene = await submitCard('05/38');
    const atBank = await submitPage(await show(scene.url));
    await scene.pass(600);
    await submitPage(await submitPage(atBank, CODE));
    await scene.pass(DAY);
    await expectCallbacks(scene, [CHALLENGED, TOO_LATE], cardFields('05/38'));
  });

  test('a challenge of an authorisation', async () => {
    const scene = await submitCard('05/38', { auth: 'Y' });
    await answerBank(scene, CODE);
    const [, authenticated] = passed('05');
    const expected = [CHALLENGED, authenticated as Fields, { ...AUTHORISED, ...proof('Y', '05') }];
    await expectCallbacks(scene, expected, cardFields('05/38'));
  });

  test.each<[expiry: string, decision: string, ends: string, outcome: Fields]>([
    ['12/38', 'approve', 'SETTLED', SETTLED],
    ['12/39', 'approve', 'DECLINED', BY_BANK],
  ])('%s is redirected to its bank', async (expiry, decision, ends, outcome) => {
    const scene = await submitCard(expiry);
    await expectCallbacks(scene, [REDIRECT], cardFields(expiry));
    const { text } = await show(scene.url);
    const [, bank = ''] = /<a class="button[^"]*" href="([^"]+)"/.exec(text) ?? [];
    await fill(bank, { decision });
    await at.becomes(scene.id, ends);
    await expectCallbacks(scene, [REDIRECT, outcome], cardFields(expiry));
  });

  test.each<[expiry: string, outcome: Fields]>([
    ['01/39', SETTLED],
    ['02/39', declined('The provider never received the payment.')],
  ])('%s: the connection breaks, and the outcome is determined later', async (expiry, outcome) => {
    const scene = await submitCard(expiry);
    await expectCallbacks(scene, [UNDEFINED], cardFields(expiry));
    for (const seconds of [5, 5, 15, 30, 60, 30]) await scene.pass(seconds);
    await expectCallbacks(scene, [UNDEFINED, outcome], cardFields(expiry));
  });

  test('03/38: a capture that the bank declines', async () => {
    const scene = await submitCard('03/38', { auth: 'Y' });
    await checkout.send('payment/capture', { payment_id: scene.id }, scene.merchant);
    const reason = 'The simulated bank refuses the capture.';
    const refused = callback('capture', 'fail', 'pending', {
      operation_amount: '10.00',
      operation_id: OPERATION,
      reason,
    });
    await expectCallbacks(scene, [AUTHORISED, refused], cardFields('03/38'));
  });

  test('sends neither the card number nor the security code', async () => {
    const scene = await submitCard('01/38', { req_token: true, recurring_init: true });
    await callbacks.drain();
    const [callback] = callbacks.received(callbacks.urlOf(scene.merchant));
    expect(String(callback?.body)).not.toContain(VISA);
    expect(Object.values(callback?.fields ?? {})).not.toContain('123');
  });
});

describe('a session', () => {
  test('a declined card, then another one: two payments of one order, each with callbacks under its own id', async () => {
    const scene = await submitCard('02/38');
    expect((await fill(scene.url, cardForm('01/38', MASTERCARD))).status).toBe(303);
    const [second = '', first] = await checkout.attempts(scene.orderId, scene.merchant);
    expect(first).toBe(scene.id);
    expect(await callbacks.delivered(scene.merchant)).toEqual([
      { ...common(scene), ...cardFields('02/38'), ...BY_BANK },
      { ...common({ ...scene, id: second }), ...cardFields('01/38', MASTERCARD), ...SETTLED },
    ]);
  });

  test('data entered for one attempt is not sent with the next', async () => {
    const scene = await open({ methods: ['card', 'vcard'] });
    await fill(scene.url, cardForm('02/38'));
    await fill(scene.url, VCARD.success);
    const [, second] = await callbacks.delivered(scene.merchant);
    expect(second).toEqual({ ...common(scene), ...SETTLED, id: expect.any(String), operation_id: second?.id });
  });

  test('a session that is never paid: one callback when it expires, none before', async () => {
    const scene = await open({ session_expiry: 5 });
    await scene.pass(240);
    await expectCallbacks(scene, []);
    await scene.pass(60);
    await expectCallbacks(scene, [TOO_LATE]);
  });

  test('ten concurrent submits: one set of callbacks', async () => {
    const scene = await open({ methods: ['card'] });
    await Promise.all(Array.from({ length: 10 }, () => fill(scene.url, cardForm('01/38'))));
    await expectCallbacks(scene, [SETTLED], cardFields('01/38'));
  });

  test.each<[what: string, decision: string, ends: string, outcome: Fields]>([
    ['approves', 'approve', 'SETTLED', SETTLED],
    ['declines', 'decline', 'DECLINED', declined('The payer declined the payment.')],
  ])('a payer who is redirected and %s', async (_, decision, ends, outcome) => {
    const scene = await open({ methods: ['doc-a'] });
    const { location } = await fill(scene.url, DOC_A);
    await expectCallbacks(scene, [REDIRECT]);
    await fill(location, { decision });
    await at.becomes(scene.id, ends);
    await expectCallbacks(scene, [REDIRECT, outcome]);
  });

  test('a payer who waits: a callback while pending, then one with the outcome', async () => {
    const order = { currency: 'ARS' };
    const scene = await open({ methods: ['transfer-a'], order });
    await fill(scene.url, { bank_cuil: '20-12345678-6' });
    await scene.pass(300);
    await expectCallbacks(scene, [callback('sale', 'waiting', 'pending'), TOO_LATE], { order_currency: 'ARS' });
  });

  test('returns all data of the merchant and the payer, and omits empty fields', async () => {
    const fields = {
      methods: ['card'],
      customer: { name: 'Ada King Byron', email: 'ada@example.com', birth_date: '1815-12-10' },
      billing_address: {
        country: 'GB',
        state: '',
        city: 'London',
        zip: 'W1',
        phone: '+44 20 7946 0000',
        house_number: '12',
      },
      custom_data: { cart: '17', empty: '', gift: true, nothing: null },
    };
    const scene = await submitCard('01/38', fields);
    await expectCallbacks(scene, [SETTLED], {
      ...cardFields('01/38'),
      customer_name: 'Ada King Byron',
      customer_email: 'ada@example.com',
      customer_birth_date: '1815-12-10',
      customer_country: 'GB',
      customer_city: 'London',
      customer_zip: 'W1',
      customer_phone: '+44 20 7946 0000',
      customer_house_number: '12',
      'custom_data[cart]': '17',
      'custom_data[gift]': 'true',
    });
  });

  test('data that the payer enters is sent with that attempt', async () => {
    const scene = await open({ methods: ['bank-a'] });
    const bank = { 'parameters[bank_code]': 'DEUTDEFF', 'parameters[bank_account_number]': '17' };
    await fill(scene.url, { payer_first_name: 'Ada', payer_last_name: 'Byron', ...bank });
    await expectCallbacks(scene, [REDIRECT], { customer_name: 'Ada Byron' });
  });

  test('sends card_token when it was requested, and not otherwise', async () => {
    await expectCallbacks(await submitCard('01/38', { req_token: true }), [SETTLED], {
      ...cardFields('01/38'),
      card_token: TOKEN,
    });
    await expectCallbacks(await submitCard('01/38', { req_token: false }), [SETTLED], cardFields('01/38'));
  });
});

describe('operations on a payment', () => {
  const send =
    (path: string, fields: Body = {}) =>
    ({ id, merchant }: Scene) =>
      checkout.send(path, { payment_id: id, ...fields }, merchant);
  const post =
    (action: OperationAction, fields: Fields = {}) =>
    ({ id, merchant }: Scene) =>
      shop.post(operationFields(merchant, action, id, fields));
  const AUTH = { auth: 'Y' };

  test.each<
    [what: string, fields: Body, steps: ((scene: Scene) => Promise<{ status: number }>)[], callbacks: Fields[]]
  >([
    ['refund', {}, [send('payment/refund')], [SETTLED, done('refund', 'refund')]],
    [
      'refund of a part, and of the rest',
      {},
      [send('payment/refund', { amount: '4.00' }), send('payment/refund')],
      [SETTLED, done('refund', 'settled', '4.00'), done('refund', 'refund', '6.00')],
    ],
    ['void', AUTH, [send('payment/void')], [AUTHORISED, done('void', 'void')]],
    ['capture', AUTH, [send('payment/capture')], [AUTHORISED, done('capture', 'settled')]],
    [
      'capture of a part',
      AUTH,
      [send('payment/capture', { amount: '4.00' })],
      [AUTHORISED, done('capture', 'settled', '4.00')],
    ],
    ['CAPTURE over /post', AUTH, [post('CAPTURE')], [AUTHORISED, done('capture', 'settled')]],
    ['VOID over /post', AUTH, [post('VOID')], [AUTHORISED, done('void', 'void')]],
    ['CREDITVOID of an authorisation', AUTH, [post('CREDITVOID')], [AUTHORISED, done('reversal', 'reversal')]],
    [
      'CREDITVOID of a part',
      {},
      [post('CREDITVOID', { amount: '1.00' })],
      [SETTLED, done('refund', 'settled', '1.00')],
    ],
  ])('%s', async (_, fields, steps, expected) => {
    const scene = await submitCard('01/38', fields);
    for (const step of steps) expect((await step(scene)).status).toBe(200);
    await expectCallbacks(scene, expected, cardFields('01/38'));
  });

  test('the callback carries the operation id of the response', async () => {
    const scene = await submitCard('01/38');
    const { body } = await send('payment/refund', { amount: '4.00' })(scene);
    expect((await callbacks.delivered(scene.merchant))[1]).toMatchObject({ operation_id: body.operation_id });
  });

  test('an authorisation that is not captured within seven days', async () => {
    const scene = await submitCard('01/38', AUTH);
    await scene.pass(7 * DAY);
    await expectCallbacks(scene, [AUTHORISED, callback('expiry', 'success', 'expired')], cardFields('01/38'));
  });

  test('a chargeback', async () => {
    const scene = await submitCard('01/38');
    await at.control(scene.id, { chargeback: true });
    await expectCallbacks(scene, [SETTLED, callback('chargeback', 'success', 'chargeback')], cardFields('01/38'));
  });

  test('credit to the card: a part, then the rest', async () => {
    const scene = await submitCard('01/38', { req_token: true });
    const [sale] = await callbacks.delivered(scene.merchant);
    const credit = (order_amount: string) =>
      checkout.send(
        'payment/card/credit',
        creditFields({ order_id: scene.orderId, order_amount, card_token: sale?.card_token }),
        scene.merchant,
      );
    const { status, body } = await credit('4.00');
    expect([status, body.result]).toEqual([200, 'accepted']);
    expect((await credit('6.00')).status).toBe(200);
    await expectCallbacks(
      scene,
      [
        SETTLED,
        { ...done('refund', 'settled', '4.00'), operation_id: body.operation_id },
        done('refund', 'refund', '6.00'),
      ],
      { ...cardFields('01/38'), card_token: TOKEN as string },
    );
  });

  // The hash of every callback is verified, so it covers the order number of the credit.
  test('credit under its own order: a refund of the payment that carries the order number of the credit', async () => {
    const scene = await submitCard('01/38', { req_token: true });
    const [sale] = await callbacks.delivered(scene.merchant);
    const fields = creditFields({ order_amount: '4.00', card_token: sale?.card_token });
    const { body } = await checkout.send('payment/card/credit', fields, scene.merchant);
    const card = { ...cardFields('01/38'), card_token: TOKEN as string };
    const { operation_id } = body;
    const credited = { ...done('refund', 'settled', '4.00'), operation_id, order_number: fields.order_id };
    await expectCallbacks(scene, [SETTLED, credited], card);
    // A later refund carries the order number of the payment again.
    await checkout.send('payment/refund', { payment_id: scene.id, amount: '1.00' }, scene.merchant);
    await expectCallbacks(scene, [SETTLED, credited, done('refund', 'settled', '1.00')], card);
  });

  test('credit under its own order with a delayed outcome: the callback carries the same order number', async () => {
    const scene = await submitCard('01/38', { req_token: true });
    const [sale] = await callbacks.delivered(scene.merchant);
    await at.fault('timeout_after', { mid: scene.merchant.mid });
    const fields = creditFields({ order_amount: '4.00', card_token: sale?.card_token });
    const { body } = await checkout.send('payment/card/credit', fields, scene.merchant);
    const card = { ...cardFields('01/38'), card_token: TOKEN as string };
    await expectCallbacks(scene, [SETTLED], card);
    await scene.pass(10);
    const { operation_id } = body;
    const credited = { ...done('refund', 'settled', '4.00'), operation_id, order_number: fields.order_id };
    await expectCallbacks(scene, [SETTLED, credited], card);
  });
});

describe('a repeated payment', () => {
  test('by the merchant: type recurring, with the id of the first payment and the same card', async () => {
    const scene = await submitCard('01/38', { recurring_init: true, custom_data: { plan: 'gold' } });
    const [first] = await callbacks.delivered(scene.merchant);
    const recurring_token = first?.recurring_token as string;
    const order = newOrder({ description: 'Another month' });
    const fields = { recurring_init_trans_id: scene.id, recurring_token, order };
    const { body } = await checkout.send('payment/recurring', fields, scene.merchant);
    const card = { ...cardFields('01/38'), recurring_init_trans_id: scene.id, 'custom_data[plan]': 'gold' };
    expect(await callbacks.delivered(scene.merchant)).toEqual([
      { ...common(scene), ...SETTLED, ...card, recurring_token: expect.stringMatching(/^[0-9a-f]{32,}$/) },
      {
        ...{
          ...card,
          ...callback('recurring', 'success', 'settled'),
          id: body.payment_id,
          operation_id: body.payment_id,
        },
        ...{ order_number: order.number, order_amount: '3.00', order_currency: 'USD' },
        order_description: 'Another month',
      },
    ]);
  });

  test('over /post: in the format of the first payment, and a decline is of type recurring too', async () => {
    const scene = await open({ methods: ['vcard'], recurring_init: true });
    await fill(scene.url, VCARD.success);
    const [first] = await callbacks.delivered(scene.merchant);
    await shop.admin('PATCH', `/accounts/${scene.merchant.mid}`, {
      ...{ 'vcard.success': [], 'vcard.decline': ['success@example.com'] },
    });
    const { status } = await shop.post({
      ...{ action: 'RECURRING_SALE', client_key: scene.merchant.client_key, order_id: `${scene.orderId}-2` },
      ...{ order_amount: '3.00', order_description: 'Another month', recurring_first_trans_id: scene.id },
      recurring_token: first?.recurring_token as string,
      hash: sign(scene.merchant.password, `${scene.orderId}-2`),
    });
    expect(status).toBe(200);
    const [, second] = await callbacks.delivered(scene.merchant);
    expect(second).toMatchObject({
      ...callback('recurring', 'fail', 'decline', { reason: 'Declined by the test connector.' }),
      ...{ order_number: `${scene.orderId}-2`, recurring_init_trans_id: scene.id },
    });
  });

  test('by a schedule', async () => {
    const merchant = await callbacks.newMerchant();
    const terms = { name: 'Gold', interval_length: '1', interval_unit: 'day', payments_count: '1' };
    const hash = sign(merchant.password);
    const { body } = await shop.post({ action: 'CREATE_SCHEDULE', client_key: merchant.client_key, ...terms, hash });
    const schedule = { schedule_id: body.schedule_id as string };
    const session = await checkout.open({ methods: ['card'], recurring_init: true, ...schedule }, merchant);
    await fill(session.url, cardForm('01/38'));
    await shop.advanceClock(2 * DAY, merchant.mid);
    const again = { ...cardFields('01/38'), ...schedule, recurring_init_trans_id: session.id };
    expect(await callbacks.delivered(merchant)).toEqual([
      { ...common(session), ...SETTLED, ...again, recurring_token: expect.any(String) },
      {
        ...{ ...common(session), ...again, ...callback('recurring', 'success', 'settled') },
        ...{ id: expect.any(String), operation_id: expect.any(String), order_number: `${session.orderId}:1` },
      },
    ]);
  });
});

test('every change and every outcome has exactly one callback', async () => {
  expect(await shop.rows(CALLBACK_MISMATCHES)).toEqual([]);
});
