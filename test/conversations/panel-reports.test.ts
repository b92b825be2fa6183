/** The page of reports and the downloads of the panel: their figures, their refusals, and the accounts that they show. */
import { beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { COOKIE, signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

const DAY_MS = 86_400_000;
const day = (offset = 0): string => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
const url = (path: string, query: Fields): string => `${path}?${new URLSearchParams(query)}`;
/** Days around everything that the tests do, also at midnight. */
const around = () => ({ from: day(-1), to: day(1) });

/** The cells of each row of the table with this caption, by their labels. */
function rowsOf(text: string, caption: string): Fields[] {
  const [, body = ''] = new RegExp(`<caption>${caption}</caption>.*?<tbody>(.*?)</tbody>`, 's').exec(text) ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    Object.fromEntries(
      [...row.matchAll(/<td data-label="([^"]+)"[^>]*>(.*?)<\/td>/gs)].map(([, label, cell = '']) => [
        label,
        // The currency has a column of its own.
        cell.replace(/<[^>]+>/g, '').replace(/^[A-Z]{3}\u00a0/, ''),
      ]),
    ),
  );
}

describe('with payments of two accounts', () => {
  let tea: Merchant;
  let coffee: Merchant;
  let viewer: TestOperator;
  let scoped: TestOperator;
  beforeAll(async () => {
    [tea, coffee] = [await shop.newMerchant(), await shop.newMerchant()];
    await shop.sale({ order_amount: '10.00' }, tea);
    const { trans_id: refunded } = (await shop.sale({ order_amount: '25.50' }, tea)).body;
    await at.send('CREDITVOID', refunded, { amount: '5.25' }, tea);
    await shop.sale({ order_amount: '1500', order_currency: 'JPY' }, tea);
    await shop.sale({ identifier: 'decline@example.com', order_amount: '3.00' }, tea);
    await shop.sale({ order_amount: '99.00' }, coffee);
    viewer = await signedIn(shop, 'viewer');
    scoped = await signedIn(shop, 'merchant', [tea.mid]);
  });

  const figures = (fields: Fields): Fields => ({
    Declined: '0',
    Refunded: '0.00',
    'Charged back': '0.00',
    'Paid out': '0.00',
    ...fields,
  });

  test('the figures are what was paid and refunded', async () => {
    await at.settled('pin-a', { order_amount: '7.00', order_currency: 'USD' }, tea);
    const { status, text } = await viewer.get(url('/admin/reports', { ...around(), mid: tea.mid, by_brand: '1' }));
    expect(status).toBe(200);
    const none = { Refunded: '0', 'Charged back': '0', 'Paid out': '0' };
    const yen = { Currency: 'JPY', Payments: '1', Paid: '1', Declined: '0', ...none, Captured: '1,500', Net: '1,500' };
    const vcard = { Payments: '3', Paid: '2', Declined: '1', Captured: '35.50', Refunded: '5.25', Net: '30.25' };
    const total = { Payments: '4', Paid: '3', Declined: '1', Captured: '42.50', Refunded: '5.25', Net: '37.25' };
    expect(rowsOf(text, 'Totals')).toEqual([yen, figures({ Currency: 'USD', ...total })]);
    expect(rowsOf(text, 'Report')).toEqual([
      figures({ Method: 'Prepaid voucher', Currency: 'USD', Payments: '1', Paid: '1', Captured: '7.00', Net: '7.00' }),
      { Method: 'Test payment', ...yen },
      figures({ Method: 'Test payment', Currency: 'USD', ...vcard }),
    ]);
    expect(text).toContain('name="by_brand" value="1" checked');
    expect(text).not.toContain('name="by_day" value="1" checked');
  });

  test('before the form is submitted it has the last 30 days by day, today included', async () => {
    const { text } = await scoped.get('/admin/reports');
    expect(text).toContain(`name="to" type="date" value="${day()}"`);
    expect(text).toContain(`name="from" type="date" value="${day(-29)}"`);
    expect(rowsOf(text, 'Report').map(({ Currency }) => Currency)).toEqual(['JPY', 'USD']);
    expect(rowsOf(text, 'Report').every(({ Day }) => Day === day())).toBe(true);
  });

  test('the last day is part of the range, and the day after it is not', async () => {
    const totals = async (query: Fields) =>
      rowsOf((await viewer.get(url('/admin/reports', { mid: coffee.mid, ...query }))).text, 'Totals').length;
    expect(await totals({ from: day(), to: day() })).toBe(1);
    expect(await totals({ from: day(-3), to: day(-1) })).toBe(0);
  });

  test.each([
    ['nothing', {}, ''],
    ['day and brand', { by_day: '1', by_brand: '1' }, 'day,brand'],
    [
      'everything',
      { by_day: '1', by_mid: '1', by_brand: '1', by_currency: '1', by_connection: '1' },
      'day,mid,brand,currency,connection',
    ],
  ] as [string, Fields, string][])('the CSV by %s is that of the API', async (_name, boxes, group_by) => {
    const query = { from: day(-1), to: day(), mid: tea.mid };
    const page = await viewer.get(url('/admin/reports', { ...query, ...boxes }));
    const link = /href="(\/admin\/reports\.csv[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const file = await viewer.get(link);
    const api = await shop.admin('GET', url('/reports.csv', { ...query, to: day(1), group_by }));
    expect(file.status).toBe(200);
    expect(file.text).toBe(api.body);
    expect(file.text.split('\r\n').length).toBeGreaterThan(3);
    for (const header of ['content-type', 'content-disposition']) {
      expect(file.headers.get(header)).toBe(api.headers.get(header));
    }
    expect(file.headers.get('cache-control')).toBe('no-store');
  });

  test('an operator of some accounts sees these only', async () => {
    const query = { ...around(), by_mid: '1' };
    const own = await scoped.get(url('/admin/reports', query));
    expect(rowsOf(own.text, 'Totals').map(({ Captured }) => Captured)).toEqual(['1,500', '42.50']);
    expect(own.text).toContain(tea.mid);
    expect(own.text).not.toContain(coffee.mid);
    const file = await scoped.get(url('/admin/reports.csv', query));
    expect([file.text.includes(tea.mid), file.text.includes(coffee.mid)]).toEqual([true, false]);
    const other = await scoped.get(url('/admin/reports', { ...query, mid: coffee.mid }));
    expect(other.text).toContain('Nothing happened in this time');
    expect(other.text).not.toContain('/admin/reports.csv');
    expect((await scoped.get(url('/admin/reports.csv', { ...query, mid: coffee.mid }))).text).not.toContain('99.00');
  });

  test('the payments of a filter are downloaded as the API exports them', async () => {
    const filters = { mid: tea.mid, status: 'DECLINED', from: day(-1), to: day() };
    const page = await viewer.get(url('/admin/payments', filters));
    const link = /href="(\/admin\/payments\.csv[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const file = await viewer.get(link);
    const api = await shop.admin('GET', url('/payments.csv', { ...filters, to: day(1) }));
    expect(file.text).toBe(api.body);
    expect(file.text.split('\r\n')).toHaveLength(3);
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-[\dT-]+Z\.csv"$/);
    const all = await scoped.get('/admin/payments.csv');
    expect(all.text.split('\r\n')).toHaveLength(7);
    expect(all.text).not.toContain(coffee.mid);
  });

  test('no page or file has the password of an account', async () => {
    for (const path of ['/admin/reports?by_mid=1', '/admin/reports.csv?by_mid=1', '/admin/payments.csv']) {
      const { status, text } = await viewer.get(path);
      expect(status).toBe(200);
      for (const { password } of [tea, coffee]) expect(text.toLowerCase()).not.toContain(password.toLowerCase());
    }
  });
});

