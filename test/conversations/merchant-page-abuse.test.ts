/** Links and invoices against abuse: imitated shops, e-mail headers, mass creation; and the size of their pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { fill, show } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { headersOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { readable } from '../support/pages.ts';

const mail = { url: '', from: 'receipts@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ mail, trustedProxies: ['127.0.0.0/8'] });
let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant({ branding: { name: 'Tea & Sons', colour: '#1a7f5a' } });
});

const link = (fields: object, mid = merchant.mid) =>
  shop.admin('POST', '/links', { mid, title: 'Tea', currency: 'EUR', amount: '5.00', ...fields });
const LINE = { description: 'Teapot', quantity: '2', unit_amount: '10.00', tax_percent: '19' };
const PAYER = { name: 'Ana Petrovic', email: 'ana@example.com' };
const invoice = (fields: object, mid = merchant.mid) =>
  shop.admin('POST', '/invoices', {
    mid,
    currency: 'EUR',
    due_on: '2099-01-31',
    lines: [LINE],
    payer: PAYER,
    ...fields,
  });

/** Cyrillic, full-width and combining letters that look like Latin ones. */
const IMITATIONS = ['Аmаzоn', 'ＰａｙＰａｌ', 'Pay\u0301Pal', 'Your bank – confirm your card'];

test.each(IMITATIONS)('a title such as %j stands below the name of the shop', async (title) => {
  const { body } = await link({ title });
  const { text } = await show(body.url);
  const shown = readable(text);
  expect(shown).toContain('Tea & Sons');
  expect(shown.indexOf('Tea & Sons')).toBeLessThan(shown.lastIndexOf(title));
  expect(text).toMatch(/<title>[^<]* · Tea &amp; Sons<\/title>/);
});

test('an invoice with such lines has the name of the shop as its sender', async () => {
  const { body } = await invoice({ lines: [{ ...LINE, description: IMITATIONS[0] }] });
  expect(readable((await show(body.url)).text)).toContain('Tea & Sons');
});

const INJECTIONS = [
  '\r\nBcc: eve@example.com',
  '\nBcc: eve@example.com',
  '\u2028Bcc: eve@example.com',
  '\u202Egpj.exe',
];

test.each(INJECTIONS)('%j is refused in titles, names and addresses, with the field', async (bad) => {
  const fieldOf = (answer: { status: number; body: { errors?: { param: string }[] } }) => [
    answer.status,
    answer.body.errors?.[0]?.param,
  ];
  expect(fieldOf(await link({ title: `Tea${bad}` }))).toEqual([400, 'title']);
  expect(fieldOf(await link({ description: `Tea${bad}` }))[0]).toBe(400);
  expect(fieldOf(await invoice({ payer: { ...PAYER, name: `Ana${bad}` } }))).toEqual([400, 'payer.name']);
  expect(fieldOf(await invoice({ payer: { ...PAYER, email: `ana@example.com${bad}` } }))).toEqual([400, 'payer.email']);
  expect(fieldOf(await invoice({ lines: [{ ...LINE, description: `Tea${bad}` }] }))[0]).toBe(400);
});

/** A number that passes the check digit, as a payer or a merchant might write it at the wrong place. */
const CARD_NUMBER = '4111 1111 1111 1111';
const DIGITS = CARD_NUMBER.replaceAll(' ', '');

test('a card number in the texts of a link or an invoice is refused, and stored nowhere', async () => {
  const refused = async (answer: Promise<{ status: number; body: { errors?: { param: string }[] } }>) => {
    const { status, body } = await answer;
    return [status, body.errors?.map(({ param }) => param)];
  };
  for (const field of ['title', 'description']) {
    expect(await refused(link({ [field]: `Tea ${CARD_NUMBER}` }))).toEqual([400, [field]]);
  }
  expect(await refused(invoice({ note: `Card\n${CARD_NUMBER}` }))).toEqual([400, ['note']]);
  expect(await refused(invoice({ lines: [{ ...LINE, description: CARD_NUMBER }] }))).toEqual([
    400,
    ['lines.0.description'],
  ]);
  for (const [field, value] of Object.entries({
    name: CARD_NUMBER,
    email: `${DIGITS}@example.com`,
    address: `Street 1\n${CARD_NUMBER}`,
  })) {
    expect(await refused(invoice({ payer: { ...PAYER, [field]: value } }))).toEqual([400, [`payer.${field}`]]);
  }
  const stored = await shop.rows(`select 1 from links where title ~ '1111' or description ~ '1111'
    union all select 1 from invoices where note ~ '1111' or payer::text ~ '1111' or lines::text ~ '1111'`);
  expect(stored).toEqual([]);
});

test('a payer who types a card number at the wrong place is told so, and begins no session', async () => {
  const { body } = await link({ ask: ['name', 'email', 'phone', 'reference'] });
  const right = { name: 'Ana Petrovic', email: 'ana@example.com', phone: '+381 11 123', reference: 'Flat 7' };
  const wrong = { name: CARD_NUMBER, email: `${DIGITS}@example.com`, phone: CARD_NUMBER, reference: CARD_NUMBER };
  for (const [name, value] of Object.entries(wrong)) {
    const { status, text } = await fill(body.url, { ...right, [name]: value });
    expect([name, status, text.match(/aria-invalid="true"/g)?.length]).toEqual([name, 422, 1]);
  }
  expect(await shop.rows(`select 1 from begun_orders where source_id = '${body.link_id}'`)).toEqual([]);
  expect((await fill(body.url, right)).status).toBe(303);
});

