/** A connection is checked when it is saved: the answer says whether its provider accepts the credentials. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONNECTABLE } from '../../src/core/connections/connections.ts';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { type CheckoutDouble, startCheckout } from '../doubles/checkout-com.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { type PaypalDouble, startPaypal } from '../doubles/paypal.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { openShop } from '../support/gateway.ts';
import { lengthenLimits } from '../support/limits.ts';
import { signedIn } from '../support/operators.ts';
import { openProviders, type TestProvider } from '../support/providers.ts';

const shop = openShop();
const providers = openProviders(1);
let adyen: AdyenDouble;
let checkout: CheckoutDouble;
let mollie: MollieDouble;
let paypal: PaypalDouble;
let stripe: StripeDouble;
/** Accepts connections and never answers. */
const silent = createServer();
beforeAll(async () => {
  [adyen, mollie, stripe] = [await startAdyen(), await startMollie(), await startStripe()];
  [checkout, paypal] = [await startCheckout(), await startPaypal()];
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await Promise.all([adyen, checkout, mollie, paypal, stripe].map((double) => double.close()));
});

interface Saved {
  credentials: Record<string, string>;
  settings?: Record<string, unknown>;
}

/** Each connector, with the right credentials, with one that is wrong, and how to reach another host. */
const PROVIDERS: Record<string, { right: () => Saved; wrong: Record<string, string>; inUrl?: true }> = {
  upstream: {
    right: () => ({ credentials: (providers[0] as TestProvider).credentials }),
    wrong: { key: 'wrong' },
    inUrl: true,
  },
  stripe: {
    right: () => ({ credentials: STRIPE_CREDENTIALS, settings: { api_base: stripe.url } }),
    wrong: { secret_key: 'sk_test_wrong' },
  },
  'stripe-hosted': {
    right: () => ({ credentials: STRIPE_CREDENTIALS, settings: { api_base: stripe.url } }),
    wrong: { secret_key: 'sk_test_wrong' },
  },
  adyen: {
    right: () => ({ credentials: adyen.credentials, settings: { api_base: adyen.url } }),
    wrong: { api_key: 'wrong' },
  },
  mollie: {
    right: () => ({ credentials: { api_key: API_KEY }, settings: { api_base: mollie.url } }),
    wrong: { api_key: `test_${'w'.repeat(30)}` },
  },
  checkout: {
    right: () => ({ credentials: checkout.credentials, settings: { api_base: checkout.url } }),
    wrong: { secret_key: 'sk_sbox_wrong' },
  },
  paypal: {
    right: () => ({ credentials: paypal.credentials, settings: { api_base: paypal.url } }),
    wrong: { client_secret: 'wrong' },
  },
};

test('each connector is in the table', () => {
  expect(Object.keys(PROVIDERS).toSorted()).toEqual([...CONNECTABLE].toSorted());
});

const create = (connector: string, saved: Saved) =>
  shop.admin('POST', '/connections', { connector, name: 'New', ...saved });

/** The same connection, to another host. */
function elsewhere(connector: string, url: string): Saved {
  const { right, inUrl } = PROVIDERS[connector] as (typeof PROVIDERS)[string];
  const { credentials, settings } = right();
  return inUrl ? { credentials: { ...credentials, url } } : { credentials, settings: { ...settings, api_base: url } };
}

describe.each(Object.entries(PROVIDERS))('%s', (connector, { right, wrong }) => {
  // A provider that answers may take as long as a busy machine needs.
  lengthenLimits({ outcomeTimeoutMs: 50_000, providerConnectTimeoutMs: 50_000 });

  test('the right key', async () => {
    const { status, body } = await create(connector, right());
    expect([status, body.check]).toEqual([201, { ok: true, detail: expect.stringMatching(/^.+\.$/) }]);
  });

  test('a wrong key is saved, reported at once, and mended', async () => {
    const { credentials, ...rest } = right();
    const { status, body } = await create(connector, { ...rest, credentials: { ...credentials, ...wrong } });
    expect([status, body.check]).toEqual([201, { ok: false, detail: expect.stringMatching(/key/i) }]);
    expect(JSON.stringify(body)).not.toContain(Object.values(wrong)[0]);
    const path = `/connections/${body.connection_id}`;
    expect((await shop.admin('GET', path)).body).not.toHaveProperty('check');
    const mended = Object.fromEntries(Object.keys(wrong).map((name) => [name, credentials[name]]));
    const changed = await shop.admin('PATCH', path, { credentials: mended });
    expect([changed.status, changed.body.check.ok]).toEqual([200, true]);
    // Nothing that the provider could refuse.
    expect((await shop.admin('PATCH', path, { name: 'Renamed' })).body).not.toHaveProperty('check');
  });

  test('a provider that is down', async () => {
    const { status, body } = await create(connector, elsewhere(connector, 'http://127.0.0.1:9'));
    expect([status, body.check]).toEqual([201, { ok: false, detail: expect.stringMatching(/reached/) }]);
  });
});

test('a provider that does not answer in time', async () => {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const answers = await Promise.all(Object.keys(PROVIDERS).map((name) => create(name, elsewhere(name, url))));
  for (const { status, body } of answers)
    expect([status, body.check]).toEqual([201, { ok: false, detail: expect.stringMatching(/answer|too long/) }]);
});

test('the panel shows the result once the connection is saved', async () => {
  const owner = await signedIn(shop, 'owner');
  const { credentials } = (PROVIDERS.upstream as { right: () => Saved }).right();
  const fields = Object.fromEntries(Object.entries(credentials).map(([name, value]) => [`credentials.${name}`, value]));
  const form = { name: 'New', mids: '', 'settings.methods': '', 'settings.api_base': '', ...fields };
  const { location } = await owner.submit('/admin/connections/new/upstream', { ...form, 'credentials.key': 'wrong' });
  const page = (await owner.get(location as string)).text;
  for (const part of ['Saved.', 'The check failed. The provider does not accept the key.'])
    expect(page).toContain(part);
  // The result belongs to this connection, and is not what an address says.
  const [path, query] = (location as string).split('?');
  const other = await owner.submit('/admin/connections/new/upstream', form);
  const mixed = `${(other.location as string).split('?')[0]}?${query}`;
  for (const address of [path, mixed, `${path}?check=x`])
    expect((await owner.get(address as string)).text).not.toContain('The check');
});
