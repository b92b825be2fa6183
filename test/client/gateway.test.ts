/** The client against the real gateway: every request, the errors, lost answers, and callbacks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formOf, objectOf } from '../../client/src/form.ts';
import { type CallbackEvent, type SaleRequest, Turnpike, type TurnpikeOptions } from '../../client/src/index.ts';
import { EXAMPLES } from '../../src/rules/brand-examples.ts';
import { BRANDS } from '../../src/rules/brands.ts';
import { cardForm, fill, SUCCESS_URL, UNKNOWN_ID, VCARD } from '../support/checkout.ts';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { newOrderId, openShop, UUID_7 } from '../support/gateway.ts';
import { type Behaviour, startReceiver, type TestReceiver } from '../support/receivers.ts';

const shop = openShop({ simulator: true });
let merchant: MerchantWithSecret;
let client: Turnpike;
const clientOf = (options: Partial<TurnpikeOptions> = {}, of = merchant): Turnpike =>
  new Turnpike({
    url: shop.url,
    clientKey: of.client_key,
    merchantKey: of.merchant_key,
    password: of.password,
    callbackSecret: of.callback_secret,
    retryPauseMs: 1,
    ...options,
  });
beforeAll(async () => {
  merchant = (await shop.newMerchant({ account_uuid: UNKNOWN_ID })) as MerchantWithSecret;
  client = clientOf();
});

const sale = (fields: Partial<SaleRequest<'vcard'>> = {}): SaleRequest<'vcard'> => ({
  brand: 'vcard',
  identifier: 'success@example.com',
  order_id: newOrderId(),
  order_amount: '10.00',
  order_currency: 'USD',
  order_description: 'Grüße & 1/2 ☕',
  payer_ip: '203.0.113.7',
  return_url: 'https://shop.example/return',
  ...fields,
});
const order = () => ({ number: newOrderId(), amount: '10.00', currency: 'USD', description: 'Grüße & 1/2 ☕' });
const session = () => ({ order: order(), success_url: SUCCESS_URL });
const SCHEDULE = { name: 'Tea', interval_length: 1, interval_unit: 'month', payments_count: 3 } as const;

/** A Checkout payment whose payer paid by card, and its token. */
async function paidByCard() {
  const request = { ...session(), methods: ['card'], req_token: true, recurring_init: true };
  const { redirect_url } = await client.checkout.session(request);
  expect((await fill(redirect_url, cardForm())).status).toBe(303);
  return client.checkout.status({ order_id: request.order.number });
}

describe('Checkout', () => {
  test('opens a session, reads its status by id and by order, and lists attempts', async () => {
    const request = { ...session(), methods: ['vcard'] };
    const { redirect_url } = await client.checkout.session(request);
    const order_id = request.order.number;
    expect((await client.checkout.status({ order_id })).status).toBe('prepare');
    await fill(redirect_url, VCARD.success);
    const payment = await client.checkout.status({ order_id });
    expect(payment).toMatchObject({ status: 'settled', order: request.order });
    expect(await client.checkout.status({ payment_id: payment.payment_id })).toEqual(payment);
    expect(await client.checkout.status({ order_id, size: 5 })).toEqual([payment]);
  });

  test('refunds in parts, captures, voids and credits', async () => {
    const { payment_id, card_token = '' } = await paidByCard();
    expect(await client.checkout.refund({ payment_id, amount: '4.00' })).toMatchObject({
      payment_id,
      result: 'accepted',
    });
    const credit = { order_id: newOrderId(), order_amount: '6.00', order_currency: 'USD', order_description: 'Sorry' };
    expect(await client.checkout.credit({ ...credit, card_token })).toMatchObject({ payment_id, result: 'accepted' });
    await expect.poll(async () => (await client.checkout.status({ payment_id })).status).toBe('refund');
    const [held, freed] = [await client.s2s.sale(sale({ auth: true })), await client.s2s.sale(sale({ auth: 'Y' }))];
    expect(await client.checkout.capture({ payment_id: held.trans_id, amount: '7.00' })).toMatchObject({
      status: 'settled',
      trans_status: 'SUCCESS',
    });
    expect(await client.checkout.void({ payment_id: freed.trans_id })).toMatchObject({ result: 'accepted' });
    expect((await client.s2s.status({ trans_id: freed.trans_id })).status).toBe('VOID');
  });

  test('charges again, and retries a charge that was declined', async () => {
    const first = await client.s2s.sale(sale({ recurring_init: true }));
    const setDecline = (identifiers: string[]) =>
      shop.admin('PATCH', `/accounts/${merchant.mid}`, {
        'vcard.success': identifiers.length > 0 ? ['other@example.com'] : ['success@example.com'],
        'vcard.decline': identifiers.length > 0 ? identifiers : ['decline@example.com'],
      });
    const charge = () =>
      client.checkout.recurring({
        recurring_init_trans_id: first.trans_id,
        recurring_token: first.recurring_token as string,
        order: { ...order(), amount: '3.00' },
      });
    expect(await charge()).toMatchObject({ status: 'settled', order: { amount: '3.00' } });
    await setDecline(['success@example.com']);
    const declined = await charge();
    expect(declined.status).toBe('decline');
    await setDecline([]);
    expect(await client.checkout.retry({ payment_id: declined.payment_id })).toMatchObject({ status: 'settled' });
  });
});

