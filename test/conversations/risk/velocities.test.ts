/** Velocities: the limit lets through exactly so many payments, in several processes at once, and counts what it should. */
import { describe, expect, test } from 'vitest';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../src/core/context.ts';
import { type Order, openPayment } from '../../../src/core/payments/open.ts';
import { type Merchant, newOrderId, openShop } from '../../support/gateway.ts';
import { allowBursts } from '../../support/limits.ts';

allowBursts();

const shop = openShop();

interface Wanted {
  by?: string[];
  measure?: string;
  of?: string;
  outcome?: string;
  within?: string;
}

const velocity = (wanted: Wanted, op: string, value: unknown, more: Record<string, unknown> = {}) => ({
  velocity: { measure: 'count', by: ['email'], within: '10m', ...wanted },
  op,
  value,
  ...more,
});

async function blockIf(merchant: Merchant | null, condition: unknown): Promise<string> {
  const rule = { mid: merchant?.mid ?? null, name: 'Too often', condition, action: { kind: 'block' }, state: 'on' };
  const { status, body } = await shop.admin('POST', '/risk/rules', { ...rule, confirm: true });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.rule_id;
}

const pay = async (merchant: Merchant, fields: Record<string, string> = {}): Promise<string> =>
  (await shop.sale({ payer_email: 'jo@example.com', ...fields }, merchant)).body.status;

const order = (payer: Record<string, string>): Order => ({
  protocol: 's2s',
  brand: 'vcard',
  orderId: newOrderId(),
  amountText: '10.00',
  currency: 'USD',
  isAuthorisation: false,
  isRecurringInit: false,
  details: { description: 'A book', identifier: 'success@example.com', payer },
  content: newOrderId(),
});

test('200 payments at once from three processes: exactly the limit is let through', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({}, '>=', 7));
  const processes: Gateway[] = [shop.gateway, await shop.anotherGateway(), await shop.anotherGateway()];
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const payments = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      openPayment(processes[index % 3] as Gateway, account, order({ email: 'jo@example.com' })),
    ),
  );
  expect(payments.filter(({ state }) => state === 'SETTLED')).toHaveLength(7);
  expect(payments.filter(({ state }) => state === 'DECLINED')).toHaveLength(193);
});

test('payments with other keys are not counted, and the window passes', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({}, '>=', 2));
  expect([await pay(merchant), await pay(merchant), await pay(merchant)]).toEqual(['SETTLED', 'SETTLED', 'DECLINED']);
  expect(await pay(merchant, { payer_email: 'other@example.com' })).toBe('SETTLED');
  expect(await pay(merchant, { payer_email: 'JO@example.com' })).toBe('DECLINED');
  await shop.advanceClock(601, merchant.mid);
  expect(await pay(merchant)).toBe('SETTLED');
});

test('two accounts do not share counters, unless the rule is of the installation', async () => {
  const [one, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const email = `${one.mid.slice(0, 8)}@example.com`;
  await blockIf(one, velocity({}, '>=', 1));
  expect(await pay(one, { payer_email: email })).toBe('SETTLED');
  await blockIf(other, velocity({}, '>=', 1));
  expect(await pay(other, { payer_email: email })).toBe('SETTLED');
  const third = await shop.newMerchant();
  const ruleId = await blockIf(null, velocity({}, '>=', 2));
  expect(await pay(third, { payer_email: email })).toBe('DECLINED');
  await shop.admin('DELETE', `/risk/rules/${ruleId}`);
});

test('amounts are added up in their currency', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({ measure: 'amount' }, '>=', '25.00', { currency: 'USD' }));
  expect(await pay(merchant, { order_amount: '20.00', order_currency: 'USD' })).toBe('SETTLED');
  expect(await pay(merchant, { order_amount: '90.00', order_currency: 'EUR' })).toBe('SETTLED');
  expect(await pay(merchant, { order_amount: '5.00', order_currency: 'USD' })).toBe('SETTLED');
  expect(await pay(merchant, { order_amount: '1.00', order_currency: 'USD' })).toBe('DECLINED');
  expect(await pay(merchant, { order_amount: '1.00', order_currency: 'EUR' })).toBe('SETTLED');
});

