/** The card form in a real browser: formatting, validation, and a single payment. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { cardForm, focused, isAtShop, marked, ONCE, payByCard, setStage } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const PROBLEMS = {
  card_number: en.cardProblems.number,
  card_expiry: en.cardProblems.expiry,
  card_cvv: en.cardProblems.cvv,
  card_holder: en.cardProblems.holder,
};
/** The error of a code, once the network of the card is known. */
const wrongCode = (count: number) => en.cardForm.wrongCode.replace('{count}', String(count));

test('pays with the keyboard alone and returns to the shop', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  const typed = [
    ['card_number', '5555555555554444', '5555 5555 5555 4444'],
    ['card_expiry', '0138', '01/38'],
    ['card_cvv', '123', '123'],
    ['card_holder', 'Ada Byron', 'Ada Byron'],
  ] as const;
  for (const [name, keys, shown] of typed) {
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe(name);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'focus is visible').toBe(
      'solid',
    );
    await page.keyboard.type(keys);
    expect(await page.evaluate('document.activeElement.value')).toBe(shown);
  }
  await page.keyboard.press('Enter');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  expect(stage.shop.logs.join('')).not.toContain('5555555555554444');
});

test('groups the digits of a number, shows its network and announces it, while it is entered', async () => {
  const page = await stage.payer();
  await stage.visit(page, CARD);
  const { number } = cardForm(page);
  const network = page.locator('#network');
  for (const [given, shown, name] of [
    ['4111111111111111', '4111 1111 1111 1111', 'Visa'],
    ['4111-1111-1111-1111', '4111 1111 1111 1111', 'Visa'],
    ['  5555 5555 5555 4444 ', '5555 5555 5555 4444', 'Mastercard'],
    ['378282246310005', '3782 822463 10005', 'American Express'],
    ['3782822463100059', '3782 822463 10005', 'American Express'],
    ['30569309025904', '3056 930902 5904', 'Diners Club'],
    ['6759649826438453', '6759 6498 2643 8453', 'Maestro'],
    ['5066 9911 1111 1118', '5066 9911 1111 1118', 'Elo'],
    ['97920303', '9792 0303', 'Troy'],
    ['٤١١١١١١١١١١١١١١١', '4111 1111 1111 1111', 'Visa'],
    ['9', '9', ''],
  ] as const) {
    await number.fill('');
    await number.focus();
    await page.keyboard.insertText(given);
    expect([await number.inputValue(), await network.textContent()]).toEqual([shown, name]);
    const highlighted = await page
      .locator('.networks [data-on]')
      .evaluateAll((marks) => marks.map(({ textContent }) => textContent));
    const short: Record<string, string> = { 'American Express': 'Amex', 'Diners Club': 'Diners' };
    expect(highlighted, 'the row of networks').toEqual(['', 'Elo', 'Troy'].includes(name) ? [] : [short[name] ?? name]);
  }
  expect(await network.getAttribute('aria-live')).toBe('polite');
  expect(await page.getByRole('list', { name: en.cardForm.accepted }).getByRole('listitem').count()).toBe(8);
  await number.fill('');
  await number.pressSequentially('41111111');
  await number.press('ArrowLeft');
  await number.press('Backspace');
  await page.keyboard.type('2');
  expect(await number.inputValue(), 'a digit in the middle').toBe('4111 1121');
  await page.keyboard.type('3');
  expect(await number.inputValue(), 'the caret has stayed there').toBe('4111 1123 1');
});

test('shows errors beside the fields, focuses the first, and submits nothing', async () => {
  const page = await stage.payer();
  const { url, id } = await stage.visit(page, CARD);
  const { number, expiry, cvv, holder, pay } = cardForm(page);
  await pay.click();
  expect(await marked(page)).toEqual({ ...PROBLEMS, card_number: en.cardProblems.noNumber });
  await page.reload();
  await number.fill('4111 1111 1111 1112');
  expect(await marked(page), 'not while it is typed').toEqual({});
  await number.press('Tab');
  expect(await marked(page)).toEqual({ card_number: PROBLEMS.card_number });
  await pay.click();
  await expect
    .poll(() => Promise.all([marked(page), focused(page)]))
    .toEqual([{ ...PROBLEMS, card_cvv: wrongCode(3) }, 'card_number']);
  await number.fill('4111 1111 1111 1111');
  await expiry.fill('13/38');
  await cvv.fill('12');
  await holder.fill('Ada Byron');
  await holder.press('Enter');
  const { card_expiry } = PROBLEMS;
  await expect
    .poll(() => Promise.all([marked(page), focused(page)]))
    .toEqual([{ card_expiry, card_cvv: wrongCode(3) }, 'card_expiry']);
  await expiry.fill('05/20');
  await cvv.fill('123');
  await holder.press('Enter');
  expect(await marked(page), 'the date has passed').toEqual({ card_expiry: en.cardProblems.expired });
  expect(page.url()).toBe(url);
  expect(await stage.checkout.events(id)).toEqual(['opened']);
  await Promise.all([page.waitForEvent('load'), page.evaluate("document.querySelector('main form').submit()")]);
  await expect
    .poll(() => Promise.all([marked(page), focused(page)]))
    .toEqual([{ card_expiry: en.cardProblems.expired }, 'card_expiry']);
  expect(await Promise.all([number, cvv].map((input) => input.inputValue())), 'secrets are not repeated').toEqual([
    '',
    '',
  ]);
  expect(await stage.checkout.events(id)).toEqual(['opened']);
});

