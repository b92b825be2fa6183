/** The pages on payouts: terms and bank accounts of an account, cuts, payouts by two persons, what is owed, and the calendar. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop();
const IBAN = 'DE89370400440532013000';
const LEDGER = '/admin/ledger';

let merchant: Merchant;
let owner: TestOperator;
let accountant: TestOperator;
let settlement: string;
beforeAll(async () => {
  merchant = await shop.newMerchant({ name: 'Tea House' });
  settlement = `/admin/accounts/${merchant.mid}/settlement`;
  owner = await signedIn(shop, 'owner');
  accountant = await signedIn(shop, 'accountant');
});

const page = async (operator: TestOperator, path: string, status = 200): Promise<string> => {
  const answer = await operator.get(path);
  expect(answer.status, answer.text).toBe(status);
  return answer.text;
};
/** Submits a form and returns where it leads. */
const submit = async (operator: TestOperator, path: string, fields: Record<string, string> = {}): Promise<string> => {
  const answer = await operator.submit(path, fields);
  expect(answer.status, answer.text).toBe(303);
  return answer.location ?? '';
};
const refused = async (operator: TestOperator, path: string, fields: Record<string, string>, ...shown: RegExp[]) => {
  const answer = await operator.submit(path, fields);
  expect(answer.status).toBe(400);
  for (const text of shown) expect(answer.text).toMatch(text);
  return answer.text;
};

describe('how an account is paid', () => {
  const TERMS = { currency: 'usd', cycle: 'weekly', weekday: '5', day: '', delay_days: '0', cut_off: '17:30' };

  test('terms are set, and shown in words', async () => {
    expect(await page(owner, settlement)).toContain('No terms');
    await refused(owner, `${settlement}/terms`, { ...TERMS, time_zone: 'Mars' }, /Europe\/Berlin/, /value="17:30"/);
    await refused(owner, `${settlement}/terms`, { ...TERMS, delay_days: 'soon' }, /whole number from 0/);
    const fields = { ...TERMS, time_zone: 'Europe/Berlin', business_days: 'true', percent: '10', days: '30' };
    expect(await submit(owner, `${settlement}/terms`, fields)).toBe(`${settlement}?done=terms`);
    const text = await page(accountant, settlement);
    for (const shown of ['Every week, Friday', '17:30 Europe/Berlin', 'Business days only', '10% for 30 days'])
      expect(text).toContain(shown);
    expect(text).not.toContain('Set terms');
    expect(await page(owner, `${settlement}?currency=USD`)).toContain('value="Europe/Berlin"');
  });

  test('a bank account is masked; a change is held until another person confirms it', async () => {
    const bank = { bank_currency: 'USD', holder: 'Müller & Söhne', iban: IBAN };
    const wrong = await refused(
      owner,
      `${settlement}/bank-account`,
      { ...bank, iban: 'DE88500105175407324931' },
      /IBAN/,
    );
    expect(wrong).not.toContain('5407324931');
    await submit(owner, `${settlement}/bank-account`, bank);
    await submit(owner, `${settlement}/bank-account`, { ...bank, iban: 'GB82WEST12345698765432' });
    const own = await page(owner, settlement);
    expect(own).toContain('On hold');
    expect(own).toContain('Another person than you has to confirm it.');
    expect(own).not.toContain('Confirm the change');
    expect(own).not.toContain('12345698765');
    expect((await owner.submit(`${settlement}/bank-account/confirm`, { currency: 'USD' })).status).toBe(403);
    expect(await page(accountant, settlement)).toContain('Confirm the change');
    await submit(accountant, `${settlement}/bank-account/confirm`, { currency: 'USD' });
    expect(await page(owner, settlement)).not.toContain('On hold');
  });
});

