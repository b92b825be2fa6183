/** What surrounds the forms of the payment page: badge, icon, support and terms; and its compression. */
import { describe, expect, test } from 'vitest';
import { acceptedEncoding } from '../../src/pages/compression.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { checkoutOf, fill, show } from '../support/checkout.ts';
import { openShop, startTestGateway } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { readable, withoutScript } from '../support/pages.ts';

const shop = openShop();
const checkout = checkoutOf(shop);

const BRANDING = {
  name: 'Tea & Sons',
  support_email: 'help@tea.example',
  support_phone: '+49 (30) 1234-567',
  support_url: 'https://tea.example/help?a=1&b=2',
  terms_url: 'https://tea.example/terms',
  privacy_url: 'mailto:privacy@tea.example',
};

test('support, terms and privacy are in the footer, if the account has them', async () => {
  const merchant = await shop.newMerchant({ branding: BRANDING });
  const { url } = await checkout.open({ methods: ['vcard'] }, merchant);
  const [footer = ''] = /<footer.*<\/footer>/s.exec((await show(url)).text) ?? [];
  expect([...footer.matchAll(/href="([^?"][^"]*)"/g)].map(([, href]) => href)).toEqual([
    'mailto:help@tea.example',
    'tel:+49301234567',
    'https://tea.example/help?a=1&amp;b=2',
    'https://tea.example/terms',
    'mailto:privacy@tea.example',
  ]);
  // A payer who looks something up does not lose the form.
  expect(footer.match(/target="_blank" rel="noopener"/g)).toHaveLength(2);
  const [plain = ''] = /<footer.*<\/footer>/s.exec((await show((await checkout.open()).url)).text) ?? [];
  expect(plain).not.toMatch(/href="[^?]/);
});

test('a form that is sent too often leads back to the payment page', async () => {
  const { url } = await checkout.open({ methods: ['vcard'] });
  holdRates();
  const answers = await Promise.all(
    Array.from({ length: 4 * LIMITS.submitLimit }, () => fill(url, { method: 'vcard', identifier: '' })),
  );
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.text).toContain(`<a class="button" href="${new URL(url).pathname}">`);
});

test('a badge says that nothing is paid, in the sandbox only', async () => {
  expect(readable((await show((await checkout.open()).url)).text)).toContain('Test mode No real money moves.');
  expect(readable((await show(`${shop.url}/pay/nothing`)).text)).toContain('Test mode');
  const live = await startTestGateway({ environment: 'production' });
  try {
    const { url } = await checkoutOf(live).open({});
    expect(readable((await show(url)).text)).not.toContain('Test mode');
    expect((await show(`${live.url}/pay/nothing`)).text).not.toContain('<header');
  } finally {
    await live.close();
  }
});

test.each([
  [{ name: 'été', colour: '#FFD400' }, '#ffd400', 'É'],
  [{ name: '"<b>' }, '#0f5c4c', 'B'],
  [{ name: '☕' }, '#0f5c4c', ''],
])('the icon of %j has its colour and its initial', async (branding, colour, initial) => {
  const { url } = await checkout.open({}, await shop.newMerchant({ branding }));
  const [, icon = ''] = /<link rel="icon" href="data:image\/svg\+xml,([^"]*)">/.exec((await show(url)).text) ?? [];
  const svg = decodeURIComponent(icon);
  expect(svg).toContain(`fill="${colour}"`);
  expect(svg).toContain(`>${initial}</text>`);
});

describe('compression', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;q=1.0, br;q=0', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
    ['brotli, xgzip', undefined],
  ])('Accept-Encoding %j gets %j', (header, encoding) => {
    expect(acceptedEncoding(header)).toBe(encoding);
  });

  test('leaves a page that repeats what the payer entered as it is, and a page for a client that accepts none', async () => {
    const { url } = await checkout.open({ methods: ['vcard'] });
    const compressed = await show(url, { headers: { 'accept-encoding': 'br' } });
    const plain = await show(url, { headers: { 'accept-encoding': 'identity' } });
    expect([compressed, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['br', null]);
    expect([compressed, plain].map(({ headers }) => headers.get('vary'))).toEqual(Array(2).fill('accept-encoding'));
    expect(withoutScript(compressed.text).replace(/\d+/g, '')).toBe(withoutScript(plain.text).replace(/\d+/g, ''));
    const answered = await fill(url, { method: 'vcard', identifier: 'somebody@example.com' });
    expect([answered.status, answered.headers.get('content-encoding')]).toEqual([422, null]);
    expect(answered.text).toContain('somebody@example.com');
  });

  test('a page repeats nothing of its query', async () => {
    const { url } = await checkout.open({ methods: ['vcard', 'doc-a'] });
    const query = 'method=zqxj1&returned=zqxj2&leaving=zqxj3&zqxj4=zqxj5';
    for (const path of ['', '/receipt']) expect((await show(`${url}${path}?${query}`)).text).not.toContain('zqxj');
  });
});
