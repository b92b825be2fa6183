/** Telephone orders: who may take them, for which accounts, and that the payment is flagged and has no 3DS. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { cardForm, choices, fill, follow, inputs, show } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';
import { expectSafe, unescaped } from '../support/pages.ts';

const shop = openShop({ simulator: true });

let own: Merchant;
let silent: Merchant;
let cashier: string;
beforeAll(async () => {
  own = await shop.newMerchant({ telephone_orders: true });
  silent = await shop.newMerchant();
  const mids = [own.mid, silent.mid];
  cashier = (await shop.admin('POST', '/tokens', { name: 'x', role: 'merchant_cashier', mids })).body.token;
});

const ORDER = { amount: '25.00', currency: 'EUR', description: 'A teapot' };
const take = (body: object = {}, token = cashier) =>
  shop.admin('POST', '/telephone-orders', { mid: own.mid, ...ORDER, ...body }, token);
const localUrl = (url: string): string => shop.url + new URL(url).pathname;

test('a cashier opens a page that says what it is, and asks for a card only', async () => {
  const { status, body } = await take({ order_id: 'phone-17' });
  expect([status, body.order_id]).toEqual([201, 'phone-17']);
  const page = await show(localUrl(body.url));
  expectSafe(page);
  expect(page.text).toContain('Telephone order');
  expect(choices(page.text)).toEqual([]);
  expect(inputs(page.text)).toContain('card_number');
});

test('the payment is flagged, and goes without 3DS', async () => {
  const { body } = await take();
  // The bank accepts a card that expires then after a challenge only, or if the payment is flagged as a telephone order.
  const paid = await follow(await fill(localUrl(body.url), cardForm({ card_expiry: '05/38' })));
  expect(paid.text).toContain('Payment complete');
  const payment = (await shop.admin('GET', `/payments/${body.payment_id}`)).body;
  expect(payment).toMatchObject({ status: 'SETTLED', channel: 'moto', amount: '25.00' });
  expect(payment.provider_calls.map(({ verb }: { verb: string }) => verb)).not.toContain('authenticate');
  expect(payment.details.card).not.toHaveProperty('token');
  const { items } = (await shop.admin('GET', '/audit?action=telephone_orders.create')).body;
  expect(items.map(({ subject }: { subject: string }) => subject)).toContain(body.payment_id);
});

test('what a risk rule asks 3DS for is recorded as lost', async () => {
  const condition = { field: 'brand', op: '=', value: 'card' };
  const rule = { mid: own.mid, name: 'Always', state: 'on', condition, action: { kind: 'require_3ds' } };
  const { rule_id } = (await shop.admin('POST', '/risk/rules', rule)).body;
  const { body } = await take();
  await follow(await fill(localUrl(body.url), cardForm()));
  expect((await shop.inspect(body.payment_id)).risk.three_ds).toMatchObject({
    reason: 'require_3ds',
    sent_as: 'nothing',
  });
  await shop.admin('DELETE', `/risk/rules/${rule_id}`);
});

test('no card is saved, whatever the form contains', async () => {
  const { body } = await take();
  expect((await show(localUrl(body.url))).text).not.toContain('save_card');
  const paid = await follow(
    await fill(localUrl(body.url), cardForm({ save_card: 'Y', card_token: 'x', consent: 'Y' })),
  );
  expect(paid.text).toContain('Payment complete');
  expect((await shop.admin('GET', `/payments/${body.payment_id}`)).body.details.card).not.toHaveProperty('token');
  const saved = await shop.rows(`select 1 from cards where is_kept and mid = '${own.mid}'`);
  expect(saved).toEqual([]);
});

test('the page says so in every language', async () => {
  const { body } = await take();
  for (const [language, { telephone }] of Object.entries(LANGUAGES)) {
    const { text } = await show(`${localUrl(body.url)}?lang=${language}`);
    expect(unescaped(text), language).toContain(telephone.title);
    expect(unescaped(text), language).toContain(telephone.how);
  }
});

test('a payment of a payer has no channel', async () => {
  const { trans_id } = (await shop.sale({}, own)).body;
  expect((await shop.admin('GET', `/payments/${trans_id}`)).body.channel).toBeNull();
});

test.each<[string, object, number, string | undefined]>([
  ['an account that takes none', { mid: 'silent' }, 400, 'mid'],
  ['an unknown account', { mid: randomUUID() }, 404, undefined],
  ['no account', { mid: undefined }, 400, 'mid'],
  ['no amount', { amount: undefined }, 400, 'amount'],
  ['an amount of nothing', { amount: '0.00' }, 400, 'amount'],
  ['no currency', { currency: undefined }, 400, 'currency'],
  ['no description', { description: '' }, 400, 'description'],
  ['a description with a line break', { description: 'Tea\nBcc: x' }, 400, 'description'],
  ['an order number that is no text', { order_id: 17 }, 400, 'order_id'],
  ['a member that does not exist', { card: '4111111111111111' }, 400, 'card'],
])('%s is refused', async (_, terms, status, param) => {
  const mid = 'mid' in terms && terms.mid === 'silent' ? { mid: silent.mid } : {};
  const answer = await take({ ...terms, ...mid });
  expect([answer.status, answer.body.errors?.[0]?.param]).toEqual([status, param]);
});

test('an account that takes too many at once is refused, and others are not', async () => {
  const fast = await shop.newMerchant({ telephone_orders: true });
  const mids = [fast.mid, own.mid];
  const { token } = (await shop.admin('POST', '/tokens', { name: 'x', role: 'merchant_cashier', mids })).body;
  expect((await take({ mid: fast.mid }, token)).status).toBe(201);
  for (let count = 0; count < LIMITS.linksMost; count++) shop.gateway.isLinkTooFast(fast.mid);
  expect((await take({ mid: fast.mid }, token)).status).toBe(429);
  expect((await take({}, token)).status).toBe(201);
});

test('only cashiers and merchants take them, for their own accounts', async () => {
  const foreign = await shop.newMerchant({ telephone_orders: true });
  expect((await take({ mid: foreign.mid })).status).toBe(404);
  for (const role of ['merchant_support', 'merchant_accountant']) {
    const { token } = (await shop.admin('POST', '/tokens', { name: 'x', role, mids: [own.mid] })).body;
    expect((await take({}, token)).status).toBe(403);
  }
});

const newCashier = async (): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: 'x', role: 'merchant_cashier', mids: [own.mid] })).body.token;

test('a cashier sees the orders that it took, with what became of them, and those of nobody else', async () => {
  const token = await newCashier();
  const listed = async (query = '') => (await shop.admin('GET', `/telephone-orders${query}`, undefined, token)).body;
  expect(await listed()).toEqual({ items: [], next_cursor: null });
  const paid = (await take({ description: 'Cup' }, token)).body;
  await follow(await fill(localUrl(paid.url), cardForm()));
  const open = (await take({}, token)).body;
  await take();
  await expect.poll(async () => (await listed()).items.at(-1).status).toBe('SETTLED');
  const { items, next_cursor } = await listed();
  expect(items).toMatchObject([
    { payment_id: open.payment_id, description: 'A teapot', status: 'PREPARE' },
    { payment_id: paid.payment_id, order_id: paid.order_id, mid: own.mid, amount: '25.00', status: 'SETTLED' },
  ]);
  expect(next_cursor).toBeNull();
  const first = await listed('?limit=1');
  expect(first.items).toHaveLength(1);
  expect((await listed(`?limit=1&cursor=${first.next_cursor}`)).items).toMatchObject([{ payment_id: paid.payment_id }]);
  expect((await listed(`?mid=${silent.mid}`)).items).toEqual([]);
  const file = await shop.admin('GET', '/telephone-orders.csv', undefined, token);
  const [head, ...rows] = file.body.trim().split('\r\n');
  expect(head).toBe('payment_id,mid,order_id,description,amount,currency,status,created_at');
  expect(rows.map((row: string) => row.split(',')[0])).toEqual([open.payment_id, paid.payment_id]);
  expect((await shop.admin('GET', '/payments', undefined, token)).status).toBe(403);
});

test('an order whose first card was declined shows the payment that succeeded', async () => {
  const token = await newCashier();
  const { url, order_id } = (await take({}, token)).body;
  const declined = await follow(await fill(localUrl(url), cardForm({ card_expiry: '02/38' })));
  expect(declined.text).not.toContain('Payment complete');
  await follow(await fill(localUrl(url), cardForm()));
  const orders = async () => (await shop.admin('GET', '/telephone-orders', undefined, token)).body.items;
  await expect.poll(orders).toMatchObject([{ order_id, status: 'SETTLED' }]);
});

test('the panel leads to the page for the card', async () => {
  const user = await signedIn(shop, 'merchant_cashier', [own.mid]);
  expect((await user.get('/admin/telephone-orders')).text).toContain('name="description"');
  const taken = await user.submit('/admin/telephone-orders', { mid: own.mid, ...ORDER, amount: '12,50' });
  expect([taken.status, taken.location?.startsWith('/pay/')]).toEqual([303, true]);
  const page = (await user.get('/admin/telephone-orders')).text;
  expect(page).toContain('Orders that you have taken');
  expect(page).toContain('12.50 EUR');
  const refused = await user.submit('/admin/telephone-orders', { mid: own.mid, ...ORDER, amount: 'x' });
  expect(refused.status).toBe(400);
  const other = await signedIn(shop, 'merchant_cashier', [silent.mid]);
  expect((await other.get('/admin/telephone-orders')).text).toContain('No account takes telephone orders');
});
