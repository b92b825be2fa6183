/** Device wallets on the payment page: when they are offered, what the page may load, and what a token has to pass. */
import { beforeAll, describe, expect, test } from 'vitest';
import { SCRIPT_HASH } from '../../src/pages/script.ts';
import { sourceHash } from '../../src/pages/source-hash.ts';
import { PRETEND_SCRIPT, WALLET_SCRIPT } from '../../src/pages/wallets/scripts.ts';
import {
  type Body,
  checkoutOf,
  type FetchedPage,
  fill,
  follow,
  type Session,
  SUCCESS_URL,
  show,
} from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, openShop, startTestGateway } from '../support/gateway.ts';
import { expectSafe, policyOf } from '../support/pages.ts';
import { walletSettings } from '../support/wallets.ts';

const shop = openShop({ simulator: true, trustedProxies: ['127.0.0.1'] });
const checkout = checkoutOf(shop);
let merchant: Merchant;
beforeAll(async () => {
  merchant = await shop.newMerchant(walletSettings());
});

/** The wallets that a page has buttons for. */
const offered = (text: string): string[] => [...text.matchAll(/data-wallet="([^"]*)"/g)].map(([, label = '']) => label);
const BOTH = ['wallet-a', 'wallet-b'];
const pageOf = async (settings: Body, fields: Body = {}): Promise<FetchedPage> =>
  show((await checkout.open(fields, await shop.newMerchant({ ...walletSettings(), ...settings }))).url);
const ALONE = { methods: BOTH };

describe('offers', () => {
  test.each<[string, Body, Body, string[]]>([
    ['both by default', {}, {}, BOTH],
    ['the brands of the account', { brands: ['card', 'wallet-b'] }, {}, ['wallet-b']],
    ['the methods of the session', {}, { methods: ['card', 'wallet-a'] }, ['wallet-a']],
    ['an alias', { brand_aliases: { Phone: 'wallet-a' } }, { methods: ['Phone'] }, ['wallet-a']],
    ['no others than those of the session', {}, { methods: ['card'] }, []],
    ['not without a key', { 'wallets.wallet-b.private_key': '' }, ALONE, ['wallet-a']],
    ['not without the processing key', { 'wallets.wallet-a.processing_private_key': '' }, ALONE, ['wallet-b']],
    ['not without the identifier', { 'wallets.wallet-a.merchant_identifier': '' }, ALONE, ['wallet-b']],
    ['not without the certificate', { 'wallets.wallet-a.certificate': '' }, ALONE, ['wallet-b']],
    ['not without its key', { 'wallets.wallet-a.private_key': '' }, ALONE, ['wallet-b']],
    ['not without a country', { 'wallets.wallet-a.country': '' }, ALONE, ['wallet-b']],
    ['no pretend wallet in PRODUCTION', { 'wallets.wallet-b.environment': 'PRODUCTION' }, ALONE, ['wallet-a']],
    [
      'PRODUCTION not without a merchant id',
      { 'wallets.wallet-b.environment': 'PRODUCTION', 'wallets.pretend': false },
      ALONE,
      ['wallet-a'],
    ],
    [
      'PRODUCTION with one',
      { wallets: { pretend: false, 'wallet-b': { environment: 'PRODUCTION', merchant_id: 'BCR2DN6T' } } },
      ALONE,
      BOTH,
    ],
  ])('%s', async (_, settings, fields, expected) => {
    expect(offered((await pageOf(settings, fields)).text)).toEqual(expected);
  });

  test('the methods of a link', async () => {
    const terms = { mid: merchant.mid, title: 'Tea', currency: 'EUR', amount: '5.00', methods: ['card', 'wallet-a'] };
    const { status, body } = await shop.admin('POST', '/links', terms);
    expect([status, body.methods]).toEqual([201, terms.methods]);
    const page = await follow(await fill(shop.url + new URL(body.url).pathname, {}));
    expect(offered(page.text)).toEqual(['wallet-a']);
    expect(page.text).toContain('card_number');
  });

  test('nothing for a suspended account, nor without a provider', async () => {
    const suspended = await shop.newMerchant(walletSettings());
    const { url } = await checkout.open({}, suspended);
    await shop.admin('PATCH', `/accounts/${suspended.mid}`, { suspended: true });
    expect(offered((await show(url)).text)).toEqual([]);
    const alone = await startTestGateway();
    try {
      const other = await alone.newMerchant(walletSettings());
      expect(offered((await show((await checkoutOf(alone).open({}, other)).url)).text)).toEqual([]);
    } finally {
      await alone.close();
    }
  });

  test('the payment request has the settings, and the amount in the form of its currency', async () => {
    const settings = { wallets: { 'wallet-a': { shop_name: 'Tea' }, 'wallet-b': { merchant_name: 'Coffee' } } };
    const { text } = await pageOf(settings, { order: { amount: '1200', currency: 'JPY' } });
    const [, json = ''] = /data-requests="([^"]*)"/.exec(text) ?? [];
    const { 'wallet-a': a, 'wallet-b': b } = JSON.parse(json.replaceAll('&quot;', '"'));
    expect(a).toMatchObject({
      countryCode: 'NL',
      currencyCode: 'JPY',
      merchantCapabilities: ['supports3DS'],
      total: { label: 'Tea', type: 'final', amount: '1200' },
    });
    expect(b).toMatchObject({
      environment: 'TEST',
      allowedPaymentMethods: [
        {
          type: 'CARD',
          parameters: { allowedAuthMethods: ['PAN_ONLY', 'CRYPTOGRAM_3DS'] },
          tokenizationSpecification: {
            type: 'PAYMENT_GATEWAY',
            parameters: { gateway: 'turnpike', gatewayMerchantId: expect.stringMatching(/^test_/) },
          },
        },
      ],
      merchantInfo: { merchantName: 'Coffee' },
      transactionInfo: { totalPriceStatus: 'FINAL', totalPrice: '1200', currencyCode: 'JPY', countryCode: 'NL' },
    });
  });
});

