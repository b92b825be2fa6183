/** Payments through Stripe, from the merchant's request to the webhook, against a double of Stripe. */
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { STRIPE_CARDS, STRIPE_CREDENTIALS, type StripeDouble, startStripe } from '../doubles/stripe.ts';
import * as objects from '../doubles/stripe-objects.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { cardForm, checkoutOf, fill, inputs, newOrder, show } from '../support/checkout.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { connect, route } from '../support/providers.ts';

const HOUR = 3600;
const shop = openShop();
const checkout = checkoutOf(shop);
const credentials = STRIPE_CREDENTIALS;
let stripe: StripeDouble;
let cards: string;
let byCard: Merchant;
let byPage: Merchant;
let webhookUrls: string[];

beforeAll(async () => {
  stripe = await startStripe();
  const api_base = stripe.url;
  cards = await connect(shop, { credentials }, { connector: 'stripe', settings: { api_base } });
  const page = await connect(
    shop,
    { credentials },
    { connector: 'stripe-hosted', settings: { api_base, methods: { 'bank-a': 'automatic' } } },
  );
  webhookUrls = [`${shop.url}/inbound/stripe/${cards}`, `${shop.url}/inbound/stripe-hosted/${page}`];
  const settings = { card_failures_per_address: 0, card_failures_per_account: 0 };
  byCard = await shop.newMerchant(settings);
  byPage = await shop.newMerchant(settings);
  await route(shop, byCard.mid, [{ connection_id: cards }]);
  await route(shop, byPage.mid, [{ connection_id: page }]);
});
beforeEach(() => {
  stripe.webhookUrls = [];
});
afterAll(async () => {
  expect(stripe.problems).toEqual([]);
  await stripe.close();
});

const payByCard = async (
  number: string = STRIPE_CARDS.success,
  fields: Record<string, unknown> = {},
  merchant = byCard,
) => {
  const session = await checkout.open({ methods: ['card'], ...fields }, merchant);
  const answer = await fill(session.url, cardForm({ card_number: number, card_expiry: '12/38' }));
  expect(answer.status).toBe(303);
  return session;
};
const pageSale = async () => {
  const complete = BRAND_EXPECTATIONS['bank-a']?.complete;
  const { body } = await shop.sale({ brand: 'bank-a', identifier: '', ...complete }, byPage);
  expect(body).toMatchObject({ status: 'REDIRECT', redirect_url: expect.any(String) });
  return { id: body.trans_id as string, url: body.redirect_url as string };
};
/** The address at Stripe to which the payer of a payment is sent. */
const pageOf = async (id: string): Promise<string> =>
  String((await shop.rows(`select next_step ->> 'url' as url from payments where payment_id = '${id}'`))[0]?.url);
const statusOf = async (id: string): Promise<string> => (await shop.inspect(id)).status;
const attentionOf = async (id: string): Promise<string | null> => (await shop.inspect(id)).attention;

