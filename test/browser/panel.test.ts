/** The panel in a browser: an account from its creation to the first refund, and what axe knows of barriers. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { saleFields } from '../support/gateway.ts';
import { COOKIE, signedIn } from '../support/operators.ts';
import { isLong, sized } from '../support/size.ts';
import { expectNoBarriers, SCHEMES } from './barriers.ts';
import { setStage } from './stage.ts';

const stage = setStage();

async function owner(): Promise<Page> {
  const { cookie } = await signedIn(stage.shop, 'owner');
  const page = await stage.payer({ viewport: { width: 1280, height: 800 } });
  await page
    .context()
    .addCookies([
      { name: COOKIE, value: cookie, domain: '127.0.0.1', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' },
    ]);
  return page;
}

/** A statement that was uploaded and not compared. */
async function draft(): Promise<string> {
  const { upload } = await signedIn(stage.shop, 'owner');
  const file = new File(['payment_id,amount,currency,note\nx,1.00,USD,y\n'], 'draft.csv');
  return (await upload('/admin/reports/reconciliations', file)).location?.split('/').at(-1) ?? '';
}

test('an owner creates an account, finds its first payment, and refunds it', async () => {
  const page = await owner();
  await page.goto(`${stage.shop.url}/admin/accounts`);
  await page.getByRole('link', { name: 'Create account' }).click();
  await page.getByLabel('Name').fill('Tea & Sons');
  await page.getByRole('button', { name: 'Create account' }).click();
  const value = async (label: string) =>
    ((await page.locator(`dt:has-text("${label}") + dd`).first().textContent()) ?? '').replace(/ Copy$/, '');
  const merchant = {
    mid: await value('Account id'),
    client_key: await value('Client key'),
    merchant_key: await value('Merchant key'),
    password: await value('Password'),
  };
  const sale = saleFields(merchant);
  expect((await stage.shop.post(sale)).body).toMatchObject({ status: 'SETTLED' });
  await page
    .getByRole('searchbox', { name: 'Search payments' })
    .first()
    .fill(sale.order_id as string);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: sale.order_id as string }).click();
  await page.getByRole('link', { name: 'Refund' }).click();
  await page.getByLabel('Amount (USD)').fill('4.00');
  await page.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Done.').waitFor();
  await page.getByText('Partly refunded').waitFor();
  expect(await value('Refunded')).toBe('USD\u00a04.00');
});

test('an owner uploads a statement, saves the result, and copies the link to a payment', async () => {
  const { trans_id: id } = (await stage.shop.sale()).body;
  const page = await owner();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${stage.shop.url}/admin/reports/reconciliations`);
  const today = new Date().toISOString().slice(0, 10);
  const csv = `payment_id,amount,currency,date\n${id},10.00,USD,${today}\n`;
  await page
    .getByLabel('Statement (CSV)')
    .setInputFiles({ name: 'may.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'Totals' }).waitFor();
  // A dialogue of the browser would wait for a person.
  await page.evaluate('delete window.showSaveFilePicker');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const lines = readFileSync(await (await download).path(), 'utf8').split('\r\n');
  await page.getByText(`Saved: ${lines.length - 2} rows`).waitFor();
  expect(lines[1]).toMatch(`matched,sale,2,${id}`);
  await page.goto(`${stage.shop.url}/admin/payments/${id}?done=1`);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${stage.shop.url}/admin/payments/${id}`);
});

test('pages have no barriers, and nothing stands out of a small window', async () => {
  const { mid } = stage.shop.merchant;
  const { trans_id: id } = (await stage.shop.sale()).body;
  const paths = [
    '',
    '/payments',
    `/payments/${id}`,
    `/payments/${id}/refund`,
    `/payments/${id}/receipt`,
    '/accounts',
    `/accounts/${mid}`,
    '/connections',
    '/connections/new/upstream',
    `/accounts/${mid}/routes`,
    '/callbacks',
    `/callbacks/${id}-2`,
    '/schedules',
    '/requests',
    '/debugger',
    '/sandbox?brand=bank-a',
    '/sandbox/controls',
    '/sandbox/callbacks',
    '/operators',
    '/tokens',
    '/audit',
    '/accounts/new',
    ...['payments', 'payment_page', 'callbacks', 'access'].map((tab) => `/accounts/${mid}?tab=${tab}`),
    '/me',
    '/reports/reconciliations',
    `/reports/reconciliations/${await draft()}`,
  ];
  const page = await owner();
  for (const path of isLong ? paths : paths.slice(0, 6)) {
    await page.goto(`${stage.shop.url}/admin${path}`);
    await expectNoBarriers(page, path, sized(['light'], SCHEMES));
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`), path).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
});