describe('the policy', () => {
  test('of a page without wallets is that of every page, and its weight below 40 KB', async () => {
    const plain = await pageOf({}, { methods: ['card'] });
    expectSafe(plain);
    const { url } = await checkout.open({ methods: ['card'] });
    expect(plain.headers.get('content-security-policy')).toBe((await show(url)).headers.get('content-security-policy'));
    expect(Buffer.byteLength(plain.text)).toBeLessThan(40 * 1024);
    expect(plain.text).not.toMatch(/wallet/);
  });

  test('allows our scripts by their hashes, and no other host', async () => {
    const [pretend, vendor] = [await pageOf({}), await pageOf({ 'wallets.pretend': false }, { methods: ['wallet-a'] })];
    const scripts = ({ headers }: FetchedPage) => policyOf(headers).get('script-src');
    expect(scripts(pretend)).toBe([SCRIPT_HASH, sourceHash(PRETEND_SCRIPT), sourceHash(WALLET_SCRIPT)].join(' '));
    expect(scripts(vendor)).toBe([SCRIPT_HASH, sourceHash(WALLET_SCRIPT)].join(' '));
    expect(vendor.text).not.toContain(PRETEND_SCRIPT);
    for (const { headers } of [pretend, vendor]) {
      expect(headers.get('content-security-policy')?.replace(/form-action [^;]*/, '')).not.toMatch(/https?:/);
      expect(policyOf(headers).get('require-trusted-types-for')).toBe("'script'");
    }
  });

  test('is extended by the hosts of the vendor of wallet-b where its button is', async () => {
    const { headers, text } = await pageOf({ 'wallets.pretend': false });
    const policy = policyOf(headers);
    const [, nonce] = /data-nonce="(\w+)"/.exec(text) ?? [];
    expect(policy.get('script-src')).toBe(
      [SCRIPT_HASH, sourceHash(WALLET_SCRIPT), 'https://pay.google.com/gp/p/js/pay.js'].join(' '),
    );
    expect(policy.get('frame-src')).toBe('https://pay.google.com');
    expect(policy.get('connect-src')).toBe(
      "'self' https://pay.google.com https://google.com/pay https://www.google.com/pay",
    );
    expect(policy.get('style-src')).toMatch(new RegExp(`'nonce-${nonce}'$`));
    expect(policy.get('img-src')).toBe('data: https://www.gstatic.com');
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe|\*/);
  });
});

const open = (fields: Body = {}, by = merchant): Promise<Session> => checkout.open({ methods: BOTH, ...fields }, by);
const post = async (url: string, values: Fields, headers: Fields = {}): Promise<Pick<Answer, 'status' | 'body'>> => {
  const { status, text } = await show(url, { method: 'POST', body: new URLSearchParams(values), headers });
  return { status, body: JSON.parse(text) };
};
/** The token that the pretend wallet makes for a session. */
const tokenFor = async ({ url }: Session, wallet: string, values: Fields = {}): Promise<string> =>
  JSON.stringify(
    (
      await post(url.replace('/pay/', '/sandbox/wallets/'), {
        ...{ wallet, card: 'succeeds', amount: '10.00', currency: 'USD', ...values },
      })
    ).body,
  );
