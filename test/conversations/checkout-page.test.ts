/** The payment page of a session: methods that fit, missing fields, one payment, and the return to the shop. */
import { describe, expect, test } from 'vitest';
import {
  type Body,
  CANCEL_URL,
  checkoutOf,
  choices,
  DOC_A,
  type FetchedPage,
  fill,
  follow,
  inputs,
  marked,
  SUCCESS_URL,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Fields, newOrderId, openShop, sign } from '../support/gateway.ts';
import { expectSafe, readable, withoutScript } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const p = (name: string): string => `parameters[${name}]`;
const BANK = { [p('bank_code')]: 'DEUTDEFF', [p('bank_account_number')]: '17' };
const decide = (page: string, decision: string): Promise<FetchedPage> => fill(page, { decision });
const formOf = async (url: string, label: string): Promise<FetchedPage> => show(`${url}?method=${label}`);
/** Opens a page and chooses one of its payment methods, as a payer does. */
async function choose(page: FetchedPage, label: string, form: Fields): Promise<FetchedPage> {
  expect(choices(page.text)).toContain(label);
  const shown = await show(new URL(`?method=${label}`, page.url).href);
  expect(inputs(shown.text)).toEqual(Object.keys(form).filter((name) => name !== 'method'));
  return fill(shown.url, form);
}

describe('the payment methods', () => {
  const PAYOUTS = ['payout-a', 'crypto-a-payout', 'trading-b', 'p2p-a', 'p2p-b'];
  const WRONG_UPI = { parameters: { 'upi-b': { upi_id: 'nobody' } } };
  const SOME = ['vcard', 'doc-a', 'ips', 'transfer-a', 'transfer-b'];
  test.each<[string, Body, Body, string[]]>([
    ['dollars', { brands: SOME }, {}, ['vcard', 'doc-a']],
    ['euros', { brands: SOME }, { order: { currency: 'EUR' } }, ['vcard', 'doc-a', 'ips']],
    ['dinars', { brands: SOME }, { order: { currency: 'RSD' } }, ['vcard', 'doc-a', 'ips']],
    ['pesos of Argentina', { brands: SOME }, { order: { currency: 'ARS' } }, ['vcard', 'doc-a', 'transfer-a']],
    ['pesos of Mexico', { brands: SOME }, { order: { currency: 'MXN' } }, ['vcard', 'doc-a', 'transfer-b']],
    ['methods of the session', {}, { methods: ['upi-a', 'doc-a'] }, ['doc-a', 'upi-a']],
    [
      'methods of the session and the account',
      { brands: SOME },
      { methods: ['upi-a', 'doc-a', 'ips', 'vcard'] },
      ['vcard', 'doc-a'],
    ],
    ['an empty list of methods', { brands: ['vcard', 'doc-a'] }, { methods: [] }, ['vcard', 'doc-a']],
    [
      'an alias of the account',
      { brand_aliases: { Slip: 'doc-b' } },
      { methods: ['Slip', 'vcard'] },
      ['vcard', 'doc-b'],
    ],
    ['payouts', { brands: [...PAYOUTS, 'vcard', 'doc-a'] }, {}, ['vcard', 'doc-a']],
    ['wallets', { brands: ['wallet-a', 'wallet-b', 'vcard', 'doc-a'] }, {}, ['vcard', 'doc-a']],
    ['list fields that no payer can fill in', { brands: ['open-banking-a', 'vcard', 'doc-a'] }, {}, ['vcard', 'doc-a']],
    ['a wrong parameter', { brands: ['upi-b', 'vcard', 'doc-a'] }, WRONG_UPI, ['vcard', 'doc-a']],
  ])('%s: offers only those that fit, in the order of the account', async (_, settings, fields, expected) => {
    const merchant = await shop.newMerchant(settings);
    const { status, text } = await show((await checkout.open(fields, merchant)).url);
    expect([status, choices(text)]).toEqual([200, expected]);
  });

  test('offers all by default, except payouts, wallets, other currencies and fields that only the merchant knows', async () => {
    const offered = choices((await show((await checkout.open()).url)).text);
    expect(offered).toEqual(expect.arrayContaining(['vcard', 'doc-a', 'pin-a', 'upi-a', 'agg-a']));
    const never = /^(payout-a|wallet-.|ips|transfer-.|crypto-a-payout|trading-.|p2p-.|open-banking-a|hosted-a|bnpl-.)$/;
    expect(offered.filter((label) => never.test(label))).toEqual([]);
  });

  const NAMED = { customer: { name: 'Ada King Byron' } };
  const ACCOUNT = [p('orgCode'), p('accountName'), p('accountNumber')];
  test.each<[string, Body, string[]]>([
    ['vcard', {}, ['identifier']],
    ['bank-a', {}, ['payer_first_name', 'payer_last_name', ...Object.keys(BANK)]],
    ['bank-a', NAMED, Object.keys(BANK)],
    ['bank-a', { ...NAMED, parameters: { 'bank-a': { bank_code: 'DEUTDEFF' } } }, [p('bank_account_number')]],
    ['doc-a', { parameters: { 'doc-b': { document_number: '1' } } }, [p('document_number')]],
    ['doc-a', { parameters: { 'doc-a': { document_number: 17 } } }, []],
    ['agg-a', { billing_address: { country: 'TR' } }, ACCOUNT],
    ['local-a', {}, []],
    ['local-a', { billing_address: { country: 'cl' } }, [p('personalId')]],
    ['local-b', { parameters: { 'local-b': { document_type: 'DNI' } } }, [p('document_number')]],
    ['hosted-a', { parameters: { 'hosted-a': { product_name: 'Mug', product_quantity: '1' } } }, []],
    ['transfer-a', { order: { currency: 'ARS' } }, ['bank_cuil']],
    ['telecom-a', {}, []],
  ])('%s with %j asks for exactly %j, at once when it is the only method', async (label, fields, expected) => {
    const several = await checkout.open({ ...fields, methods: [label, 'mobile-money-a'] });
    expect(inputs((await formOf(several.url, label)).text)).toEqual(expected);
    const { status, text } = await show((await checkout.open({ ...fields, methods: [label] })).url);
    expect([status, inputs(text)]).toEqual([200, expected]);
  });

  test('accepts parameters under the account’s alias of a brand', async () => {
    const merchant = await shop.newMerchant({ brand_aliases: { Slip: 'doc-b' } });
    const parameters = { Slip: { document_number: '17' } };
    const { text } = await show((await checkout.open({ methods: ['Slip'], parameters }, merchant)).url);
    expect(inputs(text)).toEqual([]);
  });
});

