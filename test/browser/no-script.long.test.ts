/** The payment pages without JavaScript. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import {
  cardForm,
  confirmAtBank,
  field,
  fillCard,
  focused,
  isAtShop,
  marked,
  ONCE,
  payByCard,
  reads,
  setStage,
  way,
} from './stage.ts';

const stage = setStage();
const withoutScripts = (): Promise<Page> => stage.payer({ javaScriptEnabled: false });
const next = (page: Page): Promise<void> => page.getByRole('button', { name: en.next }).click();

test('card: shows errors and a decline, then pays', async () => {
  const page = await withoutScripts();
  const session = await stage.visit(page, { methods: ['card', 'doc-a'] });
  await way(page, en.card).click();
  await fillCard(page, '05/3', '4111111111111112');
  await cardForm(page).pay.click();
  await page.getByRole('alert').waitFor();
  await expect
    .poll(() => Promise.all([marked(page), focused(page)]))
    .toEqual([{ card_number: en.cardProblems.number, card_expiry: en.cardProblems.expiry }, 'card_number']);
  await payByCard(page, '02/38');
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  await way(page, en.card).click();
  await payByCard(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('challenge: the payer presses the button that is otherwise submitted automatically', async () => {
  const page = await withoutScripts();
  const session = await stage.visit(page, { methods: ['card'] });
  await payByCard(page, '05/38');
  await reads(page, en.confirmAtBank);
  await page.getByRole('button', { name: en.goToBank }).click();
  await confirmAtBank(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('brand fields', async () => {
  const page = await withoutScripts();
  const session = await stage.visit(page, { methods: ['crypto-a'] });
  await next(page);
  await page.getByRole('alert').waitFor();
  await expect.poll(() => marked(page)).toEqual({ 'parameters[payment_currency]': en.fillIn });
  await field(page, 'parameters[payment_currency]').selectOption('BTC');
  await next(page);
  await page.getByRole('button', { name: 'I have sent it' }).click();
  await reads(page, en.paid);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('QR code: the page reloads itself', async () => {
  const page = await withoutScripts();
  const session = await stage.visit(page, { methods: ['ips'], order: { currency: 'RSD' } });
  await next(page);
  await reads(page, en.scanToPay);
  await page.getByRole('img', { name: en.codeAlt }).waitFor();
  await stage.shop.sandbox('POST', `/payments/${session.id}`, { bank_callback: 'ACSC' });
  await reads(page, en.paid);
  await page.getByRole('link', { name: en.backTo.replace('{merchant}', '') }).click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
