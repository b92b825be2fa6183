/** What payers, the owner of the shop and the network do, in a real WordPress with WooCommerce. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { Account, Sandbox } from './sandbox.ts';
import type { Site } from './site.ts';

export interface Stage {
  site: Site;
  sandbox: Sandbox;
  account: Account;
  browser: Browser;
}

interface Order {
  status: string;
  total: string;
  method: string;
  transaction: string;
  attempt: { number: string; amount: string; url: string; secret: string } | null;
  payments: Record<string, [state: string, sequence: number]>;
  notes: string[];
  refunds: string[];
  cards: string[];
  pay_url: string;
  is_hpos: boolean;
}

interface Scenario {
  name: string;
  needsSubscriptions?: true;
  run(stage: Stage): Promise<void>;
}

const POLL_MS = 60_000;
const STEP_MS = 45_000;
const CARD = { card_number: '4111111111111111', card_expiry: '01/38', card_cvv: '123', card_holder: 'Ana Payer' };
const BILLING = {
  first_name: 'Ana',
  last_name: 'Payer',
  address_1: 'Street 1',
  postcode: '10115',
  city: 'Berlin',
  phone: '030123456',
  email: 'ana@example.com',
};

const order = ({ site }: Stage, id: number): Promise<Order> => site.step<Order>('order', { id });
const newOrder = async ({ site }: Stage, fields: object = {}): Promise<number> =>
  (await site.step<{ id: number }>('new-order', { product: site.product, ...fields })).id;
const startPayment = async ({ site }: Stage, id: number, fields: object = {}): Promise<string> =>
  (await site.step<{ answer: { redirect: string } }>('pay', { id, ...fields })).answer.redirect;

/** Waits until the order has the status, which a callback brings. */
async function untilStatus(stage: Stage, id: number, status: string): Promise<Order> {
  const end = Date.now() + POLL_MS;
  for (;;) {
    const found = await order(stage, id);
    if (found.status === status) return found;
    assert.ok(Date.now() < end, `order ${id} is ${found.status}, not ${status}: ${found.notes.join(' | ')}`);
    await pause(300);
  }
}

/** Callbacks go to the shop, or to a port where nobody answers. */
const setCallbacks = ({ sandbox, account, site }: Stage, arrive: boolean): Promise<unknown> =>
  sandbox.admin('PATCH', `/accounts/${account.mid}`, {
    callback_url: arrive ? `${site.url}/wc-api/turnpike/` : 'http://127.0.0.1:9/blocked',
  });

async function visitor({ browser }: Stage): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
  page.setDefaultTimeout(STEP_MS);
  return page;
}

