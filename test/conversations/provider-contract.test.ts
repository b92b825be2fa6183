/** What the gateway does with the answers of a connector: stores, passes back, resumes, asks, and finds by references. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Connector, Outcome, ProviderOperation, Submission } from '../../src/connectors/connector.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { cardForm, checkoutOf, fill } from '../support/checkout.ts';
import { type Merchant, openShop, sign, UUID_7 } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
const credentials = { url: 'http://127.0.0.1:9', key: 'key', notification_secret: 'c2VjcmV0' };

/** The calls of the gateway, and the scripted answers. */
const submissions: Submission[] = [];
const operations: ProviderOperation[] = [];
let answer: Outcome;
let queried: Outcome;
let returned: Readonly<Record<string, string>> | undefined;
const scripted: Connector = {
  capabilities: {
    isIdempotent: true,
    supportsQueries: true,
    notFoundIsFinal: true,
    refunds: 'api',
    authentication: 'provider',
  },
  submit(submission) {
    submissions.push(submission);
    return answer;
  },
  query(submission) {
    submissions.push(submission);
    return queried;
  },
  resume(submission, brought) {
    submissions.push(submission);
    returned = brought;
    return queried;
  },
  operate(operation) {
    operations.push(operation);
    return { kind: 'accepted', operationReference: `re_${operation.operation}`, operationState: { step: 1 } };
  },
  queryOperation(operation) {
    operations.push(operation);
    return { kind: 'unknown' };
  },
  readNotifications: (headers, body) => (headers.signature === 'right' ? JSON.parse(body.toString()) : undefined),
  interpretNotification: (body) => body.meaning as Outcome,
  notificationAnswer: '[accepted]',
};

let merchant: Merchant;
let connection: string;
beforeAll(async () => {
  const { connections } = shop.gateway;
  shop.gateway.connections = {
    ...connections,
    connector: async () => scripted,
    capabilities: () => scripted.capabilities,
  };
  connection = await connect(shop, { credentials }, { settings: { methods: { 'bank-a': 'ideal' } } });
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: connection }]);
});
beforeEach(() => {
  submissions.length = 0;
  operations.length = 0;
  returned = undefined;
  answer = { kind: 'settled' };
  queried = { kind: 'unknown' };
});

const sale = async (fields: Record<string, string> = {}): Promise<string> => {
  const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
  return (await shop.sale({ brand: 'bank-a', identifier: '', ...complete, ...fields }, merchant)).body.trans_id;
};
const notify = async (events: unknown, signature = 'right'): Promise<[number, string]> => {
  const response = await fetch(`${shop.url}/inbound/upstream/${connection}`, {
    method: 'POST',
    body: JSON.stringify(events),
    headers: { signature },
  });
  return [response.status, await response.text()];
};
const statusOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;
let events = 0;
const event = (fields: Record<string, unknown>, meaning: unknown) => ({
  eventId: `event-${++events}`,
  ...fields,
  body: { meaning },
});