describe('a report is refused beside the field', () => {
  test.each([
    ['from', { from: 'x' }, 'Enter a date such as 2026-07-31.'],
    ['to', { from: '2026-01-01', to: '2026-02-30' }, 'Enter a date such as 2026-07-31.'],
    ['from', { from: '0000-01-01', to: '2026-01-01' }, 'Enter a date such as 2026-07-31.'],
    ['from', { from: '2026-03-02', to: '2026-03-01' }, 'The first day should not be after the last one.'],
    ['from', { from: '2024-01-01', to: '2026-01-01' }, 'The range should not be longer than 400 days.'],
    ['mid', { mid: "x' or 1=1" }, 'Choose an account of the list.'],
  ] as [string, Fields, string][])('%s of %j', async (name, query, sentence) => {
    const viewer = await signedIn(shop, 'viewer');
    const { status, text } = await viewer.get(url('/admin/reports', query));
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`name="${name}" aria-invalid="true" aria-describedby="${name}-error"`));
    expect(text).toContain(`<p class="error" id="${name}-error">${sentence}</p>`);
    expect(text).not.toContain('/admin/reports.csv');
    const file = await viewer.get(url('/admin/reports.csv', query));
    expect([file.status, file.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(file.text).toContain(sentence);
  });

  test('what was typed stays in the form', async () => {
    const viewer = await signedIn(shop, 'viewer');
    const query = { from: '2026-03-02', to: '2026-03-01', by_connection: '1', by_mid: '1' };
    const { text } = await viewer.get(url('/admin/reports', query));
    for (const value of ['value="2026-03-02"', 'value="2026-03-01"', 'name="by_connection" value="1" checked']) {
      expect(text).toContain(value);
    }
  });
});