describe('the payer’s input', () => {
  test.each<[string, Fields, string[]]>([
    ['vcard', {}, ['identifier']],
    ['vcard', { identifier: 'nobody@example.com' }, ['identifier']],
    ['doc-a', { [p('document_number')]: ' ' }, [p('document_number')]],
    ['pin-a', { [p('pin')]: '123' }, [p('pin')]],
    ['bank-a', { ...BANK, payer_first_name: 'Ada' }, ['payer_last_name']],
    ['bank-a', { ...BANK, payer_first_name: 'Ada', payer_last_name: 'B', [p('bank_code')]: 'x' }, [p('bank_code')]],
    ['doc-a', { [p('document_number')]: '1\0' }, [p('document_number')]],
  ])('%s with %j: marks %j and changes nothing', async (label, form, expected) => {
    const { url, id } = await checkout.open();
    const { status, text } = await fill(url, { method: label, ...form });
    expect([status, marked(text)]).toEqual([422, expected]);
    expect(await checkout.events(id)).toEqual(['opened']);
    expect(await checkout.stateOf(id)).toBe('prepare');
    expect(await checkout.atProvider(id)).toBeUndefined();
  });

  test.each(['', 'payout-a', 'wallet-a', 'ips', 'doc-b', 'nothing', '__proto__'])(
    'refuses the method %j, which is not offered',
    async (method) => {
      const { url, id } = await checkout.open({ methods: ['vcard', 'doc-a'] });
      const form = { identifier: 'success@example.com', [p('document_number')]: '17' };
      const { status, location } = await fill(url, { ...form, method });
      expect([status, location]).toEqual([303, new URL(url).pathname]);
      expect(await checkout.events(id)).toEqual(['opened']);
    },
  );

  test('cannot change the amount or the merchant’s data', async () => {
    const parameters = { 'local-b': { document_type: 'DNI' } };
    const { url, id } = await checkout.open({ methods: ['local-b'], parameters });
    const form = { [p('document_number')]: '17', [p('document_type')]: 'X', order_amount: '0.01', amount: '0.01' };
    expect((await fill(url, form)).status).toBe(303);
    expect((await checkout.inspect(id)).details.parameters).toEqual({ document_number: '17', document_type: 'DNI' });
    expect(await checkout.atProvider(id)).toMatchObject({ amount: '1000', currency: 'USD' });
  });

  test('seals secret fields, whether the merchant or the payer sent them', async () => {
    const pin = '1234567812345678';
    const byPayer = await checkout.open({ methods: ['pin-a'] });
    await fill(byPayer.url, { [p('pin')]: pin });
    const byMerchant = await checkout.open({ methods: ['pin-a'], parameters: { 'pin-a': { pin } } });
    for (const { id } of [byPayer, byMerchant]) {
      const rows = await shop.rows(`select details from payments where payment_id = '${id}'`);
      expect(JSON.stringify(rows)).not.toContain(pin);
      expect(JSON.stringify(await checkout.inspect(id))).not.toContain(pin);
    }
  });
});