test('an address for the receipt may stay empty; a wrong one is marked', async () => {
  stage.shop.gateway.mailer = { send: async () => ({ kind: 'sent', reason: '' }), close: () => undefined };
  const merchant = await stage.shop.newMerchant({ receipts: 'email', receipt_email_asked: true });
  const page = await stage.payer();
  const session = await stage.visit(page, CARD, merchant);
  const email = page.getByLabel(en.receipt.email);
  await email.fill('ada@');
  await payByCard(page);
  expect(await marked(page)).toEqual({ receipt_email: en.looksWrong });
  await email.fill('');
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('asks for a code as long as the network has it, and says where it is', async () => {
  const page = await stage.payer();
  const merchant = await stage.shop.newMerchant({ card_networks: ['visa', 'amex'] });
  const session = await stage.visit(page, CARD, merchant);
  const { number, expiry, cvv, holder } = cardForm(page);
  const hint = page.locator('#card_cvv-hint');
  expect(await hint.textContent()).toBe(en.cardCvvHint);
  await number.fill('5555 5555 5555 4444');
  await number.press('Tab');
  const card_number = en.cardForm.notAccepted.replace('{network}', 'Mastercard');
  expect(await marked(page)).toEqual({ card_number });
  await number.fill('4111 1111 1111 1111');
  expect([await marked(page), await hint.textContent()]).toEqual([{}, en.cardForm.code3]);
  await number.fill('3782 822463 10005');
  expect(await hint.textContent()).toBe(en.cardForm.code4);
  await expiry.fill('01/38');
  await cvv.fill('123');
  await cvv.press('Tab');
  expect(await marked(page)).toEqual({ card_cvv: wrongCode(4) });
  await cvv.fill('1234');
  await holder.fill('Ada Byron');
  await holder.press('Enter');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('shows a decline, and the payer pays with another card', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '02/38');
  await page.getByRole('alert').getByText(`${en.noMoney} ${en.tryCard}`).waitFor();
  expect(await page.title(), 'the title announces the decline').toMatch(en.declined);
  const { number, expiry, cvv, holder } = cardForm(page);
  const kept = await Promise.all([number, expiry, cvv, holder].map((input) => input.inputValue()));
  expect(kept, 'all but the code').toEqual(['4111 1111 1111 1111', '02/38', '', 'Ada Byron']);
  expect(await focused(page)).toBe('card_cvv');
  await expiry.fill('01/38');
  await cvv.fill('123');
  await cardForm(page).pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.checkout.attempts(session.orderId)).toHaveLength(2);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a saved card needs only its security code; another card can be used instead', async () => {
  const merchant = await stage.shop.newMerchant();
  const { token } = await stage.checkout.paidByCard({}, merchant);
  const page = await stage.payer();
  const session = await stage.visit(page, { ...CARD, card_token: [token] }, merchant);
  const { number, expiry, cvv, holder, pay } = cardForm(page);
  const seen = () => Promise.all([number, expiry, holder].map((input) => input.isVisible()));
  const saved = page.getByLabel('1111');
  expect(await saved.isChecked()).toBe(true);
  expect(await seen()).toEqual([false, false, false]);
  await page.getByLabel(en.anotherCard).check();
  expect(await seen()).toEqual([true, true, true]);
  await saved.check();
  await pay.click();
  await expect.poll(() => Promise.all([marked(page), focused(page)])).toEqual([{ card_cvv: wrongCode(3) }, 'card_cvv']);
  await cvv.fill('123');
  await pay.click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});