describe('/post', () => {
  test('sells, and a decline is a result', async () => {
    const request = sale();
    const sold = await client.s2s.sale(request);
    expect(sold).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', trans_id: expect.stringMatching(UUID_7) });
    expect(await client.s2s.status({ order_id: request.order_id })).toMatchObject({ trans_id: sold.trans_id });
    expect(await client.s2s.sale(sale({ identifier: 'decline@example.com' }))).toMatchObject({ result: 'DECLINED' });
  });

  test('captures, voids and refunds', async () => {
    const [held, freed] = [await client.s2s.sale(sale({ auth: true })), await client.s2s.sale(sale({ auth: true }))];
    const { trans_id } = held;
    expect(await client.s2s.capture({ trans_id, amount: '9.00' })).toMatchObject({ status: 'SETTLED', amount: '9.00' });
    expect(await client.s2s.void({ trans_id: freed.trans_id })).toMatchObject({ result: 'SUCCESS', status: 'VOID' });
    expect(await client.s2s.creditvoid({ trans_id })).toMatchObject({ result: 'ACCEPTED' });
    expect((await client.s2s.status({ trans_id })).status).toBe('REFUND');
  });

  test('repeats a sale, and manages schedules', async () => {
    const { schedule_id } = await client.s2s.schedules.create(SCHEDULE);
    expect(await client.s2s.schedules.update({ schedule_id, payments_count: 2 })).toMatchObject({ schedule_id });
    const first = await client.s2s.sale(sale({ recurring_init: true, schedule_id }));
    const again = await client.s2s.recurringSale({
      order_id: newOrderId(),
      order_amount: '2.00',
      order_description: 'Again',
      recurring_first_trans_id: first.trans_id,
      recurring_token: first.recurring_token as string,
    });
    expect(again).toMatchObject({ action: 'RECURRING_SALE', status: 'SETTLED', amount: '2.00' });
    expect(await client.s2s.schedules.delete({ schedule_id })).toMatchObject({ schedule_id });
  });

  const brands = Object.entries(EXAMPLES).filter(([brand]) => !BRANDS[brand]?.needsToken);
  test.each(brands)('sells with %s', async (brand, { currency = 'USD', amount = '10.00', fields = {} }) => {
    const request = { ...sale({ order_currency: currency, order_amount: amount }), brand, ...objectOf(formOf(fields)) };
    expect(['SUCCESS', 'REDIRECT']).toContain((await client.s2s.sale(request)).result);
  });
});

describe('an error', () => {
  const missing = { ...sale(), order_amount: '10', return_url: '' };
  test.each<[string, () => Promise<unknown>, Record<string, unknown>]>([
    [
      'of fields',
      () => client.s2s.sale(missing),
      {
        name: 'InvalidRequestError',
        reason: 'invalidData',
        entries: { order_amount: 'This value is not valid.', return_url: 'This value should not be blank.' },
      },
    ],
    [
      'of the password',
      () => clientOf({ password: 'x' }).s2s.sale(sale()),
      { reason: 'wrongHash', name: 'AuthenticationError' },
    ],
    ['of the key', () => clientOf({ clientKey: 'test_x' }).s2s.sale(sale()), { name: 'AuthenticationError' }],
    [
      'of the environment',
      () => clientOf({ merchantKey: 'live_x' }).checkout.status({ order_id: '1' }),
      { name: 'AuthenticationError', reason: 'wrongEnvironment', code: 220002 },
    ],
    [
      'of an order',
      () => client.checkout.status({ order_id: 'none' }),
      { name: 'NotFoundError', reason: 'unknownOrder' },
    ],
    [
      'of a payment',
      () => client.s2s.void({ trans_id: UNKNOWN_ID }),
      { name: 'NotFoundError', reason: 'unknownPayment' },
    ],
    [
      'of a state',
      async () => client.s2s.capture({ trans_id: (await client.s2s.sale(sale())).trans_id }),
      { name: 'StateError', reason: 'captureNotPending', code: 208003 },
    ],
    [
      'of a duplicate',
      async () => {
        const request = sale();
        await client.s2s.sale(request);
        return client.s2s.sale({ ...request, order_amount: '11.00' });
      },
      { name: 'DuplicateError', reason: 'duplicatePayment' },
    ],
    ['of an address', () => clientOf({ url: `${shop.url}/elsewhere` }).s2s.sale(sale()), { reason: 'unknownRoute' }],
  ])('%s has its class and its reason', async (_what, call, expected) => {
    await expect(call()).rejects.toMatchObject({ ...expected, mayHaveHappened: false, requestId: expect.any(String) });
  });
});

