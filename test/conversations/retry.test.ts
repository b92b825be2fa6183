/** Retrying a declined recurring payment through Checkout. */
import { expect, test } from 'vitest';
import { checkoutOf, refusal, UNKNOWN_ID } from '../support/checkout.ts';
import { type Fields, type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';

const shop = openShop();
const checkout = checkoutOf(shop);
const retry = (payment_id: string, merchant: Merchant) => checkout.send('payment/retry', { payment_id }, merchant);

/** Whether the saved identifier of a merchant's first payments succeeds or is declined from now on. */
const setOutcome = (merchant: Merchant, outcome: 'success' | 'decline') =>
  shop.admin('PATCH', `/accounts/${merchant.mid}`, {
    'vcard.success': [outcome === 'success' ? 'success@example.com' : 'other@example.com'],
    'vcard.decline': [outcome === 'success' ? 'other@example.com' : 'success@example.com'],
  });

/** A declined repetition of a payment that succeeded; `before` happens between them. */
async function declinedRepetition(fields: Fields = {}, before?: (merchant: Merchant) => Promise<unknown>) {
  const merchant = await shop.newMerchant();
  const first = (await shop.sale({ recurring_init: 'Y' }, merchant)).body;
  await setOutcome(merchant, 'decline');
  await before?.(merchant);
  const order_id = newOrderId();
  const { body } = await shop.post({
    action: 'RECURRING_SALE',
    client_key: merchant.client_key,
    order_id,
    order_amount: '4.50',
    order_description: 'Second month',
    recurring_first_trans_id: first.trans_id,
    recurring_token: first.recurring_token,
    hash: sign(merchant.password, order_id),
    ...fields,
  });
  expect(body.status).toBe('DECLINED');
  return { merchant, first, order_id, declined: body.trans_id as string };
}

test('a retry is a new attempt of the order, and answers like status', async () => {
  const { merchant, order_id, declined } = await declinedRepetition();
  await setOutcome(merchant, 'success');
  const answer = await retry(declined, merchant);
  expect(answer.body).toMatchObject({
    status: 'settled',
    order: { number: order_id, amount: '4.50', currency: 'USD', description: 'Second month' },
  });
  expect(answer.body.payment_id).not.toBe(declined);
  expect((await checkout.status({ payment_id: answer.body.payment_id }, merchant)).body).toEqual(answer.body);
  expect(await checkout.attempts(order_id, merchant)).toEqual([answer.body.payment_id, declined]);
});

test('a repeated retry returns the same attempt, and a paid order is not retried', async () => {
  const { merchant, order_id, declined } = await declinedRepetition();
  await setOutcome(merchant, 'success');
  const [one, other] = await Promise.all([retry(declined, merchant), retry(declined, merchant)]);
  expect(one.body).toEqual(other.body);
  expect(await checkout.attempts(order_id, merchant)).toHaveLength(2);
  await shop.advanceClock(60, merchant.mid);
  expect(await retry(declined, merchant)).toMatchObject(refusal('duplicate', 'order_id: Duplicate payment.'));
});

test('a declined retry can be retried, also by the id of the first decline, and with order_id_reuse never', async () => {
  const { merchant, order_id, declined } = await declinedRepetition();
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { order_id_reuse: 'never' });
  const second = (await retry(declined, merchant)).body;
  expect(second.status).toBe('decline');
  const third = (await retry(second.payment_id, merchant)).body;
  expect(third.status).toBe('decline');
  await shop.advanceClock(60, merchant.mid);
  await setOutcome(merchant, 'success');
  expect((await retry(declined, merchant)).body.status).toBe('settled');
  expect(await checkout.attempts(order_id, merchant)).toHaveLength(4);
});

test('what only a review made an authorisation is captured', async () => {
  let rule = '';
  const { merchant, declined } = await declinedRepetition({}, async ({ mid }) => {
    const condition = { field: 'brand', op: '=', value: 'vcard' };
    const action = { kind: 'review', hours: 24, then: 'refuse' };
    rule = (await shop.admin('POST', '/risk/rules', { mid, name: 'All', condition, action, state: 'on' })).body.rule_id;
  });
  await shop.admin('DELETE', `/risk/rules/${rule}`);
  await setOutcome(merchant, 'success');
  expect((await retry(declined, merchant)).body.status).toBe('settled');
});

test('an authorisation stays an authorisation', async () => {
  const { merchant, declined } = await declinedRepetition({ auth: 'Y' });
  await setOutcome(merchant, 'success');
  expect((await retry(declined, merchant)).body.status).toBe('pending');
});

test('the schedule of a declined recurring sale begins when the retry succeeds', async () => {
  const merchant = await shop.newMerchant();
  const { body } = await shop.post({
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    name: 'Weekly',
    interval_length: '1',
    interval_unit: 'week',
    payments_count: '3',
    hash: sign(merchant.password),
  });
  const first = (await shop.sale({ recurring_init: 'Y' }, merchant)).body;
  await setOutcome(merchant, 'decline');
  const order_id = newOrderId();
  const declined = await shop.post({
    action: 'RECURRING_SALE',
    client_key: merchant.client_key,
    order_id,
    order_amount: '4.50',
    order_description: 'First week',
    recurring_first_trans_id: first.trans_id,
    recurring_token: first.recurring_token,
    schedule_id: body.schedule_id,
    hash: sign(merchant.password, order_id),
  });
  await setOutcome(merchant, 'success');
  expect((await retry(declined.body.trans_id, merchant)).body).toMatchObject({
    status: 'settled',
    schedule_id: body.schedule_id,
  });
  await shop.advanceClock(7 * 86_400 + 60, merchant.mid);
  const { items } = (await shop.admin('GET', `/payments?schedule_id=${body.schedule_id}`)).body;
  expect(items.map(({ status }: { status: string }) => status)).toEqual(['SETTLED', 'SETTLED', 'DECLINED']);
});

test('refuses what is not a declined recurring payment of the account', async () => {
  const { merchant, first, declined } = await declinedRepetition();
  const notRetriable = refusal('notSupported', 'payment_id: This value should be a declined recurring payment.');
  expect(await retry(first.trans_id, merchant)).toMatchObject(notRetriable);
  const sale = await shop.sale({ identifier: 'success@example.com' }, merchant);
  expect(sale.body.status).toBe('DECLINED');
  expect(await retry(sale.body.trans_id, merchant)).toMatchObject(notRetriable);
  expect(await retry(declined, shop.merchant)).toMatchObject(refusal('unknownPayment'));
  expect(await retry(UNKNOWN_ID, merchant)).toMatchObject(refusal('unknownPayment'));
  expect(await checkout.send('payment/retry', { payment_id: '' }, merchant)).toMatchObject(
    refusal('invalidData', 'payment_id: This value should not be blank.'),
  );
  expect(await checkout.send('payment/retry', { payment_id: declined, hash: 'x' }, merchant)).toMatchObject(
    refusal('wrongHash', 'hash: Hash is not valid.'),
  );
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { suspended: true });
  expect(await retry(declined, merchant)).toMatchObject(
    refusal('invalidData', 'merchant_key: This account is suspended.'),
  );
});
