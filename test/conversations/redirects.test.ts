/** Redirects: the payer goes to the provider’s page, decides there, and returns over a link of their own. */
import { beforeAll, describe, expect, test } from 'vitest';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Answer, type Fields, type Merchant, openShop, PROVIDER_POLL, saleFields } from '../support/gateway.ts';
import { withoutScript } from '../support/pages.ts';

const shop = openShop({ simulator: true });

const BRANDS =
  'hosted-a hosted-b trading-a bnpl-a bnpl-b open-banking-a bank-a local-a local-b doc-a doc-b crypto-b ' +
  'agg-a agg-b agg-c agg-d agg-e agg-f agg-g agg-h agg-i agg-j';
const RETURN_URL = 'https://shop.example/return';

const stateOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;

async function sale(brand: string, fields: Fields = {}, merchant: Merchant = shop.merchant) {
  const complete = BRAND_EXPECTATIONS[brand]?.complete;
  const request = saleFields(merchant, { brand, identifier: '', ...complete, ...fields });
  const { body } = await shop.post(request);
  return { body, request, id: body.trans_id as string, page: body.redirect_url as string };
}

interface Visit {
  status: number;
  location: string;
  text: string;
}

async function visit(url: string, init: RequestInit = {}): Promise<Visit> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() };
}
/** The form that a button on the provider’s page submits. */
const decide = (page: string, decision: string, more: Fields = {}): Promise<Visit> =>
  visit(page, { method: 'POST', body: new URLSearchParams({ decision, ...more }) });

const atProvider = async (id: string): Promise<Answer['body']> => {
  const { url = '', key = '' } = shop.provider ?? {};
  return (await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } })).json();
};
/** The return address that the provider received for a payment. */
async function returnLink(page: string): Promise<string> {
  const { location } = await decide(page, 'leave');
  return location;
}

describe.each(BRANDS.split(' '))('%s', (brand) => {
  // A method must be chosen where the page offers several.
  const chosen: Fields = brand === 'hosted-a' ? { method: 'S2' } : {};

  test('the payer approves on the provider’s page and returns: SETTLED', async () => {
    const { body, request, id, page } = await sale(brand);
    expect(body).toEqual({
      action: 'SALE',
      result: 'REDIRECT',
      status: 'REDIRECT',
      order_id: request.order_id,
      trans_id: id,
      trans_date: expect.any(String),
      descriptor: 'Test Shop',
      amount: '10.00',
      currency: 'USD',
      redirect_url: expect.stringMatching(new RegExp(`^${shop.provider?.url}/pay/[0-9a-f]{32}$`)),
      redirect_method: 'GET',
      redirect_params: {},
    });
    expect((await visit(page)).text).toContain('10.00');

    const provider = await decide(page, 'approve', chosen);
    expect(provider.status).toBe(303);
    expect(provider.location).toMatch(new RegExp(`^${shop.url}/return/${id}\\.[\\w-]{22}$`));
    const ours = await visit(provider.location);
    expect([ours.status, ours.location]).toEqual([303, RETURN_URL]);

    if (brand !== 'crypto-b')
      expect((await shop.status(id)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
    expect((await shop.events(id)).filter((event) => event === 'settled')).toEqual(['settled']);
  });

  test('the payer declines: DECLINED with the reason, and returns to the shop', async () => {
    const { id, page } = await sale(brand);
    const { status, location } = await decide(page, 'decline');
    expect(status).toBe(303);
    expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    expect((await shop.status(id)).body).toMatchObject({
      result: 'SUCCESS',
      status: 'DECLINED',
      decline_reason: 'The payer declined the payment.',
    });
  });
});

test('a repeat of the sale leads to the same page', async () => {
  const { body, request } = await sale('hosted-b');
  expect((await shop.post(request)).body).toEqual(body);
});

describe('a payer who leaves', () => {
  test('stays REDIRECT for an hour, and is DECLINED then', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sale('hosted-b', {}, merchant);
    const { status, location } = await decide(page, 'leave');
    expect(status).toBe(303);
    expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'REDIRECT' });
    await shop.advanceClock(3540, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'REDIRECT' });
    await shop.advanceClock(60, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
  });

  test('the status query alone, or the return alone, declines it after the hour', async () => {
    for (const trigger of ['status', 'return'] as const) {
      const merchant = await shop.newMerchant();
      const { id, page } = await sale('hosted-b', {}, merchant);
      const back = await returnLink(page);
      await shop.gateway.installation.moveClock(merchant.mid, 3_600_000);
      await readClock(shop.gateway);
      if (trigger === 'status') expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'DECLINED' });
      else expect(await visit(back)).toMatchObject({ status: 303, location: RETURN_URL });
      expect(await shop.inspect(id), trigger).toMatchObject({ status: 'DECLINED' });
    }
  });

  test('and pays after that hour: DECLINED, and needs an operator', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sale('bank-a', {}, merchant);
    await shop.advanceClock(3600, merchant.mid);
    const { location } = await decide(page, 'approve');
    await expect.poll(async () => (await shop.inspect(id)).attention, PROVIDER_POLL).toBe('late_success');
    expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', captured: '0.00' });
  });

  test('and pays within the hour, without returning: SETTLED', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sale('doc-a', {}, merchant);
    await shop.advanceClock(3500, merchant.mid);
    await decide(page, 'approve');
    await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
    await shop.advanceClock(3600, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
  });
});

