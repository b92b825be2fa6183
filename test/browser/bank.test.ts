/** Redirects to the card issuer or a provider, and the return after a payment, without one, or too early. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page } from '../support/browser.ts';
import { bankOf, cardForm, confirmAtBank, field, isAtShop, ONCE, payByCard, reads, setStage } from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };
const AT_BANK = 'Confirm your payment';

/** Presses a button on the page of the simulated provider. */
const decide = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

test('a challenge with the right code returns the payer to the shop', async () => {
  const page = await stage.payer();
  const session = await stage.visit(page, CARD);
  await payByCard(page, '05/38');
  const bank = bankOf(page);
  await reads(bank, AT_BANK);
  await confirmAtBank(bank, '4321');
  await bank.getByRole('alert').waitFor();
  await confirmAtBank(bank);
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
  await page.getByRole('link', { name: en.methods.personalId }).click();
  await pay('Approve');
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  await page.goto(session.url);
  expect(await cardForm(page).number.count()).toBe(0);
});
