/** Payments through a connection to Checkout.com, from the payer's page to the webhook, against a double of Checkout.com. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHECKOUT_CARDS, type CheckoutDouble, startCheckout } from '../doubles/checkout-com.ts';
import { type Body, cardForm, checkoutOf, fill } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const page = checkoutOf(shop);
let checkout: CheckoutDouble;
let connection: string;
let merchant: Merchant;

beforeAll(async () => {
  checkout = await startCheckout();
  connection = await connect(shop, checkout, { connector: 'checkout', settings: { api_base: checkout.url } });
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: connection }]);
});
beforeEach(() => {
  checkout.webhooks();
  checkout.calls.length = 0;
});
afterAll(async () => {
  expect(checkout.violations).toEqual([]);
  const logged = shop.logs.join('\n');
  const { secret_key, webhook_secret } = checkout.credentials;
  for (const secret of [...Object.values(CHECKOUT_CARDS), secret_key, webhook_secret])
    expect(logged).not.toContain(secret);
  await checkout.close();
});

const send = async (headers: Record<string, string>, body: Buffer): Promise<number> =>
  (
    await fetch(`${shop.url}/inbound/checkout/${connection}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    })
  ).status;
/** Checkout.com delivers its webhooks, each of them twice, in reverse order. */
const deliver = async (): Promise<void> => {
  const sent = checkout.webhooks().toReversed();
  for (const { headers, body } of [...sent, ...sent]) expect(await send(headers, body)).toBe(200);
};
const byCard = async (fields: Body = {}, form: Fields = {}): Promise<string> => {
  const session = await page.open({ methods: ['card'], ...fields }, merchant);
  const { status, text } = await fill(session.url, cardForm({ card_number: CHECKOUT_CARDS.success, ...form }));
  expect(status, text).toBe(303);
  return session.id;
};
const chargeback = async (id: string) =>
  (await shop.admin('GET', '/chargebacks')).body.items.find(
    ({ payment_id }: { payment_id: string }) => payment_id === id,
  );

