/** Sales over `/post` with the card of a wallet that the device did not authenticate, at providers with 3DS of their own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type AdyenDouble, AUTHENTICATED_CARD, startAdyen } from '../doubles/adyen.ts';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import { type FetchedPage, follow, show, submitPage } from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, openShop, saleFields } from '../support/gateway.ts';
import { connect, openProviders, route, type TestProvider } from '../support/providers.ts';
import { newKey, openWallets, pemOf, type TokenB } from '../support/wallets.ts';

const wallets = openWallets();
const shop = openShop({ simulator: true, walletRoots: wallets.roots });
const providers = openProviders(1);
const key = newKey();
const RETURN_URL = 'https://shop.example/return';
const TERM_URL = 'https://shop.example/3ds';

interface Case {
  connection: string;
  challenged: string;
  /** The payer decides on the page of the provider; returns the address to which the payer is sent. */
  decide(page: string, decision: 'approve' | 'fail'): Promise<string>;
  balance(id: string): bigint;
}
let stripe: StripeDouble;
let adyen: AdyenDouble;
const cases: Record<string, Case> = {};

const merchantOf = async (...connections: string[]): Promise<Merchant> => {
  const merchant = await shop.newMerchant({ 'wallets.wallet-b': { private_key: pemOf(key) } });
  const routes = connections.map((connection_id) => ({ connection_id }));
  await route(shop, merchant.mid, routes);
  return merchant;
};

beforeAll(async () => {
  stripe = await startStripe();
  adyen = await startAdyen();
  const { url: stripeUrl } = stripe;
  cases.stripe = {
    connection: await connect(
      shop,
      { credentials: STRIPE_CREDENTIALS },
      { connector: 'stripe', settings: { api_base: stripeUrl, methods: { 'wallet-b': 'card' } } },
    ),
    challenged: STRIPE_CARDS.challenge,
    decide: async (page, decision) => String(await stripe.pay(page, decision)),
    balance: (id) => stripe.balance(id),
  };
  cases.adyen = {
    connection: await connect(shop, adyen, {
      connector: 'adyen',
      settings: { api_base: adyen.url, methods: { 'wallet-b': 'scheme' } },
    }),
    challenged: AUTHENTICATED_CARD,
    async decide(page, decision) {
      const returned = adyen.decide(page, decision === 'approve' ? 'authorise' : 'refuse');
      return `${String(adyen.calls.at(-1)?.body.returnUrl)}?${new URLSearchParams(returned)}`;
    },
    balance: (id) => adyen.balance(id),
  };
});
afterAll(async () => {
  expect([stripe.problems, adyen.violations]).toEqual([[], []]);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  const logged = shop.logs.join('\n');
  for (const number of [STRIPE_CARDS.challenge, AUTHENTICATED_CARD]) expect(logged).not.toContain(number);
  await stripe.close();
  await adyen.close();
});

const fieldsOf = (merchant: Merchant, token: Partial<TokenB>, fields: Fields = {}): Fields =>
  saleFields(merchant, {
    brand: 'wallet-b',
    identifier: '',
    return_url: RETURN_URL,
    'parameters[paymentToken]': wallets.tokenB({
      kind: 'PAN_ONLY',
      gatewayMerchantId: merchant.client_key,
      key,
      ...token,
    }),
    ...fields,
  });
const sale = async (merchant: Merchant, number: string, fields: Fields = {}): Promise<Answer['body']> => {
  const { body } = await shop.post(fieldsOf(merchant, { number }, fields));
  expect(body).toMatchObject({ result: 'REDIRECT', status: '3DS', redirect_method: 'GET', redirect_params: {} });
  expect(body.redirect_url).toContain(`${shop.url}/pay/`);
  return body;
};
/** The payer visits our page, whose script submits its form. */
const visit = async ({ redirect_url }: Answer['body']): Promise<FetchedPage> => submitPage(await show(redirect_url));
/** The address of the provider's page, where the payer is sent by a redirect or by a form. */
async function pageOf(visited: FetchedPage): Promise<string> {
  expect(visited.status).toBe(303);
  if (!visited.location.startsWith('/')) return visited.location;
  const { text } = await show(new URL(visited.location, visited.url).href);
  return /<form method="post" action="([^"]+)"/.exec(text)?.[1] ?? '';
}
/** The callbacks of a payment, in their order. */
const callbacksOf = async (id: string): Promise<string[]> => {
  const rows = await shop.rows(`select body from callbacks where payment_id = '${id}' order by seq`);
  return rows.map(({ body }) => {
    const { action, result, status } = Object.fromEntries(new URLSearchParams(String(body)));
    return `${action} ${result} ${status}`;
  });
};
const statusOf = async (id: string, merchant: Merchant): Promise<string> =>
  (await shop.status(id, merchant)).body.status;

