/** Formats that an account may choose: whole amounts, and the upper-casing of callback hashes; and slashes in paths. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callbacksOf } from '../support/callbacks.ts';
import { checkoutOf, refusal, sessionFields, signed } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Fields, openShop } from '../support/gateway.ts';
import { operationFields } from '../support/operations.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let callbacks: Awaited<ReturnType<typeof callbacksOf>>;
beforeAll(async () => {
  callbacks = await callbacksOf(shop);
});
afterAll(() => callbacks.close());

test('whole amounts are accepted where the account allows them, and stay as they were sent', async () => {
  const merchant = await shop.newMerchant();
  const sale = { order_amount: '10', auth: 'Y' };
  expect((await shop.sale(sale, merchant)).body.errors).toEqual([entryOf('order_amount: This value is not valid.')]);
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { whole_amounts_allowed: true });
  const { body } = await shop.sale(sale, merchant);
  expect(body).toMatchObject({ status: 'PENDING', amount: '10' });
  const captured = await shop.post({ ...operationFields(merchant, 'CAPTURE', body.trans_id), amount: '7' });
  expect(captured.body).toMatchObject({ status: 'SETTLED', amount: '7' });
  expect((await shop.admin('GET', `/payments/${body.trans_id}`)).body).toMatchObject({ captured: '7.00' });
  expect((await shop.sale({ order_amount: '0' }, merchant)).body.errors).toEqual([
    entryOf('order_amount: This value should be greater than 0.'),
  ]);
  expect((await shop.sale({ order_amount: '10.0' }, merchant)).status).toBe(400);
  const session = sessionFields({ order: { amount: '5' }, methods: ['vcard'] });
  expect((await checkout.send('session', session, merchant)).status).toBe(200);
});

test.each([
  ['ascii', (text: string) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ['unicode', (text: string) => text.toUpperCase()],
])('callback_hash_case %s', async (callback_hash_case, upper) => {
  const merchant = await callbacks.newMerchant({ callback_hash_case });
  const session = { order: { description: 'Größe ž' } };
  await checkout.paid(session, merchant);
  await callbacks.drain();
  const [{ fields } = { fields: {} as Fields }] = callbacks.received(callbacks.urlOf(merchant));
  const { id, order_number, order_amount, order_currency, order_description, hash } = fields;
  const signed = upper([id, order_number, order_amount, order_currency, order_description, merchant.password].join(''));
  const digest = (name: string, text: string): string => createHash(name).update(text).digest('hex');
  expect(hash).toBe(digest('sha1', digest('md5', signed)));
});

test.each(['/api/v1/payment/status/', '//api/v1//payment/status', '/api//v1/payment//status//'])(
  'the path %s is tolerated',
  async (path) => {
    const { body } = await shop.sale();
    const request = signed('payment/status', { payment_id: body.trans_id }, shop.merchant);
    const response = await fetch(`${shop.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'settled' });
  },
);

test('an unknown path stays unknown', async () => {
  const response = await fetch(`${shop.url}/api/v1/payment/statuses/`, { method: 'POST' });
  expect(response.status).toBe(404);
  expect(await checkout.send('payment/status', { payment_id: '' })).toMatchObject(
    refusal('invalidData', 'payment_id: This value should not be blank.'),
  );
});