describe('a card', () => {
  test('is charged, refunded in parts, and charged back', async () => {
    const { id } = await payByCard();
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('SETTLED');
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      connector: 'stripe',
      provider_reference: stripe.intentOf(id)?.id,
      fee: { currency: 'USD' },
    });
    const refunded = await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' });
    expect(refunded.body.refunded).toBe('1.00');
    stripe.webhookUrls = webhookUrls;
    stripe.delayRefund();
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '2.00' });
    await expect.poll(async () => (await shop.inspect(id)).refunded, PROVIDER_POLL).toBe('3.00');
    stripe.send('charge.dispute.created', objects.dispute(stripe.intentOf(id) ?? objects.paymentIntent({})));
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('CHARGEBACK');
  });

  test('is charged back in part with the deadline of Stripe, and won', async () => {
    const { id } = await payByCard();
    stripe.webhookUrls = webhookUrls;
    const intent = stripe.intentOf(id) ?? objects.paymentIntent({});
    const created = objects.dispute(intent, 'needs_response', { amount: 300 });
    stripe.send('charge.dispute.created', created);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('CHARGEBACK');
    const find = async () =>
      (await shop.admin('GET', '/chargebacks')).body.items.find(
        ({ payment_id }: { payment_id: string }) => payment_id === id,
      );
    const found = await find();
    expect(found).toMatchObject({ amount: '3.00', reason: 'fraudulent', stage: 'chargeback' });
    expect(Date.parse(`${found.respond_by}Z`)).toBe((created.evidence_details.due_by ?? 0) * 1000);
    stripe.send('charge.dispute.closed', { ...created, status: 'won' });
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('SETTLED');
    expect(await find()).toMatchObject({ state: 'won' });
  });

  test.each([
    ['charge.dispute.of_the_future', (intent: Stripe.PaymentIntent) => objects.dispute(intent)],
    ['payment_intent.of_the_future', (intent: Stripe.PaymentIntent) => intent],
    ['refund.of_the_future', (intent: Stripe.PaymentIntent) => objects.refund({ payment_intent: intent.id })],
  ] as const)('is on the attention list after %s', async (type, objectOf) => {
    const { id } = await payByCard();
    stripe.webhookUrls = webhookUrls;
    stripe.send(
      type as 'charge.dispute.created',
      objectOf(stripe.intentOf(id) as Stripe.PaymentIntent) as Stripe.Dispute,
    );
    await expect.poll(async () => await attentionOf(id), PROVIDER_POLL).toBe('unresolved');
    const marked = (await shop.admin('GET', `/payments?attention=unresolved&mid=${byCard.mid}`)).body.items;
    expect(marked.map(({ payment_id }: { payment_id: string }) => payment_id)).toContain(id);
    expect(JSON.stringify((await shop.inspect(id)).provider_calls)).toContain(type);
  });

  test('whose refund was done is on the attention list after a new status of that refund', async () => {
    const { id } = await payByCard();
    expect((await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' })).body.refunded).toBe('1.00');
    const [row] = await shop.rows(`select operation_id from operations where payment_id = '${id}'`);
    stripe.webhookUrls = webhookUrls;
    stripe.send('refund.updated', { ...stripe.refundOf(String(row?.operation_id)), status: 'frozen' });
    await expect.poll(async () => await attentionOf(id), PROVIDER_POLL).toBe('unresolved');
  });

  test('that another connection took over is on the attention list after an unknown event of the former one', async () => {
    const [former = ''] = webhookUrls;
    const other = await connect(shop, { credentials }, { connector: 'stripe', settings: { api_base: stripe.url } });
    const merchant = await shop.newMerchant({ card_failures_per_address: 0, card_failures_per_account: 0 });
    await route(shop, merchant.mid, [{ connection_id: former.split('/').at(-1) }, { connection_id: other }]);
    const session = await checkout.open({ methods: ['card'] }, merchant);
    await fill(session.url, cardForm({ card_number: STRIPE_CARDS.declined, card_expiry: '12/38' }));
    expect(await shop.inspect(session.id)).toMatchObject({ status: 'DECLINED', connection_id: other, attention: null });
    stripe.webhookUrls = [former];
    stripe.send(
      'payment_intent.of_the_future' as 'payment_intent.succeeded',
      stripe.intentOf(session.id) as Stripe.PaymentIntent,
    );
    await expect.poll(async () => await attentionOf(session.id), PROVIDER_POLL).toBe('unresolved');
  });

  test('is declined, with a reason', async () => {
    const { id } = await payByCard(STRIPE_CARDS.insufficientFunds);
    expect(await shop.inspect(id)).toMatchObject({ status: 'DECLINED', decline_reason: 'Insufficient funds.' });
  });

  test('is authorised, and captured in part', async () => {
    const { id } = await payByCard(STRIPE_CARDS.success, { auth: 'Y' });
    expect(await statusOf(id)).toBe('PENDING');
    const amount = '1.00';
    expect((await shop.admin('POST', `/payments/${id}/capture`, { amount })).body).toMatchObject({ status: 'SETTLED' });
    expect(stripe.balance(id)).toBe(100n);
  });

  test('has the statement text of the account', async () => {
    const named = await shop.newMerchant({ descriptor: 'MY SHOP 123' });
    await route(shop, named.mid, [{ connection_id: cards }]);
    await payByCard(STRIPE_CARDS.success, {}, named);
    const created = stripe.requests.findLast(({ kind }) => kind === 'PaymentIntentCreate');
    expect(created?.fields).toMatchObject({ statement_descriptor_suffix: 'MY SHOP 123' });
  });

  test('is authorised until an hour before Stripe ends it, if the account allows more', async () => {
    const patient = await shop.newMerchant({ authorisation_days: 20 });
    await route(shop, patient.mid, [{ connection_id: cards }]);
    const { id } = await payByCard(STRIPE_CARDS.success, { auth: 'Y' }, patient);
    // The double ends authorisations after seven days.
    await shop.advanceClock(6 * 24 * HOUR, patient.mid);
    expect(await statusOf(id)).toBe('PENDING');
    await shop.advanceClock(23 * HOUR, patient.mid);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('EXPIRED');
    expect(stripe.intentOf(id)?.status).toBe('canceled');
  });

  test('is authenticated at Stripe; the payer returns', async () => {
    const { id } = await payByCard(STRIPE_CARDS.challenge);
    expect(await statusOf(id)).toBe('REDIRECT');
    await show(String(await stripe.pay(await pageOf(id))));
    expect(await statusOf(id)).toBe('SETTLED');
  });

  test('is authenticated at Stripe; the payer does not return, and the webhook reports it', async () => {
    const { id } = await payByCard(STRIPE_CARDS.challenge);
    stripe.webhookUrls = webhookUrls;
    await stripe.pay(await pageOf(id));
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('SETTLED');
    expect((await shop.inspect(id)).notifications).toMatchObject([{ state: 'applied' }]);
  });

  test('is charged again with what Stripe stored', async () => {
    const { id } = await payByCard(STRIPE_CARDS.success, { recurring_init: 'Y' });
    const { recurring_token } = (await checkout.status({ payment_id: id }, byCard)).body;
    const repeat = { recurring_init_trans_id: id, recurring_token, order: newOrder() };
    stripe.requests.splice(0);
    const { body } = await checkout.send('payment/recurring', repeat, byCard);
    expect(body).toMatchObject({ status: 'settled' });
    expect(stripe.requests.map(({ kind }) => kind)).toEqual(['PaymentIntentCreate', 'PaymentIntentConfirm']);
    expect(stripe.requests[1]?.fields).toMatchObject({ off_session: true });
  });

  test.each(['lost_before', 'lost_after'] as const)(
    'whose answer is %s is queried, not charged again',
    async (fault) => {
      stripe.fault(fault);
      const { id } = await payByCard();
      expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
      await shop.advanceClock(6, byCard.mid);
      expect(await statusOf(id)).toBe(fault === 'lost_after' ? 'SETTLED' : 'PENDING');
      await shop.advanceClock(120, byCard.mid);
      await shop.advanceClock(120, byCard.mid);
      await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe(fault === 'lost_after' ? 'SETTLED' : 'DECLINED');
      expect(stripe.balance(id)).toBe(fault === 'lost_after' ? 1000n : 0n);
    },
  );
});

