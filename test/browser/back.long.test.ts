/** The back button: a restored page shows no card data and does not submit or redirect again. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import {
  bankOf,
  cardForm,
  confirmAtBank,
  field,
  fillCard,
  isAtShop,
  marked,
  ONCE,
  payByCard,
  payInVain,
  REFUSED_NAME,
  reads,
  setStage,
  wantForms,
  way,
} from './stage.ts';

const stage = setStage({ keepsPages: true });
const CARD = { methods: ['card'] };

/** A page from the back/forward cache does not fire `load`. */
const goBack = (page: Page) => page.goBack({ waitUntil: 'commit' });

/** A payer, and the card data that each restored page showed. */
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

/** The page was restored without card data; browsers may fire the event twice. */
async function wasRestoredEmpty(restored: readonly string[]): Promise<void> {
  const message = 'how often the browser restored the page';
  await expect.poll(() => restored.length, { message }).toBeGreaterThan(0);
  expect([...new Set(restored)], 'with nothing in it').toEqual(['']);
}

/** The errors that the page shows. */
const problems = (page: Page) => page.locator('[aria-invalid], .error:visible, .notice:visible').allTextContents();

test('after a payment the form becomes the result page', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  expect(await page.getByRole('button').count()).toBe(0);
  // A browser that has sent the form by script usually loads the page again.
  expect(
    restored.filter((shown) => shown !== ''),
    'card data of a restored page',
  ).toEqual([]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that was left before submission is restored empty, and can pay', async () => {
  const { page, restored } = await payer();
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await cardForm(page).number.waitFor();
  await wasRestoredEmpty(restored);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that is restored after another tab has paid becomes the result page', async () => {
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
  await wasRestoredEmpty(restored);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer who goes back from the shop after paying stays on the result page', async () => {
  const { page } = await payer();
  await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await goBack(page);
  await reads(page, en.paid);
  // Otherwise it leads back to the shop after five seconds.
  await page.waitForTimeout(7000);
  await reads(page, en.paid);
  expect(await page.locator('[data-with-go]').isHidden()).toBe(true);
});

test('a payer who goes back from the bank to the card form can cancel or continue', async () => {
  const { page } = await payer();
  const session = await stage.visit(page, { methods: ['card', 'doc-a'] });
  await way(page, en.card).click();
  await payByCard(page, '05/38');
  await bankOf(page).getByLabel('One-time code').waitFor();
  await page.evaluate('history.go(-2)');
  const goToBank = page.getByRole('button', { name: en.goToBank });
  await goToBank.waitFor();
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await goToBank.click();
  await page.locator('dialog[open]').waitFor();
  await page.goto(session.url);
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a form that was left with errors is restored empty and without errors', async () => {
  const { page, restored } = await payer();
  await stage.visit(page, CARD);
  await fillCard(page, '13/38');
  await cardForm(page).pay.click();
  expect(Object.keys(await marked(page))).toEqual(['card_expiry']);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await goBack(page);
  await cardForm(page).number.waitFor();
  await wasRestoredEmpty(restored);
  expect(await problems(page)).toEqual([]);
});

test('a form with refused values is cleared when it is left', async () => {
  const { page } = await payer();
  await stage.visit(page, CARD);
  await payInVain(page);
  await page.getByRole('alert').waitFor();
  const { expiry, holder } = cardForm(page);
  const typed = () => Promise.all([expiry, holder].map((input) => input.inputValue()));
  expect(await typed()).toEqual(['01/38', REFUSED_NAME]);
  // This browser does not cache a page with this status; others do.
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
  expect([await typed(), await problems(page)]).toEqual([['', ''], []]);
});

test('a payer who goes back from the page of the bank is not led there again, and can open the link again', async () => {
  const { page } = await payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await bankOf(page).getByLabel('One-time code').waitFor();
  await page.getByRole('button', { name: en.challenge.openBank }).click();
  await page.getByLabel('One-time code').waitFor();
  await goBack(page);
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: en.goToBank }).waitFor();
  await page.goto(session.url);
  await confirmAtBank(bankOf(page));
  await expect.poll(() => stage.paidTimes(session)).toEqual(ONCE);
  await bankOf(page).owner().waitFor({ state: 'detached' });
});

/** The ways on from a payment that was begun at a provider. */
const waysOn = (page: Page) => ({
  bank: page.getByRole('link', { name: en.goToBank }).or(page.getByRole('link', { name: en.openAgain })),
  another: page.getByRole('button', { name: en.otherWays }),
  shop: page.getByRole('link', { name: en.cancel }),
});

/** The payer presses the button of a method until the page of its provider is there. */
const REDIRECTS: [method: string, start: (page: Page) => Promise<void>][] = [
  [
    'bank-a',
    async (page) => {
      for (const [name, value] of [
        ['payer_first_name', 'Ada'],
        ['payer_last_name', 'Byron'],
        ['parameters[bank_code]', 'DEUTDEFF'],
        ['parameters[bank_account_number]', '17'],
      ] as const) {
        await field(page, name).fill(value);
      }
      await page.getByRole('button', { name: en.next }).click();
    },
  ],
  ['local-a', (page) => page.getByRole('button', { name: en.next }).click()],
  ['card', (page) => payByCard(page, '12/38')],
];

const isAtProvider = (page: Page): Promise<void> =>
  page.waitForURL((url) => url.href.startsWith(`${stage.shop.provider?.url}/pay/`));

test.each(REDIRECTS)('Back from the provider of %s, once and twice, finds the ways on', async (method, start) => {
  const { page, restored } = await payer();
  const session = await stage.open({ methods: ['vcard', method] });
  await page.goto(`${stage.origin}/basket`);
  await page.goto(session.url);
  await page.locator(`a[href="?method=${method}"]`).click();
  await page.waitForURL(/method=/);
  await start(page);
  await isAtProvider(page);
  const { bank, another, shop } = waysOn(page);
  for (const times of ['once', 'twice']) {
    await goBack(page);
    for (const way of [bank, another, shop]) await way.waitFor();
    expect(new URL(page.url()).origin, times).toBe(new URL(session.url).origin);
  }
  expect(
    restored.filter((shown) => shown !== ''),
    'what was typed',
  ).toEqual([]);
  await bank.click();
  await isAtProvider(page);
  await goBack(page);
  await another.click();
  await reads(page, en.howToPay);
  await way(page, en.methods.test).click();
  await field(page, 'identifier').fill('success@example.com');
  await page.getByRole('button', { name: en.next }).click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toMatchObject({ settled: 1 });
});

test('Back from a provider that expects a form finds the ways on, and is not sent there again', async () => {
  const { page } = await payer();
  wantForms(stage, `${stage.origin}/form`, { account: '17' });
  const session = await stage.open({ methods: ['local-a', 'vcard'] });
  await page.goto(`${session.url}?method=local-a`);
  await page.getByRole('button', { name: en.next }).click();
  await reads(page, 'form');
  const { another, shop } = waysOn(page);
  for (const _ of ['once', 'twice']) {
    await goBack(page);
    for (const way of [another, shop]) await way.waitFor();
  }
  await shop.click();
  await isAtShop(page, stage, 'basket');
});
