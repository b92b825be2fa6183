/** The methods that payers know, and device wallets, through Stripe, Adyen and Mollie, against doubles of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdyenDouble, startAdyen } from '../doubles/adyen.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { REFUSED_WALLET } from '../doubles/mollie-wallets.ts';
import { STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { checkoutOf, choices, fill, inputs, show } from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';
import { connect, route } from '../support/providers.ts';
import { DEVICE_NUMBER, MERCHANT, newKey, openWallets, pemOf, walletSettings } from '../support/wallets.ts';

const wallets = openWallets();
const shop = openShop({ walletRoots: wallets.roots });
const checkout = checkoutOf(shop);
const keyB = newKey();
const KEYS = {
  wallets: {
    'wallet-a': { merchant_identifier: MERCHANT.identifier, processing_private_key: pemOf(MERCHANT.key) },
    'wallet-b': { private_key: pemOf(keyB).replaceAll('\n', '') },
  },
};
let adyen: AdyenDouble;
let mollie: MollieDouble;
let stripe: StripeDouble;
/** An account at each provider, and its connection. */
const accounts: Record<string, Merchant> = {};
const connections: Record<string, string> = {};

beforeAll(async () => {
  [adyen, mollie, stripe] = await Promise.all([startAdyen(), startMollie(), startStripe()]);
  const at = async (name: string, url: string, credentials: Record<string, string>, settings = {}): Promise<void> => {
    const [connector] = name.split(' ');
    connections[name] = await connect(shop, { credentials }, { connector, settings: { api_base: url, ...settings } });
    const merchant = await shop.newMerchant(name === 'adyen' ? KEYS : {});
    await route(shop, merchant.mid, [{ connection_id: connections[name] }]);
    accounts[name] = merchant;
  };
  await at('adyen', adyen.url, adyen.credentials);
  await at('adyen hosted', adyen.url, adyen.credentials, { mode: 'hosted' });
  await at('mollie', mollie.url, { api_key: API_KEY });
  await at('stripe', stripe.url, STRIPE_CREDENTIALS);
  await at('stripe-hosted', stripe.url, STRIPE_CREDENTIALS);
});
beforeEach(() => {
  adyen.calls.length = 0;
});
afterAll(async () => {
  expect([adyen.violations, mollie.violations, stripe.problems]).toEqual([[], [], []]);
  await Promise.all([adyen.close(), mollie.close(), stripe.close()]);
});

const account = (name: string): Merchant => accounts[name] as Merchant;
const CURRENCIES: Fields = { blik: 'PLN', przelewy24: 'PLN', twint: 'CHF', swish: 'SEK', mobilepay: 'DKK' };
const LINES = { 'order_lines[0][name]': 'Teapot', 'order_lines[0][amount]': '10.00' };
const sell = (provider: string, brand: string, fields: Fields = {}): Promise<Answer> =>
  shop.sale(
    {
      ...{ brand, identifier: '', order_currency: CURRENCIES[brand] ?? 'EUR' },
      ...(brand === 'klarna' && LINES),
      ...fields,
    },
    account(provider),
  );
/** What our page asks the payer for, before the provider gets the payment. */
const asked = async (provider: string, brand: string): Promise<string[]> => {
  const { body } = await sell(provider, brand);
  expect(body.result, JSON.stringify(body)).toBe('REDIRECT');
  return body.redirect_url.startsWith(shop.url) ? inputs((await show(body.redirect_url)).text) : [];
};

const NAMES = ['payer_first_name', 'payer_last_name'];
const ADDRESS = ['payer_country', 'payer_email', ...NAMES, 'payer_address', 'payer_zip', 'payer_city'];

