/** The panel in a browser: an account from its creation to the first refund, and what axe knows of barriers. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { saleFields } from '../support/gateway.ts';
import { COOKIE, signedIn } from '../support/operators.ts';
import { isLong, sized } from '../support/size.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

async function owner(width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const { cookie } = await signedIn(stage.shop, 'owner');
  const page = await stage.payer({ viewport: { width, height: 800 }, colorScheme });
  await page
    .context()
    .addCookies([
      { name: COOKIE, value: cookie, domain: '127.0.0.1', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' },
    ]);
  return page;
}

test('an owner creates an account, finds its first payment, and refunds it', async () => {
  const page = await owner();
  await page.goto(`${stage.shop.url}/admin/accounts`);
  await page.getByRole('link', { name: 'Create account' }).click();
  await page.getByLabel('Name').fill('Tea & Sons');
  await page.getByRole('button', { name: 'Create account' }).click();
  const value = async (label: string) =>
    (await page.locator(`dt:has-text("${label}") + dd`).first().textContent()) ?? '';
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
  expect(await value('Refunded')).toBe('4.00 USD');
});

test('pages have no barriers, and nothing stands out of a small window', async () => {
  const { mid } = stage.shop.merchant;
  const { trans_id: id } = (await stage.shop.sale()).body;
  const paths = [
    '',
    '/payments',
    `/payments/${id}`,
    `/payments/${id}/refund`,
    '/accounts',
    `/accounts/${mid}`,
    '/connections',
    '/connections/new/upstream',
    `/accounts/${mid}/routes`,
    '/callbacks',
    `/callbacks/${id}-2`,
    '/schedules',
    '/operators',
    '/tokens',
    '/audit',
  ];
  for (const scheme of sized(['light'] as const, ['light', 'dark'] as const)) {
    const page = await owner(1280, scheme);
    for (const path of isLong ? paths : paths.slice(0, 6)) {
      await page.goto(`${stage.shop.url}/admin${path}`);
      await page.evaluate(AXE);
      const found = await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })
        .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
      expect(found, `${path}, ${scheme}`).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`), path).toBe(true);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
  }
});