describe('the return and the notification', () => {
  test('the return comes first: the payer is not delayed, and the notification settles it', async () => {
    const { id, page } = await sale('hosted-b');
    const back = await returnLink(page);
    expect(await visit(back)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await stateOf(id)).toBe('REDIRECT');
    await decide(page, 'approve');
    await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
  });

  test('the notification comes first: the return finds it settled, and changes nothing', async () => {
    const { id, page } = await sale('hosted-b');
    const { location } = await decide(page, 'approve');
    await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
    const before = await shop.events(id);
    for (let times = 0; times < 3; times++) {
      expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    }
    expect((await shop.inspect(id)).status).toBe('SETTLED');
    expect((await shop.events(id)).filter((event) => event === 'settled')).toEqual(['settled']);
    // A reload of the return may leave a trace, but never more than one each.
    expect((await shop.events(id)).length).toBeLessThanOrEqual(before.length + 3);
  });

  test('a notification with a wrong amount has no effect; the return queries the provider and gets the right one', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sale('hosted-b', {}, merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'wrong_amount' });
    const { location } = await decide(page, 'approve');
    await expect.poll(async () => (await shop.inspect(id)).attention, PROVIDER_POLL).toBe('wrong_amount');
    expect(await stateOf(id)).toBe('REDIRECT');
    expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
  });

  test('ten concurrent returns settle it once', async () => {
    const { id, page } = await sale('hosted-b');
    const { location } = await decide(page, 'approve');
    const visits = await Promise.all(Array.from({ length: 10 }, () => visit(location)));
    for (const { status, location: next } of visits) expect([status, next]).toEqual([303, RETURN_URL]);
    expect((await shop.events(id)).filter((event) => event === 'settled')).toEqual(['settled']);
  });

  test('a provider that is down when the payer returns neither delays the payer nor decides anything', async () => {
    const merchant = await shop.newMerchant();
    const { id, page } = await sale('hosted-b', {}, merchant);
    const back = await returnLink(page);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'error_500' });
    expect(await visit(back)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await stateOf(id)).toBe('REDIRECT');
  });

  test('providers may return the payer by a form post', async () => {
    const { page } = await sale('hosted-b');
    const back = await returnLink(page);
    const form = { method: 'POST', body: new URLSearchParams({ status: 'settled', anything: '<script>' }) };
    expect(await visit(back, form)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await visit(back, { method: 'POST' })).toMatchObject({ status: 303, location: RETURN_URL });
  });

  test('the query of the return is not trusted', async () => {
    const { id, page } = await sale('hosted-b');
    expect(await visit(`${await returnLink(page)}?status=settled&payment_id=1`)).toMatchObject({ status: 303 });
    expect(await stateOf(id)).toBe('REDIRECT');
  });
});