describe('a payout', () => {
  let first: string;

  test('begins with a cut by hand and its approval', async () => {
    // Without a cut-off and business days, a sale is available at once at any time of the week.
    const terms = { currency: 'USD', cycle: 'manual', delay_days: 0, reserve: { percent: '10', days: 30 }, hold: null };
    expect((await shop.admin('PUT', `/accounts/${merchant.mid}/settlement-terms`, terms)).status).toBe(200);
    await shop.sale({ order_amount: '100.00' }, merchant);
    const cut = { mid: merchant.mid, currency: 'usd', until: '' };
    await refused(accountant, `${LEDGER}/settlements`, { ...cut, currency: 'XXX' }, /code of a currency/);
    await refused(accountant, `${LEDGER}/settlements`, { ...cut, until: '2999-01-01' }, /not in the future|future/);
    first = await submit(accountant, `${LEDGER}/settlements`, cut);
    expect(first).toMatch(/\?done=cut$/);
    expect(await submit(accountant, `${LEDGER}/settlements`, cut)).toMatch(/\?done=unchanged$/);
    const queue = await page(accountant, `${LEDGER}/settlements?state=draft`);
    expect(queue).toContain('Settlement 1, USD');
    const path = first.split('?')[0] as string;
    expect(queue).toContain(`${path}/approve`);
    await submit(accountant, `${path}/approve`);
    expect(await page(accountant, `${LEDGER}/settlements?state=draft`)).not.toContain('Settlement 1, USD');
  });

  test('is made of approved settlements, approved by another person, and downloaded', async () => {
    const id = /settlements\/([^?]+)/.exec(first)?.[1] as string;
    const fields = { currency: 'USD', [`settlement_ids.${id}`]: '1', 'format.USD': 'pain.001' };
    expect(await page(accountant, `${LEDGER}/payouts`)).toContain(`settlement_ids.${id}`);
    await refused(accountant, `${LEDGER}/payouts`, fields, /No account is set from which payouts in USD go/);
    const account = { currency: 'USD', holder: 'Operator', iban: 'GB82WEST12345698765432', bic: '' };
    await refused(owner, `${LEDGER}/payouts/account`, { ...account, bic: 'X' }, /BIC, such as/);
    await submit(owner, `${LEDGER}/payouts/account`, account);
    const path = (await submit(accountant, `${LEDGER}/payouts`, fields)).split('?')[0] as string;
    const own = await page(accountant, path);
    expect(own).toContain('Another person approves it.');
    expect(own).not.toContain(`${path}/approve`);
    expect((await accountant.submit(`${path}/approve`)).status).toBe(403);
    expect((await accountant.get(`${path}/file`)).status).toBe(400);
    await submit(owner, `${path}/approve`);
    const text = await page(accountant, path);
    for (const shown of ['Approved', 'Download the file', 'On its way', 'USD\u00a090.00'])
      expect(text).toContain(shown);
    const file = await accountant.get(`${path}/file`);
    expect(file.headers.get('content-disposition')).toMatch(/payout-.*\.xml/);
    expect(file.text).toContain('<CtrlSum>90.00</CtrlSum>');
    expect((await page(accountant, `${LEDGER}/payouts.csv`)).trimEnd().split('\r\n')).toHaveLength(2);
  });

  test('its transfers are recorded as paid, and as returned with a reason', async () => {
    const [, path = ''] = /href="(\/admin\/ledger\/payouts\/[0-9a-f-]{36})"/.exec(
      await page(accountant, `${LEDGER}/payouts`),
    ) as RegExpExecArray;
    await submit(accountant, `${path}/paid`);
    await submit(accountant, `${path}/paid`);
    const paid = await page(accountant, path);
    expect(paid).not.toContain('All transfers were paid');
    const [transfer = ''] = /\/admin\/ledger\/payouts\/[0-9a-f-]+\/transfers\/[0-9a-f-]+/.exec(paid) ?? [];
    await submit(accountant, transfer, { state: 'returned', reason: 'Account <closed>' });
    const returned = await page(accountant, path);
    expect(returned).toContain('Returned by the bank');
    expect(returned).toContain('Account &lt;closed&gt;');
    expect((await accountant.submit(transfer, { state: 'returned' })).status).toBe(400);
  });
});

describe('what is owed', () => {
  test('is drawn by day, with who it is owed to and what it waits for', async () => {
    const other = await shop.newMerchant({ name: 'Book Shop' });
    const terms = { currency: 'EUR', cycle: 'daily', delay_days: 2, hold: 'Documents are missing' };
    await shop.admin('PUT', `/accounts/${other.mid}/settlement-terms`, terms);
    await shop.sale({ order_amount: '20.00', order_currency: 'EUR' }, other);
    const text = await page(accountant, `${LEDGER}/owed`);
    for (const shown of [
      'Tea House',
      'Book Shop',
      'On hold: Documents are missing',
      'No bank account',
      '<svg',
      'EUR\u00a020.00',
    ])
      expect(text).toContain(shown);
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    expect(text).toContain(`<span class="name">${day}</span>`);
  });

  test('a merchant sees its own, its terms and its masked bank account, and changes none', async () => {
    const own = await signedIn(shop, 'merchant_accountant', [merchant.mid]);
    const text = await page(own, `${LEDGER}/owed`);
    expect(text).toContain('Tea House');
    expect(text).not.toContain('Book Shop');
    for (const hidden of [`${LEDGER}/payouts`, `${LEDGER}/calendar`]) expect(text).not.toContain(`href="${hidden}"`);
    const paid = await page(own, settlement);
    expect(paid).toContain('GB•• •••• 5432');
    expect(paid).not.toContain('<form method="post" action="/admin/accounts');
    expect((await own.submit(`${settlement}/terms`, {})).status).toBe(403);
    expect((await own.get(`${LEDGER}/payouts`)).status).toBe(403);
  });
});

test('holidays are typed one in each line; a line that is wrong is shown', async () => {
  const lines = '2026-12-25 Christmas Day\r\n\r\n2027-01-01  New  Year';
  await refused(
    owner,
    `${LEDGER}/calendar`,
    { holidays: `${lines}\r\n2027-02-30 None` },
    /2027-02-30 None:/,
    /2026-12-25/,
  );
  await submit(owner, `${LEDGER}/calendar`, { holidays: lines });
  const text = await page(accountant, `${LEDGER}/calendar`);
  for (const shown of ['Christmas Day', '2026-12-25', 'Friday', 'New Year']) expect(text).toContain(shown);
  expect(text).not.toContain('<textarea');
  await submit(owner, `${LEDGER}/calendar`, { holidays: '' });
  expect(await page(accountant, `${LEDGER}/calendar`)).toContain('No holidays');
});