test('figures that are still being added are announced', async () => {
  const viewer = await signedIn(shop, 'viewer');
  const NOTICE = 'are still being added';
  expect((await viewer.get('/admin/reports')).text).not.toContain(NOTICE);
  await shop.rows("update projections set backfill_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff'");
  expect((await viewer.get('/admin/reports')).text).toContain(NOTICE);
  await shop.rows('update projections set backfill_before = null');
});

test('a report that is too long for a page has its totals, and all rows as CSV', async () => {
  const { mid } = await shop.newMerchant();
  await shop.rows(
    `insert into rollups (grain, starts_at, mid, brand, connector, currency, payments, settled, declined, chargebacks,
       captured, refunded, charged_back, paid_out)
     select 'day', '2026-01-02Z', '${mid}', 'brand-' || n, 'vcard', 'USD', 1, 1, 0, 0, 100, 0, 0, 0
     from generate_series(1, 1001) n;
     update projections set totals_before = '2026-01-03Z'`,
  );
  await foldProjections(shop.gateway);
  const viewer = await signedIn(shop, 'viewer', [mid]);
  const query = { from: '2026-01-01', to: '2026-01-03', by_brand: '1' };
  const { status, text } = await viewer.get(url('/admin/reports', query));
  expect(status).toBe(200);
  expect(text).toContain('This report is too long for a page.');
  expect(rowsOf(text, 'Totals')).toMatchObject([{ Payments: '1,001', Captured: '1,001.00', Net: '1,001.00' }]);
  expect(rowsOf(text, 'Report')).toEqual([]);
  expect((await viewer.get(url('/admin/reports.csv', query))).text.split('\r\n')).toHaveLength(1003);
});

test('a file is not read for a HEAD request', async () => {
  const { cookie } = await signedIn(shop, 'viewer');
  for (const [path, status] of [
    ['/admin/payments.csv', 405],
    ['/admin/reports.csv', 405],
    ['/admin/reports', 200],
  ] as const) {
    const answer = await fetch(shop.url + path, { method: 'HEAD', headers: { cookie: `${COOKIE}=${cookie}` } });
    expect(answer.status, path).toBe(status);
  }
});