describe('the outcome', () => {
  test('paid at once: redirects to the shop, and the page offers nothing more', async () => {
    const { url, id } = await checkout.open({ methods: ['vcard', 'doc-a'] });
    const { status, location } = await choose(await show(url), 'vcard', VCARD.success);
    expect([status, location]).toEqual([303, SUCCESS_URL]);
    expect(await checkout.stateOf(id)).toBe('settled');
    const before = await checkout.inspect(id);
    for (const address of [url, `${url}?method=doc-a`, url]) {
      const { text } = await show(address);
      expect(text).toContain('Payment complete');
      expect(text).toContain(SUCCESS_URL);
      expect([choices(text), inputs(text), text.includes('<form')]).toEqual([[], [], false]);
    }
    const again = await fill(url, DOC_A);
    expect([again.status, again.location]).toEqual([303, new URL(url).pathname]);
    expect(await checkout.inspect(id)).toEqual(before);
  });

  test('authorised: redirects to the shop', async () => {
    const { url, id } = await checkout.open({ methods: ['vcard'], auth: 'Y' });
    const { status, location } = await fill(url, VCARD.success);
    expect(await checkout.stateOf(id)).toBe('pending');
    expect([status, location]).toEqual([303, SUCCESS_URL]);
    expect((await show(url)).text).not.toContain('Waiting for your payment');
  });

  test('approved at the provider: redirects to the shop; a second return changes nothing', async () => {
    const { id, page } = await checkout.atDocA();
    const { location } = await decide(page, 'approve');
    for (let times = 0; times < 3; times++) {
      expect(await show(location)).toMatchObject({ status: 303, location: SUCCESS_URL });
    }
    expect(await checkout.stateOf(id)).toBe('settled');
    expect((await checkout.events(id)).filter((event) => event === 'settled')).toEqual(['settled']);
  });

  test.each(['', '?method=doc-a', '?leaving=provider'])(
    'a payer who comes back from the provider to %j finds the ways on, and is not led there again',
    async (query) => {
      const { url, page } = await checkout.atDocA({ methods: ['doc-a', 'vcard'] });
      const { status, text } = await show(url + query);
      expect(status).toBe(200);
      expect(text).toContain(`href="${page}"`);
      expect(text).toContain(`action="${new URL(url).pathname}/leave"`);
      expect(text).toContain(`href="${CANCEL_URL}"`);
      const left = await follow(await fill(`${url}/leave`, {}));
      expect(choices(left.text)).toEqual(['vcard', 'doc-a']);
    },
  );

  test('a transfer lasts five minutes, not as long as the session', async () => {
    const merchant = await shop.newMerchant();
    const { url, id } = await checkout.open({ methods: ['transfer-a'], order: { currency: 'ARS' } }, merchant);
    await shop.advanceClock(600, merchant.mid);
    await fill(url, { bank_cuil: '20-12345678-6' });
    expect(await checkout.stateOf(id, merchant)).toBe('pending');
    await shop.advanceClock(300, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe('decline');
  });

  test('shows the QR code of ips on the page, with the order, as soon as it is chosen', async () => {
    const { url, orderId } = await checkout.open({ methods: ['ips'], order: { currency: 'EUR', description: 'Tea' } });
    await shop.advanceClock(120, shop.merchant.mid);
    const { text } = await follow({ ...(await fill(url, {})), url });
    expect(text).toMatch(/<svg|<img/);
    for (const part of [orderId, '€10.00', 'Tea']) expect(text).toContain(part);
  });
});

describe('a decline', () => {
  const DECLINED = 'The payment was declined No money was taken. You can try again, or pay in another way.';
  const ATTEMPTS: [string, Fields][] = [
    ['the same method with other details', VCARD.success],
    ['another method', { method: 'pin-a', [p('pin')]: '1234567812345678' }],
  ];
  test.each(ATTEMPTS)('is shown plainly, and %s pays: one link, two payments', async (_, form) => {
    const { url, id, orderId } = await checkout.open({ methods: ['vcard', 'pin-a'] });
    const declined = await follow(await fill(url, VCARD.decline));
    expect(readable(declined.text)).toContain(`${DECLINED} Declined by the test connector.`);
    const { status, location } = await choose(declined, form.method as string, form);
    expect([status, location]).toEqual([303, SUCCESS_URL]);
    const [second = '', first] = await checkout.attempts(orderId);
    expect(first).toBe(id);
    expect(second).not.toBe(id);
    expect([await checkout.stateOf(second), await checkout.stateOf(id)]).toEqual(['settled', 'decline']);
    expect((await show(url)).text).toContain('Payment complete');
    expect((await fill(url, VCARD.success)).location).toBe(new URL(url).pathname);
    expect(await checkout.attempts(orderId)).toHaveLength(2);
  });

  test('at the provider returns to the page, where another method pays', async () => {
    const { page, orderId } = await checkout.atDocA({ methods: ['doc-a', 'vcard'] });
    const declined = await follow(await decide(page, 'decline'));
    expect(readable(declined.text)).toContain(DECLINED);
    const { status, location } = await choose(declined, 'vcard', VCARD.success);
    expect([status, location]).toEqual([303, SUCCESS_URL]);
    expect(await checkout.attempts(orderId)).toHaveLength(2);
  });

  test('at the provider of the only method returns to its form', async () => {
    const { page } = await checkout.atDocA();
    const form = await follow(await decide(page, 'decline'));
    expect(readable(form.text)).toContain('The payment was declined No money was taken. You can try again. ');
    const { status, location } = await fill(form.url, DOC_A);
    expect([status, location.startsWith(`${shop.provider?.url}/pay/`)]).toEqual([303, true]);
  });

  test('asks again for the input of the previous attempt', async () => {
    const { url } = await checkout.open({ methods: ['bank-a'] });
    const form = { payer_first_name: 'Ada', payer_last_name: 'B', ...BANK };
    const { location } = await fill(url, form);
    await follow(await decide(location, 'decline'));
    expect(inputs((await show(url)).text)).toEqual(Object.keys(form));
  });

  test('charges the schedule on the attempt that paid', async () => {
    const merchant = await shop.newMerchant();
    const { client_key, password } = merchant;
    const daily = { name: 'Tea', interval_length: '1', interval_unit: 'day', payments_count: '2' };
    const { body } = await shop.post({ action: 'CREATE_SCHEDULE', client_key, ...daily, hash: sign(password) });
    const recurring = { recurring_init: true, schedule_id: body.schedule_id };
    const { url, orderId } = await checkout.open({ ...recurring, methods: ['doc-a', 'vcard'] }, merchant);
    await follow(await fill(url, VCARD.decline));
    expect((await fill(url, VCARD.success)).location).toBe(SUCCESS_URL);
    await shop.advanceClock(86_460, merchant.mid);
    const { items } = (await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body;
    expect(items.map(({ order_id, status }: Body) => [order_id, status])).toContainEqual([`${orderId}:1`, 'SETTLED']);
  });

  test('does not affect a newer session of the order when the older link is used', async () => {
    const merchant = await shop.newMerchant();
    const older = await checkout.atDocA({ methods: ['doc-a', 'vcard'] }, merchant);
    await follow(await decide(older.page, 'decline'));
    await shop.advanceClock(15, merchant.mid);
    const newer = await checkout.open({ order: { number: older.orderId, amount: '20.00' } }, merchant);
    await fill(older.url, VCARD.success);
    expect(await checkout.inspect(newer.id)).toMatchObject({ status: 'PREPARE', amount: '20.00', brand: 'unchosen' });
  });
});

describe('ten concurrent submits', () => {
  const submitTenTimes = (url: string) => Promise.all(Array.from({ length: 10 }, () => fill(url, DOC_A)));

  test('are one submission', async () => {
    const { url, id, orderId } = await checkout.open({ methods: ['doc-a', 'vcard'] });
    expect((await submitTenTimes(url)).map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await checkout.submissions(id)).toBe(1);
    expect(await checkout.attempts(orderId)).toEqual([id]);
  });

  test('after a decline are one new attempt and one submission', async () => {
    for (let round = 0; round < 10; round++) {
      const { url, page, orderId } = await checkout.atDocA({ methods: ['doc-a', 'vcard'] });
      await follow(await decide(page, 'decline'));
      expect((await submitTenTimes(url)).map(({ status }) => status)).toEqual(Array(10).fill(303));
      const [second = '', ...first] = await checkout.attempts(orderId);
      expect(first).toHaveLength(1);
      expect([await checkout.submissions(second), await checkout.stateOf(second)]).toEqual([1, 'redirect']);
    }
  });

  test('with two methods count one of them', async () => {
    const { url, id } = await checkout.open({ methods: ['doc-a', 'pin-a'] });
    await Promise.all([fill(url, DOC_A), fill(url, { method: 'pin-a', [p('pin')]: '1234567812345678' })]);
    expect(await checkout.submissions(id)).toBe(1);
  });
});

describe('leaving the page', () => {
  test('says that the session has ended, and accepts no payment', async () => {
    const merchant = await shop.newMerchant();
    const { url, id } = await checkout.open({ session_expiry: 1 }, merchant);
    await shop.advanceClock(20, merchant.mid);
    expect(choices((await show(url)).text)).toContain('vcard');
    await shop.advanceClock(40, merchant.mid);
    for (let times = 0; times < 2; times++) {
      const { status, text } = await show(url);
      expect([status, choices(text)]).toEqual([200, []]);
      expect(text).toContain('The time to pay is over');
      expect(text).toContain(`href="${CANCEL_URL}"`);
      await fill(url, VCARD.success);
    }
    expect(await checkout.events(id)).toEqual(['opened', 'abandoned']);
    expect(await checkout.stateOf(id, merchant)).toBe('decline');
  });

  test.each([
    [CANCEL_URL, CANCEL_URL],
    [undefined, 'https://shop.example/'],
  ])('a payer who cancels goes to cancel_url, or to the start page of the shop: %s', async (cancel_url, address) => {
    const { text } = await show((await checkout.open({ cancel_url })).url);
    expect(/<a[^>]*href="([^"]*)"[^>]*>Cancel and go back<\/a>/.exec(text)?.[1]).toBe(address);
  });

  test.each(['success', 'decline'] as const)(
    'return parameters after %s: only a success has a hash',
    async (outcome) => {
      const merchant = await shop.newMerchant({ return_parameters: true });
      const order = { number: newOrderId(), amount: '10.50', description: 'Two teapots & a cup' };
      const session = { order, methods: ['vcard'], session_expiry: 1, success_url: `${SUCCESS_URL}?lang=sr#top` };
      const { url, id } = await checkout.open(session, merchant);
      const { location } = await fill(url, VCARD[outcome]);
      await shop.advanceClock(60, merchant.mid);
      const [, link = ''] = /class="button" href="([^"]*)"/.exec((await show(url)).text) ?? [];
      const address = link.replaceAll('&amp;', '&');
      if (outcome === 'success') expect(location).toBe(address);
      const { searchParams, pathname, hash: fragment } = new URL(address);
      const { lang, ...added } = Object.fromEntries(searchParams);
      const signature = sign(merchant.password, id, order.number, '10.50', 'USD', 'Two teapots & a cup');
      const signed = outcome === 'success' ? { hash: signature } : {};
      expect(added).toEqual({ payment_id: id, trans_id: id, order_id: order.number, ...signed });
      expect([pathname, lang, fragment]).toEqual(
        outcome === 'success' ? ['/thanks', 'sr', '#top'] : ['/basket', undefined, ''],
      );
    },
  );
});

