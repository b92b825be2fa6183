/** Operations by an operator: the same core and refusals as for the merchant; the history names the actor. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { INVALID } from '../support/brand-expectations.ts';
import { entryOf } from '../support/entries.ts';
import { ADMIN_TOKEN, type Answer, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { operationsOf, refused, statusAndBody } from '../support/operations.ts';

let shop: TestGateway;
let at: ReturnType<typeof operationsOf>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  at = operationsOf(shop);
});
afterAll(() => shop.close());

const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';
const DATE = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
const ACTIONS = ['capture', 'void', 'refund'] as const;
type Action = (typeof ACTIONS)[number];

const order = (id: string, action: Action, body?: unknown, token?: string) =>
  statusAndBody(shop.admin('POST', `/payments/${id}/${action}`, body, token));

/** Sends exactly these bytes. */
async function raw(id: string, action: Action, body: string): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${shop.url}/admin/api/payments/${id}/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, body: await response.json() };
}

/** The response: the payment as in the list, and the operation. */
const done = (id: string, payment: Record<string, string>, operation: Record<string, string>) => ({
  status: 200,
  body: {
    payment_id: id,
    mid: shop.merchant.mid,
    order_id: expect.any(String),
    attempt: 1,
    brand: expect.any(String),
    protocol: 's2s',
    amount: '10.00',
    currency: 'USD',
    authorised: '10.00',
    captured: '0.00',
    refunded: '0.00',
    decline_reason: null,
    decline_class: null,
    decline_code: null,
    attention: null,
    schedule_id: null,
    created_at: DATE,
    updated_at: DATE,
    connector: expect.any(String),
    connection_id: null,
    route_reason: null,
    provider_reference: expect.toBeOneOf([null, expect.any(String)]),
    ...payment,
    operation: {
      operation_id: expect.any(String),
      state: 'done',
      amount: '10.00',
      reason: null,
      requested_at: DATE,
      finished_at: DATE,
      ...operation,
    },
  },
});

describe.each(['vcard', 'pin-a'])('%s', (brand) => {
  const moved = async (id: string, ...movements: string[]): Promise<void> =>
    expect(await at.movements(id)).toEqual(brand === 'vcard' ? [] : movements);

  test('captures everything, a part, and never twice', async () => {
    const whole = await at.authorised(brand);
    expect(await order(whole, 'capture')).toEqual(
      done(whole, { status: 'SETTLED', captured: '10.00' }, { operation: 'capture' }),
    );
    expect(await order(whole, 'capture')).toEqual(refused('captureNotPending'));
    const part = await at.authorised(brand);
    expect(await order(part, 'capture', { amount: '10.01' })).toEqual(refused('captureTooMuch'));
    expect(await order(part, 'capture', { amount: '4.00' })).toEqual(
      done(part, { status: 'SETTLED', captured: '4.00' }, { operation: 'capture', amount: '4.00' }),
    );
    expect((await shop.status(part)).body).toMatchObject({ status: 'SETTLED' });
    await moved(whole, 'capture in 1000');
    await moved(part, 'capture in 400');
  });

  test('voids, and never twice', async () => {
    const id = await at.authorised(brand);
    const part = await order(id, 'void', { amount: '4.00' });
    expect([part.status, part.body.errors]).toEqual([
      400,
      [entryOf('amount: This value should not be sent: a void is for the whole amount.')],
    ]);
    expect(await order(id, 'void', {})).toEqual(done(id, { status: 'VOID' }, { operation: 'void' }));
    expect(await order(id, 'void')).toEqual(refused('notSupported'));
    expect(await order(id, 'capture')).toEqual(refused('captureNotPending'));
    await moved(id);
  });

  test('refunds in parts until nothing is left', async () => {
    const id = await at.settled(brand);
    const paid = { captured: '10.00' };
    expect(await order(id, 'refund', { amount: '3.00' })).toEqual(
      done(id, { ...paid, status: 'SETTLED', refunded: '3.00' }, { operation: 'refund', amount: '3.00' }),
    );
    expect(await order(id, 'refund', { amount: '7.01' })).toEqual(refused('refundTooMuch'));
    expect(await order(id, 'refund')).toEqual(
      done(id, { ...paid, status: 'REFUND', refunded: '10.00' }, { operation: 'refund', amount: '7.00' }),
    );
    expect(await order(id, 'refund')).toEqual(refused('refundNotSettled'));
    await moved(id, 'sale in 1000', 'refund out 300', 'refund out 700');
  });

  test('refunds an authorisation by reversing it', async () => {
    const id = await at.authorised(brand);
    expect(await order(id, 'refund')).toEqual(done(id, { status: 'REVERSAL' }, { operation: 'reversal' }));
    await moved(id);
  });
});

test('the history names the actor: the operator or the merchant', async () => {
  const id = await at.authorised('pin-a');
  await order(id, 'capture');
  await at.send('CREDITVOID', id, { amount: '1.00' });
  await order(id, 'refund', { amount: '2.00' });
  const { history } = await at.inspect(id);
  expect(history.map(({ event, actor }: Record<string, string>) => `${event} by ${actor}`)).toEqual([
    'opened by merchant',
    'authorised by provider',
    'requested capture by operator',
    'captured by provider',
    'requested refund by merchant',
    'partlyRefunded by provider',
    'requested refund by operator',
    'partlyRefunded by provider',
  ]);
});

test('an unknown outcome: the operation is sent, and resolved later', async () => {
  const merchant = await shop.newMerchant();
  const id = await at.settled('pin-a', {}, merchant);
  await at.fault('timeout_after', { mid: merchant.mid });
  const { status, body } = await order(id, 'refund', { amount: '4.00' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'SETTLED', refunded: '0.00', operation: { state: 'sent', finished_at: null } });
  await shop.advanceClock(5, merchant.mid);
  expect(await at.inspect(id)).toMatchObject({ refunded: '4.00', operations: [{ state: 'done' }] });
  expect(await at.movements(id)).toEqual(['sale in 1000', 'refund out 400']);
});