/** Pays on the page of the gateway. */
async function payAtGateway(page: Page, card: Partial<typeof CARD> = {}): Promise<void> {
  await page.waitForURL(/\/pay\//);
  for (const [name, value] of Object.entries({ ...CARD, ...card })) await page.locator(`[name="${name}"]`).fill(value);
  await page.locator('main form').getByRole('button', { name: /^Pay / }).click();
}

async function signIn(page: Page, { site }: Stage, name: string): Promise<void> {
  await page.goto(`${site.url}/wp-login.php`);
  await page.locator('#user_login').fill(name);
  await page.locator('#user_pass').fill(`${name} password`);
  await page.locator('#wp-submit').click();
  await page.waitForURL((url) => !url.pathname.includes('wp-login'));
}

async function fillClassic(page: Page, { site }: Stage): Promise<void> {
  await page.goto(`${site.url}/?add-to-cart=${site.product}`);
  await page.goto(`${site.url}/checkout/`);
  for (const [name, value] of Object.entries(BILLING)) await page.locator(`[name="billing_${name}"]`).fill(value);
  await page.locator('#place_order').waitFor();
  await page.waitForFunction("document.querySelectorAll('.blockUI').length === 0");
}

const textOf = async (page: Page): Promise<string> => (await page.locator('body').allInnerTexts()).join('');
const isReceived = (url: URL): boolean => url.pathname.includes('/order-received/');
const receivedOrder = (page: Page): number => Number(/order-received\/(\d+)/.exec(page.url())?.[1]);

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'classic checkout: paid on the page, completed by the callback, shown on return',
    async run(stage) {
      await stage.site.step('checkout-page', { is_classic: true });
      const page = await visitor(stage);
      await fillClassic(page, stage);
      await page.locator('#place_order').click();
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const id = receivedOrder(page);
      const { status, transaction, method, payments, is_hpos } = await untilStatus(stage, id, 'processing');
      assert.deepEqual([status, method, is_hpos], ['processing', 'turnpike', true]);
      assert.deepEqual(payments[transaction]?.[0], 'SETTLED');
      assert.match(await textOf(page), /order has been received/i);
    },
  },
  {
    name: 'blocks checkout: the same',
    async run(stage) {
      assert.deepEqual(await stage.site.step('checkout-page', { is_classic: false }), { is_block: true });
      const page = await visitor(stage);
      await page.goto(`${stage.site.url}/?add-to-cart=${stage.site.product}`);
      await page.goto(`${stage.site.url}/checkout/`);
      await page.locator('#email').fill(BILLING.email);
      for (const [name, value] of Object.entries(BILLING)) {
        const field = page.locator(`#billing-${name}`);
        if (await field.count()) await field.fill(value);
      }
      await page.getByText('You pay on a secure page.').waitFor();
      // Older versions ignore the button while they send the address.
      const isAtGateway = () =>
        page.waitForURL(/\/pay\//, { timeout: 10_000 }).then(
          () => true,
          () => false,
        );
      const end = Date.now() + STEP_MS;
      do
        await page
          .locator('.wc-block-components-checkout-place-order-button')
          .click({ timeout: 2000 })
          .catch(() => {});
      while (!(await isAtGateway()) && Date.now() < end);
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const id = receivedOrder(page);
      const { total, attempt } = await untilStatus(stage, id, 'processing');
      assert.deepEqual([total, attempt?.amount], ['19.99', '19.99']);
    },
  },
  {
    name: 'a declined payer tries again on the same page; the order is paid once',
    async run(stage) {
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page, { card_expiry: '02/38' });
      await page.locator('[role="alert"]').first().waitFor();
      assert.equal((await order(stage, id)).status, 'pending');
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const { payments } = await untilStatus(stage, id, 'processing');
      assert.deepEqual(
        Object.values(payments)
          .map(([state]) => state)
          .sort(),
        ['DECLINED', 'SETTLED'],
      );
    },
  },
  {
    name: 'a blocked callback: the payer closes the page, and the scheduled check completes the order',
    async run(stage) {
      await setCallbacks(stage, false);
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      // The payer never arrives at the shop.
      await page.route(`${stage.site.url}/**`, (route) => route.abort());
      await payAtGateway(page);
      await page.waitForEvent('requestfailed');
      assert.equal((await order(stage, id)).status, 'pending');
      await stage.site.step('check');
      assert.equal((await order(stage, id)).status, 'processing');
      assert.deepEqual(await stage.site.step('pending-checks'), { checks: 0 });
      await setCallbacks(stage, true);
    },
  },
  {
    name: 'a blocked callback: the order is completed when the payer returns',
    async run(stage) {
      await setCallbacks(stage, false);
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      assert.equal((await order(stage, id)).status, 'processing');
      await setCallbacks(stage, true);
    },
  },
  {
    name: 'the gateway is away during a check: the next check is scheduled',
    async run(stage) {
      await stage.site.step('check');
      const id = await newOrder(stage);
      await startPayment(stage, id);
      await stage.site.step('gateway-address', { url: 'http://127.0.0.1:9' });
      await stage.site.step('check');
      assert.deepEqual(await stage.site.step('pending-checks'), { checks: 1 });
      await stage.site.step('gateway-address', { url: stage.sandbox.url });
      assert.equal((await order(stage, id)).status, 'pending');
    },
  },
  {
    name: 'a customer returns without cookies and sees the order; without the proof WooCommerce asks to sign in',
    async run(stage) {
      const { id: customer } = await stage.site.step<{ id: number }>('user', { login: 'ana' });
      const id = await newOrder(stage, { customer });
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      assert.match(await textOf(page), /Pot of tea/);
      const other = await visitor(stage);
      const address = new URL(page.url());
      address.searchParams.set('turnpike_return', '0'.repeat(32));
      await other.goto(address.href);
      const text = await textOf(other);
      assert.doesNotMatch(text, /Pot of tea/);
      assert.match(text, /log in/i);
    },
  },
  {
    name: 'two tabs, one order: both lead to the same page, also at the same moment',
    async run(stage) {
      const id = await newOrder(stage);
      const addresses = await Promise.all([1, 2, 3].map(() => startPayment(stage, id)));
      assert.equal(new Set(addresses).size, 1, addresses.join(' '));
      const [first, second] = [await visitor(stage), await visitor(stage)];
      await first.goto(addresses[0] as string);
      await second.goto(addresses[1] as string);
      await payAtGateway(first);
      await first.waitForURL(isReceived);
      // The other tab cannot pay again: it leads to the paid order.
      assert.match(await startPayment(stage, id), /order-received/);
      const { payments } = await untilStatus(stage, id, 'processing');
      assert.equal(Object.keys(payments).length, 1);
    },
  },
  {
    name: 'a changed order gets another page; paying both is noted, and the order stays paid',
    async run(stage) {
      const id = await newOrder(stage);
      const old = await startPayment(stage, id);
      await stage.site.step('set-total', { id, total: '25.00' });
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      await untilStatus(stage, id, 'processing');
      await page.goto(old);
      await payAtGateway(page);
      await page.waitForURL((url) => url.origin === stage.site.url);
      const end = Date.now() + POLL_MS;
      let found = await order(stage, id);
      while (!found.notes.some((note) => /second time/.test(note)) && Date.now() < end) found = await order(stage, id);
      assert.equal(found.notes.filter((note) => /second time/.test(note)).length, 1, found.notes.join(' | '));
      assert.equal(found.status, 'processing');
    },
  },
  {
    name: 'amounts have the digits of the currency, whatever the shop displays',
    async run(stage) {
      for (const [currency, decimals, price, amount] of [
        ['JPY', 2, '1999.60', '2000'],
        ['EUR', 0, '20', '20.00'],
        ['KWD', 3, '1.255', '1.255'],
      ] as const) {
        await stage.site.step('options', { woocommerce_price_num_decimals: decimals });
        await stage.site.step('price', { product: stage.site.product, price });
        const id = await newOrder(stage, { currency });
        const page = await visitor(stage);
        await page.goto(await startPayment(stage, id));
        await payAtGateway(page);
        await page.waitForURL(isReceived);
        const { attempt, notes } = await untilStatus(stage, id, 'processing');
        assert.equal(attempt?.amount, amount, notes.join(' | '));
      }
      await stage.site.step('options', { woocommerce_price_num_decimals: 2 });
      await stage.site.step('price', { product: stage.site.product, price: '19.99' });
    },
  },
  {
    name: 'refunds: from the order, refused when too large, and from the panel of the gateway',
    async run(stage) {
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const { transaction } = await untilStatus(stage, id, 'processing');
      assert.deepEqual(await stage.site.step('refund', { id, amount: '5.00' }), { error: null });
      await stage.sandbox.admin('POST', `/payments/${transaction}/refund`, { amount: '4.99' });
      const end = Date.now() + POLL_MS;
      let found = await order(stage, id);
      while (found.refunds.length < 2 && Date.now() < end) found = await order(stage, id);
      assert.deepEqual(found.refunds.map(Number).sort(), [4.99, 5]);
      await stage.sandbox.admin('POST', `/payments/${transaction}/refund`, { amount: '10.00' });
      await untilStatus(stage, id, 'refunded');
      // The callback of the refund that WooCommerce asked for is not recorded twice.
      assert.equal((await order(stage, id)).refunds.length, 3);
    },
  },
  {
    name: 'a refund from the page of the order in the admin area',
    async run(stage) {
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      await untilStatus(stage, id, 'processing');
      await signIn(page, stage, 'owner');
      await page.goto(`${stage.site.url}/wp-admin/admin.php?page=wc-orders&action=edit&id=${id}`);
      page.on('dialog', (dialog) => void dialog.accept());
      await page.locator('.refund-items').click();
      await page.locator('#refund_amount').evaluate((field) => field.removeAttribute('readonly'));
      await page.locator('#refund_amount').fill('7.00');
      await page.locator('.do-api-refund').click();
      const end = Date.now() + POLL_MS;
      let found = await order(stage, id);
      while (found.refunds.length < 1 && Date.now() < end) found = await order(stage, id);
      assert.deepEqual(found.refunds.map(Number), [7]);
    },
  },
  {
    name: 'saved cards: kept if the payer agrees, listed in the account, offered for the next order',
    async run(stage) {
      const { id: customer } = await stage.site.step<{ id: number }>('user', { login: 'ana' });
      const id = await newOrder(stage, { customer });
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id, { customer }));
      await page.locator('[name="save_card"]').check();
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const { cards } = await untilStatus(stage, id, 'processing');
      assert.deepEqual(cards, ['Visa ending in 1111 (expires 01/38)']);
      await signIn(page, stage, 'ana');
      await page.goto(`${stage.site.url}/my-account/payment-methods/`);
      assert.match(await textOf(page), /Visa ending in 1111/);
      const next = await newOrder(stage, { customer });
      await page.goto(await startPayment(stage, next, { customer }));
      assert.match(await textOf(page), /1111/);
      // A stranger with the link of an order is not offered the cards of the customer.
      const third = await newOrder(stage, { customer });
      await page.goto(await startPayment(stage, third));
      assert.doesNotMatch(await textOf(page), /1111/);
    },
  },
  {
    name: 'callbacks: forged, unsigned and foreign ones are refused',
    async run(stage) {
      const send = async (body: string, headers: Record<string, string> = {}): Promise<number> =>
        (await fetch(`${stage.site.url}/wc-api/turnpike/`, { method: 'POST', body, headers })).status;
      const fields = 'id=x&order_number=1-1&order_status=settled';
      assert.equal(await send(fields), 400);
      const now = String(Math.floor(Date.now() / 1000));
      const forged = { 'webhook-id': 'x', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' };
      assert.equal(await send(fields, forged), 400);
    },
  },
  {
    name: 'settings: secrets are not shown, a wrong password is named, an empty field keeps it',
    async run(stage) {
      const page = await visitor(stage);
      await signIn(page, stage, 'owner');
      const address = `${stage.site.url}/wp-admin/admin.php?page=wc-settings&tab=checkout&section=turnpike`;
      const save = async (): Promise<string> => {
        await page.locator('button[name="save"]').evaluate((button: { disabled: boolean }) => {
          button.disabled = false;
        });
        await page.locator('button[name="save"]').click();
        await page.locator('#message').first().waitFor();
        return (await page.locator('#message').allInnerTexts()).join(' ');
      };
      await page.goto(address);
      assert.ok(!(await page.content()).includes(stage.account.password));
      assert.match(await save(), /accepts the key and the password/);
      await page.locator('#woocommerce_turnpike_password').fill('a wrong password');
      assert.match(await save(), /Hash is not valid/);
      await page.locator('#woocommerce_turnpike_password').fill(stage.account.password);
      await page.locator('#woocommerce_turnpike_url').fill('http://pay.example.com');
      assert.match(await save(), /should start with https:/);
      // The address has stayed as it was.
      assert.match(await save(), /accepts the key and the password/);
    },
  },
  {
    name: 'a payment that cannot be started tells the payer, and the owner in a note',
    async run(stage) {
      const id = await newOrder(stage);
      await stage.site.step('gateway-address', { url: 'http://127.0.0.1:9' });
      const { answer, notices } = await stage.site.step<{ answer: object; notices: string[] }>('pay', { id });
      await stage.site.step('gateway-address', { url: stage.sandbox.url });
      assert.deepEqual(answer, { result: 'failure' });
      assert.match(notices.join(' '), /could not be started/);
      assert.match((await order(stage, id)).notes.join(' '), /cannot be reached/);
    },
  },
  {
    name: 'subscriptions: the first payment allows renewals; a declined one fails its order',
    needsSubscriptions: true,
    async run(stage) {
      const { id: customer } = await stage.site.step<{ id: number }>('user', { login: 'ana' });
      const id = await newOrder(stage, { customer });
      const { id: subscription } = await stage.site.step<{ id: number }>('subscription', { order: id });
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      await untilStatus(stage, id, 'processing');
      const { status, keys } = await stage.site.step<{ status: string; keys: string[] }>('subscription-data', {
        id: subscription,
      });
      assert.deepEqual([status, keys.sort()], ['active', ['_turnpike_first_payment', '_turnpike_recurring_token']]);
      const { renewal } = await stage.site.step<{ renewal: number }>('renew', { id: subscription });
      const renewed = await untilStatus(stage, renewal, 'processing');
      assert.match(renewed.attempt?.number ?? '', new RegExp(`^${renewal}-1$`));
      // With another token the gateway refuses the next renewal.
      await stage.site.step('forget-token', { id: subscription });
      const failed = await stage.site.step<{ status: string; renewal: number }>('renew', { id: subscription });
      assert.equal((await order(stage, failed.renewal)).status, 'failed');
      assert.equal(failed.status, 'on-hold');
    },
  },
  {
    name: 'orders in posts instead of the tables of orders',
    async run(stage) {
      await stage.site.step('storage', { is_hpos: false });
      const id = await newOrder(stage);
      const page = await visitor(stage);
      await page.goto(await startPayment(stage, id));
      await payAtGateway(page);
      await page.waitForURL(isReceived);
      const { is_hpos, transaction } = await untilStatus(stage, id, 'processing');
      assert.deepEqual([is_hpos, transaction !== ''], [false, true]);
      assert.deepEqual(await stage.site.step('refund', { id, amount: '19.99' }), { error: null });
      await untilStatus(stage, id, 'refunded');
    },
  },
  {
    name: 'German texts, and uninstalling removes the settings and the checks',
    async run(stage) {
      await stage.site.step('options', { test_locale: 'de_DE' });
      assert.deepEqual(await stage.site.step('text'), {
        text: 'Die Zahlung konnte nicht gestartet werden. Bitte versuchen Sie es noch einmal.',
      });
      assert.deepEqual(await stage.site.step('uninstall'), { settings: null, checks: 0 });
    },
  },
];
