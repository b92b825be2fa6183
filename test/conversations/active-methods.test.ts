/** The methods that are active at a provider: an account offers those only, by the last check of its connection. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDueMethods } from '../../src/core/connections/connections.ts';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { checkoutOf, choices, show } from '../support/checkout.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { refused, statusAndBody } from '../support/operations.ts';
import { signedIn } from '../support/operators.ts';
import { route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let adyen: AdyenDouble;
let mollie: MollieDouble;
let stripe: StripeDouble;
beforeAll(async () => {
  [adyen, mollie, stripe] = await Promise.all([startAdyen(), startMollie(), startStripe()]);
});
afterAll(() => Promise.all([adyen, mollie, stripe].map((double) => double.close())));

/** A new connection, and an account whose payments go there. */
async function connected(connector: string, saved: Record<string, unknown>) {
  const { body } = await shop.admin('POST', '/connections', { connector, name: connector, ...saved });
  const merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: body.connection_id }]);
  return { body, merchant, path: `/connections/${body.connection_id}` };
}
const atMollie = (settings: Record<string, unknown> = {}) =>
  connected('mollie', { credentials: { api_key: API_KEY }, settings: { api_base: mollie.url, ...settings } });
const activate = (...methods: string[]): void =>
  void mollie.activeMethods.splice(0, Number.POSITIVE_INFINITY, ...(methods as typeof mollie.activeMethods));

/** The methods on the payment page of an order in euros, without the test brand. */
async function offered(merchant: Merchant): Promise<string[]> {
  const { url } = await checkout.open({ order: { currency: 'EUR' } }, merchant);
  return choices((await show(url)).text).filter((brand) => brand !== 'vcard');
}
const sell = (brand: string, merchant: Merchant) =>
  shop.sale({ brand, identifier: '', order_currency: 'EUR' }, merchant);
const makeDue = (): Promise<unknown> =>
  shop.rows(`update connections set methods_due_at = now() - interval '1 second' where methods_due_at is not null`);
const checkAll = (): Promise<void> => checkDueMethods(shop.gateway, () => false);

test('a method that is not active is neither offered nor taken, until a check finds that it is', async () => {
  activate('creditcard', 'ideal');
  const { body, merchant, path } = await atMollie();
  expect(body).toMatchObject({ check: { ok: true }, active_methods: ['creditcard', 'ideal'] });
  expect(await offered(merchant)).toEqual(['card', 'ideal']);
  expect(await statusAndBody(sell('bancontact', merchant))).toEqual(
    refused('invalidData', 'brand: The value you selected is not a valid choice.'),
  );

  activate('creditcard', 'ideal', 'bancontact');
  expect(await offered(merchant)).toEqual(['card', 'ideal']);
  expect((await shop.admin('POST', `${path}/check`)).body).toMatchObject({ ok: true });
  expect((await shop.admin('GET', path)).body.active_methods).toEqual(['creditcard', 'ideal', 'bancontact']);
  expect(await offered(merchant)).toEqual(['card', 'ideal', 'bancontact']);
  expect((await sell('bancontact', merchant)).body).toMatchObject({ result: 'REDIRECT' });
});

test('the gateway asks once a day; without an answer, the list before stays', async () => {
  activate('ideal');
  const { merchant, path } = await atMollie();
  activate('ideal', 'eps');
  await checkAll();
  expect(await offered(merchant)).toEqual(['ideal']);
  await makeDue();
  // Two processes make one call for each connection.
  const calls = (): number => mollie.calls.filter(({ name }) => name === 'MethodList').length;
  const before = calls();
  const [{ due } = {}] = await shop.rows('select count(*)::int as due from connections where methods_due_at < now()');
  await Promise.all([checkAll(), checkAll()]);
  expect(calls() - before).toBe(due);
  expect(await offered(merchant)).toEqual(['ideal', 'eps']);

  await makeDue();
  await shop.rows(
    `update connections set settings = settings || '{"api_base": "http://127.0.0.1:1"}', updated_at = now()
     where connection_id = '${path.split('/').at(-1)}'`,
  );
  shop.gateway.connections.forget();
  await checkAll();
  expect(await offered(merchant)).toEqual(['ideal', 'eps']);
});

test('an entry in settings.methods is the word of the operator', async () => {
  activate('ideal');
  const { merchant } = await atMollie({ methods: { bancontact: 'bancontact' } });
  expect(await offered(merchant)).toEqual(['ideal', 'bancontact']);
});

test('a change of the credentials forgets what was active with the former ones', async () => {
  activate('ideal');
  const { path } = await atMollie();
  const wrong = { credentials: { api_key: `test_${'w'.repeat(30)}` } };
  expect((await shop.admin('PATCH', path, wrong)).body).toMatchObject({ check: { ok: false }, active_methods: null });
  expect((await shop.admin('PATCH', path, { name: 'Renamed' })).body.active_methods).toBeNull();
  const right = await shop.admin('PATCH', path, { credentials: { api_key: API_KEY } });
  expect(right.body).toMatchObject({ check: { ok: true }, active_methods: ['ideal'] });
});

test('Adyen and Stripe say which methods are active; a key of Stripe that may not read them leaves all', async () => {
  adyen.activeMethods.splice(0, Number.POSITIVE_INFINITY, 'scheme', 'twint', 'ideal');
  const saved = { credentials: adyen.credentials, settings: { api_base: adyen.url } };
  const atAdyen = await connected('adyen', saved);
  // The first call loads the SDK, which may take longer than a check may.
  const isChecked = async (): Promise<boolean> => (await shop.admin('POST', `${atAdyen.path}/check`)).body.ok;
  await expect.poll(isChecked, PROVIDER_POLL).toBe(true);
  expect(await offered(atAdyen.merchant)).toEqual(['card', 'ideal']);

  const atStripe = () => connected('stripe', { credentials: STRIPE_CREDENTIALS, settings: { api_base: stripe.url } });
  stripe.activeMethods = ['card', 'eps'];
  const { body, merchant } = await atStripe();
  expect(body.active_methods).toEqual(['card', 'eps']);
  expect(await offered(merchant)).toEqual(['card', 'eps']);
  stripe.activeMethods = undefined;
  const restricted = await atStripe();
  expect(restricted.body).toMatchObject({ check: { ok: true }, active_methods: null });
  expect(await offered(restricted.merchant)).toContain('bancontact');
});

test('the page of the connection names the methods that are not active', async () => {
  activate('creditcard', 'ideal');
  const { path } = await atMollie();
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.get(`/admin${path}`);
  expect(text).toMatch(/Not active<\/dt><dd>Bancontact, /);
  expect(text).toContain('then press Check');
});
