/** Where the payment page leads: each outcome to its own address, in its own window, and only to safe addresses. */
import { describe, expect, test } from 'vitest';
import {
  type Body,
  CANCEL_URL,
  checkoutOf,
  choices,
  type FetchedPage,
  fill,
  follow,
  inputs,
  NO_METHOD_FITS,
  type Session,
  SUCCESS_URL,
  sessionFields,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';
import { readable, withoutScript } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const EXPIRY_URL = 'https://shop.example/too-late';
const ERROR_URL = 'https://shop.example/sorry';
const ALL = { expiry_url: EXPIRY_URL, error_url: ERROR_URL };
const CARD = { method: 'card', card_number: '4111 1111 1111 1111', card_cvv: '123', card_holder: 'Ada Byron' };
const decide = (page: string, decision: string): Promise<FetchedPage> => fill(page, { decision });
/** The links and buttons that lead away from a page. */
const exitLinks = ({ text }: FetchedPage): string[] =>
  [...text.matchAll(/<(?:a|form)\b[^>]*(?:href|action)="(https?:[^"]*)"/g)].map(([, address]) => address as string);
const elementFor = ({ text }: FetchedPage, address: string): string =>
  new RegExp(`<(?:a|form)\\b[^>]*"${address}"[^>]*>`).exec(text)?.[0] ?? '';

/** Submits the payer’s decision on the bank’s page, and returns the form that the bank sends them back with. */
async function passChallenge({ text }: FetchedPage): Promise<FetchedPage> {
  const inputIn = (page: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
  const acs = `${shop.provider?.url}/3ds/acs`;
  const { text: challenge } = await fill(acs, { creq: inputIn(text, 'creq'), threeDSSessionData: '' });
  const [, path = ''] = /action="(\/3ds\/acs\/[^"]*)"/.exec(challenge) ?? [];
  const { text: done } = await fill(new URL(path, acs).href, { code: '1234' });
  const [, notify = ''] = /action="([^"]*)"/.exec(done) ?? [];
  return fill(notify, { cres: inputIn(done, 'cres') });
}

test.each([
  ['TR', ['agg-a', 'doc-a']],
  ['TH', ['agg-c', 'doc-a']],
  ['DE', ['doc-a']],
  [undefined, ['agg-a', 'agg-c', 'doc-a', 'upi-b']],
])('a payer from %s is offered the methods of their country', async (country, offered) => {
  const methods = ['agg-a', 'agg-c', 'doc-a', 'upi-b'];
  const { url } = await checkout.open({ methods, billing_address: country && { country } });
  const { text } = await show(url);
  // The only method is selected automatically.
  const only = /<input[^>]*name="method"[^>]*value="([^"]*)"/.exec(text)?.[1];
  expect(choices(text).length > 0 ? choices(text).toSorted() : [only]).toEqual(offered);
});

