/** The WooCommerce example with stand-ins of WordPress, against the real gateway, where PHP is installed. */
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { fill, VCARD } from '../support/checkout.ts';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { openShop } from '../support/gateway.ts';
import { hasPhp } from '../support/php.ts';
import { clearAway, ROOT, run } from '../support/process.ts';
import { startReceiver, type TestReceiver } from '../support/receivers.ts';

// Each step starts PHP, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

type Received = TestReceiver['received'][number];

const shop = openShop();
let folder: string;
let file: string;
let merchant: MerchantWithSecret;
let receiver: TestReceiver;

beforeAll(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-woocommerce-'));
  for (const name of ['turnpike-gateway.php', 'class-turnpike-gateway.php']) {
    await fs.copyFile(join(ROOT, 'examples/woocommerce', name), join(folder, name));
  }
  await fs.copyFile(join(ROOT, 'client/php/Turnpike.php'), join(folder, 'Turnpike.php'));
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  shop.gateway.deliverer.start();
  receiver = await startReceiver();
  merchant = (await shop.newMerchant({ callback_url: receiver.url, brands: ['vcard'] })) as MerchantWithSecret;
  file = join(folder, `${merchant.mid}.json`);
  const { merchant_key, password, callback_secret } = merchant;
  await change(() => ({
    plugin: folder,
    settings: { url: shop.url, merchant_key, password, callback_secret },
    orders: {
      17: {
        ...{
          id: 17,
          order_number: '17',
          total: '19.99',
          currency: 'USD',
          status: 'pending',
          payment_method: 'turnpike',
        },
        ...{ billing_first_name: 'Ana', billing_last_name: 'Čaj', billing_email: 'ana@example.com' },
        ...{ meta: {}, notes: [], completions: [] },
      },
    },
  }));
});
afterEach(async () => {
  await receiver.close();
  await clearAway();
});

const read = async () => JSON.parse(await fs.readFile(file, 'utf8').catch(() => '{}'));
async function change(make: (shopFile: Awaited<ReturnType<typeof read>>) => object): Promise<void> {
  await fs.writeFile(file, JSON.stringify({ ...(await read()), ...make(await read()) }));
}
const order = async () => (await read()).orders[17];

async function step(name: 'pay' | 'callback' | 'refund') {
  const php = run({}, { command: 'php', args: [join(import.meta.dirname, 'woocommerce.php'), name, file] });
  expect(await php.ended, php.output() + php.complaints()).toEqual({ code: 0, signal: null });
  return JSON.parse(php.output().trim().split('\n').at(-1) as string);
}

/** Brings a callback to the plugin as a web server would; returns the status of the response. */
async function bring({ headers, body }: Pick<Received, 'headers' | 'body'>): Promise<number> {
  await change(() => ({ request: { headers, body: Buffer.from(body).toString('base64') } }));
  return (await step('callback')).status;
}

async function payAtTheGateway(): Promise<void> {
  const { answer } = await step('pay');
  expect(answer).toEqual({ result: 'success', redirect: expect.stringContaining(`${shop.url}/pay/`) });
  expect((await fill(answer.redirect, VCARD.success)).status).toBe(303);
}

test.skipIf(!hasPhp)('an order is paid on the page of the gateway, and refunded', async () => {
  await payAtTheGateway();
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  const paid = receiver.received.at(-1) as Received;
  const forged = { headers: paid.headers, body: Buffer.concat([Buffer.from(paid.body), Buffer.from('&x=1')]) };
  expect(await bring(forged)).toBe(400);
  expect(await order()).toMatchObject({ status: 'pending', completions: [] });

  // The same callback twice completes the order once.
  for (let n = 0; n < 2; n++) expect(await bring(paid)).toBe(200);
  const { meta, status, completions } = await order();
  expect([status, completions]).toEqual(['processing', [meta._turnpike_payment_id]]);

  await change(() => ({ refund: '5.00' }));
  expect((await step('refund')).answer).toBe(true);
  const payment = async () => (await shop.admin('GET', `/payments/${meta._turnpike_payment_id}`)).body;
  await expect.poll(payment).toMatchObject({ refunded: '5.00', order_id: '17-1' });
  await change(() => ({ refund: '20.00' }));
  expect((await step('refund')).answer).toMatch(/bigger than payment amount/);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
  // The callback of the refund leaves the order paid.
  expect(await bring(receiver.received.at(-1) as Received)).toBe(200);
  expect(await order()).toMatchObject({ status: 'processing', completions: [meta._turnpike_payment_id] });
});

test.skipIf(!hasPhp)(
  'a payment that cannot be started, and a callback of an unknown order, change nothing',
  async () => {
    await payAtTheGateway();
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    await change(({ orders }) => ({ orders: { 18: orders[17] } }));
    expect(await bring(receiver.received.at(-1) as Received)).toBe(404);
    await change(({ orders, settings }) => ({
      orders: { 17: orders[18] },
      settings: { ...settings, password: 'wrong' },
    }));
    const { answer, notices } = await step('pay');
    expect([answer, notices]).toEqual([{ result: 'failure' }, [expect.stringMatching(/could not be started/)]]);
    expect(JSON.stringify(await order())).not.toContain('wrong"');
  },
);
