/** The page at `/`: in the sandbox it leads to a first payment, in production to the panel. */
import * as fs from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startDemo } from '../../src/core/accounts/demo.ts';
import { openShop } from '../support/gateway.ts';

const sandbox = openShop({ simulator: true });
const production = openShop({ environment: 'production' });

test('however many requests and processes meet at the first start, there is one demo account', async () => {
  const opened = Array.from({ length: 6 }, () => fetch(sandbox.url).then((response) => response.text()));
  const started = Array.from({ length: 3 }, () => startDemo(sandbox.gateway, sandbox.url));
  const mids = (await Promise.all(started)).map(({ mid }) => mid);
  for (const text of await Promise.all(opened)) expect(text).toContain(mids[0]);
  expect(new Set(mids).size).toBe(1);
  const { body } = await sandbox.admin('GET', '/accounts');
  expect(body.items.filter(({ name }: { name: string }) => name === 'Demo Shop')).toHaveLength(1);
});

test('the sandbox shows the demo keys, which work', async () => {
  const response = await fetch(sandbox.url);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  const value = (name: string) =>
    new RegExp(`<dt>${name}</dt><dd><span class="mono"[^>]*>([^<]+)<`).exec(text)?.[1] ?? '';
  const [mid, client_key, merchant_key, password] = ['mid', 'client_key', 'merchant_key', 'password'].map(value);
  const merchant = { mid, client_key, merchant_key, password } as typeof sandbox.merchant;
  expect((await sandbox.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS' });
});

test('the button opens a payment page, and each press a new payment', async () => {
  const press = async () =>
    (await fetch(`${sandbox.url}/sandbox/test-payment`, { method: 'POST', redirect: 'manual' })).headers.get(
      'location',
    );
  const [first, second] = [await press(), await press()];
  expect(first).toMatch(new RegExp(`^${sandbox.url}/pay/`));
  expect(second).not.toBe(first);
  expect(await (await fetch(first as string)).text()).toContain('19.99');
});

test('the page has a command that pays, the callback secret, and what leads on', async () => {
  const text = await (await fetch(sandbox.url)).text();
  const [, curl = ''] = /<code data-copy[^>]*>(curl [^<]+)<\/code>/.exec(text) ?? [];
  const fields = [...curl.matchAll(/-d &#39;([^&]+)&#39;/g)].map(([, field]) => field);
  const init = { method: 'POST', body: new URLSearchParams(fields.join('&')) };
  expect(await (await fetch(`${sandbox.url}/post`, init)).json()).toMatchObject({ status: 'SETTLED' });
  expect(text).toMatch(/whsec_[\w+/=]+/);
  expect(text).toContain(`bin/turnpike listen --url ${sandbox.url}`);
  for (const path of ['/docs/merchant/quick-start', '/docs/reference', '/docs/three-ds#sandbox-cards', '/admin']) {
    expect(text).toContain(`href="${path}"`);
  }
});

test('what the page says about its test cards is true', async () => {
  const text = await (await fetch(sandbox.url)).text();
  const guide = await fs.readFile(new URL('../../docs/three-ds.md', import.meta.url), 'utf8');
  const outcomes = [...text.matchAll(/<dt>(\d\d\/\d\d)<\/dt><dd>([^<]+)</g)].map(([, expiry, outcome]) => [
    expiry,
    outcome,
  ]);
  expect(outcomes).toEqual([
    ['01/38', 'The payment succeeds'],
    ['02/38', 'The card is declined'],
    ['05/38', 'The bank asks for a code: 1234'],
  ]);
  for (const [expiry = ''] of outcomes) expect(guide).toContain(`\`${expiry}\``);
  expect(text).not.toContain('any future date');
});

test('after the payment the page says so and leads to it', async () => {
  const id = '01234567-89ab-7def-8123-456789abcdef';
  expect(await (await fetch(`${sandbox.url}/?paid=${id}`)).text()).toContain(`/admin/payments/${id}`);
  expect(await (await fetch(`${sandbox.url}/?paid=%3Cscript%3E`)).text()).not.toContain('The test payment succeeded');
});

test('production leads to the panel and opens no payment', async () => {
  const response = await fetch(production.url, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([303, '/admin']);
  expect((await fetch(`${production.url}/sandbox/test-payment`, { method: 'POST' })).status).toBe(404);
});
