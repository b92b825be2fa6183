/** Payments through Mollie, from the merchant's request to the webhook, against a double of Mollie. */
import { PaymentStatus, RefundStatus } from '@mollie/api-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { cardForm, checkoutOf, fill, newOrder } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let mollie: MollieDouble;
let connection: string;
let merchant: Merchant;

beforeAll(async () => {
  mollie = await startMollie();
  const methods = { 'bank-a': 'ideal', 'doc-a': 'creditcard', card: 'creditcard' };
  connection = await connect(
    shop,
    { credentials: { api_key: API_KEY } },
    { connector: 'mollie', settings: { api_base: mollie.url, methods } },
  );
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: connection }]);
});
afterAll(async () => {
  expect(mollie.violations).toEqual([]);
  await mollie.close();
});

/** A sale whose payer was sent to the page of Mollie: our id, and that of Mollie. */
async function sale(fields: Fields = {}, brand = 'bank-a'): Promise<{ id: string; at: string }> {
  const complete = BRAND_EXPECTATIONS[brand]?.complete;
  const { body } = await shop.sale({ brand, identifier: '', ...complete, ...fields }, merchant);
  expect(body, JSON.stringify(body)).toMatchObject({ status: 'REDIRECT', redirect_url: expect.any(String) });
  return { id: body.trans_id, at: mollie.find(body.trans_id)?.payment.id as string };
}
const statusOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;
const paid = async (): Promise<{ id: string; at: string }> => {
  const payment = await sale();
  mollie.pay(payment.at);
  await mollie.notify(payment.at);
  expect(await statusOf(payment.id)).toBe('SETTLED');
  return payment;
};

describe('a payment', () => {
  test('is paid on the page of Mollie and settled by the webhook, which may come twice', async () => {
    const { id, at } = await sale();
    expect(await shop.inspect(id)).toMatchObject({
      status: 'REDIRECT',
      connector: 'mollie',
      connection_id: connection,
      provider_reference: at,
    });
    // The payer has not paid: a webhook, forged or early, changes nothing.
    await mollie.notify(at);
    expect(await statusOf(id)).toBe('REDIRECT');
    mollie.pay(at);
    await mollie.notify(at);
    await mollie.notify(at);
    const payment = await shop.inspect(id);
    expect(payment.status).toBe('SETTLED');
    expect(payment.notifications).toHaveLength(1);
  });

  test('is settled when the payer comes back before the webhook', async () => {
    const { id, at } = await sale();
    mollie.pay(at);
    await fetch(mollie.find(id)?.payment.redirectUrl as string, { redirect: 'manual' });
    expect(await statusOf(id)).toBe('SETTLED');
  });

  test('is declined with the reason of Mollie', async () => {
    const { id, at } = await sale({}, 'doc-a');
    mollie.finish(at, PaymentStatus.failed, 'card_expired');
    await mollie.notify(at);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: 'The card has expired.' });
  });

  test('is charged back', async () => {
    const { id, at } = await paid();
    mollie.newChargeback(at);
    await mollie.notify(at);
    expect(await statusOf(id)).toBe('CHARGEBACK');
  });

  test('is refunded in parts; a refund that Mollie cannot carry out fails later', async () => {
    const { id, at } = await paid();
    const refund = (amount: string) => shop.admin('POST', `/payments/${id}/refund`, { amount });
    expect((await refund('1.00')).body.refunded).toBe('1.00');
    mollie.delayRefund();
    await refund('2.00');
    expect((await shop.inspect(id)).refunded).toBe('1.00');
    await mollie.settleRefunds();
    expect((await shop.inspect(id)).refunded).toBe('3.00');
    mollie.delayRefund();
    await refund('4.00');
    await mollie.settleRefunds(RefundStatus.failed);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      refunded: '3.00',
      operations: [{ state: 'done' }, { state: 'done' }, { state: 'declined' }],
    });
    expect(mollie.find(id)?.payment.id).toBe(at);
  });

  test('is authorised, and captured in part or voided', async () => {
    const held = async (): Promise<string> => {
      const { id, at } = await sale({ auth: 'Y' }, 'doc-a');
      mollie.pay(at);
      await mollie.notify(at);
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', authorised: expect.stringMatching(/[1-9]/) });
      return id;
    };
    const captured = await held();
    await shop.admin('POST', `/payments/${captured}/capture`, { amount: '4.00' });
    expect(await shop.inspect(captured)).toMatchObject({ status: 'SETTLED', captured: '4.00' });
    expect(mollie.balance(captured)).toBe(400n);
    const voided = await held();
    await shop.admin('POST', `/payments/${voided}/void`);
    expect(await statusOf(voided)).toBe('VOID');
    expect(mollie.find(voided)?.payment.status).toBe('canceled');
  });
});

