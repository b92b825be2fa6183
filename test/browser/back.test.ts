/** The back button brings a page back as it was left: it shows nothing of a card, and leads nowhere twice. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/words/en.ts';
import type { Page } from '../support/browser.ts';
import { cardForm, confirmAtBank, fillCard, isAtShop, ONCE, payByCard, reads, setStage } from './stage.ts';

const stage = setStage({ keepsPages: true });
const CARD = { methods: ['card'] };

/** A page that was kept is not loaded. */
const goBack = (page: Page) => page.goBack({ waitUntil: 'commit' });

/** A payer, and what each page showed of a card at the moment when it was brought back. */
async function payer(): Promise<{ page: Page; broughtBack: string[] }> {
  const page = await stage.payer();
  const broughtBack: string[] = [];
  page.on('console', (message) => void (message.type() === 'info' && broughtBack.push(message.text())));
  await page.addInitScript(`addEventListener('pageshow', ({ persisted }) => {
    const shown = [...document.querySelectorAll('input:not([type=hidden])')].map(({ value }) => value);
    if (persisted) console.info([...shown, document.querySelector('#network')?.textContent].join(''));
  })`);
  return { page, broughtBack };
}

test('after paying the form comes back empty and becomes the page of what was paid', async () => {
  const { page, broughtBack } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  expect(await page.getByRole('button').count()).toBe(0);
  expect(broughtBack, 'it was brought back, with nothing in it').toEqual(['']);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that was left before it was sent comes back empty, and pays', async () => {
  const { page, broughtBack } = await payer();
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await cardForm(page).number.waitFor();
  expect(broughtBack).toEqual(['']);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that comes back after another tab has paid becomes the page of what was paid', async () => {
  const { page, broughtBack } = await payer();
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
  expect(broughtBack).toEqual(['']);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('the page that leads to the bank comes back with a button that can be pressed, and does not go on by itself', async () => {
  const { page, broughtBack } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await page.getByLabel('One-time code').waitFor();
  await goBack(page);
  await page.getByRole('button', { name: en.goToBank }).click();
  expect(broughtBack).toEqual(['']);
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
