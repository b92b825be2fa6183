/** More that a payer may press, open twice or load again: one order is paid once. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Route } from '../support/browser.ts';
import {
  bankOf,
  cardForm,
  confirmAtBank,
  field,
  fillCard,
  goAgain,
  isAtShop,
  ONCE,
  payByCard,
  payInVain,
  reads,
  setStage,
} from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

test('a submission that was interrupted can be repeated, and pays once', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await fillCard(page);
  // The first request does not arrive, and the page stays to ask for the state of the payment.
  let isFirst = true;
  await page.route(session.url, (route) => {
    const isLost = isFirst;
    isFirst = false;
    return isLost ? route.fulfill({ status: 204 }) : route.continue();
  });
  const asked: Route[] = [];
  await page.route('**/status', (route) => (asked.push(route) === 1 ? undefined : route.continue()));
  await cardForm(page).pay.click();
  await expect.poll(() => asked.length).toBe(1);
  expect(await page.getByRole('button', { name: en.paying }).isDisabled()).toBe(true);
  await asked[0]?.continue();
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a page that becomes visible polls once, however many events it gets', async () => {
  const page = await stage.payer();
  await stage.visit(page, CARD);
  const held: Route[] = [];
  await page.route('**/status', (route) => void held.push(route));
  const turnTo = () =>
    page.evaluate(
      "for (let i = 0; i < 3; i++) { dispatchEvent(new Event('focus')); document.dispatchEvent(new Event('visibilitychange')) }",
    );
  await turnTo();
  await expect.poll(() => held.length).toBe(1);
  const answered = page.waitForResponse('**/status');
  await held[0]?.continue();
  await (await answered).finished();
  await expect
    .poll(async () => {
      await turnTo();
      return held.length;
    })
    .toBe(2);
});

test('a second window detects that the first has paid as soon as it gets the focus', async () => {
  const first = await stage.payer();
  const session = await stage.visit(first, CARD);
  const second = await first.context().newPage();
  await second.goto(session.url);
  await fillCard(second);
  await payByCard(first);
  await isAtShop(first, stage, 'thanks');
  await second.evaluate("dispatchEvent(new Event('focus'))");
  await reads(second, en.paid);
  expect(await second.locator('input').count(), 'nothing of what was typed').toBe(0);
});

test.each([true, false])(
  'a second tab with another payment method cannot pay again: JavaScript %j',
  async (javaScriptEnabled) => {
    const first = await stage.payer({ javaScriptEnabled });
    const session = await stage.open({ methods: ['card', 'doc-a'] });
    const second = await first.context().newPage();
    await first.goto(`${session.url}?method=card`);
    await second.goto(`${session.url}?method=doc-a`);
    await field(second, 'parameters[document_number]').fill('45678912');
    await payByCard(first);
    await isAtShop(first, stage, 'thanks');
    await second.getByRole('button', { name: en.next }).click();
    await reads(second, en.paid);
    expect(await stage.paidTimes(session)).toEqual(ONCE);
    expect(await stage.checkout.attempts(session.orderId)).toHaveLength(1);
  },
);

test('a second tab that submits another card during a challenge is redirected to the same challenge', async () => {
  const first = await stage.payer();
  const session = await stage.visit(first, CARD);
  const second = await first.context().newPage();
  await second.goto(session.url);
  await fillCard(second, '01/38', '5555 5555 5555 4444');
  await payByCard(first, '05/38');
  await bankOf(first).getByLabel('One-time code').waitFor();
  await cardForm(second).pay.click();
  await bankOf(second).getByText('1111').waitFor();
  await confirmAtBank(bankOf(second));
  await isAtShop(second, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  await goAgain(first, session.url);
  await reads(first, en.paid);
});

test.each([true, false])(
  'reloading a page with refused values pays nothing: JavaScript %j',
  async (javaScriptEnabled) => {
    const page = await stage.payer({ javaScriptEnabled });
    const session = await stage.visit(page, CARD);
    await payInVain(page);
    await page.getByRole('alert').waitFor();
    await page.reload();
    await cardForm(page).number.waitFor();
    expect(await stage.checkout.events(session.id)).toEqual(['opened']);
    await payByCard(page);
    await isAtShop(page, stage, 'thanks');
    expect(await stage.paidTimes(session)).toEqual(ONCE);
  },
);

test('refuses a form that another site submits', async () => {
  const page = await stage.payer();
  const session = await stage.open(CARD);
  await page.goto(`${stage.origin}/elsewhere`);
  await page.evaluate(`{
    const form = Object.assign(document.createElement('form'), { method: 'post', action: '${session.url}' });
    form.innerHTML = '<input name="card_number" value="4111111111111111">';
    document.body.append(form);
    form.submit();
  }`);
  await reads(page, en.foreign);
  await page.getByRole('link', { name: en.openAgain }).click();
  await reads(page, en.payByCard);
  expect(await stage.checkout.events(session.id)).toEqual(['opened']);
});

test('a second tab detects that the first has paid, and a form that is still submitted pays nothing', async () => {
  const first = await stage.payer();
  const session = await stage.visit(first, CARD);
  const [second, third] = [await first.context().newPage(), await first.context().newPage()];
  for (const page of [second, third]) await page.goto(session.url);
  await fillCard(third);
  await payByCard(first);
  await isAtShop(first, stage, 'thanks');
  await second.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await reads(second, en.paid);
  await cardForm(third).pay.click();
  await reads(third, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('back and reload after a payment show the result and pay nothing', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  await page.goBack();
  await reads(page, en.paid);
  await page.reload();
  await reads(page, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