test('different values are counted', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({ measure: 'distinct', of: 'email', by: ['ip'] }, '>=', 2));
  const from = (payer_email: string) => pay(merchant, { payer_email, payer_ip: '203.0.113.7' });
  expect([await from('a@example.com'), await from('a@example.com'), await from('b@example.com')]).toEqual(
    Array(3).fill('SETTLED'),
  );
  expect(await from('c@example.com')).toBe('DECLINED');
});

test('different values that are looked up are counted exactly, also of payments at once', async () => {
  await shop.rows(`insert into risk_ip_countries (network, country) values
    ('203.0.113.0/28', 'DE'), ('203.0.113.16/28', 'FR'), ('203.0.113.32/28', 'ES'), ('203.0.113.48/28', 'IT')`);
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({ measure: 'distinct', of: 'ip_country' }, '>=', 2));
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const processes: Gateway[] = [shop.gateway, await shop.anotherGateway()];
  const payments = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      openPayment(
        processes[index % 2] as Gateway,
        account,
        order({ email: 'jo@example.com', ip: `203.0.113.${(index % 4) * 16 + 1}` }),
      ),
    ),
  );
  // As soon as two countries are counted, nothing is let through.
  const rows = await shop.rows(`select input ->> 'ip_country' as country from risk_decisions
    where mid = '${merchant.mid}' and decision = 'none'`);
  expect(new Set(rows.map(({ country }) => country)).size).toBe(2);
  expect(payments.filter(({ state }) => state === 'SETTLED')).toHaveLength(rows.length);
});

describe('outcomes', () => {
  test('declines count, payments that a rule blocked do not', async () => {
    const merchant = await shop.newMerchant();
    await blockIf(merchant, velocity({ outcome: 'declined' }, '>=', 1));
    await blockIf(merchant, { field: 'amount', op: '>', value: '500.00', currency: 'USD' });
    expect(await pay(merchant, { order_amount: '501.00', order_currency: 'USD' })).toBe('DECLINED');
    expect(await pay(merchant)).toBe('SETTLED');
    expect(await pay(merchant, { identifier: 'decline@example.com' })).toBe('DECLINED');
    expect((await shop.sale({ payer_email: 'jo@example.com' }, merchant)).body.decline_reason).toBe(
      "Refused by the merchant's rules.",
    );
  });

  test('settled payments count once they are settled', async () => {
    const merchant = await shop.newMerchant();
    await blockIf(merchant, velocity({ outcome: 'settled' }, '>=', 1));
    expect(await pay(merchant, { identifier: 'decline@example.com' })).toBe('DECLINED');
    expect(await pay(merchant)).toBe('SETTLED');
    expect(await pay(merchant)).toBe('DECLINED');
  });
});

test('a payment without the key follows `unknown`', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({ by: ['phone'] }, '>=', 0));
  expect(await pay(merchant)).toBe('SETTLED');
  await blockIf(merchant, velocity({ by: ['phone'] }, '>', 100, { unknown: 'match' }));
  expect(await pay(merchant)).toBe('DECLINED');
});

test('an amount with `unknown` concerns no payment in another currency', async () => {
  const merchant = await shop.newMerchant();
  const more = { currency: 'USD', unknown: 'match' };
  await blockIf(merchant, velocity({ measure: 'amount', by: ['phone'] }, '>', '100.00', more));
  expect(await pay(merchant, { order_currency: 'EUR' })).toBe('SETTLED');
  expect(await pay(merchant, { order_currency: 'USD' })).toBe('DECLINED');
});

test('no e-mail address, address or phone number is stored with decisions', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({}, '>=', 100));
  await pay(merchant, { payer_ip: '203.0.113.99', payer_phone: '+49301234567' });
  const [row] = await shop.rows(
    `select row_to_json(d)::text as text from risk_decisions d where mid = '${merchant.mid}'`,
  );
  expect(row?.text).not.toMatch(/jo@example|203\.0\.113\.99|49301234567/);
});

test('the erasure of a payment takes its keys', async () => {
  const merchant = await shop.newMerchant();
  await blockIf(merchant, velocity({}, '>=', 1));
  const { trans_id } = (await shop.sale({ payer_email: 'jo@example.com' }, merchant)).body;
  expect(await pay(merchant)).toBe('DECLINED');
  await expect
    .poll(async () => (await shop.admin('POST', `/payments/${trans_id}/erase`)).status, { timeout: 20_000 })
    .toBe(200);
  const [row] = await shop.rows(`select email_key from risk_decisions where payment_id = '${trans_id}'`);
  expect(row).toEqual({ email_key: null });
});