describe.each(['stripe', 'adyen'])('%s', (name) => {
  let merchant: Merchant;
  const provider = (): Case => cases[name] as Case;
  beforeAll(async () => {
    merchant = await merchantOf(provider().connection);
  });

  test('the payer authenticates at the provider, and is charged when the payer comes back', async () => {
    const body = await sale(merchant, provider().challenged);
    const page = await pageOf(await visit(body));
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: '3DS', next_step: 'redirect', connector: name });
    // A payer who opens our page again is sent there again.
    expect((await show(body.redirect_url)).text + (await show(body.redirect_url)).location).toContain(page);
    const back = await show(await provider().decide(page, 'approve'));
    expect([back.status, back.location]).toEqual([303, RETURN_URL]);
    expect(await statusOf(body.trans_id, merchant)).toBe('SETTLED');
    expect(provider().balance(body.trans_id)).toBe(1000n);
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'challenged', 'collected', 'redirected', 'settled']);
    expect(await callbacksOf(body.trans_id)).toEqual([
      'SALE REDIRECT 3DS',
      'SALE REDIRECT 3DS',
      'SALE SUCCESS SETTLED',
    ]);
    expect(JSON.stringify(await shop.inspect(body.trans_id))).not.toContain(provider().challenged);
  });

  test('a repeat of the request meanwhile gets the address of the provider', async () => {
    const sent = fieldsOf(merchant, { number: provider().challenged });
    const { body } = await shop.post(sent);
    const page = await pageOf(await visit(body));
    const { body: repeat } = await shop.post(sent);
    expect(repeat).toMatchObject({ trans_id: body.trans_id, result: 'REDIRECT', status: '3DS', redirect_url: page });
  });

  test('the payer returns to term_url_3ds, also if the payment is settled by then', async () => {
    const body = await sale(merchant, provider().challenged, { term_url_3ds: TERM_URL });
    const returnAddress = await provider().decide(await pageOf(await visit(body)), 'approve');
    expect((await show(returnAddress)).location).toBe(TERM_URL);
    expect((await show(returnAddress)).location).toBe(TERM_URL);
  });

  test('a payer who fails is declined', async () => {
    const body = await sale(merchant, provider().challenged);
    const back = await show(await provider().decide(await pageOf(await visit(body)), 'fail'));
    expect(back.location).toBe(RETURN_URL);
    const { body: status } = await shop.status(body.trans_id, merchant);
    expect(status).toMatchObject({ status: 'DECLINED', decline_reason: expect.any(String) });
    expect((await callbacksOf(body.trans_id)).at(-1)).toBe('SALE DECLINED DECLINED');
    const rows = await shop.rows(`select sealed from cards where payment_id = '${body.trans_id}'`);
    expect(rows).toEqual([{ sealed: null }]);
  });

  test('a payer who does not come back is declined after an hour', async () => {
    const body = await sale(merchant, provider().challenged);
    await visit(body);
    await shop.advanceClock(1800, merchant.mid);
    expect(await statusOf(body.trans_id, merchant)).toBe('3DS');
    await shop.advanceClock(1801, merchant.mid);
    expect(await statusOf(body.trans_id, merchant)).toBe('DECLINED');
    expect((await shop.events(body.trans_id)).filter((event) => event === 'redirected')).toHaveLength(1);
    expect((await callbacksOf(body.trans_id)).at(-1)).toBe('SALE DECLINED DECLINED');
    // The payer comes back all the same: nothing is charged without the operator.
    await follow(await show(body.redirect_url));
    expect(await statusOf(body.trans_id, merchant)).toBe('DECLINED');
  });

  test('a card that needs no challenge is charged on the visit', async () => {
    const body = await sale(merchant, STRIPE_CARDS.success);
    expect((await visit(body)).location).toBe(RETURN_URL);
    expect(await statusOf(body.trans_id, merchant)).toBe('SETTLED');
  });

  // The published API of Stripe takes no cryptogram.
  test('the number of a device is sent with its cryptogram or not at all', async () => {
    const { body } = await shop.post(fieldsOf(merchant, { kind: 'CRYPTOGRAM_3DS' }));
    const [status, balance] = name === 'adyen' ? ['SETTLED', 1000n] : ['DECLINED', 0n];
    expect(body).toMatchObject({ status });
    expect(provider().balance(body.trans_id)).toBe(balance);
  });
});

