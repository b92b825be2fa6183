/** The pages of links, invoices and payers themselves: no barriers on a phone, and use without scripts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { en } from '../../src/pages/locales/en.ts';
import { type Page, payersOfFile } from '../support/browser.ts';
import { checkoutOf } from '../support/checkout.ts';
import { type Merchant, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { sessionCookie, signedIn } from '../support/operators.ts';
import { expectNoBarriers } from './barriers.ts';

const payer = payersOfFile();
const PHONE = { viewport: { width: 390, height: 844 } };
const ADA = 'ada@example.com';
let mails: TestMailServer;
let shop: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  mails = await startMailServer();
  shop = await startTestGateway({ simulator: true, mail: { url: mails.url, from: 'shop@pay.example' } });
  merchant = await shop.newMerchant({ branding: { name: 'Tea & Sons', colour: '#1a7f5a' } });
});
afterAll(async () => {
  await shop?.close();
  await mails?.stop();
});

const make = async (path: string, fields: object): Promise<string> =>
  (await shop.admin('POST', path, { mid: merchant.mid, currency: 'EUR', ...fields })).body.url;

test('a link, with everything that it can ask for, and what is wrong with it', async () => {
  const url = await make('/links', {
    title: 'Two teapots',
    description: 'Blue and white.',
    min_amount: '5.00',
    max_amount: '50.00',
    uses: null,
    ask: ['name', 'email', 'phone', 'reference'],
  });
  const page = await payer(PHONE);
  await page.goto(url);
  await expectNoBarriers(page, 'link');
  await page.evaluate('document.querySelector("form").submit()');
  await page.locator('[aria-invalid=true]').first().waitFor();
  await expectNoBarriers(page, 'link-refused');
});

test('an invoice that is open, and one that is void', async () => {
  const lines = [{ description: 'Tea', quantity: '2', unit_amount: '9.50', tax_percent: '20' }];
  const fields = { lines, payer: { name: 'Ada Byron', email: ADA, address: 'Main street 1' }, due_on: '2030-01-31' };
  const { body } = await shop.admin('POST', '/invoices', { mid: merchant.mid, currency: 'EUR', ...fields });
  const page = await payer(PHONE);
  await page.goto(body.url);
  await expectNoBarriers(page, 'invoice');
  await shop.admin('POST', `/invoices/${body.invoice_id}/void`);
  await page.goto(body.url);
  await expectNoBarriers(page, 'invoice-void');
});

/** The sizes of the pages of a printed document, in millimetres. */
const printed = async (page: Page): Promise<[width: number, height: number][]> => {
  const document = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const boxes = document.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g);
  return [...boxes].map(([, width, height]) => [inMillimetres(width), inMillimetres(height)]);
};
const inMillimetres = (points = ''): number => Math.round((Number(points) / 72) * 25.4);

test('an invoice prints on one page of A4, without what is for the screen', async () => {
  const lines = Array.from({ length: 12 }, (_, index) => ({
    ...{ description: `Tea number ${index + 1}`, quantity: '2', unit_amount: '9.50', tax_percent: '20' },
  }));
  const url = await make('/invoices', { lines, payer: { name: 'Ada Byron', email: ADA }, due_on: '2030-01-31' });
  const page = await payer(PHONE);
  await page.goto(url);
  expect(await page.getByRole('button', { name: /^Pay / }).isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
  expect(await page.locator('.languages').isVisible()).toBe(false);
  expect(await page.getByRole('rowheader', { name: 'Tea number 12' }).isVisible()).toBe(true);
  expect(await printed(page)).toEqual([[210, 297]]);
});

test.each([
  ['Tea & Sons', 'Two teapots'],
  ['茶'.repeat(100), '壺'.repeat(100)],
])('the sheet of a link prints on one page of A6, with a code that is large enough (%s)', async (name, title) => {
  const { mid } = await shop.newMerchant({ branding: { name } });
  const fields = { mid, title, currency: 'EUR', min_amount: '5.00', max_amount: '50.00' };
  const { body } = await shop.admin('POST', '/links', fields);
  const { cookie } = await signedIn(shop, 'merchant', [mid]);
  const page = await payer(PHONE);
  await page.context().addCookies([sessionCookie(cookie)]);
  await page.goto(`${shop.url}/admin/links/${body.link_id}/print`);
  await page.getByRole('heading', { name }).waitFor();
  expect(await printed(page)).toEqual([[105, 148]]);
  await page.emulateMedia({ media: 'print' });
  const { width = 0, height = 0 } = (await page.locator('.qr svg').boundingBox()) ?? {};
  // In millimetres, of which 25.4 are 96 pixels.
  expect((Math.min(width, height) / 96) * 25.4).toBeGreaterThan(45);
});

test('a payer without scripts pays a link', async () => {
  const url = await make('/links', { title: 'Two teapots', amount: '5.00', ask: ['name'], methods: ['card'] });
  const page = await payer({ ...PHONE, javaScriptEnabled: false });
  await page.goto(url);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await page.getByLabel('Name').fill('Ada Byron');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel(en.cardNumber).fill('4111111111111111');
  await page.getByLabel(en.cardExpiry).fill('01/38');
  await page.getByLabel(en.cardCvv, { exact: true }).fill('123');
  await page.getByLabel(en.cardHolder).fill('Ada Byron');
  await page.getByRole('button', { name: /^Pay / }).click();
  await page.getByText('Payment complete').waitFor();
});

test('a payer without scripts asks for a link, sees the saved card and removes it', async () => {
  await checkoutOf(shop).paidByCard({ customer: { name: 'Ada Byron', email: ADA } }, merchant);
  const page = await payer({ ...PHONE, javaScriptEnabled: false });
  const looker = await payer(PHONE);
  const entrance = `${shop.url}/customer/${merchant.mid}`;
  await looker.goto(entrance);
  await expectNoBarriers(looker, 'customer');
  await page.goto(entrance);
  await page.getByLabel('E-mail address').fill(ADA);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  await processEverythingDue(shop.gateway);
  const text = partsOf(mails.mails.at(-1) as ReceivedMail).get('text/plain') ?? '';
  await page.goto(/http\S+\/link\/[0-9a-f]{64}/.exec(text)?.[0] ?? '');
  await page.getByRole('button', { name: 'Show cards and subscriptions' }).click();
  await page.getByText('Visa ending in 1111').waitFor();
  await looker.context().addCookies(await page.context().cookies());
  await looker.goto(`${entrance}/saved`);
  await looker.locator('summary', { hasText: 'Remove card' }).click();
  await expectNoBarriers(looker, 'customer-saved');
  await page.locator('summary', { hasText: 'Remove card' }).click();
  await page.getByRole('button', { name: 'Remove card' }).click();
  await page.getByText('The card was removed.').waitFor();
  expect(await page.getByText('Nothing is saved.').count()).toBe(2);
});
