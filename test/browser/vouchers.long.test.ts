/** Vouchers and codes of a provider's connection in a browser: the payer reads, copies and scans what the provider sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import type { Page } from '../support/browser.ts';
import type { Merchant } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';
import { expectNoBarriers } from './barriers.ts';
import { isAtShop, setStage } from './stage.ts';

const stage = setStage();
const PHONE = { width: 390, height: 844 };
let stripe: StripeDouble;
let merchant: Merchant;

beforeAll(async () => {
  stripe = await startStripe();
  const settings = { api_base: stripe.url, methods: { ideal: 'multibanco', paypal: 'pix' } };
  const connection = await connect(stage.shop, { credentials: STRIPE_CREDENTIALS }, { connector: 'stripe', settings });
  stripe.webhookUrls = [`${stage.shop.url}/inbound/stripe/${connection}`];
  merchant = await stage.shop.newMerchant();
  await route(stage.shop, merchant.mid, [{ connection_id: connection }]);
});
afterAll(() => stripe?.close());

/** Chooses the only method of a session. */
async function choose(page: Page, brand: string) {
  const session = await stage.visit(page, { methods: [brand], order: { currency: 'EUR' } }, merchant);
  await page.getByRole('button', { name: en.next }).click();
  const pay = () => stripe.pay(`${stripe.url}/pay/${stripe.intentOf(session.id)?.id}`);
  return { ...session, pay };
}

test('a voucher: the payer copies its reference, and the page goes on once it is paid', async () => {
  const page = await stage.payer({ viewport: PHONE });
  const { pay } = await choose(page, 'ideal');
  await page.getByRole('heading', { name: en.payVoucher }).waitFor();
  for (const text of ['12345', '999123456']) expect(await page.getByText(text, { exact: true }).isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: `${en.copy}: ${en.instructions.reference}` }).isVisible()).toBe(true);
  await expectNoBarriers(page, 'voucher');
  await pay();
  await isAtShop(page, stage, 'thanks');
});

test('a code of Pix: the payer scans it, or pastes its text, and the page goes on once it is paid', async () => {
  const page = await stage.payer({ viewport: PHONE });
  const { pay } = await choose(page, 'paypal');
  await page.getByRole('img', { name: en.codeAlt }).waitFor();
  expect(await page.getByText('00020126pix').isVisible()).toBe(true);
  await expectNoBarriers(page, 'code');
  await pay();
  await isAtShop(page, stage, 'thanks');
});