describe('the page of Stripe', () => {
  test('takes the payment; the payer returns', async () => {
    const { id } = await pageSale();
    await show(String(await stripe.pay(await pageOf(id))));
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      connector: 'stripe-hosted',
      provider_reference: expect.stringMatching(/^pi_/),
    });
    const refunded = await shop.admin('POST', `/payments/${id}/refund`, { amount: '10.00' });
    expect(refunded.body).toMatchObject({ status: 'REFUND' });
    expect(stripe.balance(id)).toBe(0n);
  });

  test('takes the payment; only the webhooks report it, twice and out of order', async () => {
    const { id } = await pageSale();
    stripe.received.splice(0);
    await stripe.pay(await pageOf(id));
    const [url] = webhookUrls.toReversed() as [string];
    for (const { headers, body } of [...stripe.received, ...stripe.received].toReversed()) {
      expect((await fetch(url, { method: 'POST', headers, body: body.toString() })).status).toBe(200);
    }
    expect(await statusOf(id)).toBe('SETTLED');
    expect((await shop.events(id)).filter((event) => event === 'settled')).toHaveLength(1);
    expect((await shop.inspect(id)).notifications).toHaveLength(2);
  });

  test('asks for the card, so that the payment page does not; a series goes on with the stored method', async () => {
    const session = await checkout.open({ methods: ['card'], recurring_init: true }, byPage);
    expect(inputs((await show(session.url)).text)).toEqual([]);
    const { status, location } = await fill(session.url, { method: 'card' });
    expect([status, location]).toEqual([303, await pageOf(session.id)]);
    await show(String(await stripe.pay(location)));
    const paid = await shop.inspect(session.id);
    expect(paid).toMatchObject({ status: 'SETTLED', brand: 'card', connector: 'stripe-hosted' });
    const { recurring_token } = (await checkout.status({ payment_id: session.id }, byPage)).body;
    const repeat = { recurring_init_trans_id: session.id, recurring_token, order: newOrder() };
    expect((await checkout.send('payment/recurring', repeat, byPage)).body).toMatchObject({ status: 'settled' });
  });

  test('is left with “back”', async () => {
    const { id } = await pageSale();
    await show(String(await stripe.pay(await pageOf(id), 'back')));
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer cancelled the payment.',
    });
  });

  test('expires', async () => {
    const { id } = await pageSale();
    stripe.webhookUrls = webhookUrls;
    await stripe.pay(await pageOf(id), 'expire');
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('DECLINED');
  });
});

