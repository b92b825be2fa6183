/** The back button brings a page back as it was left: it shows nothing of a card, and leads nowhere twice. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import {
  cardForm,
  confirmAtBank,
  fillCard,
  isAtShop,
  marked,
  ONCE,
  payByCard,
  reads,
  setStage,
  stopTime,
  way,
} from './stage.ts';

const stage = setStage({ keepsPages: true });
const CARD = { methods: ['card'] };

/** A page that was kept is not loaded. */
const goBack = (page: Page) => page.goBack({ waitUntil: 'commit' });

/** A payer, and what each page showed of a card at the moment when it was brought back. */
async function payer(): Promise<{ page: Page; restored: string[] }> {
  const page = await stage.payer();
  const restored: string[] = [];
  page.on('console', (message) => void (message.type() === 'info' && restored.push(message.text())));
  await page.addInitScript(`addEventListener('pageshow', ({ persisted }) => {
    const shown = [...document.querySelectorAll('input:not([type=hidden])')].map(({ value }) => value);
    if (persisted) console.info([...shown, document.querySelector('#network')?.textContent].join(''));
  })`);
  return { page, restored };
}

/** The page was brought back, and showed nothing of a card; a browser may tell so twice. */
async function cameBackEmpty(restored: readonly string[]): Promise<void> {
  const message = 'the browser kept the page and brought it back: how often';
  await expect.poll(() => restored.length, { message }).toBeGreaterThan(0);
  expect([...new Set(restored)], 'with nothing in it').toEqual(['']);
}

/** What the page says is wrong. */
const problems = (page: Page) => page.locator('[aria-invalid], .error:visible, .notice:visible').allTextContents();

test('after paying the form comes back empty and becomes the page of what was paid', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  expect(await page.getByRole('button').count()).toBe(0);
  await cameBackEmpty(restored);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that was left before it was sent comes back empty, and pays', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await cardForm(page).number.waitFor();
  await cameBackEmpty(restored);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that comes back after another tab has paid becomes the page of what was paid', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  const other = await page.context().newPage();
  await other.goto(session.url);
  await payByCard(other);
  await isAtShop(other, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  await cameBackEmpty(restored);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who goes back from the shop after paying stays at what was paid', async () => {
  const { page, restored } = await payer();
  await stopTime(page);
  await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  await page.clock.fastForward(20_000);
  await reads(page, en.paid);
  expect(await page.locator('[data-with-go]').isHidden()).toBe(true);
  await cameBackEmpty(restored);
});

test('who goes back from the bank to the form of the card stays with us, and can cancel or go on', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, { methods: ['card', 'doc-a'] });
  await way(page, en.card).click();
  await payByCard(page, '05/38');
  await page.getByLabel('One-time code').waitFor();
  await page.evaluate('history.go(-2)');
  await reads(page, en.unfinished);
  await cameBackEmpty(restored);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await page.getByRole('button', { name: en.goToBank }).click();
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that was left with something wrong comes back empty, and with nothing marked', async () => {
  const { page, restored } = await payer();
  await stage.visit(page, CARD);
  await fillCard(page, '13/38');
  await cardForm(page).pay.click();
  expect(Object.keys(await marked(page))).toEqual(['card_expiry']);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await cardForm(page).number.waitFor();
  await cameBackEmpty(restored);
  expect(await problems(page)).toEqual([]);
});

test('a form of refused details is empty when it is left, too', async () => {
  const { page } = await payer();
  await stage.visit(page, CARD);
  await payByCard(page, '05/20');
  await page.getByRole('alert').waitFor();
  const { expiry, holder } = cardForm(page);
  const typed = () => Promise.all([expiry, holder].map((input) => input.inputValue()));
  expect(await typed()).toEqual(['05/20', 'Ada Byron']);
  // This browser keeps no page that was answered like this; others do.
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
  expect([await typed(), await problems(page)]).toEqual([['', ''], []]);
});

test('the page that leads to the bank comes back with a button that can be pressed, and does not go on by itself', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await page.getByLabel('One-time code').waitFor();
  await goBack(page);
  await page.getByRole('button', { name: en.goToBank }).click();
  await cameBackEmpty(restored);
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
