/** The payment page against attacks: cross-site forms, frames, foreign images; and its size. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { type Body, checkoutOf, DOC_A, type FetchedPage, fill, SUCCESS_URL, show, VCARD } from '../support/checkout.ts';
import { type Fields, openShop, startTestGateway } from '../support/gateway.ts';
import { expectSafe, policyOf, readable, withoutScript } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const pageOf = async (settings: Body, fields: Body = {}): Promise<FetchedPage> =>
  show((await checkout.open({ methods: ['vcard', 'doc-a'], ...fields }, await shop.newMerchant(settings))).url);

describe('a cross-site form', () => {
  const send = (url: string, headers: Fields): Promise<FetchedPage> =>
    show(url, { method: 'POST', body: new URLSearchParams(VCARD.success), headers });

  test.each<[string, Fields]>([
    ['cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['from the same site, another origin', { origin: 'null', 'sec-fetch-site': 'same-site' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://127.0.0.1:1' }],
    ['from the same host under another name', { origin: 'http://localhost' }],
    ['from an opaque origin, cross-site', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('%s pays nothing, and says so', async (_, headers) => {
    const { url, id } = await checkout.open({ methods: ['vcard'] });
    const page = await send(url, headers);
    expect(page.status).toBe(403);
    expectSafe(page);
    expect(readable(page.text)).toContain('For your safety nothing was paid.');
    expect(page.text).toContain(`href="${new URL(url).pathname}"`);
    expect(await checkout.events(id)).toEqual(['opened']);
  });

  test.each<[string, () => Fields]>([
    ['with an opaque origin', () => ({ origin: 'null', 'sec-fetch-site': 'same-origin' })],
    ['with an origin only', () => ({ origin: shop.url })],
    ['without headers', () => ({})],
  ])('the page’s own form is accepted, %s', async (_, headers) => {
    const { url } = await checkout.open({ methods: ['vcard'] });
    expect(await send(url, headers())).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('the bank and the provider may send payers back across sites', async () => {
    const { page, url } = await checkout.atDocA();
    const { location } = await fill(page, { decision: 'approve' });
    const crossSite = { 'sec-fetch-site': 'cross-site', origin: 'https://bank.example' };
    expect(await show(location, { method: 'POST', headers: crossSite })).toMatchObject({ location: SUCCESS_URL });
    const link = url.slice(url.lastIndexOf('/') + 1);
    expect((await show(`${shop.url}/3ds/${link}`, { method: 'POST', headers: crossSite })).status).toBe(303);
  });
});

describe('frames', () => {
  test('are forbidden, unless the account names the origins', async () => {
    for (const { headers } of [await pageOf({}), await show(`${shop.url}/pay/nothing`)]) {
      expect(policyOf(headers).get('frame-ancestors')).toBe("'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
    const origins = ['https://shop.example', 'https://www.shop.example:8443', 'http://localhost:3000'];
    const { headers } = await pageOf({ frame_ancestors: origins });
    expect(policyOf(headers).get('frame-ancestors')).toBe(origins.join(' '));
    expect(headers.get('x-frame-options')).toBeNull();
  });
});

describe('branding', () => {
  const LOGO = 'https://cdn.example/logos/tea;v=1,2.png?x=1';

  test('shows the name and the logo, and the policy allows this one image', async () => {
    const { text, headers } = await pageOf({ branding: { name: 'Tea & Sons', logo: LOGO } });
    expect(text).toContain(`<img class="logo" src="${LOGO}" alt="Tea &amp; Sons">`);
    // The name is the text of the image, and not written beside it again.
    expect(readable(text).match(/Tea & Sons/g)).toHaveLength(1);
    // Only the icon, and this image.
    expect(policyOf(headers).get('img-src')).toBe('data: https://cdn.example/logos/tea%3Bv=1%2C2.png');
  });

  test.each(['', 'http://cdn.example/logo.png'])('shows no image with the logo %j', async (logo) => {
    const { text, headers } = await pageOf({ branding: { logo } });
    expect(text).not.toContain('<img');
    expect(policyOf(headers).get('img-src')).toBe('data:');
  });

  test('the colour is a second style, allowed by its hash', async () => {
    const page = await pageOf({ branding: { colour: '#FFD400' } });
    expect(page.text.match(/<style>/g)).toHaveLength(2);
    expect(page.text).toContain('--fill:#ffd400;--on-fill:#000000');
    expectSafe(page);
  });
});

test('sends HSTS over https; in production the policy and the logo exclude plain http', async () => {
  const live = await startTestGateway({ environment: 'production' });
  try {
    const { url, gateway } = live;
    gateway.publicUrl = 'https://pay.example';
    const merchant = await live.newMerchant({
      frame_ancestors: ['https://shop.example', 'http://localhost:3000'],
      branding: { logo: 'http://127.0.0.1/logo.png' },
    });
    const session = await checkoutOf(live).open({}, merchant);
    expect(session.url.startsWith('https://pay.example/pay/')).toBe(true);
    const { headers, text } = await show(url + new URL(session.url).pathname);
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(policyOf(headers).get('frame-ancestors')).toBe('https://shop.example');
    expect(policyOf(headers).get('form-action')).toBe("'self' https:");
    expect(text).not.toContain('<img');
  } finally {
    await live.close();
  }
  expect((await show(`${shop.url}/pay/nothing`)).headers.has('strict-transport-security')).toBe(false);
});

test('no response may be cached, not even a 404', async () => {
  const { url } = await checkout.open();
  const link = url.slice(url.lastIndexOf('/') + 1);
  for (const [path, method] of [
    [`/pay/${link}/`, 'GET'],
    [`/pay/${link}`, 'PUT'],
    [`/3ds/${link}`, 'GET'],
    [`/pay/${'x'.repeat(300)}`, 'GET'],
    ['/pay/%zz', 'GET'],
    ['/health/live', 'GET'],
  ] as const) {
    const { headers } = await show(shop.url + path, { method });
    expect(headers.get('cache-control'), `${method} ${path}`).toBe('no-store');
  }
});

describe('size', () => {
  const KILOBYTE = 1024;
  const LONG = 'A very long description '.repeat(40).slice(0, 1000);

  test('the largest pages, in every language, are less than 60 KB, and 40 KB as they are transferred', async () => {
    const merchant = await shop.newMerchant({ branding: { colour: '#ffd400', logo: 'https://cdn.example/logo.png' } });
    const order = { number: 'x'.repeat(255), currency: 'EUR', description: LONG };
    const all = await checkout.open({ order }, merchant);
    const code = await checkout.open({ methods: ['ips'], order: { ...order, number: 'y'.repeat(255) } }, merchant);
    await fill(code.url, {});
    // Names that do not compress well.
    const lines = Array.from({ length: 100 }, () => ({
      name: randomBytes(190).toString('base64').slice(0, 250),
      amount: '0.10',
    }));
    const long = await checkout.open(
      { methods: ['card'], order: { ...order, number: 'z'.repeat(255), lines } },
      merchant,
    );
    const paid = await checkout.paidByCard({ order: { ...order, number: 'p'.repeat(255), lines } }, merchant);
    const sizes: Record<string, number> = {};
    for (const language of Object.keys(LANGUAGES)) {
      const headers = { 'accept-language': language };
      for (const address of [all.url, `${all.url}?method=card`, `${all.url}?method=bnpl-b`, code.url]) {
        const page = await show(address, { headers });
        expectSafe(page);
        const size = Buffer.byteLength(page.text);
        sizes[language] = Math.max(sizes[language] ?? 0, size);
      }
      for (const address of [`${all.url}?method=card`, long.url, `${paid.url}/receipt`]) {
        for (const encoding of ['br', 'gzip']) {
          const page = await show(address, { headers: { ...headers, 'accept-encoding': encoding } });
          expect(page.headers.get('content-encoding')).toBe(encoding);
          expect(Number(page.headers.get('content-length'))).toBeLessThan(40 * KILOBYTE);
        }
      }
    }
    expect(Math.max(...Object.values(sizes))).toBeLessThan(60 * KILOBYTE);
  });

  test('pages contain no address other than the shop’s, the provider’s and the gateway’s', async () => {
    const { url } = await checkout.open({ methods: ['card', 'vcard', 'doc-a'] });
    const pages = [await show(url), await show(`${url}?method=card`), await show(`${url}?method=doc-a`)];
    pages.push(await fill(url, { ...DOC_A, 'parameters[document_number]': '' }));
    for (const { text } of pages) {
      const addresses = [...withoutScript(text).matchAll(/\b(?:https?:)?\/\/([\w.-]+)/g)].map(([, host]) => host);
      expect(new Set(addresses)).toEqual(new Set(['shop.example']));
    }
  });
});
