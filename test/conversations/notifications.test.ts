/** Provider notifications: accepted when signed, stored once, applied once, and never lost. */
import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { type Answer, type Fields, type Merchant, openShop, PROVIDER_POLL, saleFields } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { preparedPayment } from '../support/payments.ts';

const shop = openShop({ simulator: true });

let count = 0;
const newEvent = (): string => `evt_by_hand_${++count}`;

/** Standard Webhooks, implemented independently of the gateway. */
function signed(event: string, body: string | Buffer, options: { ageSeconds?: number; secret?: string } = {}): Fields {
  const { ageSeconds = 0, secret = shop.provider?.notificationSecret ?? '' } = options;
  const seconds = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const mac = createHmac('sha256', Buffer.from(secret, 'base64'));
  const signature = mac.update(`${event}.${seconds}.`).update(body).digest('base64');
  return { 'webhook-id': event, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

async function post(body: string | Buffer, headers: Fields, connector = 'upstream'): Promise<Answer> {
  const response = await fetch(`${shop.url}/inbound/${connector}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

/** Sends a correctly signed notification. */
function notify(notification: Record<string, unknown>, event = newEvent(), connector = 'upstream'): Promise<Answer> {
  const body = JSON.stringify(notification);
  return post(body, signed(event, body), connector);
}

const notificationOf = (reference: string, status: string, more: Record<string, unknown> = {}) => ({
  reference,
  type: 'payment',
  status,
  amount: '1000',
  currency: 'USD',
  ...more,
});

/** A payment that waits for the payer’s approval in their app. */
async function openPayment(merchant: Merchant = shop.merchant): Promise<string> {
  const fields = { brand: 'upi-b', identifier: '', 'parameters[upi_id]': 'ravi.kumar@okhdfcbank' };
  const { body } = await shop.post(saleFields(merchant, fields));
  expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
  return body.trans_id;
}
const storedNotifications = (event: string) =>
  shop.rows(`select state, attempts, due_at from provider_notifications where event_id = '${event}'`);

describe('the signature covers the bytes', () => {
  test('a valid one: 200, stored, applied', async () => {
    const id = await openPayment();
    const event = newEvent();
    const { status, body } = await notify(notificationOf(id, 'settled'), event);
    expect([status, body]).toEqual([200, { result: 'SUCCESS' }]);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      captured: '10.00',
      notifications: [{ connector: 'upstream', event_id: event, type: 'payment', state: 'applied', tries: 1 }],
    });
    expect((await shop.inspect(id)).provider_calls.at(-1)).toMatchObject({ verb: 'notification', outcome: 'settled' });
  });

  test('accepts unusual but valid JSON formatting', async () => {
    const id = await openPayment();
    const body = `\n{ "currency":"USD",\t"reference":"${id}","type":"payment","status":"settled", "amount":"1000" }\n`;
    expect((await post(body, signed(newEvent(), body), 'upstream')).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('accepts a byte order mark at the beginning', async () => {
    const id = await openPayment();
    const body = `\ufeff${JSON.stringify(notificationOf(id, 'settled'))}`;
    expect((await post(body, signed(newEvent(), body), 'upstream')).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test.each<[string, (body: string, event: string) => [string, Fields]]>([
    ['a changed byte', (body, event) => [body.replace('1000', '1001'), signed(event, body)]],
    ['an additional byte', (body, event) => [`${body} `, signed(event, body)]],
    ['the same JSON in other bytes', (body, event) => [JSON.stringify(JSON.parse(body), null, 2), signed(event, body)]],
    ['another secret', (body, event) => [body, signed(event, body, { secret: randomBytes(32).toString('base64') })]],
    ['an empty secret', (body, event) => [body, signed(event, body, { secret: '' })]],
    ['six minutes old', (body, event) => [body, signed(event, body, { ageSeconds: 360 })]],
    ['six minutes ahead', (body, event) => [body, signed(event, body, { ageSeconds: -360 })]],
    ['no id', (body, event) => [body, { ...signed(event, body), 'webhook-id': '' }]],
    ['another id', (body, event) => [body, { ...signed('evt_of_another', body), 'webhook-id': event }]],
    ['no timestamp', (body, event) => [body, { ...signed(event, body), 'webhook-timestamp': '' }]],
    ['no signature', (body, event) => [body, { ...signed(event, body), 'webhook-signature': '' }]],
    ['no headers at all', (body) => [body, {}]],
    ['our own bearer token', (body) => [body, { authorization: `Bearer ${shop.provider?.key}` }]],
  ])('answers 401 for %s and stores nothing', async (_, make) => {
    const id = await openPayment();
    const event = newEvent();
    const { status, body } = await post(...make(JSON.stringify(notificationOf(id, 'settled')), event));
    expect(status).toBe(401);
    expect(body).toEqual({
      result: 'ERROR',
      error_code: 100000,
      error_message: 'The signature is missing or wrong.',
      errors: [],
    });
    expect(await storedNotifications(event)).toEqual([]);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', notifications: [] });
  });

  test('accepts a timestamp four minutes old, to allow for clock skew', async () => {
    const id = await openPayment();
    const body = JSON.stringify(notificationOf(id, 'settled'));
    expect((await post(body, signed(newEvent(), body, { ageSeconds: 240 }))).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('does not measure age by a clock that was moved in the sandbox', async () => {
    const merchant = await shop.newMerchant();
    const id = await openPayment(merchant);
    await shop.advanceClock(80_000, merchant.mid);
    expect((await notify(notificationOf(id, 'settled'))).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });
});

describe('the same event', () => {
  test('twenty times concurrently is applied once', async () => {
    const id = await openPayment();
    const event = newEvent();
    const answers = await Promise.all(Array.from({ length: 20 }, () => notify(notificationOf(id, 'settled'), event)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'settled']);
    expect((await shop.inspect(id)).notifications).toHaveLength(1);
  });

  test('over two processes concurrently is applied once', async () => {
    const id = await openPayment();
    const other = await shop.anotherGateway();
    const notification = { eventId: newEvent(), reference: id, body: notificationOf(id, 'settled') };
    const both = [shop.gateway, other];
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        receiveNotifications(both[index % 2] ?? other, 'upstream', [notification]),
      ),
    );
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'settled']);
  });

  test('with other content counts as it was received first', async () => {
    const id = await openPayment();
    const event = newEvent();
    await notify(notificationOf(id, 'pending'), event);
    expect((await notify(notificationOf(id, 'settled'), event)).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('PENDING');
  });

  test('twenty different events with the same content settle it once; the others are recorded', async () => {
    const id = await openPayment();
    await Promise.all(Array.from({ length: 20 }, () => notify(notificationOf(id, 'settled'))));
    const rows = (await shop.events(id)).toSorted();
    expect(rows).toEqual(['accepted', ...Array(19).fill('noted settled'), 'opened', 'settled']);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00', attention: null });
  });

  test('as the simulated provider sends it twice', async () => {
    const merchant = await shop.newMerchant();
    const id = await openPayment(merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'duplicate_news' });
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    expect(await shop.events(id)).toEqual(['opened', 'accepted', 'settled']);
  });
});

describe('in any order', () => {
  const DECLINED = { reason: 'Not today.' };
  test.each<[string[], string, string[], string | null]>([
    [['pending', 'settled'], 'SETTLED', ['noted accepted', 'settled'], null],
    [['settled', 'pending'], 'SETTLED', ['settled', 'noted accepted'], null],
    [['settled', 'declined'], 'SETTLED', ['settled', 'noted declined'], null],
    [['settled', 'redirect'], 'SETTLED', ['settled'], null],
    [['declined', 'pending'], 'DECLINED', ['declined', 'noted accepted'], null],
    [['declined', 'settled'], 'DECLINED', ['declined', 'noted settled'], 'late_success'],
    [['declined', 'settled', 'declined'], 'DECLINED', ['declined', 'noted settled', 'noted declined'], 'late_success'],
    [['odd word', 'settled'], 'SETTLED', ['settled'], null],
  ])('%j ends %s', async (words, status, expected, attention) => {
    const id = await openPayment();
    for (const word of words) expect((await notify(notificationOf(id, word, DECLINED))).status).toBe(200);
    expect((await shop.events(id)).slice(2)).toEqual(expected);
    expect(await shop.inspect(id)).toMatchObject({
      status,
      attention,
      captured: status === 'SETTLED' ? '10.00' : '0.00',
      decline_reason: status === 'DECLINED' ? 'Not today.' : null,
    });
  });

  test.each<[string, string | null]>([
    ['authorised', null],
    ['settled', 'late_success'],
  ])('%s after the void of the payment', async (word, attention) => {
    const id = await openPayment();
    expect((await operationsOf(shop).send('VOID', id)).body).toMatchObject({ result: 'SUCCESS' });
    expect((await notify(notificationOf(id, word))).status).toBe(200);
    expect((await shop.events(id)).at(-1)).toBe(`noted ${word}`);
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention, captured: '0.00' });
  });

  test.each([{ type: 'holiday' }, { type: undefined }])(
    '%j means nothing to the gateway: stored, and nothing changes',
    async (more) => {
      const id = await openPayment();
      const event = newEvent();
      expect((await notify({ ...notificationOf(id, 'settled'), ...more }, event)).status).toBe(200);
      expect(await storedNotifications(event)).toMatchObject([{ state: 'applied', due_at: null }]);
      expect(await shop.events(id)).toEqual(['opened', 'accepted']);
    },
  );
});

describe('a wrong amount', () => {
  test.each([
    ['one more', { amount: '1001' }],
    ['one less', { amount: '999' }],
    ['nothing', { amount: '0' }],
    ['another currency', { currency: 'EUR' }],
    ['a number', { amount: 1 }],
    ['a decimal', { amount: '0.01' }],
    ['a negative one', { amount: '-1000' }],
  ])('%s: ignored, and visible to the operator', async (_, wrong) => {
    const id = await openPayment();
    expect((await notify(notificationOf(id, 'settled', wrong))).status).toBe(200);
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'wrong_amount', captured: '0.00' });
    expect((await shop.events(id)).at(-1)).toBe('doubted');
    const { items } = (await shop.admin('GET', '/payments?attention=wrong_amount&limit=500')).body;
    expect(items.map((item: { payment_id: string }) => item.payment_id)).toContain(id);
  });

  test('ignores a decline with a wrong amount too', async () => {
    const id = await openPayment();
    await notify(notificationOf(id, 'declined', { amount: '1001' }));
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'wrong_amount' });
  });

  test('queries the provider again, and accepts a correct answer', async () => {
    const merchant = await shop.newMerchant();
    const id = await openPayment(merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount' });
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'wrong_amount' });
    await shop.advanceClock(5, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null, captured: '10.00' });
  });

  test('queries with growing intervals while the answer is wrong', async () => {
    const merchant = await shop.newMerchant();
    const id = await openPayment(merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount', count: 4 });
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    for (const seconds of [5, 15, 30]) {
      await shop.advanceClock(seconds, merchant.mid);
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', attention: 'wrong_amount' });
    }
    await shop.advanceClock(60, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect((await shop.events(id)).slice(2)).toEqual(['doubted', 'doubted', 'doubted', 'doubted', 'settled']);
  });

  test('of a settled payment is only recorded', async () => {
    const merchant = await shop.newMerchant();
    const id = await openPayment(merchant);
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    expect((await notify(notificationOf(id, 'settled', { amount: '1001' }))).status).toBe(200);
    await shop.advanceClock(60, merchant.mid);
    const soon = await shop.events(id);
    for (let minutes = 0; minutes < 5; minutes++) await shop.advanceClock(60, merchant.mid);
    expect(await shop.events(id)).toEqual(soon);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
  });
});

test('queries a success with a wrong amount of a payment that the provider had declined', async () => {
  const merchant = await shop.newMerchant();
  await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'late_success' });
  const fields = { brand: 'pin-a', identifier: '', 'parameters[pin]': '6337180011223344' };
  const { body } = await shop.post(saleFields(merchant, fields));
  expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED' });
  await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount' });
  await expect.poll(async () => (await shop.inspect(body.trans_id)).attention, PROVIDER_POLL).toBe('wrong_amount');
  await shop.advanceClock(3600, merchant.mid);
  expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'DECLINED', attention: 'late_success' });
});

test('stores a text that contains an escape sequence literally', async () => {
  const id = await openPayment();
  const reason = 'See C:\\u0000 and \\ud83d.';
  expect((await notify(notificationOf(id, 'declined', { reason }))).status).toBe(200);
  expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: reason });
});

test('a wrong amount of an authorised payment does not end the authorisation', async () => {
  const merchant = await shop.newMerchant();
  const fields = { brand: 'pin-a', identifier: '', 'parameters[pin]': '6337180011223344', auth: 'Y' };
  const { body } = await shop.post(saleFields(merchant, fields));
  expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
  await notify(notificationOf(body.trans_id, 'authorised', { amount: '1001' }));
  await shop.advanceClock(3600, merchant.mid);
  expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'PENDING', authorised: '10.00' });
});

describe('a chargeback', () => {
  const chargeback = (id: string) => notify({ reference: id, type: 'chargeback', amount: '1000', currency: 'USD' });

  test('after SETTLED: CHARGEBACK, once', async () => {
    const id = await openPayment();
    await notify(notificationOf(id, 'settled'));
    expect((await chargeback(id)).status).toBe(200);
    expect((await shop.status(id)).body).toMatchObject({ result: 'SUCCESS', status: 'CHARGEBACK' });
    await chargeback(id);
    expect((await shop.events(id)).slice(2)).toEqual(['settled', 'chargedBack', 'noted chargedBack']);
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', captured: '10.00' });
  });

  test.each(['upi-b', 'vcard'])('as the sandbox triggers it, of a %s payment', async (brand) => {
    const id = brand === 'vcard' ? (await shop.sale()).body.trans_id : await openPayment();
    if (brand === 'upi-b') await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    expect((await shop.sandbox('POST', `/payments/${id}`, { chargeback: true })).status).toBe(200);
    expect((await shop.status(id)).body).toMatchObject({ status: 'CHARGEBACK' });
  });

  test.each(['pending', 'declined'])('after %s is only recorded', async (word) => {
    const id = await openPayment();
    await notify(notificationOf(id, word));
    const { status } = await shop.inspect(id);
    await chargeback(id);
    expect((await shop.inspect(id)).status).toBe(status);
    expect((await shop.events(id)).at(-1)).toBe('noted chargedBack');
  });

  test('is final: later notifications have no effect', async () => {
    const id = await openPayment();
    await notify(notificationOf(id, 'settled'));
    await chargeback(id);
    for (const word of ['settled', 'pending', 'declined']) await notify(notificationOf(id, word));
    expect((await shop.inspect(id)).status).toBe('CHARGEBACK');
  });
});

describe('refusals', () => {
  test.each(['nobody', 'UPSTREAM', 'constructor', '__proto__', 'toString', 'upstream%2f..'])(
    'answers 404 for the connector %s',
    async (connector) => {
      const id = await openPayment();
      const { status, body } = await notify(notificationOf(id, 'settled'), newEvent(), connector);
      expect(status).toBe(404);
      expect(body).toMatchObject({ result: 'ERROR', error_code: 0, errors: [] });
      expect((await shop.inspect(id)).status).toBe('PENDING');
    },
  );

  test('a connector of dots is the path above, which has another method', async () => {
    const { status, body } = await notify(notificationOf(await openPayment(), 'settled'), newEvent(), '%2e%2e');
    expect(status).toBe(405);
    expect(body).toMatchObject({ result: 'ERROR', error_code: 0 });
  });

  test('answers 413 for a body of a megabyte, even with a valid signature', async () => {
    const id = await openPayment();
    const event = newEvent();
    const { status, body } = await notify(notificationOf(id, 'settled', { more: 'x'.repeat(1024 * 1024) }), event);
    expect(status).toBe(413);
    expect(body).toMatchObject({ error_message: 'Request body is too large.', errors: [] });
    expect(await storedNotifications(event)).toEqual([]);
  });

  test('accepts a body of sixty kilobytes', async () => {
    const id = await openPayment();
    expect((await notify(notificationOf(id, 'settled', { more: 'x'.repeat(60 * 1024) }))).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['a form body', 'reference=1&status=settled'],
    ['truncated JSON', '{"reference":"1"'],
    ['a text', '"settled"'],
    ['a number', '7'],
    ['null', 'null'],
    ['a list', '[{"reference":"1"}]'],
    ['no reference', '{"type":"payment","status":"settled"}'],
    ['a reference that is not a string', '{"reference":7,"type":"payment","status":"settled"}'],
    ['an overlong reference', JSON.stringify({ reference: 'x'.repeat(300), type: 'payment' })],
    ['a reference that the database cannot store', '{"reference":"a\\u0000b","type":"payment"}'],
    ['a member that the database cannot store', '{"reference":"r-1","type":"payment","reason":"a\\u0000b"}'],
    ['a lone surrogate', '{"reference":"r-2","type":"payment","reason":"\\ud83d"}'],
    ['invalid UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ['deeply nested JSON', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  ])('signed, but %s: refused without an internal error', async (_, body) => {
    const event = newEvent();
    const { status } = await post(body, signed(event, body));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(await storedNotifications(event)).toEqual([]);
  });

  test('signed, but with an overlong event name: refused without an internal error', async () => {
    const event = randomBytes(5000).toString('hex');
    const { status } = await notify(notificationOf(newId(), 'settled'), event);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  test('answers 405 for another method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers } = await fetch(`${shop.url}/inbound/upstream`, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('a notification of one connector does not change the payments of another', async () => {
    const id = await openPayment();
    const event = newEvent();
    expect((await notify(notificationOf(id, 'settled'), event, 'vcard')).status).toBe(200);
    expect((await shop.inspect(id)).status).toBe('PENDING');
    expect(await storedNotifications(event)).toMatchObject([{ state: 'new' }]);
  });
});

// These move the clock of all accounts, so they come last.
describe('a payment that does not exist yet', () => {
  const advance = async (seconds: number): Promise<void> => shop.advanceClock(seconds);
  const paymentWithId = (paymentId: string) =>
    preparedPayment(shop, {
      paymentId,
      brand: 'upi-b',
      connector: 'upstream',
      details: { description: 'A', payer: {} },
    });

  test('the notification is stored, and applied when the payment appears', async () => {
    const id = newId();
    const event = newEvent();
    expect((await notify(notificationOf(id, 'settled'), event)).status).toBe(200);
    expect(await storedNotifications(event)).toMatchObject([{ state: 'new', attempts: 1 }]);
    expect(await shop.gateway.payments.open(paymentWithId(id))).toBe(true);
    await advance(1);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
    expect(await shop.events(id)).toEqual(['opened', 'settled']);
    expect(await storedNotifications(event)).toMatchObject([{ state: 'applied', attempts: 2, due_at: null }]);
  });

  test('also when it appears hours later, and through another process', async () => {
    const id = newId();
    const event = newEvent();
    await notify(notificationOf(id, 'settled'), event);
    for (const seconds of [1, 5, 15, 60, 300]) await advance(seconds);
    expect(await storedNotifications(event)).toMatchObject([{ state: 'new', attempts: 6 }]);
    const other = await shop.anotherGateway();
    await readClock(other);
    expect(await other.payments.open(paymentWithId(id))).toBe(true);
    await advance(3600);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
  });

  test('a repeated event is not stored again while it waits', async () => {
    const id = newId();
    const event = newEvent();
    for (let times = 0; times < 3; times++) await notify(notificationOf(id, 'settled'), event);
    expect(await storedNotifications(event)).toHaveLength(1);
    await shop.gateway.payments.open(paymentWithId(id));
    await advance(5);
    expect(await shop.events(id)).toEqual(['opened', 'settled']);
  });

  test('when the payment never appears, the notification is unmatched after a day, and stays visible to the operator', async () => {
    const references = [newId(), 'no-id-of-ours', '', "'; drop table provider_notifications; --"];
    const all = references.map((reference) => ({ reference, event: newEvent() }));
    for (const { reference, event } of all)
      expect((await notify(notificationOf(reference, 'settled'), event)).status).toBe(200);
    const pauses = [1, 5, 15, 60, 300, 3600, 21_600, 57_600];
    for (const seconds of pauses) {
      for (const { event } of all) expect(await storedNotifications(event)).toMatchObject([{ state: 'new' }]);
      await advance(seconds);
    }
    for (const { event } of all) {
      expect(await storedNotifications(event)).toMatchObject([{ state: 'unmatched', attempts: 9, due_at: null }]);
    }
    const { items } = (await shop.admin('GET', '/notifications?state=unmatched')).body;
    for (const { reference, event } of all) {
      expect(items).toContainEqual(expect.objectContaining({ event_id: event, reference, state: 'unmatched' }));
    }
    const warnings = shop.logs.filter((line) => line.includes('notification for an unknown payment'));
    for (const { event } of all) expect(warnings.filter((line) => line.includes(`"${event}"`))).toHaveLength(1);
  });
});

describe('the list of notifications', () => {
  test('newest first, page by page, each event once, also those received at the same time', async () => {
    await shop.rows(`insert into provider_notifications (connector, event_id, reference, body, state, received_at)
      select 'upstream', 'listed "' || n || '", ü', 'none', '{}', 'unmatched',
        timestamptz '2020-01-01 00:00Z' - n / 3 * interval '1 ms'
      from generate_series(1, 10) n`);
    const pages: Answer['body'][][] = [];
    for (let cursor = ''; pages.length < 50; ) {
      const { status, body } = await shop.admin('GET', `/notifications?limit=3&cursor=${cursor}`);
      expect(status).toBe(200);
      pages.push(body.items);
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(pages.slice(0, -1).every((page) => page.length === 3)).toBe(true);
    const events = pages.flat().map(({ event_id }) => event_id);
    expect(events).toEqual(
      (await shop.admin('GET', '/notifications?limit=500')).body.items.map((item: Answer['body']) => item.event_id),
    );
    const numbers = events.flatMap((event) => /^listed "(\d+)"/.exec(event)?.[1] ?? []).map(Number);
    expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(numbers.map((n) => Math.floor(n / 3))).toEqual([0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
    expect((await shop.admin('GET', '/notifications?state=applied&limit=1')).body.items).toMatchObject([
      { state: 'applied' },
    ]);
  });

  test.each([
    'x',
    'W10',
    'bnVsbA',
    btoa('[1,"a"]'),
    btoa('[1,"a","b",2]'),
    btoa('[-1,"a","b"]'),
    btoa('[9e99,"a","b"]'),
  ])('refuses an invalid cursor: %s', async (cursor) => {
    expect((await shop.admin('GET', `/notifications?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
  });
});