describe('what is done in the dashboard of Stripe', () => {
  beforeEach(() => {
    stripe.webhookUrls = webhookUrls;
  });

  test('a partial capture is booked with its amount, and told to the merchant', async () => {
    const { id } = await payByCard(STRIPE_CARDS.success, { auth: 'Y' });
    stripe.captureElsewhere(id, 400);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('SETTLED');
    const payment = await shop.inspect(id);
    expect(payment).toMatchObject({ captured: '4.00', authorised: '10.00', attention: null, operations: [] });
    expect(payment.callbacks.at(-1)).toMatchObject({ type: 'capture' });
    const [{ amount }] = (await shop.rows(`select amount from history
      where payment_id = '${id}' and event = 'captured'`)) as [{ amount: string }];
    expect(String(amount)).toBe('400');
    const refunded = await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' });
    expect(refunded.body).toMatchObject({ status: 'REFUND' });
  });

  test('refunds are booked, each once, besides those of the gateway', async () => {
    const { id } = await payByCard();
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' });
    const first = stripe.refundElsewhere(id, 200);
    await expect.poll(async () => (await shop.inspect(id)).refunded, PROVIDER_POLL).toBe('3.00');
    expect((await shop.inspect(id)).callbacks.at(-1)).toMatchObject({ type: 'refund' });
    stripe.send('charge.refunded', stripe.intentOf(id)?.latest_charge as Stripe.Charge);
    stripe.refundElsewhere(id, 700);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('REFUND');
    expect(await shop.inspect(id)).toMatchObject({ refunded: '10.00', attention: null });
    expect((await shop.events(id)).filter((event) => event === 'partlyRefunded')).toHaveLength(2);
    // It comes back: a case for the operator.
    stripe.failRefund(first);
    await expect.poll(async () => (await shop.inspect(id)).attention, PROVIDER_POLL).toBe('unresolved');
    expect((await shop.inspect(id)).provider_calls.at(-1)).toMatchObject({
      outcome: 'refund failed',
      reported: '2.00 USD',
    });
  });

  test('the only refund comes back: Stripe no longer counts it, and the operator has to look at it', async () => {
    const { id } = await payByCard();
    const refund = stripe.refundElsewhere(id, 200);
    await expect.poll(async () => (await shop.inspect(id)).refunded, PROVIDER_POLL).toBe('2.00');
    stripe.failRefund(refund);
    await expect.poll(async () => (await shop.inspect(id)).attention, PROVIDER_POLL).toBe('unresolved');
    expect((await shop.inspect(id)).provider_calls.at(-1)).toMatchObject({ reported: '2.00 USD' });
  });
});

describe('a refund of the gateway that comes back', () => {
  test.each(['refund.failed', 'refund.updated', 'charge.refund.updated'] as const)(
    '%s: the operator sees its amount, and is told once',
    async (type) => {
      stripe.webhookUrls = webhookUrls;
      const { id } = await payByCard();
      await shop.admin('POST', `/payments/${id}/refund`, { amount: '10.00' });
      const [{ operation_id }] = (await shop.inspect(id)).operations;
      const refund = stripe.refundOf(operation_id);
      refund.status = 'failed';
      stripe.send(type, refund);
      await expect.poll(() => attentionOf(id), PROVIDER_POLL).toBe('unresolved');
      const payment = await shop.inspect(id);
      expect(payment).toMatchObject({ status: 'REFUND', refunded: '10.00' });
      expect(payment.provider_calls.at(-1)).toMatchObject({ outcome: 'refund failed', reported: '10.00 USD' });
      await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'dismiss', note: 'Transferred to the payer.' });
      stripe.failRefund(refund);
      const { body } = await shop.admin('POST', `/payments/${id}/refund`, { amount: '1.00' });
      expect([body.error_code, await attentionOf(id)]).toEqual([208005, null]);
    },
  );
});

