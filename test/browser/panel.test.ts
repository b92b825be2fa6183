/** The panel in a browser: an account from its creation to the first refund, and what axe knows of barriers. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { saleFields } from '../support/gateway.ts';
import { sessionCookie, signedIn } from '../support/operators.ts';
import { nextTotpCode, PASSWORD, signedUp } from '../support/sign-in.ts';
import { isLong, sized } from '../support/size.ts';
import { expectNoBarriers, SCHEMES } from './barriers.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const owner = async (): Promise<Page> => panelPage((await signedIn(stage.shop, 'owner')).cookie);

async function panelPage(cookie: string): Promise<Page> {
  const page = await stage.payer({ viewport: DESKTOP });
  await page.context().addCookies([sessionCookie(cookie)]);
  return page;
}

/** An owner with a password whose last proof of who it is was long ago, and the code that it proves it with. */
async function unconfirmedOwner(): Promise<{ page: Page; confirm(tab: Page): Promise<void> }> {
  const { visitor, operatorId, seed } = await signedUp(stage.shop);
  await stage.shop.rows(
    `update operator_sessions set confirmed_at = now() - interval '11 minutes' where operator_id = '${operatorId}'`,
  );
  const page = await panelPage(visitor.cookie.replace(/^.*?=/, ''));
  const confirm = async (tab: Page): Promise<void> => {
    await tab.locator('#password').fill(PASSWORD);
    await tab.locator('#code').fill(nextTotpCode(seed));
    await tab.getByRole('button', { name: 'Confirm', exact: true }).click();
  };
  return { page, confirm };
}

/** A statement that was uploaded and not compared. */
async function draft(): Promise<string> {
  const { upload } = await signedIn(stage.shop, 'owner');
  const file = new File(['payment_id,amount,currency,note\nx,1.00,USD,y\n'], 'draft.csv');
  return (await upload('/admin/reports/reconciliations', file)).location?.split('/').at(-1) ?? '';
}

test('charts of a few days name each day of UTC once, wherever the operator is', async () => {
  await stage.shop.sale();
  const page = await stage.payer({ viewport: DESKTOP, timezoneId: 'America/New_York' });
  const { cookie } = await signedIn(stage.shop, 'owner');
  await page.context().addCookies([sessionCookie(cookie)]);
  await page.addInitScript(`window.drawn = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      drawn.push(text);
      return fillText.call(this, text, ...rest);
    };`);
  await page.goto(`${stage.shop.url}/admin?days=7`);
  const dates = async (): Promise<string[]> =>
    ((await page.evaluate('drawn')) as string[]).filter((text) => /^[A-Z][a-z]{2} \d+$/.test(text));
  await expect.poll(async () => (await dates()).length).toBeGreaterThan(3);
  const drawn = await dates();
  expect(drawn.filter((text, at) => text === drawn[at - 1])).toEqual([]);
  const today = new Date(stage.shop.gateway.clock.now()).toLocaleDateString('en', {
    ...{ month: 'short', day: 'numeric', timeZone: 'UTC' },
  });
  expect(drawn).toContain(today);
});

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
  await page.getByText('USD\u00a04.00 was refunded.').waitFor();
  await page.getByText('Partly refunded').waitFor();
  expect(await value('Refunded')).toBe('USD\u00a04.00');
});

test('a refund asks for a proof before its form is filled in', async () => {
  const { trans_id: id } = (await stage.shop.sale()).body;
  const { page, confirm } = await unconfirmedOwner();
  await page.goto(`${stage.shop.url}/admin/payments/${id}`);
  await page.getByRole('link', { name: 'Refund' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await confirm(page);
  await page.getByLabel('Amount (USD)').fill('4.00');
  await page.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Partly refunded').waitFor();
});

test('fields that are disabled look so', async () => {
  const { page } = await unconfirmedOwner();
  await page.goto(`${stage.shop.url}/admin/me`);
  const opacities: number[] =
    await page.evaluate(`[...document.querySelectorAll(':is(input,select,textarea,button):disabled')]
    .map((control) => Number(getComputedStyle(control).opacity))`);
  expect(opacities.length).toBeGreaterThan(1);
  expect(opacities.filter((opacity) => opacity >= 1)).toEqual([]);
  const enabled: number[] = await page.evaluate(`[...document.querySelectorAll('main select:enabled')]
    .map((control) => Number(getComputedStyle(control).opacity))`);
  expect(new Set(enabled)).toEqual(new Set([1]));
});

test('settings that were typed without a proof are kept until the operator goes on', async () => {
  const { mid } = await stage.shop.newMerchant();
  const { page, confirm } = await unconfirmedOwner();
  await page.goto(`${stage.shop.url}/admin/accounts/${mid}?tab=notifications`);
  const address = page.locator('[name=callback_url]');
  await address.fill('https://shop.example/hook');
  await page.getByRole('button', { name: 'Save settings' }).first().click();
  await page.getByText('Nothing was changed yet.').waitFor();
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    await expectNoBarriers(page, 'the form that waits');
  }
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Confirm in a new tab' }).click();
  const tab = await opened;
  await confirm(tab);
  await tab.getByText('You have confirmed that it is you').waitFor();
  await tab.close();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await address.inputValue()).toBe('https://shop.example/hook');
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
    ...['page', 'methods', 'notifications', 'security', 'advanced'].map((tab) => `/accounts/${mid}?tab=${tab}`),
    '/me',
    ...['settlements', 'owed', 'payouts', 'calendar'].map((name) => `/ledger/${name}`),
    `/accounts/${mid}/settlement`,
    '/reports/reconciliations',
    `/reports/reconciliations/${await draft()}`,
  ];
  const page = await owner();
  for (const path of isLong ? paths : paths.slice(0, 6)) {
    await page.goto(`${stage.shop.url}/admin${path}`);
    await expectNoBarriers(page, path, sized(['light'], SCHEMES));
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`), path).toBe(true);
    await page.setViewportSize(DESKTOP);
  }
});