describe('each outcome has its address', () => {
  test.each<[string, Body, string]>([
    ['with expiry_url', ALL, EXPIRY_URL],
    ['without expiry_url: cancel_url', { error_url: ERROR_URL }, CANCEL_URL],
    ['with success_url only', { cancel_url: undefined }, SUCCESS_URL],
  ])('an expired session, %s', async (_, fields, expected) => {
    const merchant = await shop.newMerchant();
    const { url } = await checkout.open({ session_expiry: 1, ...fields }, merchant);
    await shop.advanceClock(60, merchant.mid);
    const page = await show(url);
    expect(readable(page.text)).toContain('The time to pay is over');
    expect(exitLinks(page)).toEqual([expected]);
  });

  test('a session that expires after a decline', async () => {
    const merchant = await shop.newMerchant();
    const { url } = await checkout.open({ ...ALL, methods: ['vcard'], session_expiry: 1 }, merchant);
    await fill(url, VCARD.decline);
    await shop.advanceClock(60, merchant.mid);
    const page = await show(url);
    expect(readable(page.text)).toContain('The time to pay is over');
    expect(exitLinks(page)).toEqual([EXPIRY_URL]);
  });

  test('a success: only success_url', async () => {
    const { url } = await checkout.open({ ...ALL, methods: ['vcard'] });
    expect((await fill(url, VCARD.success)).location).toBe(SUCCESS_URL);
    expect(exitLinks(await show(url))).toEqual([SUCCESS_URL]);
  });

  test('a refunded payment', async () => {
    const merchant = await shop.newMerchant();
    const { url, id } = await checkout.paid({ ...ALL, auth: 'Y' }, merchant);
    await checkout.send('payment/void', { payment_id: id }, merchant);
    const page = await show(url);
    expect(readable(page.text)).toContain('Payment cancelled This payment was cancelled or refunded.');
    expect(exitLinks(page)).toEqual([CANCEL_URL]);
  });

  test('an unknown outcome: the page waits, and links to error_url', async () => {
    const merchant = await shop.newMerchant();
    const { url } = await checkout.open({ ...ALL, methods: ['doc-a'] }, merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'timeout_after' });
    const { location } = await fill(url, { 'parameters[document_number]': '45678912' });
    expect(location).toBe(new URL(url).pathname);
    const page = await show(url);
    expect(readable(page.text)).toContain('We are checking your payment');
    expect(readable(page.text)).toContain('Please do not pay again');
    expect(exitLinks(page)).toEqual([ERROR_URL]);
  });

  test('a payment that never reached its provider', async () => {
    const merchant = await shop.newMerchant();
    const { url } = await checkout.open({ ...ALL, methods: ['doc-a'], session_expiry: 720 }, merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'timeout_before' });
    await fill(url, { 'parameters[document_number]': '45678912' });
    await shop.advanceClock(180, merchant.mid);
    const page = await show(url);
    expect(readable(page.text)).toContain('The payment did not reach the provider.');
    expect(inputs(page.text)).toEqual(['parameters[document_number]']);
  });

  test.each([
    ['vcard', ['vcard']],
    ['several', ['vcard', 'doc-a']],
    ['card', ['card']],
  ])('Cancel is on the page of %s too', async (_, methods) => {
    const page = await show((await checkout.open({ methods })).url);
    expect(exitLinks(page)).toEqual([CANCEL_URL]);
    expect(page.text).toContain('>Cancel and go back</a>');
  });
});

describe('return parameters, where the account enables them', () => {
  /** The only link of a page that leads to the shop, and its query. */
  function shopLinkOf(page: FetchedPage): [string, Record<string, string>] {
    const [address = '', ...others] = exitLinks(page).filter((link) => link.startsWith('https://shop.example/'));
    expect(others).toEqual([]);
    const { origin, pathname, searchParams } = new URL(address.replaceAll('&amp;', '&'));
    return [`${origin}${pathname}`, Object.fromEntries(searchParams)];
  }

  /** A session whose account has return_parameters on. */
  async function opened(fields: Body = {}) {
    const merchant = await shop.newMerchant({ return_parameters: true });
    const number = newOrderId();
    const order = { number, amount: '10.50', description: 'Two teapots' };
    const session = await checkout.open({ ...ALL, methods: ['vcard'], ...fields, order }, merchant);
    const named = { payment_id: session.id, trans_id: session.id, order_id: number };
    const hash = sign(merchant.password, session.id, number, '10.50', 'USD', 'Two teapots');
    return { ...session, merchant, named, hash };
  }
  const DOCUMENT = { 'parameters[document_number]': '45678912' };

  test.each([{}, { auth: 'Y' }])('success_url of a successful payment %j has the hash', async (fields) => {
    const { url, named, hash } = await opened(fields);
    await fill(url, VCARD.success);
    expect(shopLinkOf(await show(url))).toEqual([SUCCESS_URL, { ...named, hash }]);
  });

  test('cancelling has no hash', async () => {
    const { url, named } = await opened();
    expect(shopLinkOf(await show(url))).toEqual([CANCEL_URL, named]);
  });

  test('a decline has no hash', async () => {
    const { url, named } = await opened();
    await fill(url, VCARD.decline);
    expect(shopLinkOf(await show(url))).toEqual([CANCEL_URL, named]);
  });

  test('a voided payment has no hash', async () => {
    const { url, id, merchant, named } = await opened({ auth: 'Y' });
    await fill(url, VCARD.success);
    await checkout.send('payment/void', { payment_id: id }, merchant);
    expect(shopLinkOf(await show(url))).toEqual([CANCEL_URL, named]);
  });

  test.each<[string, Body, string]>([
    ['expiry_url', {}, EXPIRY_URL],
    ['cancel_url', { expiry_url: undefined }, CANCEL_URL],
    ['success_url, without any other', { expiry_url: undefined, cancel_url: undefined }, SUCCESS_URL],
  ])('an expired session leads to %s without hash', async (_, fields, expected) => {
    const { url, merchant, named } = await opened({ session_expiry: 1, ...fields });
    await fill(url, VCARD.decline);
    await shop.advanceClock(60, merchant.mid);
    expect(shopLinkOf(await show(url))).toEqual([expected, named]);
  });

  test('error_url of an unknown outcome has no hash', async () => {
    const { url, merchant, named } = await opened({ methods: ['doc-a'] });
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'timeout_after' });
    await fill(url, DOCUMENT);
    expect(shopLinkOf(await show(url))).toEqual([ERROR_URL, named]);
  });

  test('a payment that is left open at the provider has no hash', async () => {
    const { url, named } = await opened({ methods: ['doc-a'] });
    const { location } = await fill(url, DOCUMENT);
    const back = await show((await decide(location, 'leave')).location);
    expect(shopLinkOf(await show(new URL(back.location, url).href))).toEqual([CANCEL_URL, named]);
  });
});

