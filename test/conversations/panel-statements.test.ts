/** The pages on statements and fee invoices: lists, documents that print, their files, and what merchants see. */
import { beforeAll, expect, test } from 'vitest';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop();
const LEDGER = '/admin/ledger';
const month = new Date().toISOString().slice(0, 7);

let merchant: Merchant;
let accountant: TestOperator;
let settlement: string;
beforeAll(async () => {
  merchant = await shop.newMerchant({ name: 'Tea House' });
  const terms = { currency: 'USD', cycle: 'manual', delay_days: 0, reserve: { percent: '10', days: 30 } };
  await shop.admin('PUT', `/accounts/${merchant.mid}/settlement-terms`, terms);
  await shop.sale({ order_amount: '100.00', order_id: 'tea-1' }, merchant);
  const cut = await shop.admin('POST', '/settlements', { mid: merchant.mid, currency: 'USD' });
  settlement = `${LEDGER}/settlements/${cut.body.settlement_id}`;
  accountant = await signedIn(shop, 'accountant');
});

const page = async (operator: TestOperator, path: string, status = 200): Promise<string> => {
  const answer = await operator.get(path);
  expect(answer.status, answer.text).toBe(status);
  return answer.text;
};

test('a settlement links to its statement, which has a row for each entry and a button to print', async () => {
  expect(await page(accountant, settlement)).toContain(`${settlement}/statement"`);
  const text = await page(accountant, `${settlement}/statement`);
  for (const shown of ['Statement of settlement 1, USD', 'Tea House', 'tea-1', 'USD\u00a090.00', 'data-print'])
    expect(text).toContain(shown);
  const rows = (await page(accountant, `${settlement}/statement.csv`)).trimEnd().split('\r\n');
  expect(rows).toHaveLength(3);
  const json = JSON.parse(await page(accountant, `${settlement}/statement.json`));
  expect(json).toMatchObject({ closing: '90.00', number: 1 });
});

test('the months of an account lead to their statements', async () => {
  expect(await page(accountant, `${LEDGER}/statements`)).toContain('Choose an account to see its statements.');
  const path = `${LEDGER}/statements/${merchant.mid}/${month}`;
  expect(await page(accountant, `${LEDGER}/statements?mid=${merchant.mid}`)).toContain(`${path}?currency=USD`);
  const text = await page(accountant, `${path}?currency=USD`);
  for (const shown of [`Statement of ${month}, USD`, 'Sale', 'Reserve held']) expect(text).toContain(shown);
  expect((await page(accountant, `${path}.csv?currency=USD`)).trimEnd().split('\r\n')).toHaveLength(3);
  expect(JSON.parse(await page(accountant, `${path}.json?currency=USD`))).toMatchObject({ closing: '90.00', month });
  await page(accountant, `${path}?currency=XXX`, 400);
});

test('a merchant sees its own, and nobody behind the names of the operator', async () => {
  const own = await signedIn(shop, 'merchant_accountant', [merchant.mid]);
  const foreign = await signedIn(shop, 'merchant', [shop.merchant.mid]);
  expect(await page(own, `${LEDGER}/statements`)).toContain(month);
  await page(own, `${settlement}/statement`);
  const text = await page(own, settlement);
  expect(text).not.toContain('TURNPIKE_ADMIN_TOKEN');
  await page(foreign, `${settlement}/statement`, 404);
  await page(foreign, `${LEDGER}/statements/${merchant.mid}/${month}?currency=USD`, 404);
});

test('a fee invoice has both addresses, its lines and its total, and is listed', async () => {
  const shown = await shop.newMerchant({ name: 'Coffee House', 'billing.address': ['Bean St 1', '20095 Hamburg'] });
  const { plan_id: planId } = (await shop.admin('POST', '/price-plans', { name: 'Two', side: 'sell' })).body;
  const lines = [{ event: 'sale', percent: '2' }];
  await shop.admin('POST', `/price-plans/${planId}/versions`, { tax_percent: '19', lines });
  await shop.admin('PUT', `/accounts/${shown.mid}/price-plan`, { plan_id: planId });
  await shop.sale({ order_amount: '100.00' }, shown);
  const cut = (await shop.admin('POST', '/settlements', { mid: shown.mid, currency: 'USD' })).body;
  await shop.admin('POST', `/settlements/${cut.settlement_id}/approve`);
  const issuer = { name: 'Turnpike Ltd', address: ['Gate 1', '10115 Berlin'], tax_number: 'DE1', prefix: 'FEE-' };
  await shop.admin('PUT', '/fee-invoice-issuer', issuer);
  const { fee_invoice_id: id } = (await shop.admin('POST', '/fee-invoices', { mid: shown.mid, currency: 'USD' })).body;
  expect(await page(accountant, `${LEDGER}/fee-invoices`)).toContain('FEE-000001');
  const text = await page(accountant, `${LEDGER}/fee-invoices/${id}`);
  for (const part of [
    ...['Invoice FEE-000001', 'Turnpike Ltd', '10115 Berlin', 'DE1', 'Coffee House', 'Bean St 1', 'Fee: Sale'],
    ...['19 %', 'USD\u00a02.00', 'USD\u00a00.38', 'USD\u00a02.38', 'data-print'],
  ])
    expect(text).toContain(part);
  expect((await page(accountant, `${LEDGER}/fee-invoices.csv`)).trimEnd().split('\r\n')).toHaveLength(2);
  const own = await signedIn(shop, 'merchant_accountant', [shown.mid]);
  const foreign = await signedIn(shop, 'merchant', [merchant.mid]);
  await page(own, `${LEDGER}/fee-invoices/${id}`);
  await page(foreign, `${LEDGER}/fee-invoices/${id}`, 404);
  expect(await page(foreign, `${LEDGER}/fee-invoices`)).not.toContain('FEE-000001');
});