describe('a connection takes the brand without an entry in its settings, and asks for what the provider needs', () => {
  test.each<[provider: string, brand: string, asks: readonly string[]]>([
    ...['ideal', 'paypal', 'twint', 'swish', 'mobilepay'].flatMap((brand): [string, string, string[]][] => [
      ['stripe', brand, []],
      ['adyen', brand, []],
      ['mollie', brand, []],
    ]),
    ['stripe', 'bancontact', NAMES],
    ['adyen', 'bancontact', []],
    ['mollie', 'bancontact', []],
    ['stripe', 'eps', NAMES],
    ['mollie', 'eps', []],
    ['stripe', 'przelewy24', ['payer_email']],
    ['mollie', 'przelewy24', []],
    ['stripe', 'blik', ['parameters[code]']],
    ['adyen', 'blik', ['parameters[code]']],
    ['mollie', 'blik', []],
    ['stripe', 'mbway', ['payer_phone']],
    ['adyen', 'mbway', ['payer_phone', 'payer_email']],
    ['mollie', 'mbway', []],
    ['stripe', 'klarna', ['payer_country', 'payer_email']],
    ['adyen', 'klarna', ADDRESS],
    ['mollie', 'klarna', ADDRESS],
    ['stripe', 'sepa-debit', ['parameters[iban]', ...NAMES, 'payer_email']],
    ['adyen', 'sepa-debit', ['parameters[iban]', ...NAMES]],
    ['stripe-hosted', 'bancontact', []],
    ['stripe-hosted', 'sepa-debit', []],
    ['adyen hosted', 'bancontact', []],
    ['adyen hosted', 'eps', []],
    ['adyen hosted', 'przelewy24', []],
    ['adyen hosted', 'blik', []],
  ])('%s, %s: %j', async (provider, brand, asks) => {
    expect(await asked(provider, brand)).toEqual(asks);
  });

  test.each([
    ['adyen', 'eps'],
    ['adyen', 'przelewy24'],
    ['mollie', 'sepa-debit'],
    ['stripe', 'wallet-a'],
  ])('%s does not take %s', async (provider, brand) => {
    const { status, body } = await sell(provider, brand);
    expect([status, body.errors[0].error_message]).toEqual([
      400,
      'brand: The value you selected is not a valid choice.',
    ]);
  });

  test('a field is asked for if any provider that may get the payment needs it', async () => {
    const merchant = await shop.newMerchant();
    const routes = [{ connection_id: connections.mollie, share: 50 }, { connection_id: connections.stripe }];
    await route(shop, merchant.mid, routes);
    const { url } = await checkout.open({ methods: ['blik'], order: { currency: 'PLN' } }, merchant);
    expect(inputs((await show(url)).text)).toEqual(['parameters[code]']);
    await route(shop, merchant.mid, routes.slice(0, 1));
    expect(inputs((await show(url)).text)).toEqual([]);
  });
});

test('the payer of Klarna chooses the country by its name, and Mollie gets the address', async () => {
  const order = { currency: 'EUR', lines: [{ name: 'Teapot', amount: '10.00' }] };
  const { url, id } = await checkout.open({ methods: ['klarna'], order }, account('mollie'));
  const { text } = await show(url, { headers: { 'accept-language': 'de' } });
  expect(text).toContain('<option value="AT">Österreich</option>');
  expect(readable(text)).toContain('Straße und Hausnummer');
  await fill(url, {
    ...{ method: 'klarna', payer_country: 'AT', payer_email: 'ana@example.com', payer_first_name: 'Ana' },
    ...{ payer_last_name: 'Petrović', payer_address: 'Ring 1', payer_zip: '1010', payer_city: 'Wien' },
  });
  expect(mollie.find(id)?.payment).toMatchObject({ method: 'klarna' });
  const created = mollie.calls.findLast(({ body }) => (body as { method?: string } | undefined)?.method === 'klarna');
  expect(created?.body).toMatchObject({
    billingAddress: {
      streetAndNumber: 'Ring 1',
      postalCode: '1010',
      city: 'Wien',
      country: 'AT',
      familyName: 'Petrović',
    },
  });
});

test('BLIK through Adyen: the payer enters the code, approves in the app, and the webhook settles the payment', async () => {
  const { url, id } = await checkout.open({ methods: ['blik'], order: { currency: 'PLN' } }, account('adyen'));
  await fill(url, { method: 'blik', 'parameters[code]': '777123' });
  expect(adyen.calls[0]?.body.paymentMethod).toEqual({ type: 'blik', blikCode: '777123' });
  expect((await shop.inspect(id)).status).toBe('PENDING');
  adyen.webhooks();
  adyen.decideInApp(id);
  for (const { body } of adyen.webhooks())
    await fetch(`${shop.url}/inbound/adyen/${connections.adyen}`, { method: 'POST', body: new Uint8Array(body) });
  await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
});