describe('only safe addresses', () => {
  const paidWith = async (success_url: string): Promise<{ location: string; page: FetchedPage }> => {
    const { url } = await checkout.open({ methods: ['vcard'], success_url });
    return { location: (await fill(url, VCARD.success)).location, page: await show(url) };
  };

  test.each(['http://localhost:3000/thanks', 'http://127.0.0.1:8080/', 'http://[::1]/x', 'http://shop.localhost/'])(
    'accepts %s in the sandbox',
    async (address) => {
      expect((await paidWith(address)).location).toBe(address);
    },
  );

  test('accepts an address with non-ASCII letters', async () => {
    expect((await paidWith('https://shop.example/дом')).location).toBe('https://shop.example/%D0%B4%D0%BE%D0%BC');
  });

  test.each([
    'http://shop.example/thanks',
    'http://10.0.0.1/',
    'http://localhost.shop.example/',
    'http://127.0.0.1.nip.example/',
  ])('rejects %s: the payer stays on the payment page', async (address) => {
    const { location, page } = await paidWith(address);
    expect(location).toMatch(/^\/pay\//);
    expect(readable(page.text)).toContain('Payment complete');
    expect(exitLinks(page)).toEqual([]);
  });
});

describe('a payer who returns before the outcome is known', () => {
  const walkAway = async (
    fields: Body = {},
    merchant: Merchant = shop.merchant,
  ): Promise<Session & { page: string; fetched: FetchedPage }> => {
    const session = await checkout.atDocA(fields, merchant);
    const back = await show((await decide(session.page, 'leave')).location);
    expect([back.status, back.location]).toEqual([303, `${new URL(session.url).pathname}?returned=1`]);
    return { ...session, fetched: await show(new URL(back.location, session.url).href) };
  };

  test('is not redirected as if paid: the page waits, and links to the provider or back', async () => {
    const { id, page, fetched } = await walkAway();
    expect(fetched.status).toBe(200);
    expect(readable(fetched.text)).toContain('Your payment is not finished yet');
    expect(exitLinks(fetched)).toEqual([page, CANCEL_URL]);
    expect(fetched.text).toMatch(/<body data-status="[^"]+\/status" data-version="[^"]+" data-waits>/);
    expect(fetched.text).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
    expect(await checkout.stateOf(id)).toBe('redirect');
  });

  test('and pays then: the page says so, and links to the shop', async () => {
    const { page, fetched, id } = await walkAway();
    const { location } = await decide(page, 'approve');
    expect(await show(location)).toMatchObject({ status: 303, location: SUCCESS_URL });
    const after = await show(fetched.url);
    expect(readable(after.text)).toContain('Payment complete');
    expect(exitLinks(after)).toEqual([SUCCESS_URL]);
    expect(await checkout.stateOf(id)).toBe('settled');
  });

  test('and whose notification arrives first: the return finds it paid', async () => {
    const { page, id } = await checkout.atDocA();
    const { location } = await decide(page, 'approve');
    await expect.poll(() => checkout.stateOf(id)).toBe('settled');
    expect(await show(location)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('may follow the link to the provider again', async () => {
    const { url, page } = await walkAway();
    const { status, text } = await show(url);
    expect(status).toBe(200);
    expect(text).toContain(`href="${page}"`);
  });

  test('from the bank, with a late result: no redirect loop, the page waits and links to the bank', async () => {
    const { url, id } = await checkout.open({ methods: ['card'] });
    await fill(url, { ...CARD, card_expiry: '07/39' });
    const challenge = await show(url);
    expect(readable(challenge.text)).toContain('Confirm with your bank');
    expect(withoutScript(challenge.text)).toContain('<dialog');
    const link = url.slice(url.lastIndexOf('/') + 1);
    const back = await show(`${shop.url}/3ds/${link}`, { method: 'POST', body: new URLSearchParams({ cres: 'x' }) });
    expect([back.status, back.location]).toEqual([303, `/pay/${link}?returned=1`]);
    const page = await show(new URL(back.location, url).href);
    expect(readable(page.text)).toContain('Your payment is not finished yet');
    expect(withoutScript(page.text)).not.toContain('data-go');
    expect(exitLinks(page)).toEqual([`${shop.provider?.url}/3ds/acs`, CANCEL_URL]);
    expect(await checkout.stateOf(id)).toBe('3ds');
  });
});

describe('the target window', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['_self', undefined],
    ['_top', '_top'],
    ['_parent', '_parent'],
    ['_blank', '_blank'],
    ['checkout-frame', 'checkout-frame'],
    ['"><script>', undefined],
    ['_unknown', undefined],
  ])('url_target %j: returns to the shop in %j', async (url_target, target) => {
    const { url } = await checkout.open({ methods: ['vcard'], url_target });
    const cancel = elementFor(await show(url), CANCEL_URL);
    const { status, location } = await fill(url, VCARD.success);
    const end = elementFor(await show(url), SUCCESS_URL);
    for (const link of [cancel, end]) expect(/target="([^"]*)"/.exec(link)?.[1]).toBe(target);
    if (target === undefined) return expect([status, location]).toEqual([303, SUCCESS_URL]);
    // A redirect cannot change the window, so a page of ours links there, automatically where scripts run.
    expect([status, location]).toEqual([303, `${new URL(url).pathname}?leaving=page`]);
    const link = elementFor(await show(new URL(location, url).href), SUCCESS_URL);
    expect(link).toContain(`target="${target}"`);
    expect(link).toContain('data-go=');
  });

  test('three_ds_link_target applies to the bank’s page and to the return from it', async () => {
    const merchant = await shop.newMerchant({ three_ds_link_target: '_top' });
    const { url } = await checkout.open({ methods: ['card'] }, merchant);
    await fill(url, { ...CARD, card_expiry: '05/38' });
    const challenge = await show(url);
    expect(elementFor(challenge, `${shop.provider?.url}/3ds/acs`)).toContain('target="_top"');
    const back = await passChallenge(challenge);
    expect([back.status, back.location]).toEqual([303, `${new URL(url).pathname}?leaving=bank`]);
    expect(elementFor(await show(new URL(back.location, url).href), SUCCESS_URL)).toContain('target="_top"');
    expect(elementFor(await show(url), SUCCESS_URL)).not.toContain('target=');
  });

  test('without three_ds_link_target the payer returns from the bank as from any page', async () => {
    const { url } = await checkout.open({ methods: ['card'] });
    await fill(url, { ...CARD, card_expiry: '05/38' });
    const challenge = await show(url);
    expect(elementFor(challenge, `${shop.provider?.url}/3ds/acs`)).not.toContain('target=');
    expect(await passChallenge(challenge)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });
});

describe('a session without a matching method', () => {
  test.each<[string, Body, Body]>([
    ['a method that does not exist', { methods: ['nothing'] }, {}],
    ['a currency that the only brand does not support', { methods: ['ips'] }, {}],
    ['a brand that the account may not use', { methods: ['doc-a'] }, { brands: ['vcard'] }],
    ['recurring_init, which the only brand does not support', { methods: ['doc-a'], recurring_init: true }, {}],
  ])('%s: is refused', async (_, fields, settings) => {
    const merchant = await shop.newMerchant(settings);
    expect(await checkout.send('session', sessionFields(fields), merchant)).toMatchObject(NO_METHOD_FITS);
  });

  test.each<[string, Body, Body]>([
    ['a brand that the account may no longer use', { methods: ['doc-a'] }, { brands: ['vcard'] }],
    ['no brand of the account for the currency', {}, { brands: ['ips'] }],
  ])('%s: the page says so, and does not wait', async (_, fields, settings) => {
    const merchant = await shop.newMerchant();
    const { url, id } = await checkout.open(fields, merchant);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, settings);
    const page = await show(url);
    expect([page.status, inputs(page.text), choices(page.text)]).toEqual([200, [], []]);
    expect(readable(page.text)).toContain('This payment cannot be made here');
    expect(withoutScript(page.text)).not.toContain('data-waits');
    expect(exitLinks(page)).toEqual([CANCEL_URL]);
    expect((await fill(url, VCARD.success)).location).toBe(new URL(url).pathname);
    expect(await checkout.events(id)).toEqual(['opened']);
  });
});

