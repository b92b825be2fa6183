/** The script for shops, as a shop's page loads it, and what a page in a frame leads to. */
import { expect, test } from 'vitest';
import { NEWEST_EMBED_SCRIPT } from '../../src/pages/embed/scripts.ts';
import { cardForm, checkoutOf, DOC_A, fill, SUCCESS_URL, show } from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const IN_FRAME = { 'sec-fetch-dest': 'iframe' };

test.each([
  ['/embed/1.js', 'public, max-age=31536000, immutable'],
  ['/embed.js', 'public, max-age=300'],
])('%s is open to other origins', async (path, caching) => {
  const { status, headers, text } = await show(shop.url + path);
  expect(status).toBe(200);
  expect(text).toBe(NEWEST_EMBED_SCRIPT.source);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': caching,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  expect(headers.has('set-cookie')).toBe(false);
});

test('an unknown version is unknown', async () => {
  expect((await show(`${shop.url}/embed/0.js`)).status).toBe(404);
});

test('only accounts with frame_ancestors have the script for frames, and only their framed pages go on over a page', async () => {
  const frameable = await shop.newMerchant({ frame_ancestors: ['https://shop.example'] });
  for (const [merchant, isFrameable] of [
    [frameable, true],
    [shop.merchant, false],
  ] as const) {
    const { url } = await checkout.open({ methods: ['card'] }, merchant);
    expect((await show(url)).text.includes('turnpike:(https?:')).toBe(isFrameable);
    const path = new URL(url).pathname;
    const paid = await fill(url, cardForm(), IN_FRAME);
    expect(paid.location).toBe(isFrameable ? `${path}?leaving=page` : SUCCESS_URL);
    const redirected = await fill((await checkout.open({ methods: ['doc-a'] }, merchant)).url, DOC_A, IN_FRAME);
    expect(redirected.location.includes('?leaving=provider')).toBe(isFrameable);
    const { url: unframed } = await checkout.open({ methods: ['card'] }, merchant);
    expect((await fill(unframed, cardForm())).location).toBe(SUCCESS_URL);
  }
});
