/** What a payer pays with elsewhere, through Stripe and Adyen: vouchers, codes to scan, and the page that shows them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { cardForm, checkoutOf, fill, show } from '../support/checkout.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let adyen: AdyenDouble;
let stripe: StripeDouble;
let atAdyen: Merchant;
let atStripe: Merchant;

/** Brands that ask for nothing, for methods that have none of their own. */
const METHODS = { ideal: 'multibanco', twint: 'oxxo', swish: 'boleto', mobilepay: 'konbini', paypal: 'pix' };
const CURRENCIES: Record<string, string> = { twint: 'CHF', swish: 'SEK', mobilepay: 'DKK' };

beforeAll(async () => {
  [adyen, stripe] = await Promise.all([startAdyen(), startStripe()]);
  const at = async (connector: string, credentials: Record<string, string>, settings: Record<string, unknown>) => {
    const connection = await connect(shop, { credentials }, { connector, settings });
    const merchant = await shop.newMerchant({ authorisation_days: 10 });
    await route(shop, merchant.mid, [{ connection_id: connection }]);
    return { merchant, connection };
  };
  const ofStripe = await at('stripe', STRIPE_CREDENTIALS, { api_base: stripe.url, methods: METHODS });
  atStripe = ofStripe.merchant;
  stripe.webhookUrls = [`${shop.url}/inbound/stripe/${ofStripe.connection}`];
  const methods = { ideal: 'multibanco', paypal: 'promptpay' };
  atAdyen = (await at('adyen', adyen.credentials, { api_base: adyen.url, methods })).merchant;
});
afterAll(async () => {
  expect([adyen.violations, stripe.problems]).toEqual([[], []]);
  await Promise.all([adyen.close(), stripe.close()]);
});

/** Chooses the method, and reads the page that follows. */
async function choose(merchant: Merchant, brand: string) {
  const order = { currency: CURRENCIES[brand] ?? 'EUR' };
  const session = await checkout.open({ methods: [brand], order }, merchant);
  await fill(session.url, { method: brand });
  const { text } = await show(session.url);
  return { ...session, html: text, page: readable(text).replaceAll(' Copy ', ' ') };
}

const DAY = /Pay by \d{4}-\d{2}-\d{2}/;

describe('a voucher', () => {
  test.each<[brand: keyof typeof METHODS, details: readonly (string | RegExp)[]]>([
    ['ideal', ['Entity 12345', 'Reference 999123456', DAY]],
    ['twint', ['Reference 12345678901234567890', DAY]],
    ['swish', ['Reference 01010101', DAY]],
    ['mobilepay', ['Familymart 11111 / 22222', DAY]],
  ])('of Stripe, the brand %s: the page shows %j and leads to the voucher', async (brand, details) => {
    const { id, page, html } = await choose(atStripe, brand);
    for (const detail of details) expect(page).toMatch(detail);
    expect(html).toContain('href="https://payments.stripe.com/instructions/x"');
    expect((await shop.inspect(id)).status).toBe('PENDING');
  });

  test('of Adyen', async () => {
    const { page, html } = await choose(atAdyen, 'ideal');
    expect(page).toContain('Entity 12101 Reference 501 422 944');
    expect(html).toContain('href="https://test.adyen.com/voucher.pdf"');
  });

  test('that is paid settles the payment, and the page says so', async () => {
    const { id, url } = await choose(atStripe, 'ideal');
    await stripe.pay(`${stripe.url}/pay/${stripe.intentOf(id)?.id}`);
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
    expect((await show(url)).text).not.toContain('999123456');
  });
});

describe('a code', () => {
  test('of Pix through Stripe is shown as our picture, with its text to paste', async () => {
    const { id, page, html } = await choose(atStripe, 'paypal');
    expect(html).toMatch(/<div class="code" role="img"[^>]*><svg/);
    expect(html).toContain('00020126pix');
    expect(page).toContain('Scan to pay');
    await stripe.pay(`${stripe.url}/pay/${stripe.intentOf(id)?.id}`);
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
  });

  test('of PromptPay through Adyen', async () => {
    const { html } = await choose(atAdyen, 'paypal');
    expect(html).toMatch(/<div class="code" role="img"[^>]*><svg/);
    expect(html).toContain('00020101promptpay');
  });
});

test('an authorisation ends an hour before the deadline that Stripe names, though the account allows ten days', async () => {
  const { id, url } = await checkout.open({ methods: ['card'], auth: true }, atStripe);
  await fill(url, cardForm({ card_number: STRIPE_CARDS.success, card_expiry: '12/38' }));
  const statusOf = async () => (await shop.inspect(id)).status;
  expect(await statusOf()).toBe('PENDING');
  await shop.advanceClock((7 * 24 - 2) * 3600, atStripe.mid);
  expect(await statusOf()).toBe('PENDING');
  expect(stripe.intentOf(id)?.status).toBe('requires_capture');
  await shop.advanceClock(1.5 * 3600, atStripe.mid);
  await expect.poll(() => stripe.intentOf(id)?.status, PROVIDER_POLL).toBe('canceled');
  await expect.poll(statusOf, PROVIDER_POLL).toBe('EXPIRED');
});
