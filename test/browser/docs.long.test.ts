/** The docs site in a browser: search, samples, copying, the same without scripts, and what axe knows of barriers. */
import { expect, test } from 'vitest';
import { expectNoBarriers } from './barriers.ts';
import { setStage } from './stage.ts';

const stage = setStage();

test('a developer searches while typing, chooses a language once, and copies a sample', async () => {
  const page = await stage.payer();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${stage.shop.url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('verify a callback');
  await page.getByRole('list', { name: 'Search results' }).getByRole('link').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stage.shop.url}/docs/merchant/samples#verify-a-callback`);
  await page.getByText('Python', { exact: true }).last().click();
  await page.reload();
  for (const sample of ['session', 'callback']) {
    expect(await page.getByRole('region', { name: `${sample} in Python` }).isVisible()).toBe(true);
    expect(await page.getByRole('region', { name: `${sample} in curl` }).isVisible()).toBe(false);
  }
  await page.locator('.tab:visible').first().getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`"TURNPIKE_URL", "${stage.shop.url}"`);
});

test('the site works without scripts on a phone', async () => {
  const page = await stage.payer({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.goto(`${stage.shop.url}/docs/merchant/samples`);
  await page.getByText('Go', { exact: true }).nth(1).click();
  expect(await page.getByRole('region', { name: 'session in Go' }).isVisible()).toBe(true);
  await page.getByText('Chapters', { exact: true }).click();
  await page.getByRole('navigation', { name: 'Chapters' }).getByRole('link', { name: 'Callbacks' }).click();
  await page.getByRole('heading', { name: 'Callbacks', exact: true }).waitFor();
  await page.getByRole('searchbox').first().fill('capture');
  await page.keyboard.press('Enter');
  await page
    .getByRole('link', { name: /^Capture/ })
    .first()
    .click();
  await page.getByRole('heading', { level: 1 }).waitFor();
});

const PATHS = [
  '/docs',
  '/docs/merchant/samples',
  '/docs/states',
  '/docs/errors',
  '/docs/brands',
  '/docs/brands/ips',
  '/docs/reference',
  '/docs/reference/merchants',
  '/docs/reference/checkout',
  '/docs/search?q=hash',
  '/docs/search?q=zzz',
  '/docs/nowhere',
];

test.each(PATHS)('%s has no barriers, and nothing stands out of a small window', async (path) => {
  const page = await stage.payer({ viewport: { width: 1440, height: 900 } });
  await page.goto(stage.shop.url + path);
  await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
  await expectNoBarriers(page, path);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true);
});