describe('device wallets', () => {
  const TOKEN = 'parameters[paymentToken]';
  const tokenB = (gatewayMerchantId: string, kind?: 'PAN_ONLY') =>
    wallets.tokenB({ gatewayMerchantId, key: keyB, ...(kind && { kind }) });
  const pay = (provider: string, brand: string, token: string, fields: Fields = {}): Promise<Answer> =>
    sell(provider, brand, { order_currency: 'USD', [TOKEN]: token, ...fields });

  test.each(['wallet-a', 'wallet-b'])(
    'Adyen gets the number of the device of %s with its cryptogram',
    async (brand) => {
      const token = brand === 'wallet-a' ? wallets.tokenA() : tokenB(account('adyen').client_key);
      const { body } = await pay('adyen', brand, token);
      expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', digital_wallet: brand });
      expect(adyen.calls[0]?.body).toMatchObject({
        paymentMethod: {
          type: 'networkToken',
          brand: brand === 'wallet-a' ? 'applepay' : 'googlepay',
          number: DEVICE_NUMBER,
        },
        mpiData: { tokenAuthenticationVerificationValue: expect.any(String) },
      });
      expect(adyen.balance(body.trans_id)).toBe(1000n);
    },
  );

  /** A token of which the gateway reads nothing but its form. */
  const foreign = (brand: string, data: string = crypto.randomUUID()): string => {
    const made = JSON.parse(brand === 'wallet-a' ? wallets.tokenA() : tokenB('pfl_of_mollie'));
    if (brand === 'wallet-a') return JSON.stringify({ ...made, paymentData: { ...made.paymentData, data } });
    const { tokenizationData } = made.paymentMethodData;
    const inner = JSON.parse(tokenizationData.token);
    const token = JSON.stringify({ ...inner, signedMessage: inner.signedMessage.replace(/}$/, `,"x":"${data}"}`) });
    const paymentMethodData = { ...made.paymentMethodData, tokenizationData: { ...tokenizationData, token } };
    return JSON.stringify({ ...made, paymentMethodData });
  };
  const created = (id: string) =>
    mollie.calls.findLast(({ body }) => JSON.stringify(body ?? {}).includes(id) && 'amount' in (body ?? {}))?.body;

  test.each([
    ['wallet-a', 'applepay', 'applePayPaymentToken'],
    ['wallet-b', 'googlepay', 'googlePayPaymentToken'],
  ])('Mollie gets the token of %s as the wallet made it', async (brand, method, field) => {
    const token = foreign(brand);
    const { body } = await pay('mollie', brand, token);
    expect(body, JSON.stringify(body)).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', digital_wallet: brand });
    const sent = brand === 'wallet-a' ? token : JSON.parse(token).paymentMethodData.tokenizationData.token;
    expect(created(body.trans_id)).toMatchObject({ method, [field]: sent });
    const stored = JSON.stringify([
      await shop.rows(`select * from payments where payment_id = '${body.trans_id}'`),
      await shop.inspect(body.trans_id),
    ]);
    const secret = brand === 'wallet-a' ? JSON.parse(token).paymentData.data : 'signedMessage';
    expect(stored + shop.logs.join('\n')).not.toContain(secret);
  });

  test('the bank of the payer refuses: DECLINED with the reason', async () => {
    const { body } = await pay('mollie', 'wallet-a', foreign('wallet-a', REFUSED_WALLET));
    expect(body).toMatchObject({ result: 'DECLINED', decline_reason: 'Insufficient funds.' });
  });

  test('a token pays once, however it is written', async () => {
    const token = foreign('wallet-a');
    expect((await pay('mollie', 'wallet-a', token)).body.status).toBe('SETTLED');
    const { status, body } = await pay('mollie', 'wallet-a', JSON.stringify(JSON.parse(token), null, 1));
    expect([status, body.errors[0].error_message]).toEqual([400, `${TOKEN}: This token was used for another payment.`]);
  });

  test('a payment whose answer is lost is found at Mollie, and made once', async () => {
    mollie.fault('lost_after', 'lost_after');
    const { body } = await pay('mollie', 'wallet-a', foreign('wallet-a'));
    expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    await shop.advanceClock(120, account('mollie').mid);
    await expect.poll(async () => (await shop.inspect(body.trans_id)).status, PROVIDER_POLL).toBe('SETTLED');
    expect(mollie.findAll(body.trans_id)).toHaveLength(1);
  });

  test('an account without keys, whose provider does not open tokens, is refused', async () => {
    const merchant = await shop.newMerchant();
    await route(shop, merchant.mid, [{ connection_id: connections.adyen }]);
    const fields = { brand: 'wallet-a', identifier: '', [TOKEN]: foreign('wallet-a') };
    const { status, body } = await shop.sale(fields, merchant);
    expect([status, body.error_code]).toEqual([400, 204005]);
  });

  test('the payment page has no button for a provider that opens tokens itself', async () => {
    const merchant = await shop.newMerchant(walletSettings());
    await route(shop, merchant.mid, [{ connection_id: connections.mollie }]);
    const { url } = await checkout.open({ order: { currency: 'EUR' } }, merchant);
    const { text } = await show(url);
    expect(choices(text)).toContain('ideal');
    expect(text).not.toContain('data-wallet');
    await route(shop, merchant.mid, [{ connection_id: connections.adyen }]);
    expect((await show(url)).text).toContain('data-wallet');
  });
});
