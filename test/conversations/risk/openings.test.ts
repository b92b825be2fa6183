/** A payment is opened and counted in one transaction: repeats count once, and failures open and count nothing twice. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../src/core/context.ts';
import { type Order, openPayment } from '../../../src/core/payments/open.ts';
import { type Merchant, newOrderId, openShop } from '../../support/gateway.ts';

const shop = openShop();
const payer_email = 'jo@example.com';

/** An account whose rule blocks a payer after so many payments. */
async function limited(most: number): Promise<Merchant> {
  const merchant = await shop.newMerchant();
  const { status } = await shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant.mid, name: 'Too often', action: { kind: 'block' }, state: 'on' },
    condition: { velocity: { measure: 'count', by: ['email'], within: '1h' }, op: '>=', value: most },
  });
  expect(status).toBe(201);
  return merchant;
}

const pay = (merchant: Merchant, fields: Record<string, string> = {}) =>
  shop.sale({ payer_email, ...fields }, merchant);
const decisions = async ({ mid }: Merchant): Promise<number> =>
  (await shop.rows(`select from risk_decisions where mid = '${mid}'`)).length;

test('40 repeats of a request from three processes are one payment, and count once', async () => {
  const merchant = await limited(2);
  const processes: Gateway[] = [shop.gateway, await shop.anotherGateway(), await shop.anotherGateway()];
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const order: Order = {
    ...{ protocol: 's2s', brand: 'vcard', orderId: newOrderId(), amountText: '10.00', currency: 'USD' },
    ...{ isAuthorisation: false, isRecurringInit: false, content: 'the same' },
    details: { description: 'A book', identifier: 'success@example.com', payer: { email: payer_email } },
  };
  const payments = await Promise.all(
    Array.from({ length: 40 }, (_, index) => openPayment(processes[index % 3] as Gateway, account, order)),
  );
  expect(new Set(payments.map(({ paymentId }) => paymentId)).size).toBe(1);
  expect(await decisions(merchant)).toBe(1);
  expect((await pay(merchant)).body.status).toBe('SETTLED');
  expect((await pay(merchant)).body.status).toBe('DECLINED');
});

test('an order that is used already is refused, and does not count', async () => {
  const merchant = await limited(2);
  const order_id = newOrderId();
  expect((await pay(merchant, { order_id })).body.status).toBe('SETTLED');
  for (let count = 0; count < 3; count++) {
    const { status, body } = await pay(merchant, { order_id, order_amount: '11.00' });
    expect([status, body.error_message]).toEqual([400, 'order_id: Duplicate payment.']);
  }
  expect(await decisions(merchant)).toBe(1);
  expect((await pay(merchant)).body.status).toBe('SETTLED');
});

test('a payment without a key of the velocity is opened without locks', async () => {
  const merchant = await limited(1);
  for (let count = 0; count < 2; count++)
    expect((await pay(merchant, { payer_email: '' })).body.status).toBe('SETTLED');
  expect(await decisions(merchant)).toBe(2);
});

test.each([
  ['continue', 'SETTLED', 'none'],
  ['review', 'PENDING', 'review'],
])('if the database cannot evaluate, the payment is opened all the same: %s', async (setting, status, decision) => {
  const merchant = await shop.newMerchant({ risk: { on_failure: setting } });
  const { body: list } = await shop.admin('POST', '/risk/lists', { mid: merchant.mid, name: 'Bad', kind: 'email' });
  await shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant.mid, name: 'Listed', action: { kind: 'block' }, state: 'on' },
    condition: { field: 'email', op: 'in_list', value: list.list_id },
  });
  expect((await pay(merchant)).body.status).toBe('SETTLED');
  await shop.rows('alter table risk_list_entries rename to former_entries');
  onTestFinished(async () => {
    await shop.rows('alter table former_entries rename to risk_list_entries');
  });
  const { body } = await pay(merchant);
  expect(body.status).toBe(status);
  expect((await shop.inspect(body.trans_id)).risk).toMatchObject({
    ...{ decision, failure: 'The rules could not be evaluated.', rules: [] },
  });
});

test('if the connection is lost, nothing is open, and a repeat of the request is one payment', async () => {
  const merchant = await limited(2);
  expect((await pay(merchant)).body.status).toBe('SETTLED');
  const [row] = await shop.rows(`select email_key from risk_decisions where mid = '${merchant.mid}'`);
  const holder = new pg.Client(shop.connection);
  await holder.connect();
  onTestFinished(() => holder.end());
  const lock = `risk ${merchant.mid} ${row?.email_key}`;
  await holder.query('begin');
  await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
  const order_id = newOrderId();
  const lost = pay(merchant, { order_id });
  const waits = `from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await expect.poll(() => shop.rows(`select ${waits}`), { timeout: 20_000 }).toHaveLength(1);
  // Payments with other keys do not wait.
  expect((await pay(merchant, { payer_email: 'al@example.com' })).body.status).toBe('SETTLED');
  await shop.rows(`select pg_terminate_backend(pid) ${waits}`);
  expect((await lost).status).toBe(503);
  await holder.query('commit');
  expect(await decisions(merchant)).toBe(2);
  expect((await pay(merchant, { order_id })).body.status).toBe('SETTLED');
  expect((await pay(merchant)).body.status).toBe('DECLINED');
});