describe('safety', () => {
  test('escapes hostile texts', async () => {
    const hostile = `"><img src=x onerror=alert(1)> ' <script>alert(1)</script>`;
    const merchant = await shop.newMerchant({ name: hostile, brand_aliases: { [hostile.slice(0, 60)]: 'doc-a' } });
    const { url } = await checkout.open(
      {
        order: { description: hostile, number: `<b>${newOrderId()}</b>` },
        cancel_url: 'https://shop.example/?a="><script>alert(1)</script>',
        customer: { name: hostile },
      },
      merchant,
    );
    const pages = [await show(url), await formOf(url, 'doc-a'), await formOf(url, encodeURIComponent(hostile))];
    pages.push(await fill(url, { method: 'vcard', identifier: hostile }));
    for (const { text } of pages) {
      expect(withoutScript(text)).not.toMatch(/<script|<img|<b>/);
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    }
  });

  test('every page restricts its content, forbids caching and sends no referrer', async () => {
    const { url } = await checkout.open({ methods: ['vcard', 'doc-a'] });
    const pages = [await show(url), await formOf(url, 'doc-a'), await fill(url, { method: 'vcard' })];
    pages.push(await fill(url, VCARD.success), await show(url), await show(`${url}x`));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 422, 303, 200, 404]);
    for (const page of pages) expectSafe(page);
  });
});
