/** Payments through a connection to PayPal, from the merchant's request to the webhook, against a double of PayPal. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PaypalDouble, startPaypal } from '../doubles/paypal.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { checkoutOf, newOrder } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
let paypal: PaypalDouble;
let connection: string;
let merchant: Merchant;

beforeAll(async () => {
  paypal = await startPaypal();
  connection = await connect(shop, paypal, {
    connector: 'paypal',
    settings: { api_base: paypal.url },
  });
  merchant = await shop.newMerchant();
  await route(shop, merchant.mid, [{ connection_id: connection }]);
});
beforeEach(() => {
  paypal.webhooks();
});
afterAll(async () => {
  expect(paypal.violations).toEqual([]);
  const logged = shop.logs.join('\n');
  expect(logged).not.toContain(paypal.credentials.client_secret);
  expect(logged).not.toMatch(/A21AA/);
  await paypal.close();
});

/** A sale whose payer was sent to the page of PayPal: our id, and the address of the page. */
async function sale(fields: Fields = {}): Promise<{ id: string; page: string }> {
  const complete = BRAND_EXPECTATIONS.paypal?.complete;
  const { body } = await shop.sale({ brand: 'paypal', identifier: '', ...complete, ...fields }, merchant);
  expect(body, JSON.stringify(body)).toMatchObject({ status: 'REDIRECT', redirect_url: expect.any(String) });
  return { id: body.trans_id, page: `${paypal.url}/checkoutnow?token=${paypal.order(body.trans_id)?.id}` };
}
const back = async (id: string, returned: Record<string, string> = {}, isCancelled = false): Promise<void> => {
  const context = paypal.order(id)?.request.payment_source?.paypal.experience_context;
  const url = new URL((isCancelled ? context?.cancel_url : context?.return_url) ?? '');
  for (const [name, value] of Object.entries(returned)) url.searchParams.set(name, value);
  await fetch(url, { redirect: 'manual' });
};
/** PayPal delivers its webhooks, each of them twice, in reverse order. */
const deliver = async (): Promise<void> => {
  const sent = paypal.webhooks().toReversed();
  for (const { headers, body } of [...sent, ...sent]) {
    const response = await fetch(`${shop.url}/inbound/paypal/${connection}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    });
    expect(response.status).toBe(200);
  }
};
const paid = async (fields: Fields = {}): Promise<string> => {
  const { id, page } = await sale(fields);
  await back(id, paypal.approve(page));
  return id;
};
const find = async (id: string) =>
  (await shop.admin('GET', '/chargebacks')).body.items.find(
    ({ payment_id }: { payment_id: string }) => payment_id === id,
  );

describe('the connection', () => {
  test('is checked by a call without effect', async () => {
    const { body } = await shop.admin('POST', `/connections/${connection}/check`);
    expect(body).toEqual({ ok: true, detail: 'PayPal accepts the credentials, and the webhook has all events.' });
  });

  test.each([
    [{ credentials: { webhook_id: 'https://pay.example.com/' } }, 'credentials.webhook_id'],
    [{ credentials: { client_secret: '' } }, 'credentials.client_secret'],
    [{ settings: { mode: 'hosted' } }, 'settings.mode'],
  ])('%j is refused', async (changes, field) => {
    const { status, body } = await shop.admin('PATCH', `/connections/${connection}`, changes);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('a payment', () => {
  test('is captured when the payer comes back; the webhooks add nothing', async () => {
    const id = await paid();
    const capture = paypal.order(id)?.captures[0]?.id;
    const settled = { status: 'SETTLED', captured: '10.00', attention: null, provider_reference: capture };
    expect(await shop.inspect(id)).toMatchObject({ ...settled, connector: 'paypal', connection_id: connection });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject(settled);
    expect(paypal.balance(id)).toBe(1000n);
  });

  test.each(['PAYMENT.CAPTURE.FROZEN', 'CUSTOMER.DISPUTE.PAUSED'])(
    'is on the attention list after the unknown event %s',
    async (type) => {
      const id = await paid();
      const capture = paypal.order(id)?.captures[0];
      paypal.webhooks();
      const disputed = { disputed_transactions: [{ seller_transaction_id: capture?.id }] };
      paypal.report(type, type.startsWith('CUSTOMER') ? disputed : { id: capture?.id, custom_id: capture?.custom_id });
      await deliver();
      const payment = await shop.inspect(id);
      expect([payment.attention, JSON.stringify(payment.provider_calls)]).toEqual([
        'unresolved',
        expect.stringContaining(type),
      ]);
      const marked = (await shop.admin('GET', `/payments?attention=unresolved&mid=${merchant.mid}`)).body.items;
      expect(marked.map(({ payment_id }: { payment_id: string }) => payment_id)).toContain(id);
    },
  );

  test('is captured by the webhook if the payer approves and does not come back', async () => {
    const { id, page } = await sale();
    paypal.approve(page);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    await deliver();
    expect(paypal.balance(id)).toBe(1000n);
  });

  test('that was cancelled is not captured, even if its payer approves it later', async () => {
    const { id, page } = await sale();
    await back(id, { token: 'anything' }, true);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer cancelled the payment.',
    });
    await back(id, paypal.approve(page));
    await deliver();
    expect([(await shop.inspect(id)).status, paypal.balance(id)]).toEqual(['DECLINED', 0n]);
  });

  test('whose payer approves after the time is over is not captured', async () => {
    const { id, page } = await sale();
    await shop.advanceClock(2 * 3600, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED' });
    await back(id, paypal.approve(page));
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', attention: null });
    expect(paypal.balance(id)).toBe(0n);
  });

  test('is declined with the reason and its class', async () => {
    const { id, page } = await sale();
    await back(id, paypal.approve(page, 'TRANSACTION_LIMIT_EXCEEDED'));
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The limit of the card or account is exceeded.',
    });
  });

  test('is authorised, captured in part and refunded in part', async () => {
    const id = await paid({ auth: 'Y' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING' });
    await shop.admin('POST', `/payments/${id}/capture`, { amount: '6.00' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00', attention: null });
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '2.00', attention: null });
    expect(paypal.balance(id)).toBe(400n);
  });

  test('is authorised and voided', async () => {
    const id = await paid({ auth: 'Y' });
    await shop.admin('POST', `/payments/${id}/void`);
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
    expect(paypal.order(id)?.authorizations[0]?.status).toBe('VOIDED');
  });

  test('is captured in part and refunded at PayPal, or released there', async () => {
    const id = await paid({ auth: 'Y' });
    await deliver();
    paypal.atPaypal(id, 'capture', '6.00');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00', attention: null });
    paypal.atPaypal(id, 'refund', '2.00');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', refunded: '2.00', attention: null });
    const released = await paid({ auth: 'Y' });
    await deliver();
    paypal.atPaypal(released, 'void');
    await deliver();
    expect(await shop.inspect(released)).toMatchObject({ status: 'EXPIRED', attention: null });
  });

  test('is refunded; a refund that fails later is marked', async () => {
    const id = await paid();
    paypal.delayRefund();
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    expect(await shop.inspect(id)).toMatchObject({ refunded: '0.00', operations: [{ state: 'sent' }] });
    paypal.settleRefunds();
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ refunded: '2.00', operations: [{ state: 'done' }] });
    const refund = paypal.order(id)?.refunds[0];
    paypal.report('PAYMENT.REFUND.FAILED', { ...refund, status: 'FAILED' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ attention: 'unresolved' });
  });
});

test('a series is repeated with the wallet that PayPal stored, without its payer', async () => {
  const first = await paid({ recurring_init: 'Y' });
  const { recurring_token } = (await checkout.status({ payment_id: first }, merchant)).body;
  expect(recurring_token).toEqual(expect.any(String));
  const repetition = { recurring_init_trans_id: first, recurring_token, order: newOrder() };
  const { body } = await checkout.send('payment/recurring', repetition, merchant);
  expect(body).toMatchObject({ status: 'settled' });
  expect(await shop.inspect(body.payment_id)).toMatchObject({ status: 'SETTLED', connector: 'paypal' });
});

describe('a dispute', () => {
  test('begins as an inquiry, takes the money, and returns it when it is won', async () => {
    const id = await paid();
    await deliver();
    paypal.dispute(id, 'CREATED', { dispute_life_cycle_stage: 'INQUIRY' });
    await deliver();
    expect(await find(id)).toMatchObject({
      stage: 'inquiry',
      state: 'open',
      amount: '10.00',
      reason: 'merchandise or service not received',
    });
    expect((await find(id)).respond_by).toMatch(/^2026-12-01/);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    paypal.dispute(id, 'UPDATED');
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK' });
    expect(await find(id)).toMatchObject({ stage: 'chargeback', state: 'open' });
    paypal.dispute(id, 'RESOLVED', {
      status: 'RESOLVED',
      dispute_outcome: { outcome_code: 'RESOLVED_SELLER_FAVOUR' },
    });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(await find(id)).toMatchObject({ state: 'won' });
  });

  const resolve = async (id: string, outcome_code: string, stage: string): Promise<void> => {
    const dispute_outcome = { outcome_code };
    paypal.dispute(id, 'RESOLVED', { status: 'RESOLVED', dispute_outcome, dispute_life_cycle_stage: stage });
    await deliver();
  };
  const moves = async (id: string): Promise<string[]> =>
    (await shop.events(id)).filter((event) => /charge/i.test(event) && !event.startsWith('noted'));

  test('that is won, and lost in an appeal, takes the money a second time', async () => {
    const id = await paid();
    await deliver();
    await resolve(id, 'RESOLVED_SELLER_FAVOUR', 'CHARGEBACK');
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    paypal.dispute(id, 'UPDATED', { dispute_life_cycle_stage: 'PRE_ARBITRATION' });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    expect(await find(id)).toMatchObject({ stage: 'warning', state: 'open' });
    expect((await find(id)).respond_by).toMatch(/^2026-12-01/);
    await resolve(id, 'RESOLVED_BUYER_FAVOUR', 'ARBITRATION');
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await find(id)).toMatchObject({ stage: 'second_chargeback', state: 'lost', amount: '10.00' });
    expect(await moves(id)).toEqual(['chargedBack', 'chargebackReversed', 'secondChargedBack']);
  });

  test('that is won, also in an appeal, keeps the money', async () => {
    const id = await paid();
    await deliver();
    await resolve(id, 'RESOLVED_SELLER_FAVOUR', 'CHARGEBACK');
    await resolve(id, 'RESOLVED_SELLER_FAVOUR', 'PRE_ARBITRATION');
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(await find(id)).toMatchObject({ state: 'won' });
    expect(await moves(id)).toEqual(['chargedBack', 'chargebackReversed']);
  });

  test('that is lost, also in an appeal of the merchant, takes the money once', async () => {
    const id = await paid();
    await deliver();
    await resolve(id, 'RESOLVED_BUYER_FAVOUR', 'CHARGEBACK');
    paypal.dispute(id, 'UPDATED', { dispute_life_cycle_stage: 'PRE_ARBITRATION' });
    await deliver();
    await resolve(id, 'RESOLVED_BUYER_FAVOUR', 'PRE_ARBITRATION');
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await find(id)).toMatchObject({ stage: 'chargeback', state: 'lost' });
    expect(await moves(id)).toEqual(['chargedBack']);
  });

  test('that is lost takes the money once, also if only its end is reported', async () => {
    const id = await paid();
    await deliver();
    paypal.dispute(id, 'RESOLVED', {
      status: 'RESOLVED',
      dispute_outcome: { outcome_code: 'RESOLVED_BUYER_FAVOUR' },
    });
    await deliver();
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await find(id)).toMatchObject({ stage: 'chargeback', state: 'lost', amount: '10.00' });
  });

  test('with an outcome that the gateway does not know reaches the attention list', async () => {
    const id = await paid();
    await deliver();
    paypal.dispute(id, 'RESOLVED', { dispute_outcome: { outcome_code: 'RESOLVED_WITH_PAYOUT' } });
    await deliver();
    expect((await shop.inspect(id)).attention).not.toBeNull();
  });
});

test('a webhook with a wrong signature is refused and stored nowhere', async () => {
  const { id, page } = await sale();
  paypal.approve(page);
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = paypal.webhooks();
  const forged = body.toString().replace('CHECKOUT.ORDER.APPROVED', 'CHECKOUT.ORDER.DECLINED');
  const response = await fetch(`${shop.url}/inbound/paypal/${connection}`, { method: 'POST', headers, body: forged });
  expect(response.status).toBe(401);
  expect((await shop.inspect(id)).notifications).toEqual([]);
});
