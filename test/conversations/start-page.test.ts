/** The page at `/`: in the sandbox it leads to a first payment, in production to the panel. */
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';

const sandbox = openShop({ simulator: true });
const production = openShop({ environment: 'production' });

test('the sandbox shows the demo keys, which work', async () => {
  const response = await fetch(sandbox.url);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  const value = (name: string) => new RegExp(`<dt>${name}</dt><dd><span class="mono">([^<]+)<`).exec(text)?.[1] ?? '';
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
