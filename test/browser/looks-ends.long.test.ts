/** The pages on which a payer waits, goes on or has come to the end, in every language, size and light. */
import { expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { cardForm as cardAnswers, DOC_A, fill } from '../support/checkout.ts';
import type { Fields } from '../support/gateway.ts';
import { ALL_LANGUAGES, expectGoodLooks, type Kind, onlooker } from './looks.ts';
import { setStage, wantForms } from './stage.ts';

const stage = setStage();
type Opened = Parameters<typeof stage.open>;

/** A session whose payer has sent a form. */
const sent = async (form: Fields, ...opened: Opened): Promise<Kind> => {
  const { url } = await stage.open(...opened);
  expect((await fill(url, form)).status).toBe(303);
  return { url };
};
const card = (card_expiry: string, ...[fields, merchant]: Opened) =>
  sent(cardAnswers({ card_expiry }), { methods: ['card'], ...fields }, merchant);

const IPS = { methods: ['ips'], order: { currency: 'RSD' } };

test('a code to scan, in every language', async () => {
  const page = await onlooker(stage);
  await expectGoodLooks(page, 'code', await sent({ method: 'ips' }, IPS), ALL_LANGUAGES);
});

test('the end that is good, in every language', async () => {
  const page = await onlooker(stage);
  await expectGoodLooks(page, 'paid', await card('01/38'), ALL_LANGUAGES);
});

/** An order with long and short names, and every kind of sum. */
const LINES = {
  amount: '1234567.80',
  currency: 'EUR',
  lines: [
    { name: 'Donaudampfschifffahrtsgesellschaftskapitänsmütze '.repeat(3), quantity: 999999, unit_amount: '1.00' },
    { name: 'شاي أخضر', amount: '234569.80' },
  ],
  shipping: '4.00',
  tax: '0.00',
  discount: '5.00',
};
const contacts = () =>
  stage.shop.newMerchant({
    branding: {
      name: 'Tea & Sons',
      support_email: `${'help'.repeat(12)}@tea-and-sons.example`,
      support_phone: '+49 30 1234567',
      support_url: 'https://tea.example/help',
      terms_url: 'https://tea.example/terms',
      privacy_url: 'https://tea.example/privacy',
    },
  });

test('the receipt, in every language', async () => {
  const page = await onlooker(stage);
  const { url } = await card('01/38', { order: LINES }, await contacts());
  await expectGoodLooks(page, 'receipt', { url: `${url}/receipt` }, ALL_LANGUAGES);
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate("document.querySelector('[data-print]').offsetHeight")).toBe(0);
});

test('the lines of an order: collapsed on a phone, open beside the form', async () => {
  const page = await onlooker(stage);
  const { url } = await stage.open({ methods: ['card'], order: LINES }, await contacts());
  const open = (shown: Page) => shown.evaluate("document.querySelector('.basket').open = true").then(() => undefined);
  await expectGoodLooks(page, 'lines', { url, prepare: open }, ['en', 'ar']);
  await page.goto(url);
  const isShown = () =>
    page.evaluate("document.querySelector('.lines').checkVisibility({ contentVisibilityAuto: true })");
  for (const [width, isOpen] of [
    [390, false],
    [1280, true],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    expect(await isShown(), `at ${width}`).toBe(isOpen);
  }
});

test('the end of the time, in every language', async () => {
  const page = await onlooker(stage);
  const merchant = await stage.shop.newMerchant();
  const { url } = await stage.open({ methods: ['card'] }, merchant);
  await stage.shop.advanceClock(3601, merchant.mid);
  await expectGoodLooks(page, 'expired', { url }, ALL_LANGUAGES);
});

test('other ends: declined, cancelled, nowhere', async () => {
  const page = await onlooker(stage);
  const return_url = `${stage.origin}/back`;
  const { body } = await stage.shop.sale({ brand: 'upi-a', order_currency: 'INR', return_url });
  await fill(body.redirect_url, { 'parameters[personal_id]': 'fail@bank' });
  await expectGoodLooks(page, 'declined', { url: body.redirect_url });
  const { id, url } = await stage.checkout.paid({ auth: 'Y', cancel_url: return_url });
  expect((await stage.checkout.send('payment/void', { payment_id: id })).status).toBe(200);
  await expectGoodLooks(page, 'cancelled', { url });
  const merchant = await stage.shop.newMerchant({ brands: ['transfer-a'] });
  await expectGoodLooks(page, 'no-way', await stage.open({}, merchant));
  await expectGoodLooks(page, 'unknown', { url: `${stage.shop.url}/pay/nothing` });
});

test('on the way to a bank, and back too early', async () => {
  const page = await onlooker(stage);
  await expectGoodLooks(page, 'bank', await card('05/38'));
  const { url } = await sent(DOC_A, { methods: ['doc-a'] });
  await expectGoodLooks(page, 'unfinished', { url: `${url}?returned=1` });
  wantForms(stage, `${stage.origin}/provider`, { token: 'x' });
  await expectGoodLooks(page, 'onward', await sent(DOC_A, { methods: ['doc-a'] }));
});

test('waiting: for a transfer, for an answer, and after a code has run out', async () => {
  const page = await onlooker(stage);
  const transfer = { methods: ['transfer-a'], order: { currency: 'ARS' } };
  await expectGoodLooks(page, 'transfer', await sent({ bank_cuil: '20123456786' }, transfer));
  await expectGoodLooks(page, 'checking', await card('01/39'));
  const merchant = await stage.shop.newMerchant();
  const over = await sent({ method: 'ips' }, IPS, merchant);
  await stage.shop.advanceClock(61, merchant.mid);
  await expectGoodLooks(page, 'code-over', over);
});
