/** A payer is sent on to the bank of the card, or to a provider, and comes back: having paid, or not, or too early. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import { cardForm, confirmAtBank, field, isAtShop, ONCE, payByCard, reads, setStage, stopTime } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const NOTHING = { settled: 0, submitted: 0, moved: 0 };
const AT_BANK = 'Confirm your payment';

/** The page of the simulated provider, where the payer decides. */
const decide = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

test('the bank wants a code, gets the right one, and the payer is back at the shop', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await reads(page, AT_BANK);
  await confirmAtBank(page, '4321');
  await page.getByRole('alert').waitFor();
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who fails at the bank, or cancels there, is told so, and can try again', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '06/38');
  await confirmAtBank(page);
  await page.getByRole('alert').getByText(en.reasons.notConfirmed).waitFor();
  await payByCard(page, '05/38');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  expect(await stage.paidTimes(session)).toEqual(NOTHING);
  await payByCard(page, '05/38');
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who leaves the bank by the back button is not sent there again by itself, and can go on', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  await reads(page, AT_BANK);
  await page.goBack();
  await reads(page, en.confirmAtBank);
  await page.getByRole('button', { name: en.goToBank }).click();
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who leaves the bank for good has not paid, and learns it when the time is over', async () => {
  const merchant = await stage.shop.newMerchant();
  const page = await stage.payer();
  const session = await stage.visit(page, CARD, merchant);
  await payByCard(page, '05/38');
  await reads(page, AT_BANK);
  await stage.shop.advanceClock(3600, merchant.mid);
  await page.goto(session.url);
  await reads(page, en.expired);
  expect(await stage.paidTimes(session, merchant)).toEqual(NOTHING);
  await page.getByRole('link', { name: en.backTo.replace('{merchant}', '') }).click();
  await isAtShop(page, stage, 'expired');
});

test('a bank that opens in a window of its own opens when its payer presses, and can be opened again', async () => {
  const merchant = await stage.shop.newMerchant({ three_ds_link_target: '_blank' });
  const page = await stage.payer();
  await stopTime(page);
  const session = await stage.visit(page, CARD, merchant);
  await payByCard(page, '05/38');
  await reads(page, en.confirmAtBank);
  await page.clock.fastForward(5000);
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
  ['after the payer', '05/39'],
  ['twice', '06/39'],
])('the word of the bank that comes %s pays once', async (_, expiry) => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, expiry);
  await confirmAtBank(page);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('what the browser says of the bank is not believed', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '08/39');
  await confirmAtBank(page);
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  expect(await stage.paidTimes(session)).toEqual(NOTHING);
});

test('a card whose acquirer has a page of its own is paid there', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '12/39');
  await decide(page, 'Approve');
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  await payByCard(page, '12/38');
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer who is back before the provider’s news goes on where they left off, or sees the news come', async () => {
  const page = await stage.payer();
  await stopTime(page);
  const session = await stage.visit(page, { methods: ['doc-a'] });
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Walk away without paying');
  await reads(page, en.unfinished);
  await page.getByRole('link', { name: en.openAgain }).click();
  await decide(page, 'Walk away without paying');
  await reads(page, en.unfinished);
  // The provider decides while the payer looks at our page.
  const elsewhere = await stage.payer();
  await elsewhere.goto((await stage.checkout.atProvider(session.id)).payer_page);
  await decide(elsewhere, 'Approve');
  await expect.poll(() => stage.checkout.stateOf(session.id)).toBe('settled');
  await page.clock.fastForward(3000);
  await reads(page, en.paid);
  await page.clock.fastForward(6000);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who was declined in the only way there is, is not told of others', async () => {
  const page = await stage.payer();
  await stage.visit(page, { methods: ['doc-a'] });
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Decline');
  await page.getByRole('alert').getByText(`${en.noMoney} ${en.trySame}`, { exact: true }).waitFor();
});

test('a payer who is back after the provider’s news goes straight to the shop; one who declined can try again', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, { methods: ['doc-a', 'card'] });
  await page.goto(`${session.url}?method=doc-a`);
  const pay = async (decision: string): Promise<void> => {
    await field(page, 'parameters[document_number]').fill('45678912');
    await page.getByRole('button', { name: en.next }).click();
    await decide(page, decision);
  };
  await pay('Decline');
  await page.getByRole('alert').getByText(en.noMoney).waitFor();
  await reads(page, en.howToPay);
  await page.getByRole('link', { name: 'doc-a' }).click();
  await pay('Approve');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  await page.goto(session.url);
  expect(await cardForm(page).number.count()).toBe(0);
});