test('a series starts on the page of Mollie, and is repeated without the payer', async () => {
  const order = { amount: '10.00', currency: 'EUR', description: 'A subscription', number: `series-${Date.now()}` };
  const session = await checkout.open({ methods: ['card'], recurring_init: true, order }, merchant);
  const page = await fill(session.url, cardForm());
  expect(page.location).toMatch(mollie.url);
  const first = mollie.find(session.id)?.payment;
  mollie.pay(first?.id as string);
  await mollie.notify(first?.id as string);
  const { body: status } = await checkout.send('payment/status', { payment_id: session.id }, merchant);
  expect(status).toMatchObject({ status: 'settled', recurring_token: expect.any(String) });
  const repetition = { recurring_init_trans_id: session.id, recurring_token: status.recurring_token };
  const { body } = await checkout.send('payment/recurring', { ...repetition, order: newOrder() }, merchant);
  expect(body).toMatchObject({ status: 'settled' });
  const repeated = mollie.find(body.payment_id)?.payment;
  expect(repeated).toMatchObject({ sequenceType: 'recurring', customerId: first?.customerId });
  expect(repeated?.mandateId).toBe(first?.mandateId);
  expect(JSON.stringify(mollie.calls)).not.toContain(cardForm().card_number);
});

describe('a webhook that names no payment of ours', () => {
  const send = async (body: string): Promise<[number, string]> => {
    const response = await fetch(`${shop.url}/inbound/mollie/${connection}`, { method: 'POST', body });
    return [response.status, await response.text()];
  };

  test('gets the same answer as any other, and calls nothing at Mollie', async () => {
    const { at } = await sale();
    const answer = await send(`id=${at}`);
    const calls = mollie.calls.length;
    for (const body of ['id=tr_unknown', 'id=', '', '{}', 'id=../methods']) expect(await send(body)).toEqual(answer);
    expect(mollie.calls).toHaveLength(calls);
  });
});

test('the check of a connection, and its mode', async () => {
  expect((await shop.admin('POST', `/connections/${connection}/check`)).body).toEqual({
    ok: true,
    detail: 'Mollie accepts the API key. Active methods: ideal, creditcard.',
  });
  expect((await shop.admin('GET', `/connections/${connection}`)).body).toMatchObject({ mode: 'test' });
  const live = { connector: 'mollie', name: 'Live', credentials: { api_key: 'live_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM' } };
  expect((await shop.admin('POST', '/connections', live)).status).toBe(400);
  expect(shop.logs.join('')).not.toContain(API_KEY);
});

test('an answer that was lost: the order ends without money, and the payment of Mollie is not made twice', async () => {
  mollie.fault('lost_after');
  const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
  const { body } = await shop.sale({ brand: 'bank-a', identifier: '', ...complete }, merchant);
  expect(body.status).toBe('PENDING');
  const before = mollie.calls.length;
  await shop.advanceClock(6);
  const repeated = mollie.calls.slice(before).filter(({ name }) => name === 'PaymentCreate');
  expect(repeated.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`${body.trans_id}-call-2`]);
  await shop.advanceClock(2 * 3600);
  expect(await statusOf(body.trans_id)).toBe('DECLINED');
  expect(mollie.balance(body.trans_id)).toBe(0n);
});