test('recurring payments offer only methods that support them', async () => {
  const methods = ['card', 'vcard', 'doc-a', 'pin-a'];
  expect(choices((await show((await checkout.open({ methods })).url)).text)).toEqual([
    'card',
    'vcard',
    'pin-a',
    'doc-a',
  ]);
  const { url } = await checkout.open({ methods, recurring_init: true });
  expect(choices((await show(url)).text)).toEqual(['card', 'vcard']);
  expect((await fill(url, { method: 'doc-a', 'parameters[document_number]': '1' })).location).toBe(
    new URL(url).pathname,
  );
});

describe('the status of the page', () => {
  const statusOf = async (url: string): Promise<{ status: number; version: string; headers: Headers }> => {
    const { status, text, headers } = await show(`${url}/status`);
    return { status, headers, version: JSON.parse(text).version };
  };
  const viewVersion = ({ text }: FetchedPage): string => /data-version="([^"]*)"/.exec(text)?.[1] ?? '';

  test('stays the same until the payment changes', async () => {
    const { url, id } = await checkout.open({ methods: ['ips'], order: { currency: 'EUR' } });
    const first = await statusOf(url);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(viewVersion(await show(url))).toBe(first.version);
    const code = await follow({ ...(await fill(url, {})), url });
    const second = await statusOf(url);
    expect(second.version).not.toBe(first.version);
    expect(viewVersion(code)).toBe(second.version);
    expect((await statusOf(url)).version).toBe(second.version);
    await shop.sandbox('POST', `/payments/${id}`, { bank_callback: 'ACSC' });
    await expect.poll(async () => (await statusOf(url)).version).not.toBe(second.version);
  });

  test('changes with every attempt', async () => {
    const { url } = await checkout.open({ methods: ['vcard'] });
    const versions = [(await statusOf(url)).version];
    for (let times = 0; times < 2; times++) {
      await fill(url, VCARD.decline);
      versions.push((await statusOf(url)).version);
    }
    expect(new Set(versions).size).toBe(3);
  });

  test('answers 404 for an unknown link, without details', async () => {
    const { status, text } = await show(`${shop.url}/pay/nothing/status`);
    expect([status, text]).toEqual([404, '{}']);
  });
});
