/** The forms of fee invoices and of providers: the issuer, an invoice, a credit note, bank credits, and days to pay. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop();
const INVOICES = '/admin/ledger/fee-invoices';
const PROVIDERS = '/admin/ledger/three-way';

let merchant: Merchant;
let owner: TestOperator;
let accountant: TestOperator;
let restricted: TestOperator;

const done = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};
const page = async (operator: TestOperator, path: string, status = 200): Promise<string> => {
  const answer = await operator.get(path);
  expect(answer.status, answer.text).toBe(status);
  return answer.text;
};
/** Submits a form, and returns where it leads, or the page that it shows again. */
async function submit(operator: TestOperator, path: string, fields: Fields, status = 303) {
  const { text, location, ...answer } = await operator.submit(path, fields);
  expect(answer.status, text).toBe(status);
  return { text, location: location ?? '' };
}
/** The error beside a field. */
const errorOf = (text: string, name: string): string | undefined =>
  new RegExp(`<p class="error" id="${name}-error">([^<]*)`).exec(text)?.[1];

beforeAll(async () => {
  merchant = await shop.newMerchant({ name: 'Tea House' });
  const { plan_id } = await done('POST', '/price-plans', { name: 'Two', side: 'sell' });
  const lines = [{ event: 'sale', percent: '2' }];
  await done('POST', `/price-plans/${plan_id}/versions`, { tax_percent: '19', lines });
  await done('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id });
  await shop.sale({ order_amount: '100.00' }, merchant);
  const { settlement_id } = await done('POST', '/settlements', { mid: merchant.mid, currency: 'USD' });
  await done('POST', `/settlements/${settlement_id}/approve`);
  owner = await signedIn(shop, 'owner');
  accountant = await signedIn(shop, 'accountant');
  restricted = await signedIn(shop, 'merchant_accountant', [merchant.mid]);
});

describe('fee invoices', () => {
  const usd = (): Fields => ({ mid: merchant.mid, currency: 'usd' });

  test('cannot be made before there is an issuer and an address, and the page says so', async () => {
    expect(await page(accountant, INVOICES)).toContain('Nobody is set who issues fee invoices.');
    const { text } = await submit(accountant, INVOICES, usd(), 400);
    expect(text).toContain('<details class="card narrow" open>');
    for (const missing of ['Nobody is set who issues fee invoices.', 'The account has no address for invoices.'])
      expect(text).toContain(missing);
    expect((await done('GET', '/fee-invoices')).items).toEqual([]);
  });

  test('get their issuer from the one who sets terms; a mistake stays in the form', async () => {
    expect(await page(accountant, INVOICES)).not.toContain('name="prefix"');
    const issuer = { name: 'Turnpike Ltd', address: 'Gate 1\r\n\r\n 10115 Berlin \r\n', tax_number: 'DE1' };
    const again = await submit(owner, `${INVOICES}/issuer`, { ...issuer, prefix: 'FEE-2026' }, 400);
    expect(errorOf(again.text, 'prefix')).toContain('of which the last is no digit');
    expect(again.text).toContain('value="FEE-2026"');
    expect((await done('GET', '/fee-invoice-issuer')).items).toEqual([]);
    const set = await submit(owner, `${INVOICES}/issuer`, { ...issuer, prefix: 'FEE-2026-' });
    expect(await page(owner, set.location)).toContain('The issuer was set.');
    expect((await done('GET', '/fee-invoice-issuer')).items).toMatchObject([
      { name: 'Turnpike Ltd', address: ['Gate 1', '10115 Berlin'], tax_number: 'DE1', prefix: 'FEE-2026-' },
    ]);
    const empty = await submit(owner, `${INVOICES}/issuer`, { name: 'X', address: ' ', prefix: 'F-' }, 400);
    expect(errorOf(empty.text, 'address')).toContain('From 1 to 8 lines');
  });

  test('are made by hand, and are taken back once by a credit note', async () => {
    await done('PATCH', `/accounts/${merchant.mid}`, { 'billing.address': ['Main St 1'] });
    const made = await submit(accountant, INVOICES, usd());
    const invoice = made.location.replace(/\?.*/, '');
    const text = await page(accountant, made.location);
    for (const shown of ['The invoice was made.', 'Invoice FEE-2026-000001', 'Main St 1', 'USD\u00a02.38'])
      expect(text).toContain(shown);
    const none = await submit(accountant, INVOICES, usd(), 400);
    expect(errorOf(none.text, 'currency')).toContain('There are no fees to invoice.');
    const blank = await submit(accountant, `${invoice}/correct`, { reason: ' ' }, 400);
    expect(errorOf(blank.text, 'reason')).toBeTruthy();
    const note = await submit(accountant, `${invoice}/correct`, { reason: 'Wrong address' });
    const credit = await page(accountant, note.location);
    for (const shown of ['Credit note FEE-2026-000002', 'Wrong address', 'The invoice was taken back'])
      expect(credit).toContain(shown);
    for (const path of [invoice, note.location]) expect(await page(accountant, path)).not.toContain('/correct"');
    await submit(accountant, `${invoice}/correct`, { reason: 'Again' }, 400);
    expect((await done('GET', '/fee-invoices')).items).toHaveLength(2);
  });

  test('have no forms for merchants, who see their own', async () => {
    const text = await page(restricted, INVOICES);
    expect(text).toContain('FEE-2026-000001');
    expect(text).not.toContain(`action="${INVOICES}`);
  });
});

describe('providers', () => {
  const credit = (): Fields => ({
    ...{ connector: 'vcard', currency: 'usd', amount: '40.00', reference: 'BANK-1', received_on: '2026-01-02' },
  });
  const owed = async (): Promise<string> => (await done('GET', '/ledger/receivables')).items[0].total;

  test('a bank credit is recorded once, and reduces what the provider owes', async () => {
    const path = `${PROVIDERS}/payments`;
    const before = Number(await owed());
    const first = await submit(accountant, path, credit());
    const text = await page(accountant, first.location);
    for (const shown of ['The payment was recorded.', 'BANK-1', '2026-01-02', 'USD\u00a040.00'])
      expect(text).toContain(shown);
    const second = await submit(accountant, path, credit());
    expect(await page(accountant, second.location)).toContain('was recorded before');
    expect(Number(await owed())).toBe(before - 40);
    const other = await submit(accountant, path, { ...credit(), amount: '41.00' }, 400);
    expect(errorOf(other.text, 'reference')).toContain('Another payment');
    const wrong = await submit(accountant, path, { ...credit(), amount: '-1' }, 400);
    expect(errorOf(wrong.text, 'amount')).toBeTruthy();
    expect(wrong.text).toContain('value="BANK-1"');
  });

  test('the days after which they pay are set by the one who sets terms', async () => {
    expect(await page(accountant, PROVIDERS)).not.toContain('name="days"');
    const path = `${PROVIDERS}/terms`;
    const wrong = await submit(owner, path, { provider: 'vcard', days: '400' }, 400);
    expect(errorOf(wrong.text, 'days')).toContain('from 0 to 365');
    const set = await submit(owner, path, { provider: 'vcard', days: '3' });
    expect(await page(owner, set.location)).toContain('The days were set.');
    expect((await done('GET', '/provider-terms')).items).toMatchObject([{ connector: 'vcard', days: 3 }]);
  });
});