test('auth=Y: the payer approves, the amount is authorised, and expires after the account’s days', async () => {
  const merchant = await shop.newMerchant();
  const { id, page } = await sale('hosted-b', { auth: 'Y' }, merchant);
  const { location } = await decide(page, 'approve');
  expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', authorised: '10.00', captured: '0.00' });
  await shop.advanceClock(6.9 * 86_400, merchant.mid);
  expect(await stateOf(id)).toBe('PENDING');
  await shop.advanceClock(0.2 * 86_400, merchant.mid);
  expect(await stateOf(id)).toBe('EXPIRED');
});

describe('return parameters', () => {
  test.each([
    ['approve', 'SETTLED', RETURN_URL, `${RETURN_URL}?`],
    ['decline', 'DECLINED', RETURN_URL, `${RETURN_URL}?`],
    ['leave', 'REDIRECT', 'https://shop.example/back?lang=sr&cart=7', 'https://shop.example/back?lang=sr&cart=7&'],
  ])('%s: the payer returns with the payment, and without a hash', async (decision, state, url, start) => {
    const merchant = await shop.newMerchant({ return_parameters: true });
    const fields = { return_url: url, order_amount: '10.50', order_description: 'Two teapots & one cup' };
    const { id, request, page } = await sale('hosted-b', fields, merchant);
    const { location } = await decide(page, decision);
    const { status, location: shopUrl } = await visit(location);
    expect(status).toBe(303);
    expect(await stateOf(id)).toBe(state);
    expect(shopUrl).toBe(
      `${start}${new URLSearchParams({ payment_id: id, trans_id: id, order_id: request.order_id ?? '' })}`,
    );
  });

  test('off, the default: the address is exactly the merchant’s', async () => {
    const odd = 'https://shop.example/back?a=b%20c&d=%C5%A1#top';
    const { page } = await sale('hosted-b', { return_url: odd });
    expect(await visit((await decide(page, 'approve')).location)).toMatchObject({ status: 303, location: odd });
  });
});

