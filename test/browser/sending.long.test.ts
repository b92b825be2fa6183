/** The form is sent without leaving the page: nothing that was typed is lost, and an order is paid once. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page, Route } from '../support/browser.ts';
import { cardForm, fillCard, isAtShop, marked, ONCE, payInVain, reads, setStage } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const NUMBER = '4111 1111 1111 1111';

/** What the browser says about a request that fails. */
const NO_NETWORK = /ERR_|50\d for/;

const values = ({ number, expiry, cvv, holder }: ReturnType<typeof cardForm>): Promise<string[]> =>
  Promise.all([number, expiry, cvv, holder].map((input) => input.inputValue()));

/** The text of the notice in the form. */
const notice = (page: Page) => page.getByRole('alert').filter({ visible: true });
const says = (page: Page, text: string): Promise<void> => notice(page).getByText(text).waitFor();

/** What happens to the requests that send the form. */
const onSubmit = (page: Page, url: string, handle: (route: Route) => Promise<void>): Promise<unknown> =>
  page.route(url, (route) => (route.request().method() === 'POST' ? handle(route) : route.continue()));

test('without a connection the page stays with all input, and pays once the connection is back', async () => {
  const page = await stage.payer({ complains: NO_NETWORK });
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await page.context().setOffline(true);
  await cardForm(page).pay.click();
  await says(page, en.sending.lost);
  expect(await page.getByRole('button', { name: en.paying }).isDisabled(), 'while it asks').toBe(true);
  await page.context().setOffline(false);
  await says(page, en.sending.again);
  expect(await values(cardForm(page))).toEqual([NUMBER, '01/38', '123', 'Ada Byron']);
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('an error of the server is said in the page, which keeps all input', async () => {
  const page = await stage.payer({ complains: NO_NETWORK });
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await onSubmit(page, session.url, (route) => route.fulfill({ status: 503, body: '<h1>Sorry</h1>' }));
  await cardForm(page).pay.click();
  await says(page, en.sending.again);
  expect(await values(cardForm(page))).toEqual([NUMBER, '01/38', '123', 'Ada Byron']);
  await page.unroute(session.url);
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

/** The form arrives, and the answer to it is lost. */
const loseAnswer = async (route: Route): Promise<void> => {
  await route.fetch();
  await route.abort();
};

test('a payment whose answer is lost is found, and is not made again', async () => {
  const page = await stage.payer({ complains: NO_NETWORK });
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await onSubmit(page, session.url, loseAnswer);
  await cardForm(page).pay.click();
  await reads(page, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a decline whose answer is lost is shown at the form, which keeps all but the code', async () => {
  const page = await stage.payer({ complains: NO_NETWORK });
  const session = await stage.visit(page, CARD);
  await fillCard(page, '02/38');
  await onSubmit(page, session.url, loseAnswer);
  await cardForm(page).pay.click();
  await says(page, en.noMoney);
  expect(await values(cardForm(page))).toEqual([NUMBER, '02/38', '', 'Ada Byron']);
  expect(await page.title()).toMatch(en.declined);
  await page.unroute(session.url);
  await fillCard(page);
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('what only the server refuses is marked in the page, which keeps all input', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payInVain(page);
  await expect.poll(() => marked(page)).toEqual({ card_holder: en.cardProblems.holder });
  expect((await values(cardForm(page)))[0]).toBe(NUMBER);
  await cardForm(page).holder.fill('Ada Byron');
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('another tab that was declined does not empty the form of this one', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  const other = await page.context().newPage();
  await other.goto(session.url);
  await fillCard(page);
  await fillCard(other, '02/38');
  await cardForm(other).pay.click();
  await says(other, en.noMoney);
  await page.bringToFront();
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await says(page, en.noMoney);
  expect((await values(cardForm(page)))[0]).toBe(NUMBER);
  await cardForm(page).cvv.fill('123');
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