describe('a payment that waits for its payer at Stripe', () => {
  const waiting = [
    ['a challenge', async () => (await payByCard(STRIPE_CARDS.challenge)).id, () => byCard],
    ['the page', async () => (await pageSale()).id, () => byPage],
  ] as const;
  const isOver = (id: string): boolean =>
    [...stripe.sessions.values()].some((each) => each.client_reference_id === id && each.status === 'expired') ||
    stripe.intentOf(id)?.status === 'canceled';

  test.each(waiting)('%s: when the payer’s time is over, it can no longer be paid', async (_, begin, of) => {
    const id = await begin();
    const page = await pageOf(id);
    await shop.advanceClock(HOUR, of().mid);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('DECLINED');
    expect(await shop.inspect(id)).toMatchObject({
      decline_reason: 'The payer did not finish in time.',
      attention: null,
    });
    expect(isOver(id)).toBe(true);
    await stripe.pay(page);
    expect(stripe.balance(id)).toBe(0n);
  });

  test.each(waiting)('%s: a payer who paid at the last moment has paid', async (_, begin, of) => {
    const id = await begin();
    await stripe.pay(await pageOf(id));
    await shop.advanceClock(HOUR, of().mid);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('SETTLED');
    expect(stripe.balance(id)).toBe(1000n);
  });

  test('without an answer it stays open, and is ended later', async () => {
    const id = await waiting[0][1]();
    stripe.fault('lost_before', 'PaymentIntentCancel');
    await shop.advanceClock(HOUR, byCard.mid);
    expect(await statusOf(id)).toBe('REDIRECT');
    await shop.advanceClock(24 * HOUR, byCard.mid);
    await expect.poll(() => statusOf(id), PROVIDER_POLL).toBe('DECLINED');
    expect(isOver(id)).toBe(true);
  });

  test('is left for another card, which alone is charged', async () => {
    const session = await payByCard(STRIPE_CARDS.challenge);
    expect((await show(session.url)).text).toContain('/leave"');
    expect((await fill(`${session.url}/leave`, {})).status).toBe(303);
    expect(await shop.inspect(session.id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer cancelled the payment.',
    });
    expect(isOver(session.id)).toBe(true);
    await fill(session.url, cardForm({ card_number: STRIPE_CARDS.success, card_expiry: '12/38' }));
    const [newest = ''] = await checkout.attempts(session.orderId, byCard);
    expect([await statusOf(newest), stripe.balance(newest)]).toEqual(['SETTLED', 1000n]);
  });
});

describe('telephone orders', () => {
  let connection: string;
  let merchant: Merchant;
  beforeAll(async () => {
    const settings = { api_base: stripe.url };
    connection = await connect(shop, { credentials }, { connector: 'stripe', settings });
    merchant = await shop.newMerchant({ telephone_orders: true });
    await route(shop, merchant.mid, [{ connection_id: connection }]);
  });
  const set = (telephone_orders: string) =>
    shop.admin('PATCH', `/connections/${connection}`, { settings: { api_base: stripe.url, telephone_orders } });
  const take = () =>
    shop.admin('POST', '/telephone-orders', {
      ...{ mid: merchant.mid, amount: '25.00', currency: 'EUR', description: 'A teapot' },
    });
  const pay = (url: string) =>
    fill(shop.url + new URL(url).pathname, cardForm({ card_number: STRIPE_CARDS.challenge, card_expiry: '12/38' }));

  test('are refused unless the connection says that Stripe has enabled the account', async () => {
    const sentence = 'mid: No provider of this account takes telephone orders.';
    expect(await take()).toMatchObject({ status: 400, body: { errors: [{ param: 'mid', error_message: sentence }] } });
    expect((await set('yes')).body.errors).toMatchObject([{ param: 'settings.telephone_orders' }]);
    expect((await set('on')).status).toBe(200);
    expect((await take()).status).toBe(201);
    expect((await set('')).status).toBe(200);
    expect((await take()).status).toBe(400);
  });

  test('are flagged, and paid without 3DS', async () => {
    await set('on');
    const { url, payment_id } = (await take()).body;
    stripe.requests.splice(0);
    await pay(url);
    await expect.poll(() => statusOf(payment_id), PROVIDER_POLL).toBe('SETTLED');
    expect((await shop.inspect(payment_id)).channel).toBe('moto');
    const confirmed = stripe.requests.find(({ kind }) => kind === 'PaymentIntentConfirm');
    expect(confirmed?.fields).toMatchObject({ payment_method_options: { card: { moto: true } } });
  });

  test('that Stripe refuses are not sent, and the connection says why', async () => {
    await set('on');
    const { url, payment_id } = (await take()).body;
    stripe.refusesTelephoneOrders = true;
    await pay(url);
    await expect.poll(() => statusOf(payment_id), PROVIDER_POLL).toBe('DECLINED');
    stripe.refusesTelephoneOrders = false;
    const { health } = (await shop.admin('GET', `/connections/${connection}`)).body;
    expect(health.last_error).toContain('enabled for telephone orders');
    expect(stripe.balance(payment_id)).toBe(0n);
  });
});

test('a webhook with a wrong signature is refused, and nothing secret is logged', async () => {
  const [url = ''] = webhookUrls;
  const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'stripe-signature': 't=1,v1=x' } });
  expect(response.status).toBe(401);
  const logs = shop.logs.join('');
  for (const secret of [...Object.values(STRIPE_CARDS), ...Object.values(STRIPE_CREDENTIALS)])
    expect(logs).not.toContain(secret);
});
