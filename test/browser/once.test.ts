/** An order is paid once, whatever a payer presses, reloads, opens twice or goes back to. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { cardForm, fillCard, goAgain, isAtShop, ONCE, reads, setStage } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

test('a double click pays once, and the button shows progress', async () => {
  const page = await stage.payer();
  // The browser leaves the page at once, so the page itself records what it showed.
  await page.addInitScript(`addEventListener('submit', ({ target }) => queueMicrotask(() => {
    const { disabled, textContent } = target.querySelector('button');
    console.info(JSON.stringify([target.ariaBusy, disabled, textContent]));
  }))`);
  const pressed = page.waitForEvent('console', (message) => message.type() === 'info');
  let sent = 0;
  page.on('request', (request) => {
    sent += request.method() === 'POST' ? 1 : 0;
  });
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  await cardForm(page).pay.dblclick();
  expect(JSON.parse((await pressed).text())).toEqual(['true', true, en.paying]);
  await isAtShop(page, stage, 'thanks');
  expect([sent, await stage.paidTimes(session)]).toEqual([1, ONCE]);
});

test.each([true, false])(
  'a form that is submitted twice at the same time pays once: JavaScript %j',
  async (javaScriptEnabled) => {
    const [first, second] = await Promise.all([stage.payer({ javaScriptEnabled }), stage.payer({ javaScriptEnabled })]);
    const session = await stage.visit(first, CARD);
    await second.goto(session.url);
    await Promise.all([fillCard(first), fillCard(second)]);
    await Promise.all([first, second].flatMap((page) => [page.waitForEvent('load'), cardForm(page).pay.click()]));
    await expect.poll(() => stage.paidTimes(session)).toEqual(ONCE);
    for (const page of [first, second]) {
      await goAgain(page, session.url);
      await reads(page, en.paid);
    }
  },
);
