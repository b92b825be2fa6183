/** The pages on risk in a browser: the review queue worked by keys, and a rule built from choices. */
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { COOKIE, signedIn } from '../support/operators.ts';
import { expectNoBarriers } from './barriers.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const PHONE = { width: 390, height: 844 };

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

test('the review queue is worked by keys: move, approve, refuse after a question, help', async () => {
  const merchant = await stage.shop.newMerchant();
  await stage.shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant.mid, name: 'Large', state: 'on', action: { kind: 'review', hours: 24, then: 'refuse' } },
    condition: { field: 'amount', op: '>', value: '50.00', currency: 'USD' },
  });
  const ids: string[] = [];
  for (const order_amount of ['61.00', '62.00', '63.00'])
    ids.push((await stage.shop.sale({ order_amount }, merchant)).body.trans_id);
  const stateOf = async (id: string | undefined) => (await stage.shop.inspect(id as string)).status;
  const page = await owner();
  await page.goto(`${stage.shop.url}/admin/risk`);
  const selected = page.locator('tr[aria-current=true]');
  expect(await selected.textContent()).toContain('61.00');
  await page.keyboard.press('?');
  await page.getByText('Next payment').waitFor({ state: 'visible' });
  await expectNoBarriers(page, 'the queue');
  await page.keyboard.press('?');
  await page.getByText('Next payment').waitFor({ state: 'hidden' });
  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
  expect(await selected.textContent()).toContain('62.00');
  await page.keyboard.press('a');
  await page.getByText('The payment was approved.').waitFor();
  expect(await stateOf(ids[1])).toBe('SETTLED');
  expect(await selected.textContent()).toContain('63.00');
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.keyboard.press('r');
  expect(await stateOf(ids[2])).toBe('PENDING');
  page.once('dialog', (dialog) => void dialog.accept());
  await page.keyboard.press('r');
  await page.getByText('The payment was refused.').waitFor();
  expect(await stateOf(ids[2])).toBe('VOID');
  expect(await selected.textContent()).toContain('61.00');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/admin/payments/${ids[0]}`);
});

test('a rule is built from choices, which show only what belongs to them', async () => {
  const { mid } = await stage.shop.newMerchant();
  const page = await owner();
  await page.goto(`${stage.shop.url}/admin/risk/rules/new`);
  await page.getByLabel('Name').fill('Many cards');
  await page.getByLabel('Account').selectOption(mid);
  await page.getByLabel('What happens').selectOption('review');
  await page.getByLabel('Hours until').fill('12');
  expect(await page.getByLabel('Points').isVisible()).toBe(false);
  await page.getByLabel('Field').selectOption('payer_country');
  expect(await page.getByLabel('Currency of the amount').isVisible()).toBe(false);
  await page.getByLabel('Comparison', { exact: true }).selectOption('in');
  await page.getByLabel('Value', { exact: true }).fill('DE, FR');
  await page.getByRole('button', { name: 'Add a velocity' }).click();
  await page.getByLabel('What is counted').selectOption('distinct');
  await page.getByLabel('Value', { exact: true }).last().fill('3');
  for (const viewport of [PHONE, { width: 1280, height: 800 }]) {
    await page.setViewportSize(viewport);
    await expectNoBarriers(page, 'the form of a rule');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }
  // The Enter key saves, and neither adds nor removes a row.
  await page.getByLabel('Value', { exact: true }).last().press('Enter');
  await page.getByText('The rule was saved.').waitFor();
  const [rule] = (await stage.shop.admin('GET', `/risk/rules?mid=${mid}`)).body.items;
  expect(rule).toMatchObject({
    name: 'Many cards',
    action: { kind: 'review', hours: 12, then: 'refuse' },
    condition: {
      all: [
        { field: 'payer_country', op: 'in', value: ['DE', 'FR'] },
        { velocity: { measure: 'distinct', of: 'card', by: ['email'], within: '24h' }, op: '>=', value: 3 },
      ],
    },
  });
});
