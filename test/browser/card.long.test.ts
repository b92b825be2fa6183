/** The card form on small phones, for browsers that fill it in, and for payers who leave it. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { cardForm, fillCard, isAtShop, ONCE, payByCard, setStage, way } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

test('nothing covers the number, on the smallest phone and right-to-left', async () => {
  const page = await stage.payer({ viewport: { width: 320, height: 640 } });
  const { url } = await stage.open(CARD);
  for (const language of ['en', 'ar']) {
    await page.setExtraHTTPHeaders({ 'accept-language': language });
    await page.goto(url);
    const number = page.locator('#card_number');
    await number.fill('6222021234567890123');
    await page.locator('#network').getByText('UnionPay').waitFor();
    const [input, network] = await Promise.all([number.boundingBox(), page.locator('#network').boundingBox()]);
    expect((network?.y ?? 0) + (network?.height ?? 0)).toBeLessThanOrEqual(input?.y ?? 0);
    expect(await number.evaluate((input) => input.scrollWidth - input.clientWidth), 'the whole number is visible').toBe(
      0,
    );
  }
});

test('supports autofill, with years of two and four digits', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  const { number, expiry, cvv, holder } = cardForm(page);
  const purposes = [number, expiry, cvv, holder].map((input) => input.getAttribute('autocomplete'));
  expect(await Promise.all(purposes)).toEqual(['cc-number', 'cc-exp', 'cc-csc', 'cc-name']);
  for (const input of [number, expiry, cvv]) expect(await input.getAttribute('inputmode')).toBe('numeric');
  await payByCard(page, '01/2038');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('cancelling returns to the shop and submits nothing', async () => {
  const page = await stage.payer();
  const { id } = await stage.visit(page, { methods: ['card', 'doc-a'] });
  await way(page, en.card).click();
  await fillCard(page);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  expect(await stage.checkout.events(id)).toEqual(['opened']);
});
