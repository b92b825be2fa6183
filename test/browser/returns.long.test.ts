/** Redirects to the card issuer or a provider, and the return after a payment, without one, or too early. */
import { expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { expectNoBarriers } from './barriers.ts';
import {
  AT_BANK,
  bankOf,
  cardForm,
  confirmAtBank,
  decide,
  field,
  isAtShop,
  ONCE,
  payByCard,
  reads,
  setStage,
} from './stage.ts';

const stage = setStage();
const CARD = { methods: ['card'] };

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

test.each([true, false])(
  'after a challenge that fails, the form has the card; scripts: %s',
  async (javaScriptEnabled) => {
    const page = await stage.payer({ javaScriptEnabled });
    const session = await stage.visit(page, CARD);
    await payByCard(page, '06/38');
    if (javaScriptEnabled) await confirmAtBank(bankOf(page));
    else {
      await page.getByRole('button', { name: en.goToBank }).click();
      await confirmAtBank(page);
      await page.getByRole('button', { name: 'Continue' }).click();
    }
    await page.getByRole('alert').getByText(en.reasons.notConfirmed).waitFor();
    const { number, expiry, cvv, holder, pay } = cardForm(page);
    expect(await page.getByRole('radio', { name: 'Visa ending in 1111' }).isChecked()).toBe(true);
    expect([
      await number.isVisible(),
      await expiry.inputValue(),
      await holder.inputValue(),
      await cvv.inputValue(),
    ]).toEqual([false, '06/38', 'Ada Byron', '']);
    expect(await page.content()).not.toMatch(/411111|4111 1111/);
    expect(await page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]');
    await page.getByRole('radio', { name: en.anotherCard, exact: true }).check();
    await number.waitFor();
    await page.getByRole('radio', { name: 'Visa ending in 1111' }).check();
    await number.waitFor({ state: 'hidden' });
    await expiry.fill('01/38');
    await cvv.fill('123');
    await pay.click();
    await isAtShop(page, stage, 'thanks');
    expect(await stage.paidTimes(session)).toEqual(ONCE);
  },
);

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

test('the console of the simulator shows new payments by itself, unless that is switched off', async () => {
  const page = await stage.payer();
  await page.clock.install();
  await page.goto(stage.shop.provider?.url ?? '');
  const submitted = async (): Promise<string> => {
    const { id } = await stage.checkout.atDocA();
    return (await stage.checkout.atProvider(id)).reference;
  };
  const shown = async (reference: string): Promise<boolean> => {
    await page.clock.runFor(5000);
    return page.getByText(reference).isVisible();
  };
  const first = await submitted();
  await expect.poll(() => shown(first)).toBe(true);
  await expectNoBarriers(page, 'the console');
  await page.getByLabel('Show new payments by itself').uncheck();
  const second = await submitted();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  expect([await shown(second), requests]).toEqual([false, []]);
  await page.getByLabel('Show new payments by itself').check();
  await expect.poll(() => shown(second)).toBe(true);
});
