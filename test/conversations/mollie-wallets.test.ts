/** Device wallets on the payment page of a merchant without keys and certificates: Mollie opens their tokens. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { API_KEY, type MollieDouble, startMollie } from '../doubles/mollie.ts';
import { REFUSED_WALLET } from '../doubles/mollie-wallets.ts';
import { type Body, checkoutOf, type Session, SUCCESS_URL, show } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';
import { newKey, openWallets, pemOf, walletSettings } from '../support/wallets.ts';

const wallets = openWallets();
const shop = openShop({ simulator: true, walletRoots: wallets.roots });
const checkout = checkoutOf(shop);
const SETTINGS = { wallets: { pretend: false, 'wallet-a': { country: 'NL' } } };
const domain = (): string => new URL(shop.url).hostname;
let mollie: MollieDouble;
let connection: string;
let merchant: Merchant;

beforeAll(async () => {
  mollie = await startMollie();
  connection = await connect(
    shop,
    { credentials: { api_key: API_KEY } },
    { connector: 'mollie', settings: { api_base: mollie.url } },
  );
  merchant = await routed(SETTINGS);
});
beforeEach(() => {
  mollie.domains.splice(0, mollie.domains.length, domain());
  mollie.calls.length = 0;
});
afterAll(async () => {
  expect(mollie.violations).toEqual([]);
  await mollie.close();
});

async function routed(settings: Body, fields: Body = {}): Promise<Merchant> {
  const made = await shop.newMerchant(settings);
  await route(shop, made.mid, [{ connection_id: connection, ...fields }]);
  return made;
}
const open = (fields: Body = {}, by = merchant): Promise<Session> =>
  checkout.open({ methods: ['card', 'wallet-a', 'wallet-b'], ...fields }, by);
const offered = async (by: Merchant, fields: Body = {}): Promise<string[]> =>
  [...(await show((await open(fields, by)).url)).text.matchAll(/data-wallet="([^"]*)"/g)].map(
    ([, label = '']) => label,
  );
const post = async (url: string, values: Fields) => {
  const { status, text } = await show(url, { method: 'POST', body: new URLSearchParams(values) });
  return { status, body: JSON.parse(text) };
};
const VENDOR = 'https://apple-pay-gateway.apple.com/paymentservices/startSession';
const validate = ({ url }: Session, validation_url = VENDOR) => post(`${url}/wallet-session`, { validation_url });
const pay = ({ url }: Session, token: string) => post(`${url}/wallet`, { wallet: 'wallet-a', token });
const REFUSED = { status: 422, body: { message: expect.stringContaining('nothing was paid') } };

describe('the button', () => {
  test('is offered without keys and certificates, and the request has the settings', async () => {
    const { text } = await show((await open()).url);
    const [, json = ''] = /data-requests="([^"]*)"/.exec(text) ?? [];
    expect(JSON.parse(json.replaceAll('&quot;', '"'))).toEqual({
      'wallet-a': expect.objectContaining({ countryCode: 'NL', currencyCode: 'USD' }),
    });
  });

  test.each<[string, Body, Body, Body]>([
    ['without a country', { 'wallets.pretend': false }, {}, {}],
    ['with the pretend wallet of the sandbox', { 'wallets.wallet-a.country': 'NL' }, {}, {}],
    ['if the account does not allow the brand', { ...SETTINGS, brands: ['card'] }, {}, {}],
    ['if the session does not name it', SETTINGS, {}, { methods: ['card'] }],
    ['if the route takes other brands', SETTINGS, { brands: ['card'] }, {}],
    ['if the route takes other currencies', SETTINGS, { currencies: ['EUR'] }, {}],
    ['if the route takes nothing', SETTINGS, { share: 0 }, {}],
    ['for an authorisation, because Mollie cannot hold it', SETTINGS, {}, { auth: 'Y' }],
  ])('is not offered %s', async (_, settings, routeFields, fields) => {
    expect(await offered(await routed(settings, routeFields), fields)).toEqual([]);
  });

  test('is not offered without a route to a provider that makes sessions', async () => {
    expect(await offered(await shop.newMerchant(SETTINGS))).toEqual([]);
  });

  test('of an account with keys of its own does not use Mollie', async () => {
    const own = await routed({ ...walletSettings(), 'wallets.pretend': false });
    const session = await open({}, own);
    expect(await offered(own)).toEqual(['wallet-a', 'wallet-b']);
    expect(await validate(session, 'https://evil.example/')).toMatchObject(REFUSED);
    expect(mollie.calls).toEqual([]);
  });
});

describe('merchant validation', () => {
  test('Mollie makes the session, which the browser gets as it is', async () => {
    const { status, body } = await validate(await open());
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.session).toMatchObject({ domainName: domain(), merchantSessionIdentifier: expect.any(String) });
    expect(mollie.calls).toMatchObject([{ name: 'SessionCreate', body: { validationUrl: VENDOR, domain: domain() } }]);
  });

  test('an address that is not the vendor’s does not reach Mollie', async () => {
    const session = await open();
    const own = `${shop.url}/sandbox/wallets/session`;
    for (const url of ['', own, 'https://evil.example/', VENDOR.replace('https', 'http')]) {
      expect(await validate(session, url)).toMatchObject(REFUSED);
    }
    expect(mollie.calls).toEqual([]);
  });

  test('a refusal of Mollie: the message of every session that fails, and a line in the log', async () => {
    mollie.domains.length = 0;
    const session = await open();
    expect(await validate(session)).toMatchObject(REFUSED);
    const line = shop.logs.find((each) => each.includes('merchant validation failed') && each.includes(merchant.mid));
    expect(line).toContain('Apple Pay is not enabled for this domain.');
    expect(line).not.toContain(API_KEY);
    expect(await checkout.events(session.id)).toEqual(['opened']);
    // The connection still works.
    mollie.domains.push(domain());
    expect((await validate(session)).status).toBe(200);
  });

  test('a session without the wallet has none', async () => {
    expect(await validate(await open({ methods: ['card'] }))).toMatchObject(REFUSED);
    expect(mollie.calls).toEqual([]);
  });
});

describe('a token', () => {
  const created = () => mollie.calls.filter(({ name }) => name === 'PaymentCreate');
  /** A merchant whose rule does this for every payment with the wallet. */
  const ruled = async (action: object): Promise<Merchant> => {
    const by = await routed(SETTINGS);
    const condition = { field: 'brand', op: '=', value: 'wallet-a' };
    const rule = { mid: by.mid, name: 'All wallets', condition, action, state: 'on' };
    expect((await shop.admin('POST', '/risk/rules', rule)).status).toBe(201);
    return by;
  };
  const PAID = { status: 200, body: { location: SUCCESS_URL, is_declined: false } };

  test('is passed on to Mollie, pays once, and is not stored', async () => {
    const session = await open();
    const token = wallets.tokenA();
    expect(await pay(session, token)).toEqual(PAID);
    expect(await checkout.stateOf(session.id, merchant)).toBe('settled');
    expect(created()).toMatchObject([{ body: { method: 'applepay', applePayPaymentToken: token } }]);
    expect(mollie.balance(session.id)).toBe(1000n);
    expect(await pay(session, token)).toEqual({ status: 200, body: { location: new URL(session.url).pathname } });
    const other = await open();
    expect(await pay(other, token)).toMatchObject(REFUSED);
    expect(await checkout.events(other.id)).toEqual(['opened']);
    expect(created()).toHaveLength(1);
    const secret = JSON.parse(token).paymentData.data;
    const stored = await shop.rows(`select * from payments where payment_id = '${session.id}'`);
    expect(JSON.stringify(stored) + shop.logs.join('')).not.toContain(secret);
  });

  test.each<[string, (data: string) => string]>([
    ['without padding', (data) => data.replaceAll('=', '')],
    ['in the alphabet of addresses', (data) => data.replaceAll('+', '-').replaceAll('/', '_')],
    ['with a line break', (data) => `${data.slice(0, 8)}\n${data.slice(8)}`],
    ['with other unused bits', (data) => data.replace(/A==$/, 'B==')],
  ])('pays once, also if its content is spelt %s', async (_, spelt) => {
    const made = JSON.parse(wallets.tokenA());
    // One byte more than a multiple of three, with both characters that the alphabets differ in.
    const data = Buffer.concat([Buffer.from('fbff', 'hex'), Buffer.from(made.paymentData.data), Buffer.alloc(3)]);
    const whole = data.subarray(0, data.length - (data.length % 3)).toString('base64');
    const token = (text: string) => JSON.stringify({ ...made, paymentData: { ...made.paymentData, data: text } });
    expect(await pay(await open(), token(`${whole}AA==`))).toEqual(PAID);
    expect(spelt(`${whole}AA==`)).not.toBe(`${whole}AA==`);
    expect(await pay(await open(), token(spelt(`${whole}AA==`)))).toMatchObject(REFUSED);
    expect(created()).toHaveLength(1);
  });

  test('never goes to the own provider, which cannot open it', async () => {
    const by = await routed(SETTINGS, { share: 1 });
    for (const _ of ['one', 'another']) expect(await pay(await open({}, by), wallets.tokenA())).toEqual(PAID);
    expect(created()).toHaveLength(2);
  });

  test('that the bank refuses: the payer can pay with another one', async () => {
    const session = await open();
    const made = JSON.parse(wallets.tokenA());
    const declined = JSON.stringify({ ...made, paymentData: { ...made.paymentData, data: REFUSED_WALLET } });
    const path = new URL(session.url).pathname;
    expect(await pay(session, declined)).toEqual({ status: 200, body: { location: path, is_declined: true } });
    expect(await pay(session, declined)).toMatchObject(REFUSED);
    expect(await pay(session, wallets.tokenA())).toEqual(PAID);
    expect(await checkout.attempts(session.orderId, merchant)).toHaveLength(2);
  });

  test('of a payment that a risk rule reviews is charged, and the payment marked, because Mollie cannot hold it', async () => {
    const by = await ruled({ kind: 'review', hours: 24, then: 'refuse' });
    const session = await open({}, by);
    expect(await pay(session, wallets.tokenA())).toEqual(PAID);
    await processEverythingDue(shop.gateway);
    const payment = await shop.inspect(session.id);
    expect(payment).toMatchObject({ status: 'SETTLED', attention: 'risk_review' });
    expect(payment.risk).toMatchObject({
      decision: 'review',
      three_ds: { requested: null, reason: null, sent_as: null },
    });
    const refused = await shop.admin('POST', `/risk/reviews/${session.id}`, { decision: 'refuse' });
    expect([refused.status, mollie.balance(session.id)]).toEqual([200, 0n]);
  });

  test('of a payment for which a risk rule asks for a challenge pays without one, which is recorded', async () => {
    const by = await ruled({ kind: 'require_3ds' });
    const session = await open({}, by);
    expect(await pay(session, wallets.tokenA())).toEqual(PAID);
    expect((await shop.inspect(session.id)).risk.three_ds).toEqual({
      requested: 'challenge',
      reason: 'require_3ds',
      sent_as: 'nothing',
    });
  });

  test('whose answer is lost pays once', async () => {
    const session = await open();
    mollie.fault('lost_after', 'lost_after');
    expect(await pay(session, wallets.tokenA())).toMatchObject({ status: 200 });
    await shop.advanceClock(120, merchant.mid);
    await expect.poll(() => checkout.stateOf(session.id, merchant), PROVIDER_POLL).toBe('settled');
    expect(mollie.findAll(session.id)).toHaveLength(1);
  });

  test('that is none, and one of a wallet that is not offered, pay nothing', async () => {
    const session = await open();
    for (const token of ['', '{}', 'x']) expect(await pay(session, token)).toMatchObject(REFUSED);
    const { status } = await post(`${session.url}/wallet`, { wallet: 'wallet-b', token: '{}' });
    expect(status).toBe(200);
    expect(created()).toEqual([]);
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });
});