test('neither the name of a shop nor that of a method hides or turns around letters', async () => {
  const { token } = (await shop.admin('POST', '/tokens', { name: 'x', role: 'merchant', mids: [merchant.mid] })).body;
  const change = async (settings: object) => {
    const { status, body } = await shop.admin('PATCH', `/accounts/${merchant.mid}`, settings, token);
    return [status, body.errors?.[0]?.param];
  };
  for (const bad of INJECTIONS) {
    expect(await change({ branding: { name: `Tea${bad}` } })).toEqual([400, 'branding.name']);
    expect(await change({ method_names: { card: `Card${bad}` } })).toEqual([400, 'method_names']);
  }
  const { text } = await show((await link({})).body.url);
  expect(readable(text)).toContain('Tea & Sons');
});

test('a suspended account is paid by no link and no invoice, and their pages say so', async () => {
  const own = await shop.newMerchant();
  const pages: [url: string, text: string][] = [
    [(await link({}, own.mid)).body.url, 'This link is no longer valid'],
    [(await invoice({}, own.mid)).body.url, 'This payment cannot be made here'],
  ];
  await shop.admin('PATCH', `/accounts/${own.mid}`, { suspended: true });
  for (const [url, sentence] of pages) {
    const { text } = await show(url);
    expect(text).not.toContain('<form');
    expect(readable(text)).toContain(sentence);
    await fill(url, {});
  }
  expect(await shop.rows(`select 1 from begun_orders where mid = '${own.mid}'`)).toEqual([]);
  await shop.admin('PATCH', `/accounts/${own.mid}`, { suspended: false });
  for (const [url] of pages) expect((await show(url)).text).toContain('<form');
});

test('the name of a shop cannot add headers to its e-mails', async () => {
  const own = await shop.newMerchant({ name: 'Tea' });
  await shop.admin('PATCH', `/accounts/${own.mid}`, { branding: { name: 'Tea" <eve@example.com>' } });
  const { body } = await invoice({}, own.mid);
  expect((await shop.admin('POST', `/invoices/${body.invoice_id}/send`)).status).toBe(200);
  const received = server.mails.at(-1) as ReceivedMail;
  expect([received.to, received.from]).toEqual([['ana@example.com'], 'receipts@pay.example']);
  const headers = headersOf(received);
  expect(headers.get('from')).toMatch(/<receipts@pay\.example>$/);
  for (const name of ['bcc', 'cc']) expect(headers.has(name)).toBe(false);
});

test('an invoice is sent ten times at most', async () => {
  const { body } = await invoice({});
  const statuses: number[] = [];
  for (let count = 0; count < 11; count++) {
    statuses.push((await shop.admin('POST', `/invoices/${body.invoice_id}/send`)).status);
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
  expect(statuses[10]).toBe(400);
});

test('an account that makes too many links and invoices is refused, and others are not', async () => {
  const own = await shop.newMerchant();
  holdRates();
  for (let count = 0; count < LIMITS.linksMost; count++) shop.gateway.isLinkTooFast(own.mid);
  expect((await link({}, own.mid)).status).toBe(429);
  expect((await invoice({}, own.mid)).status).toBe(429);
  expect((await link({})).status).toBe(201);
});

test('an address that begins too many sessions is refused, and others are not', async () => {
  const asking = (await link({ ask: ['name'] })).body;
  const ended = (await invoice({})).body;
  await shop.admin('POST', `/invoices/${ended.invoice_id}/void`);
  holdRates();
  const begin = async (url: string, address: string) => {
    const { status, headers } = await fill(url, {}, { 'x-forwarded-for': address });
    return [status, headers.get('retry-after')].join(' ');
  };
  for (const [url, begun] of [
    [asking.url, '422 '],
    [ended.url, '303 '],
  ]) {
    const answers: string[] = [];
    for (let count = 0; count < LIMITS.beginningsMost; count += 50) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => begin(url, '192.0.2.7')))));
    }
    expect(new Set(answers)).toEqual(new Set([begun]));
    expect(await begin(url, '192.0.2.7')).toBe(`429 ${LIMITS.beginningWindowMs / 1000}`);
    expect(await begin(url, '192.0.2.8')).toBe(begun);
  }
});

test('the pages are smaller than 15 KB as they are transferred, in every language', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => ({ ...LINE, description: `Teapot number ${index}` }));
  const urls = [
    (await link({ description: 'x'.repeat(1000), ask: ['name', 'email', 'phone', 'reference'] })).body.url,
    (await invoice({ lines, note: 'y'.repeat(1000) })).body.url,
  ];
  for (const url of urls) {
    for (const language of Object.keys(LANGUAGES)) {
      const response = await fetch(`${url}?lang=${language}`, { headers: { 'accept-encoding': 'br' } });
      expect(response.status).toBe(200);
      expect(Number(response.headers.get('content-length')), `${url} ${language}`).toBeLessThan(15 * 1024);
      expect(await response.text()).toContain(`<html lang="${language}`);
    }
  }
});