const pay = ({ url }: Session, wallet: string, token: string, headers?: Fields) =>
  post(`${url}/wallet`, { wallet, token }, headers);
const REFUSED = { status: 422, body: { message: expect.stringContaining('nothing was paid') } };
const PAID = { status: 200, body: { location: SUCCESS_URL, is_declined: false } };

describe('a token', () => {
  test.each(BOTH)('of %s pays once, and nothing of it is stored', async (wallet) => {
    const session = await open();
    const token = await tokenFor(session, wallet);
    expect(await pay(session, wallet, token)).toEqual(PAID);
    const page = new URL(session.url).pathname;
    expect(await pay(session, wallet, token)).toEqual({ status: 200, body: { location: page } });
    expect(await stateOf(session)).toBe('settled');
    const other = await open();
    expect(await pay(other, wallet, token)).toMatchObject(REFUSED);
    expect(await checkout.events(other.id)).toEqual(['opened']);
    const [stored] = await shop.rows(`select details::text from payments where payment_id = '${session.id}'`);
    const content = JSON.parse(token);
    const secret = content.paymentData?.data ?? content.paymentMethodData.tokenizationData.token;
    expect(String(stored?.details)).not.toContain(secret.slice(0, 40));
    expect(shop.logs.join('')).not.toContain(secret.slice(0, 40));
  });

  const stateOf = ({ id }: Session, by = merchant) => checkout.stateOf(id, by);

  test('submitted twice at the same time pays once', async () => {
    const session = await open();
    const token = await tokenFor(session, 'wallet-b');
    const answers = await Promise.all([pay(session, 'wallet-b', token), pay(session, 'wallet-b', token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await checkout.submissions(session.id)).toBe(1);
  });

  test('used by two sessions at the same time pays one of them', async () => {
    const sessions = [await open(), await open()] as const;
    const token = await tokenFor(sessions[0], 'wallet-b');
    const answers = await Promise.all(sessions.map((session) => pay(session, 'wallet-b', token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });

  test('that was declined is refused, and a new one pays as another attempt', async () => {
    const session = await open();
    const declined = await tokenFor(session, 'wallet-a', { card: 'declines' });
    const path = new URL(session.url).pathname;
    expect(await pay(session, 'wallet-a', declined)).toEqual({
      status: 200,
      body: { location: path, is_declined: true },
    });
    expect(offered((await show(session.url)).text)).toEqual(BOTH);
    expect(await pay(session, 'wallet-a', declined)).toMatchObject(REFUSED);
    expect(await checkout.attempts(session.orderId, merchant)).toHaveLength(1);
    expect(await pay(session, 'wallet-a', await tokenFor(session, 'wallet-a'))).toEqual(PAID);
  });

  test.each<[string, string, Fields]>([
    ['another amount', 'wallet-a', { amount: '9.99' }],
    ['another currency', 'wallet-a', { currency: 'EUR' }],
  ])('for %s is refused', async (_, wallet, values) => {
    const session = await open();
    expect(await pay(session, wallet, await tokenFor(session, wallet, values))).toMatchObject(REFUSED);
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });

  test('of another account or wallet, and what is no token, is refused', async () => {
    const session = await open();
    const other = await shop.newMerchant(walletSettings());
    const foreign = await tokenFor(await open({}, other), 'wallet-b');
    for (const token of [
      foreign,
      await tokenFor(session, 'wallet-a'),
      '',
      '{}',
      'x',
      `{"a":"${'x'.repeat(40_000)}"}`,
    ]) {
      expect(await pay(session, 'wallet-b', token)).toMatchObject(REFUSED);
    }
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });

  test.each([
    ['PAN_ONLY', 'succeeds', 'challenge'],
    ['CRYPTOGRAM_3DS', 'challenge', 'succeeds'],
  ])('of wallet-b is refused if its account allows %s only and it is of the other kind', async (kind, other, card) => {
    const by = await shop.newMerchant({ ...walletSettings(), 'wallets.wallet-b.allowed_auth_methods': [kind] });
    const session = await open({}, by);
    expect(await pay(session, 'wallet-b', await tokenFor(session, 'wallet-b', { card: other }))).toMatchObject(REFUSED);
    expect(await checkout.events(session.id)).toEqual(['opened']);
    const allowed = await pay(session, 'wallet-b', await tokenFor(session, 'wallet-b', { card }));
    expect(allowed).toMatchObject({ status: 200, body: { location: expect.any(String) } });
    // Neither applies to the other wallet.
    const withA = await open({}, by);
    expect(await pay(withA, 'wallet-a', await tokenFor(withA, 'wallet-a'))).toEqual(PAID);
  });

  test('of a wallet that is not offered pays nothing', async () => {
    const session = await open({ methods: ['card', 'wallet-a'] });
    const token = await tokenFor(await open(), 'wallet-b');
    expect(await pay(session, 'wallet-b', token)).toMatchObject({ status: 200 });
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });

  test('from another site is refused before anything else', async () => {
    const session = await open();
    const token = await tokenFor(session, 'wallet-b');
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const answer = await pay(session, 'wallet-b', token, headers);
      expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining('nothing was paid') } });
    }
    expect(await checkout.events(session.id)).toEqual(['opened']);
    expect((await post(`${shop.url}/pay/nothing/wallet`, {})).status).toBe(404);
  });

  test('counts as a card attempt', async () => {
    const limited = await shop.newMerchant({ ...walletSettings(), card_tries_per_session: 1 });
    const session = await open({ methods: [...BOTH, 'vcard'] }, limited);
    await pay(session, 'wallet-b', await tokenFor(session, 'wallet-b', { card: 'declines' }));
    const second = await tokenFor(session, 'wallet-b');
    expect((await pay(session, 'wallet-b', second)).status).toBe(429);
    expect(offered((await show(session.url)).text)).toEqual([]);
  });
});

describe('merchant validation', () => {
  const validate = ({ url }: Session, validation_url: string, headers?: Fields) =>
    post(`${url}/wallet-session`, { validation_url }, headers);

  test('the pretend wallet validates at the sandbox itself, and nowhere else', async () => {
    const session = await open();
    const own = `${shop.url}/sandbox/wallets/session`;
    expect(await validate(session, own)).toMatchObject({
      status: 200,
      body: { session: { nonce: expect.any(String) } },
    });
    const vendor = 'https://apple-pay-gateway.apple.com/paymentservices/startSession';
    for (const url of [
      vendor,
      `${own}?x`,
      `${shop.url}/post`,
      'https://evil.example/',
      'http://169.254.169.254/',
      '',
    ]) {
      expect(await validate(session, url)).toMatchObject({ status: 422 });
    }
    expect((await validate(session, own, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await validate(await open({ methods: ['wallet-b'] }), own)).status).toBe(422);
  });

  test('the wallet of the vendor does not validate at the sandbox', async () => {
    const other = await shop.newMerchant({ ...walletSettings(), 'wallets.pretend': false });
    expect((await validate(await open({}, other), `${shop.url}/sandbox/wallets/session`)).status).toBe(422);
  });
});

test('a session with the brand alone, without scripts: what to do, and the way back', async () => {
  const { text } = await show((await open({ methods: ['wallet-a'] })).url);
  expect(text).toContain('This way to pay is not available in this browser.');
  expect(text).toContain('https://shop.example/basket');
  expect(text).not.toContain('<form');
});

test('every process of a sandbox uses the same authority, and production has none', async () => {
  const { walletAuthorities } = await shop.anotherGateway();
  expect(walletAuthorities).toEqual(shop.gateway.walletAuthorities);
  const live = await startTestGateway({ environment: 'production', simulator: true });
  try {
    expect(live.gateway.walletAuthorities).toBeUndefined();
    const other = await live.newMerchant(walletSettings());
    const session = await open({}, merchant);
    const { url } = await checkoutOf(live).open({ methods: BOTH }, other);
    const page = await show(url);
    expect(offered(page.text)).toEqual(BOTH);
    expect(page.text).not.toContain('data-pretend');
    expect(page.text).not.toContain('pretend wallet');
    for (const path of [`/sandbox/wallets/${url.split('/').at(-1)}`, '/sandbox/wallets/session']) {
      expect((await fill(live.url + path, {})).status).toBe(404);
    }
    // The sandbox's root counts for nothing here, whatever account the token is for.
    expect(
      await post(`${url}/wallet`, { wallet: 'wallet-a', token: await tokenFor(session, 'wallet-a') }),
    ).toMatchObject(REFUSED);
  } finally {
    await live.close();
  }
});