describe('wallet-b', () => {
  const PROFILE = 'pfl_QkEhN94Ba';
  let profiled: string;
  beforeAll(async () => {
    const settings = { api_base: mollie.url, profile_id: PROFILE };
    profiled = await connect(shop, { credentials: { api_key: API_KEY } }, { connector: 'mollie', settings });
  });
  const withProfile = async (settings: Body = {}): Promise<Merchant> => {
    const made = await shop.newMerchant({ 'wallets.pretend': false, ...settings });
    await route(shop, made.mid, [{ connection_id: connection }, { connection_id: profiled }]);
    return made;
  };
  const token = (): string =>
    wallets.tokenB({ gatewayMerchantId: PROFILE, key: newKey(), recipient: 'gateway:mollie' });

  test('is offered with the id of the profile: its tokens are made for Mollie', async () => {
    const { text } = await show((await open({}, await withProfile())).url);
    const [, json = ''] = /data-requests="([^"]*)"/.exec(text) ?? [];
    const { 'wallet-b': request } = JSON.parse(json.replaceAll('&quot;', '"'));
    expect(request.allowedPaymentMethods[0].tokenizationSpecification).toEqual({
      type: 'PAYMENT_GATEWAY',
      parameters: { gateway: 'mollie', gatewayMerchantId: PROFILE },
    });
  });

  test.each<[string, Body]>([
    ['with the pretend wallet of the sandbox', { 'wallets.pretend': true }],
    ['in PRODUCTION without a merchant id', { 'wallets.wallet-b.environment': 'PRODUCTION' }],
  ])('is not offered %s', async (_, settings) => {
    expect(await offered(await withProfile(settings))).toEqual([]);
  });

  test('is offered for a sale, but not for an authorisation, and pays none', async () => {
    const by = await withProfile();
    expect(await offered(by)).toEqual(['wallet-b']);
    expect(await offered(by, { auth: 'Y' })).toEqual([]);
    const session = await open({ auth: 'Y' }, by);
    await post(`${session.url}/wallet`, { wallet: 'wallet-b', token: token() });
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });

  test('of an account with a key of its own is made for the gateway, and does not go to Mollie', async () => {
    const own = await withProfile({ 'wallets.wallet-b.private_key': pemOf(newKey()) });
    const { text } = await show((await open({}, own)).url);
    expect(text).toContain('turnpike');
    expect(text).not.toContain(PROFILE);
  });

  test('its token is passed on to the connection of the profile, and pays once', async () => {
    const by = await withProfile();
    const session = await open({}, by);
    const sent = token();
    const values = { wallet: 'wallet-b', token: sent };
    expect(await post(`${session.url}/wallet`, values)).toMatchObject({ status: 200, body: { location: SUCCESS_URL } });
    const { token: inner } = JSON.parse(sent).paymentMethodData.tokenizationData;
    expect(mollie.find(session.id)?.payment).toMatchObject({ method: 'googlepay', googlePayPaymentToken: inner });
    expect((await shop.rows(`select connector from payments where payment_id = '${session.id}'`))[0]).toEqual({
      connector: `mollie/${profiled}`,
    });
    expect(await post(`${(await open({}, by)).url}/wallet`, values)).toMatchObject(REFUSED);
    // However it is spelt.
    const made = JSON.parse(sent);
    const { signedMessage, ...rest } = JSON.parse(inner);
    const message = Object.entries(JSON.parse(signedMessage)).toReversed();
    for (const respelt of [` ${signedMessage}`, Object.fromEntries(message)]) {
      const tokenizationData = { type: 'PAYMENT_GATEWAY', token: JSON.stringify({ signedMessage: respelt, ...rest }) };
      const again = { ...made, paymentMethodData: { ...made.paymentMethodData, tokenizationData } };
      const repeated = { wallet: 'wallet-b', token: JSON.stringify(again) };
      expect(await post(`${(await open({}, by)).url}/wallet`, repeated)).toMatchObject(REFUSED);
    }
  });
});