test('the reference and the state are stored, secrets sealed, and passed to operations', async () => {
  answer = {
    kind: 'authorised',
    providerReference: 'pi_1',
    state: { a: 1 },
    secretState: { client: 'hidden-state' },
    paymentMethod: new Secret('hidden-method'),
    fee: { amount: 35n, currency: 'EUR' },
  };
  const id = await sale({ auth: 'Y' });
  expect(submissions[0]).toMatchObject({ reference: id, notifyUrl: `${shop.url}/inbound/upstream/${connection}` });
  expect(await shop.inspect(id)).toMatchObject({
    provider_reference: 'pi_1',
    fee: { amount: '0.35', currency: 'EUR' },
  });
  await shop.admin('POST', `/payments/${id}/capture`);
  expect(operations[0]).toMatchObject({
    reference: id,
    providerReference: 'pi_1',
    state: { a: 1 },
    secretState: { client: 'hidden-state' },
  });
  const stored = JSON.stringify(await shop.rows(`select * from payments where payment_id = '${id}'`), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(stored + JSON.stringify(await shop.inspect(id))).not.toMatch(/hidden/);
});

test('a state that is too large is not stored, and the outcome counts all the same', async () => {
  answer = { kind: 'settled', providerReference: 'pi_2', state: { text: 'x'.repeat(20_000) } };
  const id = await sale();
  expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', provider_reference: 'pi_2' });
  expect(await shop.rows(`select provider_data from payments where payment_id = '${id}'`)).toEqual([
    { provider_data: null },
  ]);
});

describe('a payer who comes back', () => {
  const redirected = async (): Promise<string> => {
    answer = { kind: 'redirected', url: 'https://bank.example/', method: 'GET', params: {}, state: { step: 1 } };
    return sale();
  };

  test('brings parameters to the connector, from the query and from a form', async () => {
    const id = await redirected();
    queried = { kind: 'settled' };
    const returnUrl = (submissions[0] as Submission).returnUrl();
    await fetch(`${returnUrl}?redirectResult=abc`, {
      method: 'POST',
      body: new URLSearchParams({ MD: 'form' }),
      redirect: 'manual',
    });
    expect(returned).toEqual({ redirectResult: 'abc', MD: 'form' });
    expect(submissions.at(-1)).toMatchObject({ state: { step: 1 } });
    expect(await statusOf(id)).toBe('SETTLED');
  });

  test('with too much of it: the rest is dropped', async () => {
    await redirected();
    const returnUrl = (submissions[0] as Submission).returnUrl();
    const body = new URLSearchParams({ b: 'x'.repeat(17_000) });
    await fetch(`${returnUrl}?a=1`, { method: 'POST', body, redirect: 'manual' });
    expect(returned).toEqual({ a: '1' });
  });
});

describe('a webhook', () => {
  test('may carry several events, about payments by either reference and about operations, and gets its answer', async () => {
    answer = { kind: 'accepted', providerReference: 'pi_3' };
    const byOurs = await sale();
    answer = { kind: 'accepted', providerReference: 'pi_4' };
    const byTheirs = await sale();
    answer = { kind: 'settled', providerReference: 'pi_5' };
    const refunded = await sale();
    await shop.admin('POST', `/payments/${refunded}/refund`, { amount: '4.00' });
    const operationReference = `re_${operations[0]?.operation}`;
    const all = [
      event({ reference: byOurs }, { kind: 'settled' }),
      event({ providerReference: 'pi_4' }, { kind: 'declined', reason: 'No.' }),
      event({ providerReference: 'pi_5', operationReference }, { kind: 'operation', outcome: { kind: 'done' } }),
    ];
    expect(await notify(all, 'wrong')).toMatchObject([401, expect.any(String)]);
    expect(await notify(all)).toEqual([200, '[accepted]']);
    expect([await statusOf(byOurs), await statusOf(byTheirs)]).toEqual(['SETTLED', 'DECLINED']);
    expect(await shop.inspect(refunded)).toMatchObject({ refunded: '4.00', operations: [{ state: 'done' }] });
    // Repeated, and out of order: nothing changes.
    expect(await notify(all.toReversed())).toEqual([200, '[accepted]']);
    expect((await shop.inspect(refunded)).refunded).toBe('4.00');
    expect((await shop.inspect(byTheirs)).notifications).toMatchObject([
      { provider_reference: 'pi_4', state: 'applied' },
    ]);
  });

  test('that only asks makes the gateway query the provider; without an answer it is asked again', async () => {
    answer = { kind: 'accepted', providerReference: 'pi_6' };
    const id = await sale();
    const asking = [event({ providerReference: 'pi_6' }, { kind: 'ask' })];
    await notify(asking);
    expect(await statusOf(id)).toBe('PENDING');
    expect((await shop.inspect(id)).notifications).toMatchObject([{ state: 'new' }]);
    queried = { kind: 'settled' };
    await shop.advanceClock(2);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', notifications: [{ state: 'applied' }] });
    queried = { kind: 'chargedBack' };
    await notify([event({ providerReference: 'pi_6' }, { kind: 'ask' })]);
    expect(await statusOf(id)).toBe('CHARGEBACK');
  });

  test('about an operation that the provider declined', async () => {
    answer = { kind: 'settled', providerReference: 'pi_7' };
    const id = await sale();
    await shop.admin('POST', `/payments/${id}/refund`);
    const [operation] = operations as [ProviderOperation];
    const declined = { kind: 'operation', outcome: { kind: 'declined', reason: 'Too late.' } };
    await notify([event({ reference: id, operation: operation.operation }, declined)]);
    expect((await shop.inspect(id)).operations).toMatchObject([{ state: 'declined', reason: 'Too late.' }]);
  });
});

describe('refunds that were made at the provider itself', () => {
  const refund = (reference: string, amount: bigint) => ({ reference, amount: { amount, currency: 'USD' } });
  /** The provider has made these refunds; the bodies of the callbacks about them. */
  const reported = async (id: string, refunds: Extract<Outcome, { kind: 'settled' }>['refunds']) => {
    queried = { kind: 'settled', refunds };
    await notify([event({ reference: id }, { kind: 'ask' })]);
    const total = (refunds ?? []).reduce((sum, { amount }) => sum + (amount === 'invalid' ? 0n : amount.amount), 0n);
    await expect.poll(async () => (await shop.inspect(id)).refunded.replace('.', '')).toBe(String(total));
    const rows = await shop.rows(`select body from callbacks
      where payment_id = '${id}' and type = 'refund' order by seq`);
    return rows.map(({ body }) => Object.fromEntries(new URLSearchParams(body as string)));
  };

  test('have callbacks with an id and an amount of their own, and are among the transactions', async () => {
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { dialect: { card_sales: true }, confirm_card_data: true });
    const id = await sale();
    const first = refund('re_a', 300n);
    await reported(id, [first]);
    const callbacks = await reported(id, [first, refund('re_b', 700n)]);
    expect(callbacks).toMatchObject([
      { action: 'CREDITVOID', result: 'SUCCESS', status: 'SETTLED', amount: '3.00', trans_id: id },
      { action: 'CREDITVOID', result: 'SUCCESS', status: 'REFUND', amount: '7.00', trans_id: id },
    ]);
    const ids = callbacks.map(({ operation_id }) => operation_id);
    expect(new Set([...ids, id]).size).toBe(3);
    for (const each of ids) expect(each).toMatch(UUID_7);
    const details = { action: 'GET_TRANS_DETAILS', client_key: merchant.client_key, trans_id: id };
    const { body } = await shop.post({ ...details, hash: sign(merchant.password, id) });
    expect(body.transactions).toMatchObject([
      { type: 'SALE' },
      { type: 'CREDITVOID', status: 'success', amount: '3.00' },
      { type: 'CREDITVOID', status: 'success', amount: '7.00' },
    ]);
  });

  test('of the whole amount have it in the callback, too, also over Checkout', async () => {
    const { url, id } = await checkout.open({ methods: ['card'] }, merchant);
    await fill(url, cardForm());
    const [callback] = await reported(id, [refund('re_c', 1000n)]);
    expect(callback).toMatchObject({ type: 'refund', order_status: 'refund', operation_amount: '10.00' });
    expect(callback?.operation_id).toMatch(UUID_7);
    expect(callback?.operation_id).not.toBe(id);
  });
});

test('a provider that authenticates gets the browser, and the payer no challenge of ours', async () => {
  answer = { kind: 'redirected', url: 'https://acs.example/', method: 'GET', params: {} };
  const session = await checkout.open({ methods: ['card'] }, merchant);
  const page = await fill(session.url, cardForm({ browser: '1280 800 24 -120' }));
  expect(page.location).toBe('https://acs.example/');
  expect(submissions[0]?.authentication).toBeUndefined();
  expect(submissions[0]?.browser).toMatchObject({
    userAgent: expect.any(String),
    screen: { width: 1280, height: 800, colorDepth: 24, timeZoneOffset: -120, isJavaEnabled: false },
  });
});
