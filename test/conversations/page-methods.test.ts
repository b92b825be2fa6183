/** The methods on the payment page: which are offered for an order and an account, under which names, in which groups. */
import { describe, expect, test } from 'vitest';
import { startDemo } from '../../src/core/accounts/demo.ts';
import {
  type Body,
  checkoutOf,
  choices,
  fill,
  inputs,
  NO_METHOD_FITS_MESSAGE,
  sessionFields,
  show,
} from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const BNPL_B = {
  ...{ shipping_amount: '4.99', tax_amount: '1.60', product_reference_id: 'item-1' },
  ...{ product_type: 'physical', product_sku: 'TEAPOT-1', product_amount: '15.00' },
};
const PRODUCT = { product_name: 'Teapot', product_quantity: '2' };

const pageOf = async (fields: Body, merchant?: Merchant, language = 'en') => {
  const { url } = await checkout.open(fields, merchant);
  return (await show(url, { headers: { 'accept-language': language } })).text;
};
const offered = async (fields: Body, merchant?: Merchant) => choices(await pageOf(fields, merchant)).toSorted();
/** The names of the methods on a page by their labels. */
const names = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/(?:\?method=|name="method" value=")([^"]+)">.*?<bdi>([^<]+)</g)].map(
      ([, label = '', name = '']) => [label, name],
    ),
  );

describe('a method that cannot work for the order is not offered', () => {
  const brands = ['card', 'doc-a', 'agg-a', 'agg-c', 'upi-b', 'transfer-a', 'transfer-b', 'ips'];
  test.each<[string, string, string | undefined, string[]]>([
    ['lira in Turkey', 'TRY', 'TR', ['agg-a', 'card', 'doc-a']],
    ['lira in turkey, in lower case', 'TRY', 'tr', ['agg-a', 'card', 'doc-a']],
    ['baht in Thailand', 'THB', 'TH', ['agg-c', 'card', 'doc-a']],
    ['rupees in India', 'INR', 'IN', ['card', 'doc-a', 'upi-b']],
    ['pesos in Argentina', 'ARS', 'AR', ['card', 'doc-a', 'transfer-a']],
    ['pesos of Argentina in Mexico', 'ARS', 'MX', ['card', 'doc-a']],
    ['pesos in Mexico', 'MXN', 'MX', ['card', 'doc-a', 'transfer-b']],
    ['euros in Germany', 'EUR', 'DE', ['card', 'doc-a', 'ips']],
    ['euros somewhere', 'EUR', undefined, ['agg-a', 'agg-c', 'card', 'doc-a', 'ips', 'upi-b']],
  ])('%s', async (_, currency, country, expected) => {
    const merchant = await shop.newMerchant({ brands });
    expect(await offered({ order: { currency }, billing_address: { country } }, merchant)).toEqual(expected);
  });
});

describe('what only the merchant knows', () => {
  const WITHOUT = [
    ['bnpl-a', ['category', 'buyer_registered_since']],
    ['bnpl-b', Object.keys(BNPL_B)],
    ['hosted-a', ['product_name', 'product_quantity']],
    ['trading-a', ['paymentGatewayName']],
    ['open-banking-a', ['payee_name', 'payee_country', 'payee_identifications']],
  ] as const;

  test.each(WITHOUT)('%s without it: a session that names it alone is refused for %j', async (label, missing) => {
    const { status, body } = await checkout.send('session', sessionFields({ methods: [label] }));
    expect([status, body.error_message]).toEqual([400, 'Request data is invalid.']);
    expect(body.errors.map(({ error_message }: { error_message: string }) => error_message)).toEqual([
      NO_METHOD_FITS_MESSAGE,
      ...missing.map((name) => `parameters.${label}.${name}: This value should not be blank.`),
    ]);
  });

  test.each(WITHOUT)('%s without it: not offered beside another method, and not accepted', async (label) => {
    const { url, id } = await checkout.open({ methods: [label, 'vcard', 'doc-a'] });
    expect(choices((await show(url)).text)).toEqual(['vcard', 'doc-a']);
    await fill(url, { method: label });
    expect(await checkout.events(id)).toEqual(['opened']);
  });

  test('the entry has the name that the merchant used', async () => {
    const merchant = await shop.newMerchant({ brand_aliases: { Later: 'bnpl-b' } });
    const { tax_amount: _, ...parameters } = BNPL_B;
    const session = sessionFields({ methods: ['Later'], parameters: { Later: parameters } });
    const { body } = await checkout.send('session', session, merchant);
    expect(body.errors[1].error_message).toBe('parameters.Later.tax_amount: This value should not be blank.');
  });

  test('a method that does not fit the order is not asked for parameters', async () => {
    const fields = sessionFields({ methods: ['bnpl-b', 'ips'], billing_address: { country: 'DE' } });
    const { body } = await checkout.send('session', fields);
    const fieldNames = body.errors.map(({ error_message }: { error_message: string }) => error_message.split(':')[0]);
    expect(fieldNames).toEqual(['methods', ...Object.keys(BNPL_B).map((name) => `parameters.bnpl-b.${name}`)]);
  });

  test.each<[string, Body]>([
    ['bnpl-b', BNPL_B],
    ['hosted-a', PRODUCT],
  ])('%s with it: the payer is asked for nothing', async (label, given) => {
    const page = await pageOf({ methods: [label], parameters: { [label]: given } });
    expect([inputs(page), page.includes('Complete your payment')]).toEqual([[], true]);
  });

  test('trading-a: the payer chooses the currency only', async () => {
    const parameters = { 'trading-a': { paymentGatewayName: 'Cards' } };
    expect(inputs(await pageOf({ methods: ['trading-a'], parameters }))).toEqual(['parameters[paymentCurrency]']);
  });
});

