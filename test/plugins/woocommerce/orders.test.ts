/** The plugin for WooCommerce in a double of WordPress, against the real gateway, where PHP is installed. */
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { packaged } from '../../../plugins/woocommerce/build/files.ts';
import { fill, VCARD } from '../../support/checkout.ts';
import type { MerchantWithSecret } from '../../support/delivery-shop.ts';
import { openShop } from '../../support/gateway.ts';
import { hasPhp } from '../../support/php.ts';
import { clearAway, run } from '../../support/process.ts';
import { startReceiver, type TestReceiver } from '../../support/receivers.ts';

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
  for (const [path, content] of packaged()) {
    await fs.mkdir(dirname(join(folder, path)), { recursive: true });
    await fs.writeFile(join(folder, path), content);
  }
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  shop.gateway.deliverer.start();
  receiver = await startReceiver();
  merchant = (await shop.newMerchant({ callback_url: receiver.url, brands: ['vcard'] })) as MerchantWithSecret;
  file = join(folder, `${merchant.mid}.json`);
  const { merchant_key, password, callback_secret } = merchant;
  await change(() => ({
    plugin: join(folder, 'turnpike-gateway'),
    scheduled: [],
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
        ...{ meta: {}, notes: [], completions: [], refunds: [] },
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

async function step(name: 'pay' | 'callback' | 'refund' | 'check') {
  const php = run({}, { command: 'php', args: [join(import.meta.dirname, 'double.php'), name, file] });
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

const received = async (count: number): Promise<Received> => {
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(count);
  return receiver.received.at(-1) as Received;
};

test.skipIf(!hasPhp)('an order is paid on the page of the gateway, and refunded from both sides', async () => {
  await payAtTheGateway();
  const paid = await received(1);
  const forged = { headers: paid.headers, body: Buffer.concat([Buffer.from(paid.body), Buffer.from('&x=1')]) };
  expect(await bring(forged)).toBe(400);
  expect(await order()).toMatchObject({ status: 'pending', completions: [] });

  // The same callback twice completes the order once.
  for (let n = 0; n < 2; n++) expect(await bring(paid)).toBe(200);
  const { meta, status, completions } = await order();
  const id = meta._turnpike_payment_id;
  expect([status, completions]).toEqual(['processing', [id]]);

  await change(() => ({ refund: '5' }));
  expect((await step('refund')).answer).toBe(true);
  await expect.poll(() => shop.inspect(id)).toMatchObject({ refunded: '5.00', order_id: '17-1' });
  await change(() => ({ refund: '20.00' }));
  expect((await step('refund')).answer).toMatch(/bigger than payment amount/);
  // WooCommerce has recorded its own refund already.
  expect(await bring(await received(2))).toBe(200);
  expect(await order()).toMatchObject({ status: 'processing', completions: [id], refunds: [] });

  // Refunds from the panel are recorded once each, also if their callbacks arrive twice and in another order.
  await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' });
  const earlier = await received(3);
  await shop.admin('POST', `/payments/${id}/refund`, { amount: '3.00' });
  const later = await received(4);
  for (const callback of [later, earlier, later, earlier]) expect(await bring(callback)).toBe(200);
  expect(await order()).toMatchObject({ status: 'processing', refunds: [{ amount: '3.00' }, { amount: '4.00' }] });
});

test.skipIf(!hasPhp)(
  'a check completes an order whose callback is blocked, and a late callback changes nothing',
  async () => {
    await payAtTheGateway();
    expect((await read()).scheduled).toEqual([[17, '17-1', 0]]);
    await step('check');
    expect((await read()).scheduled).toEqual([]);
    const paid = await order();
    expect(paid).toMatchObject({ status: 'processing', completions: [paid.meta._turnpike_payment_id] });
    expect(await bring(await received(1))).toBe(200);
    expect(await order()).toMatchObject({ status: 'processing', completions: [paid.meta._turnpike_payment_id] });
  },
);

test.skipIf(!hasPhp)('a check without an answer leaves the next one', async () => {
  await step('pay');
  const { url } = (await read()).settings;
  await change(({ settings }) => ({ settings: { ...settings, url: 'http://127.0.0.1:9' } }));
  await step('check');
  expect((await read()).scheduled).toEqual([[17, '17-1', 1]]);
  await change(({ settings }) => ({ settings: { ...settings, url } }));
  // The payer has not paid yet: the next check is scheduled again.
  await step('check');
  expect(await read()).toMatchObject({ scheduled: [[17, '17-1', 2]], orders: { 17: { status: 'pending' } } });
});

test.skipIf(!hasPhp)(
  'several tabs get the same page at the same moment, and another one if the amount changes',
  async () => {
    const pages = await Promise.all([1, 2, 3].map(async () => (await step('pay')).answer.redirect));
    expect(pages).toEqual([expect.stringContaining('/pay/'), pages[0], pages[0]]);
    await change(({ orders }) => ({ orders: { 17: { ...orders[17], total: '25' } } }));
    const { redirect } = (await step('pay')).answer;
    expect(redirect).not.toBe(pages[0]);
    expect((await fill(redirect, VCARD.success)).status).toBe(303);
    expect(await bring(await received(1))).toBe(200);
    expect(await order()).toMatchObject({
      status: 'processing',
      meta: { _turnpike_attempt: { number: '17-2', amount: '25.00' } },
    });
    // The first page is still open at the gateway; its payment is noted and does not change the order.
    expect((await fill(pages[0], VCARD.success)).status).toBe(303);
    const second = await received(2);
    for (let n = 0; n < 2; n++) expect(await bring(second)).toBe(200);
    const { status, completions, notes } = await order();
    expect([status, completions.length, notes.filter((note: string) => /second time/.test(note)).length]).toEqual([
      'processing',
      1,
      1,
    ]);
    expect((await step('pay')).answer.redirect).toBe('https://shop.example/received');
  },
);

test.skipIf(!hasPhp)('an order of the former example is paid by its callback, or gets the next number', async () => {
  await payAtTheGateway();
  await change(({ orders }) => ({ orders: { 17: { ...orders[17], meta: { _turnpike_attempt: '1' } } } }));
  expect((await step('pay')).answer.redirect).toContain('/pay/');
  expect((await order()).meta._turnpike_attempt.number).toBe('17-2');
  await change(({ orders }) => ({ orders: { 17: { ...orders[17], meta: { _turnpike_attempt: '1' } } } }));
  expect(await bring(await received(1))).toBe(200);
  expect(await order()).toMatchObject({ status: 'processing' });
});

test.skipIf(!hasPhp)('an amount has the digits of its currency', async () => {
  const total = async (currency: string, amount: string): Promise<string> => {
    await change(({ orders }) => ({ orders: { 17: { ...orders[17], currency, total: amount } } }));
    expect((await step('pay')).answer.result).toBe('success');
    return (await order()).meta._turnpike_attempt.amount;
  };
  expect(await total('JPY', '1999.6')).toBe('2000');
  expect(await total('KWD', '1.2555')).toBe('1.256');
  expect(await total('EUR', '20')).toBe('20.00');
  expect(await total('EUR', '1.005')).toBe('1.01');
});

test.skipIf(!hasPhp)(
  'a payment that cannot be started, and a callback of an unknown order, change nothing',
  async () => {
    await payAtTheGateway();
    const paid = await received(1);
    await change(({ orders }) => ({ orders: { 18: orders[17] } }));
    expect(await bring(paid)).toBe(404);
    await change(({ orders, settings }) => ({
      orders: { 17: { ...orders[18], meta: {} } },
      settings: { ...settings, password: 'wrong' },
    }));
    // An order that was never sent to the gateway is not paid by a callback, not even by one that is signed.
    expect(await bring(paid)).toBe(400);
    const { answer, notices } = await step('pay');
    expect([answer, notices]).toEqual([{ result: 'failure' }, [expect.stringMatching(/could not be started/)]]);
    expect(JSON.stringify(await order())).not.toContain('wrong"');
  },
);