describe('when answers are lost', () => {
  let proxy: TestReceiver;
  /** How many of the next answers are lost. */
  let lost = 0;
  const forwards: Behaviour = async (response, { method, path, headers, body }) => {
    const type = { 'content-type': String(headers['content-type']) };
    const answer = await fetch(shop.url + path, { method, body: new Uint8Array(body), headers: type });
    const text = await answer.text();
    if (lost-- > 0) response.socket?.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  };
  let through: Turnpike;
  beforeAll(async () => {
    proxy = await startReceiver(forwards);
    through = clientOf({ url: new URL('/', proxy.url).href });
  });
  afterAll(() => proxy.close());

  test('a sale is made once, and the client gets its outcome', async () => {
    const request = sale();
    lost = 2;
    const sold = await through.s2s.sale(request);
    expect(sold.status).toBe('SETTLED');
    const attempts = await client.checkout.status({ order_id: request.order_id, size: 9 });
    expect(attempts.map(({ payment_id }) => payment_id)).toEqual([sold.trans_id]);
  });

  test('a session is opened once', async () => {
    const request = session();
    lost = 1;
    const { redirect_url } = await through.checkout.session(request);
    expect(await client.checkout.session(request)).toEqual({ redirect_url });
  });

  test('a partial refund is made once', async () => {
    const { trans_id } = await client.s2s.sale(sale());
    lost = 1;
    const { operation_id } = await through.s2s.creditvoid({ trans_id, amount: '4.00' });
    lost = 1;
    const other = await through.checkout.refund({ payment_id: trans_id, amount: '4.00' });
    const { refunded, operations } = await shop.inspect(trans_id);
    expect(refunded).toBe('8.00');
    expect(operations.map((row: { operation_id: string }) => row.operation_id).toSorted()).toEqual(
      [operation_id, other.operation_id].toSorted(),
    );
  });

  test('a schedule is created once', async () => {
    lost = 1;
    const { schedule_id } = await through.s2s.schedules.create(SCHEDULE);
    expect(await client.s2s.schedules.delete({ schedule_id })).toMatchObject({ schedule_id });
  });

  test('a deletion is not repeated, and the client says that it may have happened', async () => {
    const { schedule_id } = await client.s2s.schedules.create(SCHEDULE);
    lost = 1;
    await expect(through.s2s.schedules.delete({ schedule_id })).rejects.toMatchObject({
      name: 'ConnectionError',
      mayHaveHappened: true,
    });
    await expect(client.s2s.schedules.delete({ schedule_id })).rejects.toMatchObject({ name: 'NotFoundError' });
  });
});

test.each(['form', 'json'])('callbacks arrive as typed events (%s)', async (callback_format) => {
  const own = (await shop.newMerchant({ callback_format })) as MerchantWithSecret;
  const client = clientOf({}, own);
  const events: CallbackEvent[] = [];
  const server = createServer(client.callbacks.express((event) => void events.push(event)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const callback_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  await shop.admin('PATCH', `/accounts/${own.mid}`, { callback_url });
  try {
    const sold = await client.s2s.sale(sale({ custom_data: { cart: { id: 17 }, gift: true } }));
    await client.s2s.creditvoid({ trans_id: sold.trans_id });
    const request = { ...session(), methods: ['vcard'], custom_data: { cart: { id: 18 } } };
    const { redirect_url } = await client.checkout.session(request);
    await fill(redirect_url, VCARD.success);
    await shop.gateway.deliverer.drain();
    const s2s = events.filter(({ protocol }) => protocol === 's2s');
    expect(s2s.map(({ fields, state }) => ['action' in fields && fields.action, state])).toEqual([
      ['SALE', 'SETTLED'],
      ['CREDITVOID', 'REFUND'],
    ]);
    expect(s2s[0]).toMatchObject({
      paymentId: sold.trans_id,
      orderId: sold.order_id,
      fields: { result: 'SUCCESS', amount: '10.00', custom_data: { cart: { id: '17' }, gift: 'true' } },
    });
    expect(events.find(({ protocol }) => protocol === 'checkout')).toMatchObject({
      orderId: request.order.number,
      state: 'SETTLED',
      fields: { type: 'sale', status: 'success', ...{ order_description: request.order.description } },
    });
    const states = (await shop.admin('GET', `/callbacks?mid=${own.mid}&payment_id=${sold.trans_id}`)).body.items;
    expect(states.map(({ state }: { state: string }) => state)).toEqual(['delivered', 'delivered']);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