describe('the settings of the account', () => {
  test('name a method for all languages or for one, escaped', async () => {
    const merchant = await shop.newMerchant({
      brands: ['bank-a', 'doc-a', 'agg-a', 'agg-b'],
      method_names: { 'bank-a': 'Pay & Go', 'bank-a.de': '<b>Los</b>' },
    });
    expect(names(await pageOf({}, merchant))).toEqual({
      'bank-a': 'Pay &amp; Go',
      'doc-a': 'Payment with personal ID',
      'agg-a': 'Bank transfer (Türkiye)\u00a01',
      'agg-b': 'Bank transfer (Türkiye)\u00a02',
    });
    expect(names(await pageOf({}, merchant, 'de-DE,de;q=0.9'))).toMatchObject({
      'bank-a': '&lt;b&gt;Los&lt;/b&gt;',
      'doc-a': 'Zahlung mit Personalausweis',
      'agg-a': 'Banküberweisung (Türkei)\u00a01',
    });
    const chosen = await checkout.open({ methods: ['bank-a'] }, merchant);
    expect((await show(chosen.url)).text).toContain('<bdi>Pay &amp; Go</bdi>');
  });

  test('page_methods are what the page shows, in their order; sales and named methods are not limited', async () => {
    const merchant = await shop.newMerchant({ page_methods: ['doc-a', 'ips', 'card'] });
    expect(choices(await pageOf({}, merchant))).toEqual(['doc-a', 'card']);
    expect(choices(await pageOf({ order: { currency: 'EUR' } }, merchant))).toEqual(['doc-a', 'ips', 'card']);
    expect(choices(await pageOf({ methods: ['vcard', 'card', 'pin-a'] }, merchant))).toEqual([
      'card',
      'vcard',
      'pin-a',
    ]);
    expect((await shop.sale({}, merchant)).body.result).toBe('SUCCESS');
  });

  test('page_methods do not extend the brands of the account', async () => {
    const merchant = await shop.newMerchant({
      brands: ['card', 'pin-a', 'vcard'],
      page_methods: ['doc-a', 'pin-a', 'card'],
    });
    expect(choices(await pageOf({}, merchant))).toEqual(['pin-a', 'card']);
  });

  test('are previewed in the panel before they are saved, with the labels of the methods', async () => {
    const owner = await signedIn(shop, 'owner');
    const { mid } = await shop.newMerchant();
    const query = new URLSearchParams({ page_methods: 'pin-a\r\ncard\r\n', method_names: 'pin-a: Gift card' });
    const { text } = await owner.get(`/admin/accounts/${mid}/preview?${query}`);
    expect(Object.entries(names(text))).toEqual([
      ['pin-a', 'Gift card'],
      ['card', 'Card'],
    ]);
    const tab = (await owner.get(`/admin/accounts/${mid}?tab=page`)).text;
    expect(tab).toContain('<span>Prepaid voucher</span></label><code class="soft">pin-a</code>');
    expect(tab).not.toContain('crypto-a-payout');
  });

  test.each([
    ['page_methods', ['nothing']],
    ['method_names', { nothing: 'x' }],
  ])('%s of an unknown brand is refused', async (name, value) => {
    const { status, body } = await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { [name]: value });
    expect([status, body.errors[0].error_message.split(':')[0]]).toEqual([400, name]);
  });
});

