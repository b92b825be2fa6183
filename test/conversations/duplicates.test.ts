/** One order, one payment: repeats, collisions and new attempts under the same order_id. */
import { describe, expect, test } from 'vitest';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { entryOf } from '../support/entries.ts';
import { newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';
import { allowBursts, lengthenLimits } from '../support/limits.ts';

allowBursts();

const shop = openShop();

const DUPLICATE = {
  result: 'ERROR',
  error_code: 100000,
  error_message: 'order_id: Duplicate payment.',
  errors: [entryOf('order_id: Duplicate payment.')],
};

describe('at any concurrency', () => {
  /** Longer than usual, so that the last of many requests comes within it, however slow the machine is. */
  const WINDOW_MS = 120_000;
  lengthenLimits({ duplicateWindowMs: WINDOW_MS, duplicateWaitMs: 60_000 });

  test('200 identical concurrent requests: one payment, 200 equal responses', async () => {
    const fields = saleFields(shop.merchant);
    const answers = await Promise.all(Array.from({ length: 200 }, () => shop.post(fields)));
    expect(answers[0]?.body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body });
    expect(await shop.rows(`select count(*)::int as n from payments where order_id = '${fields.order_id}'`)).toEqual([
      { n: 1 },
    ]);
  });

  test('200 identical requests spread over orders: one payment per order', async () => {
    const orders = Array.from({ length: 20 }, () => saleFields(shop.merchant));
    const answers = await Promise.all(orders.flatMap((fields) => Array.from({ length: 10 }, () => shop.post(fields))));
    const ids = new Map<string, Set<string>>();
    for (const { body } of answers) ids.set(body.order_id, (ids.get(body.order_id) ?? new Set()).add(body.trans_id));
    expect(ids.size).toBe(20);
    for (const transIds of ids.values()) expect(transIds.size).toBe(1);
  });

  test('100 concurrent new attempts of a failed order: one is made', async () => {
    const merchant = await shop.newMerchant();
    const order_id = newOrderId();
    await shop.sale({ order_id, identifier: 'decline@example.com' }, merchant);
    await shop.advanceClock(WINDOW_MS / 1000, merchant.mid);
    const fields = saleFields(merchant, { order_id });
    const answers = await Promise.all(Array.from({ length: 100 }, () => shop.post(fields)));
    expect(new Set(answers.map(({ body }) => body.trans_id)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ status: 'SETTLED' });
  });
});

test('a repeat within 15 seconds returns the original outcome, also a decline', async () => {
  for (const identifier of ['success@example.com', 'decline@example.com']) {
    const merchant = await shop.newMerchant();
    const fields = saleFields(merchant, { identifier });
    const first = await shop.post(fields);
    await shop.advanceClock(3, merchant.mid);
    expect((await shop.post(fields)).body).toEqual(first.body);
  }
});

