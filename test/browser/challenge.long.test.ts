/** The challenge of the card's bank in a dialog of the payment page, and the ways out of it. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import type { Session } from '../support/checkout.ts';
import {
  AT_BANK,
  bankOf,
  cardForm,
  confirmAtBank,
  isAtShop,
  ONCE,
  passTime,
  payByCard,
  reads,
  setStage,
  stopTime,
} from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const NOTHING = { settled: 0, submitted: 0, moved: 0 };
const BLOCKED = /Refused to (display|frame)|violates the following Content Security Policy|X-Frame-Options|framing/i;

/** A payer whose bank asks for a code in the dialog. */
async function challenged(page: Page, expiry = '05/38'): Promise<Session> {
  const session = await stage.visit(page, CARD);
  await payByCard(page, expiry);
  await reads(bankOf(page), AT_BANK);
  return session;
}
const dialog = (page: Page) => page.getByRole('dialog', { name: en.confirmAtBank });
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name });

test('only the bank’s origin may be framed, and on other pages none', async () => {
  const page = await stage.payer();
  const session = await stage.open(CARD);
  const frames = async () =>
    (await page.goto(session.url))?.headers()['content-security-policy']?.match(/frame-src [^;]+/)?.[0];
  expect(await frames()).toBeUndefined();
  await payByCard(page, '05/38');
  await reads(bankOf(page), AT_BANK);
  const bank = new URL(page.frame('bank')?.url() ?? '').origin;
  expect(await frames()).toBe(`frame-src 'self' ${bank}`);
  const frame = page.locator('dialog iframe');
  expect((await frame.getAttribute('sandbox'))?.split(' ')).not.toContain('allow-top-navigation');
});

test('a challenge that fails returns to the card form, in which another card pays', async () => {
  const page = await stage.payer();
  const session = await challenged(page, '06/38');
  await confirmAtBank(bankOf(page));
  await page.getByRole('alert').getByText(en.reasons.notConfirmed).waitFor();
  await payByCard(page, '01/38');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a reload shows the dialog again; Back and Escape close it without losing the payment', async () => {
  const page = await stage.payer();
  const session = await challenged(page);
  await page.reload();
  await reads(bankOf(page), AT_BANK);
  await page.goBack();
  await dialog(page).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: en.goToBank }).click();
  await bankOf(page).getByLabel('One-time code').waitFor();
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: en.goToBank }).click();
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('another card ends the challenge: a confirmation that comes afterwards pays nothing', async () => {
  const page = await stage.payer();
  const session = await challenged(page);
  const late = await page.context().newPage();
  // The late window does not look after the payment by itself.
  await stopTime(late);
  await late.goto(session.url);
  await reads(bankOf(late), AT_BANK);
  await button(page, en.challenge.anotherCard).click();
  await page.getByRole('status').getByText(en.challenge.left).waitFor();
  expect(await page.title()).not.toContain(en.declined);
  await confirmAtBank(bankOf(late));
  await cardForm(late).number.waitFor();
  expect(await stage.paidTimes(session)).toEqual(NOTHING);
  await page.clock.resume();
  await payByCard(page, '01/38');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a bank that forbids frames: the button opens its page', async () => {
  const page = await stage.payer({ complains: BLOCKED });
  await page.route('**/3ds/acs', async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), 'content-security-policy': "frame-ancestors 'none'" };
    await route.fulfill({ response, headers });
  });
  const session = await stage.visit(page, CARD);
  const blocked = page.waitForEvent('console', (message) => BLOCKED.test(message.text()));
  await payByCard(page, '05/38');
  await blocked;
  await button(page, en.challenge.openBank).click();
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a bank that leads the frame to another origin, or does not answer in time, gets the whole window', async () => {
  for (const isSilent of [false, true]) {
    const page = await stage.payer({ complains: BLOCKED });
    if (isSilent) await page.clock.install();
    await page.route('**/3ds/acs', async (route) => {
      if (route.request().frame() === page.mainFrame()) return route.continue();
      if (!isSilent) await route.fulfill({ status: 302, headers: { location: 'http://localhost:9/' } });
    });
    const session = await stage.visit(page, CARD);
    await payByCard(page, '05/38');
    if (isSilent) {
      await dialog(page).waitFor();
      await passTime(page, 9000);
    }
    await confirmAtBank(page);
    await isAtShop(page, stage, 'thanks');
    expect(await stage.paidTimes(session)).toEqual(ONCE);
  }
});

test.each([
  ['a phone', { width: 390, height: 844 }, { width: 390, height: 700 }],
  ['a small window', { width: 1024, height: 600 }, { width: 390, height: 400 }],
  ['a desktop', { width: 1280, height: 800 }, { width: 500, height: 600 }],
])('the size of the challenge on %s', async (_, viewport, least) => {
  const page = await stage.payer({ viewport });
  await challenged(page);
  const box = await page.locator('dialog iframe').boundingBox();
  expect(box?.width).toBe(least.width);
  expect(box?.height).toBeGreaterThanOrEqual(least.height);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});
