/** Payers who leave the bank, fail there, come back too early, or whose bank speaks late. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import {
  AT_BANK,
  bankOf,
  confirmAtBank,
  decide,
  field,
  isAtShop,
  ONCE,
  passTime,
  payByCard,
  reads,
  readsLater,
  setStage,
  stopTime,
} from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const NOTHING = { settled: 0, submitted: 0, moved: 0 };

test('a payer who fails or cancels the challenge sees the decline and can try again', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '06/38');
  await confirmAtBank(bankOf(page));
  await page.getByRole('alert').getByText(en.reasons.notConfirmed).waitFor();
  await payByCard(page, '05/38');
  await bankOf(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  expect(await stage.paidTimes(session)).toEqual(NOTHING);
  await payByCard(page, '05/38');
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('the back button closes the dialog of the bank, and the payer can open it again', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await reads(bankOf(page), AT_BANK);
  await page.goBack();
  await reads(page, en.confirmAtBank);
  await page.getByRole('button', { name: en.goToBank }).click();
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a challenge that is abandoned is not paid and expires', async () => {
  const merchant = await stage.shop.newMerchant();
  const page = await stage.payer();
  const session = await stage.visit(page, CARD, merchant);
  await payByCard(page, '05/38');
  await reads(bankOf(page), AT_BANK);
  await stage.shop.advanceClock(3600, merchant.mid);
  await page.goto(session.url);
  await reads(page, en.expired);
  expect(await stage.paidTimes(session, merchant)).toEqual(NOTHING);
  await page.getByRole('link', { name: en.backTo.replace('{merchant}', '') }).click();
  await isAtShop(page, stage, 'expired');
});

test('a challenge in a new window opens on a click, and can be opened again', async () => {
  const merchant = await stage.shop.newMerchant({ three_ds_link_target: '_blank' });
  const page = await stage.payer();
  await stopTime(page);
  const session = await stage.visit(page, CARD, merchant);
  await payByCard(page, '05/38');
  await reads(page, en.confirmAtBank);
  await passTime(page, 5000);
  const button = page.getByRole('button', { name: en.goToBank });
  expect([page.context().pages().length, await button.isEnabled()]).toEqual([1, true]);
  const openBank = async (): Promise<Page> => {
    const [bank] = await Promise.all([page.waitForEvent('popup'), button.click()]);
    await reads(bank, AT_BANK);
    return bank;
  };
  await (await openBank()).close();
  const bank = await openBank();
  await confirmAtBank(bank);
  const [shop] = await Promise.all([
    bank.waitForEvent('popup'),
    bank.getByRole('link', { name: en.backTo.replace('{merchant}', '') }).click(),
  ]);
  await isAtShop(shop, stage, 'thanks');
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await reads(page, en.paid);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test.each([
  ['after the payer returned', '05/39'],
  ['twice', '06/39'],
])('a challenge result that arrives %s pays once', async (_, expiry) => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, expiry);
  await confirmAtBank(bankOf(page));
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('the challenge status of the browser is ignored', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '08/39');
  await confirmAtBank(bankOf(page));
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  expect(await stage.paidTimes(session)).toEqual(NOTHING);
});

test('a decline of the only method does not suggest other methods', async () => {
  const page = await stage.payer();
  await stage.visit(page, { methods: ['doc-a'] });
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Decline');
  await page.getByRole('alert').getByText(`${en.noMoney} ${en.trySame}`, { exact: true }).waitFor();
});

test('a payer who returns before the provider’s notification can continue, and sees the result when it arrives', async () => {
  const page = await stage.payer();
  await stopTime(page);
  const session = await stage.visit(page, { methods: ['doc-a'] });
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Leave without paying');
  await reads(page, en.unfinished);
  await page.getByRole('link', { name: en.openAgain }).click();
  await decide(page, 'Leave without paying');
  await reads(page, en.unfinished);
  // The provider decides while the payment page is open.
  const elsewhere = await stage.payer();
  await elsewhere.goto((await stage.checkout.atProvider(session.id)).payer_page);
  await decide(elsewhere, 'Approve');
  await expect.poll(() => stage.checkout.stateOf(session.id)).toBe('settled');
  await readsLater(page, en.paid);
  await passTime(page, 6000);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