test('a provider that declines: the operation carries the reason', async () => {
  const id = await at.authorised('pin-a');
  await at.atProvider(`/v1/payments/${id}/void`, { operation: 'another-client', amount: '1000' });
  expect(await order(id, 'capture')).toEqual(
    done(
      id,
      { status: 'PENDING' },
      { operation: 'capture', state: 'declined', reason: 'Only an authorised payment can be captured.' },
    ),
  );
});

describe('the refusals are the same as for the merchant', () => {
  test('an account that may not refund: nor may its operator', async () => {
    const merchant = await shop.newMerchant({ refunds_allowed: false });
    const id = await at.settled('vcard', {}, merchant);
    expect(await order(id, 'refund')).toEqual(refused('refundNotAllowed'));
    expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(refused('refundNotAllowed'));
  });
  test('a payout is not refunded', async () => {
    const id = await at.sale('p2p-b', shop.merchant, {}, 'PENDING');
    await at.becomes(id, 'SETTLED');
    expect(await order(id, 'refund')).toEqual(refused('notSupported'));
  });
  test('a declined payment: no operation is possible', async () => {
    const id = await at.sale('vcard', shop.merchant, { identifier: 'decline@example.com' }, 'DECLINED');
    expect(await order(id, 'capture')).toEqual(refused('captureNotPending'));
    expect(await order(id, 'void')).toEqual(refused('notSupported'));
    expect(await order(id, 'refund')).toEqual(refused('refundNotSettled'));
    expect(await at.inspect(id)).toMatchObject({ status: 'DECLINED', operations: [] });
  });
  test('the merchant’s ip_allowlist does not apply to the operator', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.authorised('vcard', {}, merchant);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: ['203.0.113.1'] });
    expect(await statusAndBody(at.send('CAPTURE', id, {}, merchant))).toEqual(refused('addressNotAllowed'));
    expect((await order(id, 'capture')).status).toBe(200);
  });
});

describe.each(ACTIONS)('%s', (action) => {
  test.each([UNKNOWN_ID, 'x', '..%2Faccounts'])('404 for %s', async (id) => {
    expect(await order(id, action)).toEqual({
      status: 404,
      body: { result: 'ERROR', error_code: 101000, error_message: 'Payment does not exist.', errors: [] },
    });
  });
  test('answers 401 without the token and changes nothing', async () => {
    const id = await (action === 'refund' ? at.settled() : at.authorised());
    for (const token of ['', 'wrong']) expect(await order(id, action, undefined, token)).toMatchObject({ status: 401 });
    expect(await at.inspect(id)).toMatchObject({ operations: [] });
  });
  test.each([
    ['a list', '[]', 'body: The body should be a JSON object.'],
    ['a text', '"4.00"', 'body: The body should be a JSON object.'],
    ['a number', '4', 'body: The body should be a JSON object.'],
    ['null', 'null', 'body: The body should be a JSON object.'],
    ['a truncated object', '{"amount":', 'body: The body is not valid JSON.'],
    ['an amount that is a number', '{"amount": 4}', `amount: ${INVALID}`],
    ['an amount that is null', '{"amount": null}', `amount: ${INVALID}`],
    ['an amount that is a list', '{"amount": ["4.00"]}', `amount: ${INVALID}`],
    ['an amount that is true', '{"amount": true}', `amount: ${INVALID}`],
  ])('refuses %s as a body and changes nothing', async (_, body, entry) => {
    const id = await (action === 'refund' ? at.settled() : at.authorised());
    expect(await raw(id, action, body)).toEqual(refused('invalidData', entry));
    expect(await at.inspect(id)).toMatchObject({ operations: [] });
  });
});

describe.each([
  ['capture', 'authorised'],
  ['refund', 'settled'],
  ['refund', 'authorised'],
] as const)('the amount of a %s of what is %s', (action, kind) => {
  test.each([
    ['USD', '4', INVALID],
    ['USD', '4.0', INVALID],
    ['USD', '4.000', INVALID],
    ['USD', '4e0', INVALID],
    ['USD', '-4.00', INVALID],
    ['USD', '+4.00', INVALID],
    ['USD', ' 4.00', INVALID],
    ['USD', '4,00', INVALID],
    ['USD', '0.00', 'This value should be greater than 0.'],
    ['JPY', '4.50', INVALID],
    ['KWD', '4', INVALID],
  ])('%s %j is malformed', async (currency, amount, sentence) => {
    const id = await at[kind]('vcard', { order_currency: currency });
    expect(await order(id, action, { amount })).toEqual(refused('invalidData', `amount: ${sentence}`));
    expect(await at.inspect(id)).toMatchObject({ operations: [] });
  });
});

test.each([
  ['JPY', '1000', '400', '400.00'],
  ['JPY', '1000', '400.00', '400.00'],
  ['KWD', '10.000', '4.125', '4.125'],
  ['KWD', '10.000', '4.50', '4.500'],
])('%s: %s is captured and refunded as %s, and shown as %s', async (currency, sold, amount, shown) => {
  const fields = { order_currency: currency, order_amount: sold };
  const id = await at.authorised('vcard', fields);
  expect((await order(id, 'capture', { amount })).body).toMatchObject({
    captured: shown,
    operation: { amount: shown },
  });
  const paid = await at.settled('vcard', fields);
  expect((await order(paid, 'refund', { amount })).body).toMatchObject({
    refunded: shown,
    operation: { amount: shown },
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
