/** The pages of links, invoices and payers themselves: no barriers on a phone, and use without scripts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { payersOfFile } from '../support/browser.ts';
import { checkoutOf } from '../support/checkout.ts';
import { type Merchant, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
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
