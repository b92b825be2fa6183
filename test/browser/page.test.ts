/** Branding and framing of the payment page, and its accessibility settings. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { cardForm, field, focused, isAtShop, ONCE, reads, setStage, way } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

test('other sites cannot frame the page', async () => {
  const page = await stage.payer({ complains: /frame/i });
  const { url } = await stage.open(CARD);
  const refused = page.waitForEvent('console', (message) => /frame/i.test(message.text()));
  await page.goto(`${stage.origin}/elsewhere?frame=${url}`);
  await refused;
  expect(await cardForm(page).number.count()).toBe(0);
  expect(page.frames().map((frame) => frame.url())).not.toContain(url);
});

test('an allowed shop can frame the page, and a card is paid in the frame', async () => {
  const merchant = await stage.shop.newMerchant({ frame_ancestors: [stage.origin] });
  const page = await stage.payer();
  const session = await stage.open(CARD, merchant);
  await page.goto(`${stage.origin}/basket?frame=${session.url}`);
  const frame = page.frameLocator('iframe');
  await frame.getByLabel(en.cardNumber).fill('4111111111111111');
  await frame.getByLabel(en.cardExpiry).fill('01/38');
  await frame.getByLabel(en.cardCvv, { exact: true }).fill('123');
  await frame.getByLabel(en.cardHolder).fill('Ada Byron');
  await frame.getByRole('button').click();
  await frame.getByRole('heading', { name: 'thanks' }).waitFor();
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('a payment method can be chosen with the keyboard, and unavailable methods are not offered', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, { methods: ['card', 'vcard'] });
  await page.keyboard.press('Tab');
  expect(await way(page, en.card).evaluate((link) => link.matches(':focus-visible'))).toBe(true);
  // The form of the first method is open, between the methods.
  for (const name of ['card_number', 'card_expiry', 'card_cvv', 'card_holder']) {
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe(name);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await field(page, 'identifier').fill('success@example.com');
  await page.keyboard.press('Enter');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.checkout.stateOf(session.id)).toBe('settled');
  await page.goto(`${session.url}?method=card`);
  await reads(page, en.paid);
  expect(await page.getByRole('button').count()).toBe(0);
});
