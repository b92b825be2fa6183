/** The pages of the ledger: balances and entries, the trial balance, margins, adjustments, and the money of a payment. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop();

let merchant: Merchant;
let paymentId: string;
let owner: TestOperator;
let other: TestOperator;
let restricted: TestOperator;
beforeAll(async () => {
  merchant = await shop.newMerchant();
  const { body: plan } = await shop.admin('POST', '/price-plans', { name: 'Standard', side: 'sell' });
  const lines = [{ event: 'sale', currencies: ['USD'], percent: '2', fixed: '0.30' }];
  await shop.admin('POST', `/price-plans/${plan.plan_id}/versions`, { lines });
  await shop.admin('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: plan.plan_id });
  paymentId = (await shop.sale({ order_amount: '100.00' }, merchant)).body.trans_id;
  await shop.admin('POST', `/payments/${paymentId}/refund`, { amount: '40.00' });
  owner = await signedIn(shop, 'owner');
  other = await signedIn(shop, 'operator');
  restricted = await signedIn(shop, 'merchant', [merchant.mid]);
});

const page = async (operator: TestOperator, path: string, status = 200): Promise<string> => {
  const answer = await operator.get(path);
  expect(answer.status, answer.text).toBe(status);
  return answer.text;
};

test('the balance of an account, with the entries behind it', async () => {
  const text = await page(owner, `/admin/ledger?mid=${merchant.mid}`);
  for (const shown of ['Available', 'USD\u00a057.70', 'Sale', 'Fee: Sale', 'Refund', 'Price plan, line 1'])
    expect(text).toContain(shown);
  expect(text).toContain('Trial balance');
  const csv = await page(owner, `/admin/ledger/entries.csv?mid=${merchant.mid}&category=refund`);
  expect(csv.trimEnd().split('\r\n')).toHaveLength(3);
});

test('a merchant sees its own ledger accounts, and nothing of the operator and of providers', async () => {
  const text = await page(restricted, '/admin/ledger');
  expect(text).toContain('USD\u00a057.70');
  for (const hidden of ['Trial balance', 'Owed by', 'Margin', 'Adjustments']) expect(text).not.toContain(hidden);
  await page(restricted, '/admin/ledger/trial-balance', 403);
  await page(restricted, '/admin/ledger/margin', 403);
  await page(restricted, '/admin/ledger/adjustments', 403);
  await page(restricted, `/admin/ledger?mid=${shop.merchant.mid}`, 404);
  const payment = await page(restricted, `/admin/payments/${paymentId}`);
  expect(payment).toContain('USD\u00a057.70');
  expect(payment).not.toContain('Costs');
});

test('the page of a payment has its money, each fee with the line that set it, and the entries', async () => {
  const text = await page(owner, `/admin/payments/${paymentId}`);
  for (const shown of [
    'Gross',
    'USD\u00a0100.00',
    'Fees',
    'USD\u00a02.30',
    'Net',
    'USD\u00a057.70',
    'Costs',
    'Price plan, line 1',
  ])
    expect(text).toContain(shown);
});

test('the trial balance balances, now and at the end of a day', async () => {
  expect(await page(owner, '/admin/ledger/trial-balance')).toContain('Debits equal credits.');
  expect(await page(owner, '/admin/ledger/trial-balance')).toContain('Up to 7 days');
  expect(await page(owner, '/admin/ledger/trial-balance?at=2020-01-01')).toContain('No entries');
  expect(await page(owner, '/admin/ledger/trial-balance?at=soon', 400)).toContain('This is not a day.');
  const csv = await page(owner, '/admin/ledger/trial-balance.csv');
  expect(csv).toContain(`merchant:${merchant.mid}:balance,USD,42.30,100.00,57.70`);
});

test('the margin of the last days', async () => {
  const text = await page(owner, '/admin/ledger/margin');
  expect(text).toContain('Margin per day in USD');
  expect(text).toContain('USD\u00a02.30');
  expect(await page(owner, '/admin/ledger/margin?from=2020-01-01&to=2020-01-31')).toContain('No fees and no costs');
  expect(await page(owner, '/admin/ledger/margin?from=2020-02-01&to=2020-01-01', 400)).toContain('after the last one');
  expect(await page(owner, '/admin/ledger/margin.csv')).toMatch(/^mid,currency,fees,costs,margin\r\n/);
});

describe('adjustments', () => {
  const fields = (more: Fields = {}): Fields => ({
    mid: merchant.mid,
    currency: 'eur',
    amount: '-5.00',
    reason: 'Goodwill',
    ...more,
  });

  test('need two persons', async () => {
    const proposed = await owner.submit('/admin/ledger/adjustments', fields());
    expect(proposed).toMatchObject({ status: 303, location: '/admin/ledger/adjustments?done=proposed' });
    const { body } = await shop.admin('GET', '/ledger/adjustments?state=waiting');
    const [{ adjustment_id }] = body.items;
    const own = await page(owner, '/admin/ledger/adjustments?done=proposed');
    expect(own).toContain('The adjustment waits for another person.');
    expect(own).not.toContain(`${adjustment_id}/approve`);
    expect((await owner.submit(`/admin/ledger/adjustments/${adjustment_id}/approve`)).status).toBe(403);
    expect(await page(other, '/admin/ledger/adjustments')).toContain(`${adjustment_id}/approve`);
    expect(await other.submit(`/admin/ledger/adjustments/${adjustment_id}/approve`)).toMatchObject({ status: 303 });
    expect(await page(owner, `/admin/ledger?mid=${merchant.mid}`)).toContain('-EUR\u00a05.00');
  });

  test('a mistake stays in the form, with its reason beside the field', async () => {
    const { status, text } = await owner.submit('/admin/ledger/adjustments', fields({ amount: 'five' }));
    expect(status).toBe(400);
    expect(text).toContain('value="five"');
    expect(text).toContain('id="amount-error"');
  });
});
