/** The pages on settlements: the list, the amounts of one with their reasons, approving and voiding, and what merchants see. */
import { beforeAll, expect, test } from 'vitest';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop();
const LIST = '/admin/ledger/settlements';

let merchant: Merchant;
let accountant: TestOperator;
let ids: string[];
beforeAll(async () => {
  merchant = await shop.newMerchant({ name: 'Tea House' });
  const terms = { currency: 'USD', cycle: 'manual', delay_days: 0, reserve: { percent: '10', days: 30 } };
  await shop.admin('PUT', `/accounts/${merchant.mid}/settlement-terms`, terms);
  ids = [];
  for (const amount of ['100.00', '50.00']) {
    await shop.sale({ order_amount: amount }, merchant);
    ids.push((await shop.admin('POST', '/settlements', { mid: merchant.mid, currency: 'USD' })).body.settlement_id);
  }
  accountant = await signedIn(shop, 'accountant');
});

const page = async (operator: TestOperator, path: string, status = 200): Promise<string> => {
  const answer = await operator.get(path);
  expect(answer.status, answer.text).toBe(status);
  return answer.text;
};

test('the list has each settlement with its account, payout and state', async () => {
  const text = await page(accountant, LIST);
  for (const shown of ['Settlement 1, USD', 'Settlement 2, USD', 'Tea House', 'USD\u00a090.00', 'Draft'])
    expect(text).toContain(shown);
  expect((await page(accountant, `${LIST}.csv`)).trimEnd().split('\r\n')).toHaveLength(3);
});

test('one settlement has its lines, and the reasons for what it does not pay', async () => {
  const text = await page(accountant, `${LIST}/${ids[1]}`);
  for (const shown of [
    ...['Opening balance', 'Sale (1)', 'Reserve held (1)', 'Closing balance', 'USD\u00a0135.00'],
    ...['Paid by earlier settlements', 'Payout', 'USD\u00a045.00', 'Approve', 'Void'],
  ])
    expect(text).toContain(shown);
  expect((await page(accountant, `${LIST}/${ids[1]}/entries.csv`)).trimEnd().split('\r\n')).toHaveLength(5);
  await page(accountant, `${LIST}/${crypto.randomUUID()}`, 404);
});

test('an accountant voids the newest one and approves another; neither is possible twice', async () => {
  const token = /name="form_token" value="([^"]+)"/.exec(await page(accountant, `${LIST}/${ids[0]}`))?.[1] ?? '';
  expect((await accountant.submit(`${LIST}/${ids[0]}/void`, {}, token)).status).toBe(400);
  expect((await accountant.submit(`${LIST}/${ids[1]}/void`, {}, token)).status).toBe(303);
  expect((await accountant.submit(`${LIST}/${ids[0]}/approve`, {}, token)).status).toBe(303);
  const text = await page(accountant, `${LIST}/${ids[0]}?done=approved`);
  expect(text).toContain('The settlement is approved.');
  expect(text).not.toContain('/void"');
  expect((await accountant.submit(`${LIST}/${ids[0]}/approve`, {}, token)).status).toBe(400);
});

test('a merchant sees its own, and decides nothing', async () => {
  const own = await signedIn(shop, 'merchant_accountant', [merchant.mid]);
  const foreign = await signedIn(shop, 'merchant', [shop.merchant.mid]);
  const text = await page(own, `${LIST}/${ids[0]}`);
  expect(text).toContain('Settlement 1, USD');
  expect(text).not.toContain('Owed by');
  expect(await page(foreign, LIST)).not.toContain('Settlement 1');
  await page(foreign, `${LIST}/${ids[0]}`, 404);
});