describe('groups', () => {
  const SIX = ['card', 'bank-a', 'doc-a', 'pin-a', 'crypto-a', 'mobile-money-a'];

  test('up to six methods are one list', async () => {
    const page = await pageOf({ methods: SIX });
    expect([choices(page).length, page.includes('<details class="group"')]).toEqual([6, false]);
  });

  test('of more, the likely ones are shown and the others are in groups', async () => {
    const fields = { methods: [...SIX, 'agg-a', 'crypto-b', 'local-a'], order: { currency: 'TRY' } };
    const page = await pageOf(fields);
    const [likely = '', rest = ''] = page.split('More ways to pay');
    expect(choices(likely)).toEqual(['card', 'agg-a', 'bank-a', 'mobile-money-a', 'pin-a']);
    expect(choices(rest)).toEqual(['doc-a', 'local-a', 'crypto-a', 'crypto-b']);
    expect(rest).toMatch(/<details class="group"><summary>.*<h3>Other methods<\/h3><span class="count">4</);
  });

  test('the region of the browser counts when the country is not known', async () => {
    const page = await pageOf({ methods: [...SIX, 'agg-c', 'upi-b'] }, undefined, 'en-IN');
    expect(choices(page).slice(0, 2)).toEqual(['card', 'upi-b']);
  });

  test('of all methods of an account, none is shown by its code', async () => {
    const page = await pageOf({ order: { currency: 'EUR' } }, undefined, 'en');
    const shown = names(page);
    expect(Object.keys(shown).length).toBeGreaterThan(20);
    expect(new Set(Object.values(shown)).size).toBe(Object.keys(shown).length);
    expect(Object.values(shown).filter((name) => /^[a-z0-9]+-[a-z]$|vcard|ips/.test(name))).toEqual([]);
  });
});

test('the demo shop offers a handful of methods on its page, and every brand over /post', async () => {
  const press = await fetch(`${shop.url}/sandbox/test-payment`, { method: 'POST', redirect: 'manual' });
  const page = await (await fetch(press.headers.get('location') ?? '')).text();
  expect(names(page)).toEqual({
    card: 'Card',
    'open-banking-a': 'Online banking',
    'bank-a': 'Bank transfer',
    ips: 'Banking app with QR code',
    'bnpl-b': 'Buy now, pay later',
    'pin-a': 'Prepaid voucher',
  });
  expect(page).toContain('Green Leaf Tea');
  expect([...page.matchAll(/data-wallet="([^"]+)" data-label="([^"]+)"/g)].map(([, ...found]) => found)).toEqual([
    ['wallet-a', 'Pay with Apple Pay'],
    ['wallet-b', 'Pay with Google Pay'],
  ]);
  const [, logo = ''] = /<img class="logo" src="([^"]+)"/.exec(page) ?? [];
  expect((await fetch(logo)).headers.get('content-type')).toBe('image/svg+xml');
  const { body } = await shop.admin('GET', '/accounts');
  const demo = body.items.find(({ name }: { name: string }) => name === 'Demo Shop');
  expect(demo.settings.brands).toEqual([]);
});

test('the logo of the demo shop moves with the address of the gateway, and one that an operator has set does not', async () => {
  const { gateway } = shop;
  const logoAt = async (address: string) => (await startDemo(gateway, address)).settings['branding.logo'];
  expect(await logoAt('http://127.0.0.1:1')).toBe('http://127.0.0.1:1/sandbox/demo-logo.svg');
  expect(await logoAt(shop.url)).toBe(`${shop.url}/sandbox/demo-logo.svg`);
  const { mid } = await startDemo(gateway, shop.url);
  await shop.admin('PATCH', `/accounts/${mid}`, { branding: { logo: '' } });
  expect(await logoAt('http://127.0.0.1:1')).toBe('');
});
