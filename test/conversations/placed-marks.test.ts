/** The marks that an operator places in a folder: shown on the payment page instead of names, and served by the gateway. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readMarks } from '../../src/lib/files/marks.ts';
import { checkoutOf, show } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { policyOf, readable } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const folder = mkdtempSync(join(tmpdir(), 'marks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="24"><script>alert(1)</script></svg>';

test('without marks the page shows names, and loads no picture', async () => {
  const { text, headers } = await show((await checkout.open({ methods: ['card'] })).url);
  expect(readable(text)).toContain('Visa Mastercard Amex Maestro Diners Discover JCB UnionPay');
  expect([text.includes('<img'), policyOf(headers).get('img-src')]).toEqual([false, 'data:']);
});

test('marks stand in for names, of networks and of methods, and run nothing', async () => {
  writeFileSync(join(folder, 'visa.svg'), SVG);
  writeFileSync(join(folder, 'bank-a.png'), 'png');
  writeFileSync(join(folder, 'ideal.svg'), SVG);
  writeFileSync(join(folder, 'notes.txt'), 'Not a mark.');
  shop.gateway.marks = readMarks(folder);
  const methods = ['card', 'bank-a', 'ideal'];
  const { text, headers } = await show((await checkout.open({ methods, order: { currency: 'EUR' } })).url);
  const [, visa = ''] = /<img class="placed" src="([^"]+)" alt="Visa"/.exec(text) ?? [];
  const tiles = text.matchAll(/<span class="tile"><img class="placed" src="([^"]+)" alt=""/g);
  expect([visa, ...[...tiles].map(([, tile]) => tile)]).toEqual([
    expect.stringMatching(/^\/marks\/\w{12}\/visa\.svg$/),
    expect.stringMatching(/^\/marks\/\w{12}\/ideal\.svg$/),
    expect.stringMatching(/^\/marks\/\w{12}\/bank-a\.png$/),
  ]);
  expect(policyOf(headers).get('img-src')).toBe("'self' data:");
  const mark = await show(shop.url + visa);
  expect([mark.status, mark.text, mark.headers.get('content-type')]).toEqual([200, SVG, 'image/svg+xml']);
  expect(mark.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(mark.headers.get('cache-control')).toContain('immutable');
  for (const path of ['/marks/x/visa.svg', '/marks/x/notes.txt', '/marks/x/..%2f..%2fetc%2fpasswd']) {
    expect((await show(shop.url + path)).status, path).toBe(404);
  }
});

test('a mark that is too large, or a folder that is not there, is refused', () => {
  writeFileSync(join(folder, 'amex.svg'), ' '.repeat(64 * 1024 + 1));
  expect(() => readMarks(folder)).toThrow('amex.svg is larger than 64 KiB');
  expect(() => readMarks(join(folder, 'nowhere'))).toThrow('ENOENT');
});
