/** The examples as real processes, paid for by a payer, against the real gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardForm, fill, follow, show } from '../support/checkout.ts';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { type Fields, openShop } from '../support/gateway.ts';
import { clearAway, eventually, ROOT, run } from '../support/process.ts';

const shop = openShop({ simulator: true });
afterAll(clearAway);

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Starts an example as its npm script does, with an account of its own. */
async function start(name: string) {
  const merchant = (await shop.newMerchant()) as MerchantWithSecret;
  const [program, command, ...args] = scripts[`example:${name}`].split(' ');
  expect([program, command]).toEqual(['exec', 'node']);
  const variables = {
    PORT: '0',
    TURNPIKE_URL: shop.url,
    TURNPIKE_CLIENT_KEY: merchant.client_key,
    TURNPIKE_MERCHANT_KEY: merchant.merchant_key,
    TURNPIKE_PASSWORD: merchant.password,
    TURNPIKE_CALLBACK_SECRET: merchant.callback_secret,
  };
  const { output, complaints } = run(variables, { args });
  const url = await eventually(() => {
    const address = /^Open (\S+)$/m.exec(output())?.[1];
    if (!address) throw new Error(output() + complaints());
    return address;
  });
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: `${url}/callback` });
  const drain = (): Promise<void> => shop.gateway.deliverer.drain();
  return {
    output,
    merchant,
    drain,
    /** The page of the example after all callbacks have arrived. */
    async page(path = '/'): Promise<string> {
      await drain();
      return (await show(url + path)).text;
    },
    post: (path: string, form: Fields = {}) => fill(url + path, form),
  };
}

type Example = Awaited<ReturnType<typeof start>>;
const orderIn = (page: string): string => /value="([a-z]+-[0-9a-f-]{36})"/.exec(page)?.[1] ?? '';

describe('the shop', () => {
  let example: Example;
  beforeAll(async () => {
    example = await start('shop');
  });

  test('sells tea, thanks the payer, sends the tea once, and refunds it', async () => {
    const { location } = await example.post('/buy');
    expect(location).toContain(`${shop.url}/`);
    const paid = await fill(location, cardForm());
    const thanks = await follow(paid);
    expect(thanks.text).toContain('Thank you! Your tea is on its way.');
    const page = await example.page();
    expect(page).toMatch(/tea-[0-9a-f-]+: SETTLED/);
    await expect.poll(() => example.output().match(/^Send the tea of/gm)?.length).toBe(1);
    await example.post('/refund', { order: orderIn(page) });
    await expect.poll(() => example.page()).toMatch(/tea-[0-9a-f-]+: REFUND/);
  });

  test('does not send tea that is not paid', async () => {
    const sent = example.output();
    const { location } = await example.post('/buy');
    await fill(location, cardForm({ card_expiry: '02/38' }));
    expect(await example.page()).toContain('DECLINED');
    expect(example.output()).toBe(sent);
  });

  test('believes no callback but that of the gateway', async () => {
    expect((await example.post('/callback', { order_id: 'tea-1', status: 'SETTLED' })).status).toBe(401);
  });
});

test('the QR stand shows a code, and says when the guest has paid', async () => {
  const example = await start('qr-stand');
  const { location } = await example.post('/sell');
  const waiting = await example.page(location);
  expect(waiting).toContain('Scan to pay 2.50 EUR');
  expect(waiting).toContain('<svg');
  const order_id = new URLSearchParams(location.split('?')[1]).get('order');
  const [payment] = (await shop.admin('GET', `/payments?mid=${example.merchant.mid}&order_id=${order_id}`)).body.items;
  await shop.sandbox('POST', `/payments/${payment.payment_id}`, { bank_callback: 'ACSC' });
  await expect.poll(() => example.page(location)).toContain('Enjoy your coffee!');
  await expect.poll(() => example.drain().then(example.output)).toContain(`${order_id}: SETTLED`);
});

test('the subscription is charged every month until it is cancelled', async () => {
  const example = await start('subscription');
  const { location } = await example.post('/subscribe');
  expect((await fill(location, cardForm())).status).toBe(303);
  expect(await example.page()).toContain('1 paid');
  const MONTH = 31 * 24 * 3600;
  for (const paid of [2, 3]) {
    await shop.advanceClock(MONTH, example.merchant.mid);
    await expect.poll(() => example.page()).toContain(`${paid} paid`);
  }
  await example.post('/cancel', { order: orderIn(await example.page()) });
  expect(await example.page()).toContain('3 paid, cancelled');
  await shop.advanceClock(MONTH, example.merchant.mid);
  expect(await example.page()).toContain('3 paid, cancelled');
});

test('the shop with an embedded page shows it in a frame, and thanks the payer', async () => {
  const example = await start('embedded');
  const { text } = await example.post('/buy');
  const url = /url: "([^"]+)"/.exec(text)?.[1] ?? '';
  expect(text).toContain(`<script src="${shop.url}/embed.js"></script>`);
  const thanks = await follow(await fill(url, cardForm()));
  expect(thanks.text).toContain('Thank you! Your tea is on its way.');
  await expect.poll(() => example.drain().then(example.output)).toMatch(/^tea-[0-9a-f-]+: SETTLED/m);
});