test('a repeat with other content inside the window is a duplicate and changes nothing', async () => {
  const merchant = await shop.newMerchant();
  const order_id = newOrderId();
  const first = await shop.sale({ order_id }, merchant);
  for (const change of [
    { order_amount: '11.00' },
    { order_currency: 'EUR' },
    { order_description: 'Another' },
    { auth: 'Y' },
  ]) {
    const { status, body } = await shop.sale({ order_id, ...change }, merchant);
    expect(status).toBe(400);
    expect(body).toEqual(DUPLICATE);
  }
  expect((await shop.status(first.body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED', amount: '10.00' });
});

test('the window ends after 15 seconds by the gateway’s clock', async () => {
  const merchant = await shop.newMerchant();
  const fields = saleFields(merchant);
  const first = await shop.post(fields);
  await shop.advanceClock(3, merchant.mid);
  expect((await shop.post(fields)).body).toEqual(first.body);
  await shop.advanceClock(12, merchant.mid);
  expect((await shop.post(fields)).body).toEqual(DUPLICATE);
});

test('the same request in another field order or as multipart is the same request', async () => {
  const fields = saleFields(shop.merchant);
  const first = await shop.post(fields);
  expect((await shop.post(Object.fromEntries(Object.entries(fields).reverse()))).body).toEqual(first.body);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const multipart = await fetch(`${shop.url}/post`, { method: 'POST', body: form });
  expect(await multipart.json()).toEqual(first.body);
});

test('an order whose payments all failed may be tried again, a paid one may not', async () => {
  const merchant = await shop.newMerchant();
  const order_id = newOrderId();
  const declined = await shop.sale({ order_id, identifier: 'decline@example.com' }, merchant);
  await shop.advanceClock(16, merchant.mid);
  const again = await shop.sale({ order_id, identifier: 'fail@gmail.com' }, merchant);
  expect(again.body).toMatchObject({ status: 'DECLINED' });
  expect(again.body.trans_id).not.toBe(declined.body.trans_id);
  await shop.advanceClock(16, merchant.mid);
  const paid = await shop.sale({ order_id }, merchant);
  expect(paid.body).toMatchObject({ status: 'SETTLED' });
  await shop.advanceClock(16, merchant.mid);
  expect((await shop.sale({ order_id }, merchant)).body).toEqual(DUPLICATE);
  const { body } = await shop.admin('GET', `/payments?mid=${merchant.mid}&order_id=${order_id}`);
  expect(body.items.map((item: { attempt: number; status: string }) => [item.attempt, item.status])).toEqual([
    [3, 'SETTLED'],
    [2, 'DECLINED'],
    [1, 'DECLINED'],
  ]);
});

test('order_id_reuse=never: a failed order stays closed', async () => {
  const merchant = await shop.newMerchant({ order_id_reuse: 'never' });
  const order_id = newOrderId();
  await shop.sale({ order_id, identifier: 'decline@example.com' }, merchant);
  await shop.advanceClock(16, merchant.mid);
  expect((await shop.sale({ order_id }, merchant)).body).toEqual(DUPLICATE);
});

test('an expired authorisation frees its order', async () => {
  const merchant = await shop.newMerchant({ authorisation_days: 1 });
  const order_id = newOrderId();
  await shop.sale({ order_id, auth: 'Y' }, merchant);
  await shop.advanceClock(60, merchant.mid);
  expect((await shop.sale({ order_id }, merchant)).body).toEqual(DUPLICATE);
  await shop.advanceClock(86400, merchant.mid);
  expect((await shop.sale({ order_id }, merchant)).body).toMatchObject({ status: 'SETTLED' });
});

test('two accounts may use the same order_id', async () => {
  const order_id = newOrderId();
  const other = await shop.newMerchant();
  const [mine, theirs] = await Promise.all([shop.sale({ order_id }), shop.sale({ order_id }, other)]);
  expect(mine.body).toMatchObject({ status: 'SETTLED' });
  expect(theirs.body).toMatchObject({ status: 'SETTLED' });
  expect(mine.body.trans_id).not.toBe(theirs.body.trans_id);
});

test('a refused request never claims its order_id', async () => {
  const order_id = newOrderId();
  const wrongs = [
    { ...saleFields(shop.merchant, { order_id }), hash: sign('wrong', 'x') },
    saleFields(shop.merchant, { order_id, order_amount: '1e3' }),
    saleFields(shop.merchant, { order_id, brand: 'unknown' }),
    saleFields(shop.merchant, { order_id, identifier: 'somebody@example.com' }),
  ];
  for (const fields of wrongs) expect((await shop.post(fields)).status).toBe(400);
  expect((await shop.sale({ order_id })).body).toMatchObject({ status: 'SETTLED' });
});

test('a repeat signed with the other password during a rotation is the same request', async () => {
  const merchant = await shop.newMerchant();
  const fields = saleFields(merchant);
  const first = await shop.post(fields);
  const { body } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
  expect(
    (
      await shop.post(
        saleFields(
          { ...merchant, password: body.password },
          fields.hash ? { order_id: fields.order_id as string } : {},
        ),
      )
    ).body,
  ).toEqual(first.body);
});

test('every invariant of the database holds', async () => {
  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBeGreaterThan(20n);
});