describe('answers that get lost', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await merchantOf(cases.stripe?.connection ?? '');
  });

  test('before the provider has the payment: it is declined, after queries', async () => {
    const body = await sale(merchant, STRIPE_CARDS.challenge);
    stripe.fault('lost_before');
    await visit(body);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    for (let pause = 0; pause < 4; pause++) await shop.advanceClock(120, merchant.mid);
    expect(await statusOf(body.trans_id, merchant)).toBe('DECLINED');
  });

  test('after it: the payer cannot be sent on, and the payment ends with the payer’s time', async () => {
    const body = await sale(merchant, STRIPE_CARDS.challenge);
    stripe.fault('lost_after');
    await visit(body);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await shop.advanceClock(600, merchant.mid);
    expect(await statusOf(body.trans_id, merchant)).toBe('PENDING');
    await shop.advanceClock(4 * 3600, merchant.mid);
    expect(await statusOf(body.trans_id, merchant)).toBe('DECLINED');
    expect(stripe.balance(body.trans_id)).toBe(0n);
  });

  test('with the process: the query brings the redirect, and the payer goes on', async () => {
    const body = await sale(merchant, STRIPE_CARDS.challenge);
    const page = await pageOf(await visit(body));
    await shop.rows(
      `update payments set next_step = null, due_at = now(), provider_reference = null
        where payment_id = '${body.trans_id}'`,
    );
    await shop.advanceClock(1, merchant.mid);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: '3DS', next_step: 'redirect' });
    expect((await show(body.redirect_url)).text).toContain(`href="${page.replaceAll('&', '&amp;')}"`);
    await show(String(await stripe.pay(page)));
    expect(await statusOf(body.trans_id, merchant)).toBe('SETTLED');
  });
});

describe('other routes', () => {
  test('the next one authenticates the payer as well', async () => {
    const merchant = await merchantOf(cases.adyen?.connection ?? '', cases.stripe?.connection ?? '');
    const body = await sale(merchant, STRIPE_CARDS.challenge);
    adyen.fault('rate_limited');
    const page = await pageOf(await visit(body));
    expect(page).toContain(stripe.url);
    await show(String(await stripe.pay(page)));
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'SETTLED', connector: 'stripe' });
  });

  test('the next one leaves that to the gateway', async () => {
    const [another] = providers as [TestProvider];
    const merchant = await merchantOf(cases.adyen?.connection ?? '', await connect(shop, another));
    const { body } = await shop.post(fieldsOf(merchant, { expiry: '05/38' }));
    adyen.fault('rate_limited');
    const challenge = await follow(await visit(body));
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: '3DS', next_step: 'challenge' });
    await submitPage(await submitPage(await submitPage(challenge)), { code: '1234' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'SETTLED', connector: 'upstream' });
  });

  test('the own provider redirects the payer after the authentication', async () => {
    const merchant = await shop.newMerchant({ 'wallets.wallet-b': { private_key: pemOf(key) } });
    const { body } = await shop.post(fieldsOf(merchant, { expiry: '12/38' }));
    const page = await pageOf(await visit(body));
    expect(page).toContain(`${shop.provider?.url}/pay/`);
    expect(await statusOf(body.trans_id, merchant)).toBe('3DS');
  });
});
