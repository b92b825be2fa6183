/** Invoices: amounts and numbers, the page and its payment, sending by mail, voiding. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FetchedPage, fill, follow, show, VCARD } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { headersOf, partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { signedIn } from '../support/operators.ts';
import { expectSafe } from '../support/pages.ts';

const mail = { url: '', from: 'shop@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ mail });

let own: Merchant;
let other: Merchant;
beforeAll(async () => {
  [own, other] = [await shop.newMerchant({ name: 'Tea House', brands: ['vcard'] }), await shop.newMerchant()];
});

const LINE = { description: 'Teapot', quantity: '2', unit_amount: '10.00', tax_percent: '19' };
const TERMS = {
  currency: 'EUR',
  lines: [LINE],
  payer: { name: 'Ana Petrovic', email: 'ana@example.com' },
  due_on: '2099-01-31',
};
const make = (terms: object = {}, token?: string) =>
  shop.admin('POST', '/invoices', { mid: own.mid, ...TERMS, ...terms }, token);
const read = async (id: string) => (await shop.admin('GET', `/invoices/${id}`)).body;
const paramsOf = (answer: { body: { errors?: { param: string }[] } }) => answer.body.errors?.map(({ param }) => param);
const localUrl = (url: string): string => shop.url + new URL(url).pathname;
const begin = async (url: string): Promise<FetchedPage> => follow(await fill(localUrl(url), {}));
const submit = async ({ url }: FetchedPage): Promise<FetchedPage> => follow(await fill(url, VCARD.success));
const newToken = async (role: string, mids = [own.mid]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: `a ${role}`, role, mids })).body.token;

describe('making an invoice', () => {
  test('computes the amounts of each line, rounded half up', async () => {
    const lines = [
      LINE,
      { description: 'Tea by weight', quantity: 1.255, unit_amount: '3.99', tax_percent: 7 },
      { description: 'Delivery', quantity: '0.5', unit_amount: '0.01' },
      { description: 'Bag', quantity: '1', unit_amount: '0.05', tax_percent: '10' },
      { description: 'Label', quantity: '0.499', unit_amount: '0.01', tax_percent: '10' },
    ];
    const { status, body } = await make({ lines, note: 'Thank you.\nSee you.' });
    expect(status).toBe(201);
    // 1.255 × 3.99 = 5.00745, and 7 % of 5.01 = 0.3507; half a cent becomes one, in lines and in their tax.
    expect(body.lines.map(({ amount, tax }: Record<string, string>) => [amount, tax])).toEqual([
      ['20.00', '3.80'],
      ['5.01', '0.35'],
      ['0.01', '0.00'],
      ['0.05', '0.01'],
      ['0.00', '0.00'],
    ]);
    expect(body).toMatchObject({ total: '29.23', tax: '4.16', state: 'open', due_on: '2099-01-31' });
    expect(body.url).toMatch(/\/i\/[\da-zA-Z]{14}$/);
    expect(await read(body.invoice_id)).toEqual(body);
  });

  test('gives consecutive numbers to each account, without gaps, at the same time and after refusals', async () => {
    const { mid } = await shop.newMerchant();
    const made = await Promise.all([
      ...Array.from({ length: 20 }, () => make({ mid })),
      ...Array.from({ length: 5 }, () => make({ mid, lines: [] })),
    ]);
    const numbers = made.flatMap(({ body }) => (body.number ? [Number(/\d+$/.exec(body.number)?.[0])] : []));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect((await make({ mid })).body.number).toMatch(/21$/);
  });

  test.each<[string, object, string[]]>([
    ['no currency', { currency: undefined }, ['currency', 'lines.0.unit_amount'].slice(0, 1)],
    ['no lines', { lines: [] }, ['lines']],
    ['too many lines', { lines: Array(101).fill(LINE) }, ['lines']],
    ['a line that is none', { lines: ['Tea'] }, ['lines.0']],
    ['four decimals', { lines: [{ ...LINE, quantity: '1.0001' }] }, ['lines.0.quantity']],
    ['no quantity', { lines: [{ ...LINE, quantity: '0' }] }, ['lines.0.quantity']],
    ['a negative quantity', { lines: [{ ...LINE, quantity: -1 }] }, ['lines.0.quantity']],
    ['a price with three decimals', { lines: [{ ...LINE, unit_amount: '1.005' }] }, ['lines.0.unit_amount']],
    ['more tax than the price', { lines: [{ ...LINE, tax_percent: '101' }] }, ['lines.0.tax_percent']],
    ['a line that is turned around', { lines: [{ ...LINE, description: '\u202etea' }] }, ['lines.0.description']],
    ['a member of a line that does not exist', { lines: [{ ...LINE, price: '1' }] }, ['lines.0.price']],
    ['no payer', { payer: undefined }, ['payer']],
    [
      'a name with a header',
      { payer: { name: 'Ana\r\nBcc: x@example.com', email: 'ana@example.com' } },
      ['payer.name'],
    ],
    [
      'an address with a header',
      { payer: { name: 'Ana', email: 'a@example.com\r\nBcc: b@example.com' } },
      ['payer.email'],
    ],
    ['two addresses', { payer: { name: 'Ana', email: 'a@example.com,b@example.com' } }, ['payer.email']],
    ['a date that does not exist', { due_on: '2026-02-30' }, ['due_on']],
    ['a note with a control character', { note: 'Tea\u0007' }, ['note']],
    ['a member that does not exist', { total: '1.00' }, ['total']],
    ['a total of nothing', { lines: [{ ...LINE, quantity: '0.001', unit_amount: '0.01' }] }, ['lines']],
    ['a price of nothing', { lines: [LINE, { ...LINE, unit_amount: '0.00' }] }, ['lines.1.unit_amount']],
    ['a negative price', { lines: [LINE, { ...LINE, unit_amount: '-1.00' }] }, ['lines.1.unit_amount']],
    ['a negative tax', { lines: [{ ...LINE, tax_percent: '-1' }] }, ['lines.0.tax_percent']],
  ])('%s is refused', async (_, terms, params) => {
    const answer = await make(terms);
    expect([answer.status, paramsOf(answer)]).toEqual([400, params]);
  });
});

describe('the total of an invoice is an amount that a payment can have', () => {
  const totalOf = async (currency: string, ...amounts: [amount: string, tax?: string, quantity?: string][]) => {
    const lines = amounts.map(([unit_amount, tax_percent = '0', quantity = '1']) => ({
      ...{ description: 'Tea', quantity, unit_amount, tax_percent },
    }));
    const answer = await make({ currency, lines });
    return answer.body.total ?? paramsOf(answer);
  };

  test.each([
    ['JPY', '999999999999', '999999999999.00', '1'],
    ['EUR', '999999999999.99', '999999999999.99', '0.01'],
    ['KWD', '999999999999.999', '999999999999.999', '0.001'],
  ])('in %s', async (currency, most, total, least) => {
    expect(await totalOf(currency, [most])).toBe(total);
    expect(await totalOf(currency, [most], [least])).toEqual(['lines']);
    expect(await totalOf(currency, [most, '1'])).toEqual(['lines']);
    expect(await totalOf(currency, [most, '100', '999999999.999'])).toEqual(['lines']);
  });

  test('with each line and its tax rounded to the smallest unit of the currency', async () => {
    // 1.5 × 333 = 499.5, and 7.5 % of 500 = 37.5.
    expect(await totalOf('JPY', ['333', '7.5', '1.5'])).toBe('538.00');
    // 0.125 × 1.004 = 0.1255, and 5.125 % of 0.126 = 0.0064575.
    expect(await totalOf('KWD', ['1.004', '5.125', '0.125'])).toBe('0.132');
  });

  test('which can be paid', async () => {
    const { body } = await make({
      lines: [{ description: 'Tea', quantity: '1', unit_amount: '999999999999.99' }],
    });
    expect((await begin(body.url)).status).toBe(200);
  });
});

describe('the page of an invoice', () => {
  test('shows the invoice in the language of the payer, prints on A4, and writes nothing', async () => {
    const { body } = await make({ note: 'Danke <b>' });
    const count = 'select (select count(*) from payments) p, (select count(*) from begun_orders) b';
    const before = await shop.rows(count);
    const page = await show(localUrl(body.url), { headers: { 'accept-language': 'de' } });
    expectSafe(page);
    for (const text of [
      'Tea House',
      `Rechnung ${body.number}`,
      'Ana Petrovic',
      'Teapot',
      '23,80',
      '3,80',
      'Danke &lt;b&gt;',
    ]) {
      expect(page.text).toContain(text);
    }
    expect(page.text).toContain('size:A4');
    expect(page.text).not.toContain('ana@example.com');
    expect(await shop.rows(count)).toEqual(before);
    expect((await show(`${shop.url}/i/aaaaaaaaaaaaaa`)).status).toBe(404);
  });

  test('leads to a payment of the total, once', async () => {
    const { body } = await make();
    const [first, second] = [await begin(body.url), await begin(body.url)];
    expect((await submit(first)).text).toContain('Payment complete');
    expect((await show(second.url)).text).toContain('This was paid already');
    await submit(second);
    const { items } = (await shop.admin('GET', `/payments?mid=${own.mid}&q=${body.number}`)).body;
    const settled = items.filter((item: { status: string }) => item.status === 'SETTLED');
    expect(settled).toMatchObject([{ amount: '23.80' }]);
    expect((await shop.admin('GET', `/payments/${settled[0].payment_id}`)).body.invoice_id).toBe(body.invoice_id);
    expect((await read(body.invoice_id)).state).toBe('paid');
    const paid = await show(localUrl(body.url));
    expect(paid.text).toContain('This invoice is paid.');
    expect(paid.text).not.toContain('<form');
  });

  test('of payers at the same time, one pays', async () => {
    const { body } = await make();
    const pages = await Promise.all(Array.from({ length: 5 }, () => begin(body.url)));
    await Promise.all(pages.map(submit));
    const [row] =
      await shop.rows(`select count(*)::int as paid from payments p join begun_orders b using (mid, order_id)
      where b.source_id = '${body.invoice_id}' and p.state = 'SETTLED'`);
    expect(row?.paid).toBe(1);
  });

  test('an overdue invoice says so, and is still payable', async () => {
    const { body } = await make({ due_on: '2020-01-31' });
    expect(body.state).toBe('overdue');
    expect((await show(localUrl(body.url))).text).toContain('Overdue');
    expect((await submit(await begin(body.url))).text).toContain('Payment complete');
  });
});

describe('voiding', () => {
  test('ends open sessions, and keeps the number used', async () => {
    const { body } = await make();
    const open = await begin(body.url);
    const voided = await shop.admin('POST', `/invoices/${body.invoice_id}/void`);
    expect(voided.body).toMatchObject({ state: 'void', number: body.number });
    const [row] = await shop.rows(`select state from payments p join begun_orders b using (mid, order_id)
      where b.source_id = '${body.invoice_id}'`);
    expect(row?.state).toBe('DECLINED');
    expect((await submit(open)).text).not.toContain('Payment complete');
    const page = await show(localUrl(body.url));
    expect(page.text).toContain('This invoice was cancelled');
    expect(page.text).not.toContain('<form');
    await begin(body.url);
    const [count] = await shop.rows(
      `select count(*)::int as n from begun_orders where source_id = '${body.invoice_id}'`,
    );
    expect(count?.n).toBe(1);
    expect((await shop.admin('POST', `/invoices/${body.invoice_id}/void`)).status).toBe(400);
    expect((await make()).body.number).not.toBe(body.number);
  });

  test('is refused for a paid invoice', async () => {
    const { body } = await make();
    await submit(await begin(body.url));
    const answer = await shop.admin('POST', `/invoices/${body.invoice_id}/void`);
    expect([answer.status, answer.body.error_message]).toEqual([400, 'The invoice is paid, void or being paid.']);
    expect((await read(body.invoice_id)).state).toBe('paid');
    const { items } = (await shop.admin('GET', `/invoices?mid=${own.mid}&state=paid`)).body;
    expect(items[0]).toMatchObject({ invoice_id: body.invoice_id, state: 'paid' });
    expect(items.every(({ state }: { state: string }) => state === 'paid')).toBe(true);
  });

  test('and paying at the same time: one of the two happens', async () => {
    for (let round = 0; round < 5; round++) {
      const { body } = await make();
      const open = await begin(body.url);
      const [voided] = await Promise.all([shop.admin('POST', `/invoices/${body.invoice_id}/void`), submit(open)]);
      const { state } = await read(body.invoice_id);
      expect(state).toBe(voided.status === 200 ? 'void' : 'paid');
      const [row] =
        await shop.rows(`select count(*)::int as paid from payments p join begun_orders b using (mid, order_id)
        where b.source_id = '${body.invoice_id}' and p.state = 'SETTLED'`);
      expect(row?.paid).toBe(state === 'paid' ? 1 : 0);
    }
  });
});

describe('sending', () => {
  test('by mail to the payer, with the address of the page', async () => {
    const { body } = await make();
    const sent = await shop.admin('POST', `/invoices/${body.invoice_id}/send`);
    expect([sent.status, sent.body.sent_count]).toEqual([200, 1]);
    const received = server.mails.at(-1) as ReceivedMail;
    expect(received.to).toEqual(['ana@example.com']);
    expect(headersOf(received).get('subject')).toContain(`Invoice ${body.number} from Tea House`);
    expect(partsOf(received).get('text/plain')).toContain(body.url);
    expect(partsOf(received).get('text/plain')).toContain('€23.80');
  });

  test('is bounded, and refused when the server refuses or there is nothing to pay', async () => {
    const { body } = await make();
    server.behaviour = 'rejects recipient';
    const refused = await shop.admin('POST', `/invoices/${body.invoice_id}/send`);
    server.behaviour = 'accepts';
    expect([refused.status, paramsOf(refused)]).toEqual([400, ['payer.email']]);
    const before = server.mails.length;
    await Promise.all(Array.from({ length: 15 }, () => shop.admin('POST', `/invoices/${body.invoice_id}/send`)));
    expect(server.mails.length - before).toBe(9);
    await shop.admin('POST', `/invoices/${body.invoice_id}/void`);
    expect((await shop.admin('POST', `/invoices/${body.invoice_id}/send`)).body.error_message).toContain('paid, void');
  });
});

test('a foreign invoice does not exist, and an accountant only reads', async () => {
  const { invoice_id: foreign } = (await make({ mid: other.mid })).body;
  const token = await newToken('merchant');
  for (const id of [foreign, randomUUID(), 'nonsense']) {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/void'],
      ['POST', '/send'],
    ] as const) {
      const { status, body } = await shop.admin(method, `/invoices/${id}${path}`, undefined, token);
      expect([status, body.error_message]).toEqual([404, 'Invoice does not exist.']);
    }
  }
  expect((await make({ mid: other.mid }, token)).status).toBe(404);
  const accountant = await newToken('merchant_accountant');
  expect((await shop.admin('GET', '/invoices', undefined, accountant)).status).toBe(200);
  expect((await make({}, accountant)).status).toBe(403);
  const { mid } = await shop.newMerchant();
  const [first, second] = [
    (await make({ mid })).body.invoice_id,
    (await make({ mid, due_on: '2020-01-01' })).body.invoice_id,
  ];
  const ids = async (query: string) =>
    (await shop.admin('GET', `/invoices?mid=${mid}${query}`)).body.items.map(
      (item: { invoice_id: string }) => item.invoice_id,
    );
  expect([await ids(''), await ids('&state=overdue'), await ids('&state=open')]).toEqual([
    [second, first],
    [second],
    [first],
  ]);
});

test('the state in lists and the proposed due date follow the clock of the account', async () => {
  const [ahead, present] = [await shop.newMerchant(), await shop.newMerchant()];
  const due_on = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const [over, open] = await Promise.all(
    [ahead, present].map(async ({ mid }) => (await make({ mid, due_on })).body.invoice_id),
  );
  await shop.advanceClock(100 * 86_400, ahead.mid);
  expect((await read(over)).state).toBe('overdue');
  const token = await newToken('merchant', [ahead.mid, present.mid]);
  const ids = async (state: string) =>
    (await shop.admin('GET', `/invoices?state=${state}`, undefined, token)).body.items.map(
      (item: { invoice_id: string }) => item.invoice_id,
    );
  expect([await ids('overdue'), await ids('open')]).toEqual([[over], [open]]);
  const proposed = new Date(Date.now() + 114 * 86_400_000).toISOString().slice(0, 10);
  const merchant = await signedIn(shop, 'merchant', [ahead.mid]);
  expect((await merchant.get('/admin/invoices/new')).text).toContain(proposed);
});

test('the panel makes, shows, sends and voids an invoice', async () => {
  const merchant = await signedIn(shop, 'merchant', [own.mid]);
  const form = {
    mid: own.mid,
    currency: 'eur',
    name: 'Ana',
    email: 'ana@example.com',
    due_on: '2099-01-31',
    'line.0.description': 'Teapot',
    'line.0.quantity': '1,5',
    'line.0.unit_amount': '10',
    'line.0.tax_percent': '19',
  };
  const made = await merchant.submit('/admin/invoices/new', form);
  expect(made.status).toBe(303);
  const page = await merchant.get(made.location as string);
  expect(page.text).toContain('17.85');
  expect((await merchant.submit(`${made.location}/send`)).status).toBe(303);
  expect((await merchant.submit(`${made.location}/void`)).status).toBe(303);
  expect((await merchant.get('/admin/invoices?state=void')).text).toContain(made.location as string);
  const refused = await merchant.submit('/admin/invoices/new', { ...form, email: 'x', 'line.0.quantity': 'many' });
  expect([refused.status, refused.text.match(/class="error"/g)?.length]).toEqual([400, 2]);
  const third = { 'line.2.description': 'Cup', 'line.2.quantity': 'many', 'line.2.unit_amount': '5' };
  const wrong = await merchant.submit('/admin/invoices/new', { ...form, ...third, 'line.0.description': '' });
  expect([wrong.status, wrong.text.match(/id="([^"]+)-error"/)?.[1]]).toEqual([400, 'line.2.quantity']);
});
