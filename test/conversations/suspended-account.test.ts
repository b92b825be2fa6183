/** A suspended account takes no new payments; operations on its old payments go on. */
import { describe, expect, test } from 'vitest';
import { checkoutOf } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Answer, openShop, sign } from '../support/gateway.ts';
import { operationFields } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const suspend = async (mid: string, suspended = true): Promise<void> => {
  expect((await shop.admin('PATCH', `/accounts/${mid}`, { suspended })).body).toMatchObject({ mid, suspended });
};
const errors = ({ status, body }: Answer) => [status, body.error_code, body.errors];

test('refuses new payments with an entry for the key, before the other fields are checked', async () => {
  const merchant = await shop.newMerchant();
  const first = await shop.sale({ recurring_init: 'Y' }, merchant);
  await suspend(merchant.mid);
  const refused = (key: string) => [400, 100000, [entryOf(`${key}: This account is suspended.`)]];
  expect(errors(await shop.sale({ order_amount: 'x' }, merchant))).toEqual(refused('client_key'));
  expect(
    errors(
      await shop.post({
        action: 'RECURRING_SALE',
        client_key: merchant.client_key,
        recurring_init_trans_id: first.body.trans_id,
        recurring_token: first.body.recurring_token,
      }),
    ),
  ).toEqual(refused('client_key'));
  const session = await fetch(`${shop.url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ merchant_key: merchant.merchant_key }),
  });
  const { errors: entries } = (await session.json()) as { errors: unknown };
  expect([session.status, entries]).toEqual([400, refused('merchant_key')[2]]);
});

test('is suspended from its creation if it is created so', async () => {
  const { status, body } = await shop.admin('POST', '/accounts', { name: 'Not Yet', suspended: true });
  expect([status, body.suspended]).toEqual([201, true]);
  expect((await shop.admin('GET', `/accounts/${body.mid}`)).body.suspended).toBe(true);
  expect((await shop.sale({}, body)).body.errors).toEqual([entryOf('client_key: This account is suspended.')]);
  await suspend(body.mid, false);
  expect((await shop.sale({}, body)).body.result).toBe('SUCCESS');
});

test('goes on with status, capture, void and refund', async () => {
  const merchant = await shop.newMerchant();
  const [authorised, voided, settled] = await Promise.all([
    shop.sale({ auth: 'Y' }, merchant),
    shop.sale({ auth: 'Y' }, merchant),
    shop.sale({}, merchant),
  ]);
  await suspend(merchant.mid);
  const operate = (action: 'CAPTURE' | 'VOID' | 'CREDITVOID', { body }: Answer) =>
    shop.post(operationFields(merchant, action, body.trans_id));
  expect((await operate('CAPTURE', authorised)).body).toMatchObject({ result: 'SUCCESS' });
  expect((await operate('VOID', voided)).body).toMatchObject({ result: 'SUCCESS' });
  expect((await operate('CREDITVOID', settled)).body).toMatchObject({ result: 'ACCEPTED' });
  expect((await shop.status(settled.body.trans_id, merchant)).body).toMatchObject({ result: 'SUCCESS' });
});

test('takes payments again when the suspension ends', async () => {
  const merchant = await shop.newMerchant();
  await suspend(merchant.mid);
  expect((await shop.sale({}, merchant)).status).toBe(400);
  await suspend(merchant.mid, false);
  expect((await shop.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS' });
});

test('offers no payment method on a payment page that is open already', async () => {
  const checkout = checkoutOf(shop);
  const merchant = await shop.newMerchant();
  const { url } = await checkout.open({ methods: ['card'] }, merchant);
  const page = async () => (await fetch(url)).text();
  expect(await page()).toContain('name="card_number"');
  await suspend(merchant.mid);
  expect(await page()).not.toContain('name="card_number"');
});

test('charges no schedule, and charges it when the suspension ends', async () => {
  const merchant = await shop.newMerchant();
  const { body: schedule } = await shop.post({
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    ...{ name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '3' },
    hash: sign(merchant.password),
  });
  await shop.sale({ schedule_id: schedule.schedule_id, recurring_init: 'Y' }, merchant);
  const charges = async () => (await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items.length;
  expect(await charges()).toBe(1);
  await suspend(merchant.mid);
  await shop.advanceClock(2 * 86_400, merchant.mid);
  expect(await charges()).toBe(1);
  await suspend(merchant.mid, false);
  await shop.advanceClock(86_400, merchant.mid);
  expect(await charges()).toBeGreaterThan(1);
});

describe('the setting', () => {
  test.each(['yes', 1, null])('%j is not true or false', async (suspended) => {
    const refused = await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { suspended });
    expect(errors(refused)).toEqual([400, 100000, [entryOf('suspended: This value should be true or false.')]]);
  });
});
