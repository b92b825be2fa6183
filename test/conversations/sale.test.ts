/** A sale with the test brand, and its status. */
import { describe, expect, test } from 'vitest';
import { entryOf } from '../support/entries.ts';
import { DATE, newOrderId, openShop, sign, UUID_7 } from '../support/gateway.ts';

const shop = openShop();

describe('SALE brand=vcard', () => {
  test('the success identifier settles at once', async () => {
    const orderId = newOrderId();
    const { status, body } = await shop.sale({ order_id: orderId });
    expect(status).toBe(200);
    expect(body).toEqual({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'SETTLED',
      order_id: orderId,
      trans_id: expect.stringMatching(UUID_7),
      trans_date: expect.stringMatching(DATE),
      descriptor: 'Test Shop',
      amount: '10.00',
      currency: 'USD',
    });
  });

  test.each(['success@gmail.com', 'success@example.com'])('%s succeeds', async (identifier) => {
    expect((await shop.sale({ identifier })).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
  });

  test.each(['decline@example.com', 'fail@gmail.com'])(
    '%s declines, which is a successful API call',
    async (identifier) => {
      const { status, body } = await shop.sale({ identifier });
      expect(status).toBe(200);
      expect(body).toMatchObject({ result: 'DECLINED', status: 'DECLINED', decline_reason: expect.any(String) });
      expect(body).not.toHaveProperty('errors');
    },
  );

  test('auth=Y only authorises: PENDING until it is captured', async () => {
    const { body } = await shop.sale({ auth: 'Y' });
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
  });

  test('recurring_init=Y returns a recurring_token, but not on a decline', async () => {
    const { body } = await shop.sale({ recurring_init: 'Y' });
    expect(body).toMatchObject({
      result: 'SUCCESS',
      status: 'SETTLED',
      recurring_token: expect.stringMatching(/^.{16,}$/),
    });
    const authorised = await shop.sale({ recurring_init: 'Y', auth: 'Y' });
    expect(authorised.body).toMatchObject({ status: 'PENDING', recurring_token: expect.any(String) });
    const declined = await shop.sale({ recurring_init: 'Y', identifier: 'decline@example.com' });
    expect(declined.body).not.toHaveProperty('recurring_token');
  });

  test('returns the amount as it was sent', async () => {
    for (const [order_amount, order_currency] of [
      ['100', 'JPY'],
      ['100.00', 'JPY'],
      ['1.234', 'KWD'],
      ['1.23', 'KWD'],
      ['0.01', 'EUR'],
    ]) {
      const { body } = await shop.sale({
        order_amount: order_amount as string,
        order_currency: order_currency as string,
      });
      expect(body).toMatchObject({ result: 'SUCCESS', amount: order_amount, currency: order_currency });
    }
  });

  test('accepts multipart/form-data like a URL-encoded form', async () => {
    const form = new FormData();
    const order_id = newOrderId();
    const fields = {
      action: 'SALE',
      client_key: shop.merchant.client_key,
      brand: 'vcard',
      identifier: 'success@example.com',
      order_id,
      order_amount: '5.00',
      order_currency: 'EUR',
      order_description: 'Crème brûlée',
      payer_ip: '2001:db8::1',
      return_url: 'https://shop.example/',
    };
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('hash', sign(shop.merchant.password, fields.identifier, order_id, '5.00', 'EUR'));
    const response = await fetch(`${shop.url}/post`, { method: 'POST', body: form });
    expect(await response.json()).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', order_id });
  });

  test('stores custom data and the payer with the payment', async () => {
    const { body } = await shop.sale({
      'custom_data[color]': 'red',
      'custom_data[a][b]': '1',
      payer_first_name: 'Ana',
    });
    const { body: payment } = await shop.admin('GET', `/payments/${body.trans_id}`);
    expect(payment.details).toMatchObject({ custom_data: { color: 'red', 'a[b]': '1' }, payer: { first_name: 'Ana' } });
  });

  test('accepts the account’s alias of the brand', async () => {
    const merchant = await shop.newMerchant({ brand_aliases: { 'visa-test': 'vcard' } });
    expect((await shop.sale({ brand: 'visa-test' }, merchant)).body).toMatchObject({ result: 'SUCCESS' });
    expect((await shop.sale({ brand: 'visa-test' })).body).toMatchObject({
      error_code: 100000,
      errors: [entryOf('brand: The value you selected is not a valid choice.')],
    });
  });
});

describe('GET_TRANS_STATUS', () => {
  test('returns the state of a payment, any number of times', async () => {
    const { body: sale } = await shop.sale({ auth: 'Y', recurring_init: 'Y' });
    for (let times = 0; times < 3; times++) {
      expect((await shop.status(sale.trans_id)).body).toEqual({
        action: 'GET_TRANS_STATUS',
        result: 'SUCCESS',
        status: 'PENDING',
        order_id: sale.order_id,
        trans_id: sale.trans_id,
        amount: '10.00',
        currency: 'USD',
        recurring_token: sale.recurring_token,
      });
    }
  });

  test('returns the reason of a decline', async () => {
    const { body: sale } = await shop.sale({ identifier: 'decline@example.com' });
    expect((await shop.status(sale.trans_id)).body).toMatchObject({
      result: 'SUCCESS',
      status: 'DECLINED',
      decline_reason: sale.decline_reason,
    });
  });

  test.each(['01990000-0000-7000-8000-000000000000', 'not-a-uuid', '1', "' or 1=1 --"])(
    '%s is unknown: 101000',
    async (transId) => {
      const { status, body } = await shop.status(transId);
      expect(status).toBe(400);
      expect(body).toEqual({
        result: 'ERROR',
        error_code: 101000,
        error_message: 'Transaction does not exist.',
        errors: [],
      });
    },
  );

  test('another account’s payment is as unknown as a random id', async () => {
    const { body: sale } = await shop.sale();
    const other = await shop.newMerchant();
    expect((await shop.status(sale.trans_id, other)).body).toMatchObject({ error_code: 101000 });
  });
});

describe('GET_TRANS_STATUS_BY_ORDER', () => {
  const byOrder = (orderId: string) =>
    shop.post({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      client_key: shop.merchant.client_key,
      order_id: orderId,
      hash: sign(shop.merchant.password, orderId),
    });

  test('returns the state of the newest attempt', async () => {
    const orderId = newOrderId();
    const { body: first } = await shop.sale({ order_id: orderId, identifier: 'decline@example.com' });
    expect((await byOrder(orderId)).body).toMatchObject({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      status: 'DECLINED',
      trans_id: first.trans_id,
    });
    await shop.advanceClock(16);
    const { body: second } = await shop.sale({ order_id: orderId });
    expect((await byOrder(orderId)).body).toMatchObject({ status: 'SETTLED', trans_id: second.trans_id });
    expect(second.trans_id).not.toBe(first.trans_id);
  });

  test('an unknown order is 101000', async () => {
    const { status, body } = await byOrder('nobody-ordered-this');
    expect(status).toBe(400);
    expect(body).toEqual({ result: 'ERROR', error_code: 101000, error_message: 'Order does not exist.', errors: [] });
  });
});

describe('changes over time', () => {
  test('an authorisation that is not captured expires after the account’s days', async () => {
    const merchant = await shop.newMerchant({ authorisation_days: 3 });
    const { body: sale } = await shop.sale({ auth: 'Y' }, merchant);
    await shop.advanceClock(3 * 86400 - 60, merchant.mid);
    expect((await shop.status(sale.trans_id, merchant)).body.status).toBe('PENDING');
    await shop.advanceClock(60, merchant.mid);
    expect((await shop.status(sale.trans_id, merchant)).body.status).toBe('EXPIRED');
  });
});
