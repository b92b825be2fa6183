/** The next attempt of a session after a decline: it has the order, and nothing of what happened to the declined one. */
import { expect, test } from 'vitest';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { cardForm, checkoutOf, fill, VCARD } from '../../support/checkout.ts';
import { openShop } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { vcard: provider.connector } });
const checkout = checkoutOf(shop);
const cardShop = openShop({ simulator: true });

const report = (reference: string, status: string) =>
  receiveNotifications(shop.gateway, 'vcard', [
    {
      eventId: `${reference} ${status}`,
      reference,
      body: { reference, type: 'payment', status, amount: '1000', currency: 'USD' },
    },
  ]);

/** The attempts of an order, the first one first. */
const attempts = async (orderId: string, at = shop) =>
  (await at.admin('GET', `/payments?order_id=${orderId}`)).body.items.toReversed();

test('is settled while the money of the declined one is sent back', async () => {
  provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
  const { url, id, orderId } = await checkout.open({ methods: ['vcard'] });
  await fill(url, VCARD.success);
  await report(id, 'settled');
  provider.does({ operate: () => ({ kind: 'accepted' }), queryOperation: () => ({ kind: 'accepted' }) });
  const sentBack = await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'refund', note: 'Too late.' });
  expect(sentBack.body).toMatchObject({ operation: { state: 'sent' } });
  await fill(url, VCARD.success);
  const [first, second] = await attempts(orderId);
  expect(first).toMatchObject({ payment_id: id, status: 'DECLINED' });
  expect(second).toMatchObject({ status: 'SETTLED', captured: '10.00' });
  expect((await shop.inspect(second.payment_id)).attention).toBeNull();
});

test('is not paid because the declined one was authorised', async () => {
  provider.does({});
  const { url, id, orderId } = await checkout.open({ methods: ['vcard'], auth: true, recurring_init: true });
  await fill(url, VCARD.success);
  await report(id, 'declined');
  provider.does({ submit: () => ({ kind: 'accepted' }), query: () => ({ kind: 'accepted' }) });
  const answer = await fill(url, VCARD.success);
  expect(answer.location).not.toContain('hash=');
  const [first, second] = await attempts(orderId);
  expect(first).toMatchObject({ status: 'DECLINED', authorised: '10.00' });
  expect(second).toMatchObject({ status: 'PENDING', authorised: '0.00' });
  const capture = await shop.admin('POST', `/payments/${second.payment_id}/capture`);
  expect([capture.status, (await shop.inspect(second.payment_id)).captured]).toEqual([400, '0.00']);
});

test('is captured at once, although a rule sent the declined one to the review', async () => {
  const condition = { field: 'bin', op: '=', value: '5555' };
  const rule = {
    mid: cardShop.merchant.mid,
    name: 'A look',
    condition,
    action: { kind: 'review', hours: 24, then: 'approve' },
    state: 'on',
    confirm: true,
  };
  const made = await cardShop.admin('POST', '/risk/rules', rule);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const { url, orderId } = await checkoutOf(cardShop).open({ methods: ['card'] });
  await fill(url, cardForm({ card_number: '5555555555554444', card_expiry: '02/38' }));
  await fill(url, cardForm());
  const [first, second] = await attempts(orderId, cardShop);
  expect(first).toMatchObject({ status: 'DECLINED' });
  expect(second).toMatchObject({ status: 'SETTLED', captured: '10.00' });
});
