/** Redirects to the card issuer or a provider, and the return after a payment, without one, or too early. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import { cardForm, confirmAtBank, field, isAtShop, ONCE, payByCard, reads, setStage, stopTime } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const AT_BANK = 'Confirm your payment';

/** Presses a button on the page of the simulated provider. */
const decide = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

test('a challenge with the right code returns the payer to the shop', async () => {
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

test('a card payment on the page of the acquirer', async () => {
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
  await page.clock.fastForward(3000);
  await reads(page, en.paid);
  await page.clock.fastForward(6000);
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer who returns after the provider’s notification goes to the shop; one who declined can try again', async () => {
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