describe('links', () => {
  let real: string;
  let id: string;
  let other: string;
  beforeAll(async () => {
    const one = await sale('hosted-b');
    id = one.id;
    real = (await returnLink(one.page)).split('/return/')[1] as string;
    other = (await returnLink((await sale('hosted-b')).page)).split('/return/')[1] as string;
  });
  const otherLetter = (letter: string | undefined): string => (letter === 'A' ? 'B' : 'A');

  test.each<[string, () => string]>([
    ['the id alone', () => id],
    ['the id with nothing after the dot', () => `${id}.`],
    ['a MAC of zeros', () => `${id}.${'A'.repeat(22)}`],
    ['a MAC that differs in one letter', () => `${id}.${otherLetter(real.at(37))}${real.slice(38)}`],
    ['a truncated MAC', () => real.slice(0, -11)],
    ['the MAC of another payment', () => `${id}.${other.slice(37)}`],
    ['another id with this MAC', () => `${other.slice(0, 36)}.${real.slice(37)}`],
    ['no id', () => `.${real.slice(37)}`],
    ['a random id', () => `01a1dd06-691f-7000-87fc-b0749d0543ed.${real.slice(37)}`],
    ['a path traversal', () => '..%2f..%2fetc%2fpasswd'],
    ['a script', () => '%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
  ])('%s leads to an error page without any payment data', async (_, link) => {
    for (const path of ['/return/', '/pay/']) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${shop.url}${path}${link()}`, { method, redirect: 'manual' });
        const text = await response.text();
        expect([path, method, response.status]).toEqual([path, method, 404]);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(text).toContain('This link does not work');
        expect(text).not.toContain('A test order');
        expect(withoutScript(text)).not.toContain('<script>');
      }
    }
    expect(await stateOf(id)).toBe('REDIRECT');
  });

  test('the link of a payment at the provider leads there and back to the shop, and shows the outcome afterwards', async () => {
    const { page } = await sale('hosted-b', { order_description: 'A blue teapot' });
    const back = await returnLink(page);
    const ours = back.replace('/return/', '/pay/');
    const open = await visit(ours);
    expect(open.status).toBe(200);
    for (const way of [page, RETURN_URL]) expect(open.text).toContain(`href="${way}"`);
    await decide(page, 'approve');
    await visit(back);
    const { status, text } = await visit(ours);
    expect(status).toBe(200);
    expect(text).toContain('Payment complete');
    expect(text).toContain(RETURN_URL);
  });
});

describe('hosted-a', () => {
  const p = (name: string): string => `parameters[${name}]`;
  const FOR_S1 = {
    [p('product_reference_id')]: 'MUG-1',
    [p('product_quantity')]: '2',
    [p('product_sku')]: 'MUG1',
    [p('product_category')]: 'Kitchen',
  };
  const NAME = { [p('product_name')]: 'A red mug' };
  const URL_OF_IT = { [p('product_url')]: 'https://shop.example/mug' };
  const REST = { [p('product_image_url')]: 'https://shop.example/mug.png', [p('product_type')]: 'physical' };

  test.each<[string, string[], Fields]>([
    ['name and quantity', ['S4'], { ...NAME, [p('product_quantity')]: '2' }],
    ['the fields of S1', ['S1'], FOR_S1],
    ['the fields of S1, and a name', ['S1', 'S4'], { ...FOR_S1, ...NAME }],
    ['a URL as well', ['S1', 'S2', 'S4'], { ...FOR_S1, ...NAME, ...URL_OF_IT }],
    ['everything', ['S1', 'S2', 'S3', 'S4'], { ...FOR_S1, ...NAME, ...URL_OF_IT, ...REST }],
    ['a type without an image', ['S1'], { ...FOR_S1, [p('product_type')]: 'physical' }],
  ])('%s: the provider’s page offers exactly %j', async (_, methods, fields) => {
    const { body } = await shop.sale({ brand: 'hosted-a', identifier: '', ...fields });
    expect(body).toMatchObject({ result: 'REDIRECT' });
    expect(body.redirect_url.startsWith(shop.provider?.url)).toBe(true);
    const { text } = await visit(body.redirect_url);
    const offered = [...text.matchAll(/<input type="radio" name="method" value="([^"]*)"/g)].map(([, value]) => value);
    expect(offered).toEqual(methods);
    const { status } = await decide(body.redirect_url, 'approve', { method: methods.includes('S3') ? 'S5' : 'S3' });
    expect(status).toBe(400);
    const { location } = await decide(body.redirect_url, 'approve', { method: methods[0] as string });
    expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
    expect(await stateOf(body.trans_id)).toBe('SETTLED');
  });
});

test('crypto-a is pending while the coins are confirmed, and ends SETTLED', async () => {
  const { id, page } = await sale('crypto-a');
  const { location } = await decide(page, 'approve');
  expect(await visit(location)).toMatchObject({ status: 303, location: RETURN_URL });
  expect((await shop.status(id)).body).toMatchObject({ status: 'PENDING' });
  await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
  expect((await atProvider(id)).movements).toMatchObject([{ kind: 'sale', direction: 'in', amount: '1000' }]);
  expect((await shop.events(id)).filter((event) => event === 'settled')).toEqual(['settled']);
});

test('crypto-a waits for coins that were sent in time, however long the confirmation takes', async () => {
  const merchant = await shop.newMerchant();
  const { id, page } = await sale('crypto-a', {}, merchant);
  const { location } = await decide(page, 'approve');
  await visit(location);
  await shop.advanceClock(7200, merchant.mid);
  expect((await shop.status(id, merchant)).body.status).not.toBe('DECLINED');
  await expect.poll(() => stateOf(id), PROVIDER_POLL).toBe('SETTLED');
});