describe('the connection', () => {
  test('is checked by a call without effect', async () => {
    const { body } = await shop.admin('POST', `/connections/${connection}/check`);
    expect(body).toEqual({ ok: true, detail: 'Checkout.com accepts the secret key.' });
  });

  test.each([
    [{ credentials: { secret_key: 'sk_live7kqy3ffm2gxb5o4sjvm' } }, 'credentials.secret_key'],
    [{ credentials: { processing_channel_id: 'ent_1' } }, 'credentials.processing_channel_id'],
    [{ settings: { mode: 'hosted' } }, 'settings.mode'],
  ])('%j is refused', async (changes, field) => {
    const { status, body } = await shop.admin('PATCH', `/connections/${connection}`, changes);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('a card', () => {
  test('is charged, the webhooks add nothing', async () => {
    const id = await byCard();
    const settled = { status: 'SETTLED', captured: '10.00', attention: null };
    expect(await shop.inspect(id)).toMatchObject({
      ...settled,
      connector: 'checkout',
      provider_reference: checkout.payment(id)?.id,
    });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject(settled);
    expect(checkout.balance(id)).toBe(1000n);
  });

  test.each(['payment_frozen', 'dispute_paused'])(
    'is on the attention list after the unknown event %s',
    async (type) => {
      const id = await byCard();
      const payment = checkout.payment(id);
      checkout.webhooks();
      if (type === 'dispute_paused') checkout.dispute(id, 'paused');
      else checkout.report(type, { id: payment?.id, reference: id });
      await deliver();
      const { attention, provider_calls } = await shop.inspect(id);
      expect([attention, JSON.stringify(provider_calls)]).toEqual(['unresolved', expect.stringContaining(type)]);
      const marked = (await shop.admin('GET', `/payments?attention=unresolved&mid=${merchant.mid}`)).body.items;
      expect(marked.map(({ payment_id }: Body) => payment_id)).toContain(id);
    },
  );

  test('is declined with the reason', async () => {
    const id = await byCard({}, { card_holder: 'DECLINED 20051' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: 'Insufficient funds.' });
  });

  test.each(['10000', '20151'])(
    'is authenticated at the bank (%s); the payer comes back, or only the webhook',
    async (code) => {
      for (const isBack of [true, false]) {
        const session = await page.open({ methods: ['card'] }, merchant);
        await fill(session.url, cardForm({ card_number: CHECKOUT_CARDS.challenge }));
        expect(await shop.inspect(session.id)).toMatchObject({ status: 'REDIRECT' });
        const payment = checkout.payment(session.id);
        const returned = new URLSearchParams(checkout.finish(`/3ds/${payment?.id}`, code));
        if (isBack) await fetch(`${payment?.request.success_url}?${returned}`, { redirect: 'manual' });
        await deliver();
        expect((await shop.inspect(session.id)).status).toBe(code === '10000' ? 'SETTLED' : 'DECLINED');
      }
    },
  );

  test('is authorised, captured in part and refunded in part; webhooks bring the outcomes', async () => {
    const id = await byCard({ auth: 'Y' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING' });
    await shop.admin('POST', `/payments/${id}/capture`, { amount: '6.00' });
    expect(await shop.inspect(id)).toMatchObject({ captured: '0.00', operations: [{ state: 'sent' }] });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00', attention: null });
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '2.00', attention: null });
    expect(checkout.balance(id)).toBe(400n);
  });

  test('is authorised and voided', async () => {
    const id = await byCard({ auth: 'Y' });
    await shop.admin('POST', `/payments/${id}/void`);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
    expect(checkout.payment(id)?.status).toBe('Voided');
  });

  test('is captured in part and refunded in the dashboard', async () => {
    const id = await byCard({ auth: 'Y' });
    await deliver();
    checkout.inDashboard(id, 'captures', 600);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00', attention: null });
    checkout.inDashboard(id, 'refunds', 200);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', refunded: '2.00', attention: null });
  });

  test('whose authorisation is voided in the dashboard is void', async () => {
    const id = await byCard({ auth: 'Y' });
    await deliver();
    checkout.inDashboard(id, 'voids');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
  });

  test('whose capture fails after the sale is marked', async () => {
    const id = await byCard();
    await deliver();
    checkout.report('payment_capture_declined', { id: checkout.payment(id)?.id, action_id: 'act_1', reference: id });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'unresolved' });
  });

  test('is repeated by the merchant with the token', async () => {
    const id = await byCard({ recurring_init: true });
    const { recurring_token } = (await page.status({ payment_id: id }, merchant)).body;
    const order = { number: `${id} again`, amount: '3.00', description: 'Tea' };
    const repeated = { recurring_init_trans_id: id, recurring_token, order };
    const { body } = await page.send('payment/recurring', repeated, merchant);
    expect(body, JSON.stringify(body)).toMatchObject({ status: 'settled' });
    expect(checkout.calls.at(-1)?.body).toMatchObject({
      source: { type: 'id' },
      merchant_initiated: true,
      previous_payment_id: checkout.payment(id)?.id,
    });
  });
});

describe('a dispute', () => {
  test('takes the money with a deadline, and returns it when it is won', async () => {
    const id = await byCard();
    await deliver();
    checkout.dispute(id, 'evidence_required');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK' });
    expect(await chargeback(id)).toMatchObject({ stage: 'chargeback', state: 'open', reason: 'fraudulent, 10.4' });
    expect((await chargeback(id)).respond_by).toMatch(/^2026-12-01/);
    checkout.dispute(id, 'evidence_submitted');
    await deliver();
    expect(await chargeback(id)).toMatchObject({ state: 'answered' });
    checkout.dispute(id, 'won');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(await chargeback(id)).toMatchObject({ state: 'won' });
  });

  test('that is lost stays, and an unknown event reaches the attention list', async () => {
    const id = await byCard();
    await deliver();
    checkout.dispute(id, 'evidence_required', { amount: 400 });
    await deliver();
    checkout.dispute(id, 'lost');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await chargeback(id)).toMatchObject({ state: 'lost', amount: '4.00' });
    checkout.dispute(id, 'something_new');
    await deliver();
    expect((await shop.inspect(id)).attention).not.toBeNull();
  });
});

test('a webhook with a wrong signature is refused', async () => {
  await byCard();
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = checkout.webhooks();
  expect(await send({ ...headers, 'cko-signature': '0'.repeat(64) }, body)).toBe(401);
});
