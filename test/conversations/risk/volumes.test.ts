/** Volume limits: exactly what the account may take, also from several processes at once. */
import { describe, expect, test } from 'vitest';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../src/core/context.ts';
import { openPayment } from '../../../src/core/payments/open.ts';
import { checkoutOf, fill, VCARD } from '../../support/checkout.ts';
import { type Merchant, newOrderId, openShop } from '../../support/gateway.ts';

const shop = openShop();
const REASON = "The account's limit is reached.";

const pay = async (merchant: Merchant, order_amount: string, fields: Record<string, string> = {}) =>
  (await shop.sale({ order_amount, order_currency: 'USD', ...fields }, merchant)).body;

const volume = async ({ mid }: Merchant) => (await shop.admin('GET', `/accounts/${mid}`)).body.volume;

test('a day: what succeeded counts, what was declined does not, and the next day begins anew', async () => {
  const merchant = await shop.newMerchant({
    volume_limits: [{ per: 'day', currency: 'USD', brands: [], amount: '100.00' }],
  });
  expect((await pay(merchant, '60.00')).status).toBe('SETTLED');
  expect((await pay(merchant, '30.00', { identifier: 'decline@example.com' })).status).toBe('DECLINED');
  const over = await pay(merchant, '40.01');
  expect(over).toMatchObject({ status: 'DECLINED', decline_reason: REASON });
  expect((await shop.inspect(over.trans_id)).provider_calls).toEqual([]);
  expect((await pay(merchant, '40.00')).status).toBe('SETTLED');
  expect((await pay(merchant, '10.00', { order_currency: 'EUR' })).status).toBe('SETTLED');
  expect(await volume(merchant)).toMatchObject([{ per: 'day', currency: 'USD', used: '100.00', left: '0.00' }]);
  await shop.advanceClock(86_400, merchant.mid);
  expect(await volume(merchant)).toMatchObject([{ used: '0.00', left: '100.00' }]);
  expect((await pay(merchant, '100.00')).status).toBe('SETTLED');
});

test('a session that is opened before midnight and paid after it counts for the new day, and for the new month', async () => {
  const merchant = await shop.newMerchant();
  const { mid } = merchant;
  const now = () => shop.gateway.clock.now(mid);
  const to = (time: number) => shop.advanceClock(Math.ceil((time - now()) / 1000), mid);
  const start = new Date(now());
  const midnight = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
  await to(midnight - 60_000);
  await limit(merchant, [{ ...MONTH, per: 'day', count: 3 }, MONTH]);
  await pay(merchant, '1.00');
  const { url } = await checkoutOf(shop).open({ methods: ['vcard'] }, merchant);
  await to(midnight + 60_000);
  await fill(url, VCARD.success);
  const used = [
    { per: 'day', used: '10.00', used_count: 1 },
    { per: 'month', used: '10.00', used_count: 1 },
  ];
  expect(await volume(merchant)).toMatchObject(used);
  // The same if all payments are counted anew.
  await shop.rows(`delete from risk_volume_starts where mid = '${mid}'`);
  expect(await volume(merchant)).toMatchObject(used);
  await pay(merchant, '1.00');
  await pay(merchant, '1.00');
  expect((await pay(merchant, '1.00')).decline_reason).toBe(REASON);
});

test('a payment that is too large', async () => {
  const merchant = await shop.newMerchant({
    volume_limits: [{ per: 'payment', currency: 'USD', brands: ['vcard'], amount: '10.00' }],
  });
  expect((await pay(merchant, '10.01')).decline_reason).toBe(REASON);
  expect((await pay(merchant, '10.00')).status).toBe('SETTLED');
});

test('60 payments at once from three processes: exactly the count is let through', async () => {
  const merchant = await shop.newMerchant({ volume_limits: [{ per: 'month', currency: 'USD', brands: [], count: 5 }] });
  const processes: Gateway[] = [shop.gateway, await shop.anotherGateway(), await shop.anotherGateway()];
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const payments = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      openPayment(processes[index % 3] as Gateway, account, {
        protocol: 's2s',
        brand: 'vcard',
        orderId: newOrderId(),
        amountText: '10.00',
        currency: 'USD',
        isAuthorisation: false,
        isRecurringInit: false,
        details: { description: 'A book', identifier: 'success@example.com', payer: {} },
        content: newOrderId(),
      }),
    ),
  );
  expect(payments.filter(({ state }) => state === 'SETTLED')).toHaveLength(5);
});

/** What the limits would find if all payments were added up. */
const addedUp = async ({ mid }: Merchant): Promise<Record<string, unknown> | undefined> =>
  (
    await shop.rows(`select count(*)::int as count, coalesce(sum(case when captured > 0 then captured else amount end), 0)::int as amount
      from payments where mid = '${mid}' and currency = 'USD' and state in ('PENDING', 'SETTLED', 'REFUND', 'CHARGEBACK')`)
  )[0];
const counted = async (merchant: Merchant) => {
  const [{ used, used_count }] = await volume(merchant);
  return { count: used_count, amount: Math.round(Number(used) * 100) };
};
const MONTH = { per: 'month', currency: 'USD', brands: [], count: 1000 };
const limit = (merchant: Merchant, volume_limits: unknown[]) =>
  shop.admin('PATCH', `/accounts/${merchant.mid}`, { volume_limits });

describe('the count is that of the payments', () => {
  test('those before the limit, authorisations, parts, voids, refunds and declines', async () => {
    const merchant = await shop.newMerchant();
    const before = [await pay(merchant, '10.00'), await pay(merchant, '20.00', { auth: 'Y' })];
    await limit(merchant, [MONTH]);
    expect(await counted(merchant)).toEqual({ count: 2, amount: 3000 });
    const [kept, captured, voided, refunded] = await Promise.all(
      Array.from({ length: 4 }, () => pay(merchant, '7.00', { auth: 'Y' })),
    );
    const act = async (id: string | undefined, verb: string, body: unknown = {}) =>
      expect((await shop.admin('POST', `/payments/${id}/${verb}`, body)).status, verb).toBe(200);
    expect(await counted(merchant)).toEqual(await addedUp(merchant));
    await act(captured?.trans_id, 'capture', { amount: '4.00' });
    await act(voided?.trans_id, 'void');
    await act(refunded?.trans_id, 'capture');
    await act(refunded?.trans_id, 'refund', { amount: '1.00' });
    await act(before[1]?.trans_id, 'void');
    await pay(merchant, '3.00', { identifier: 'decline@example.com' });
    expect(kept?.status).toBe('PENDING');
    expect(await counted(merchant)).toEqual(await addedUp(merchant));
    // The next payments add what has ended to the sums, and nothing twice.
    for (const amount of ['1.00', '2.00', '3.00']) await pay(merchant, amount);
    expect(await counted(merchant)).toEqual(await addedUp(merchant));
    const open = await shop.rows(`select payment_id from risk_volume_open where mid = '${merchant.mid}'`);
    expect(open.map(({ payment_id }) => payment_id)).toContain(kept?.trans_id);
    expect(open).toHaveLength(2);
  });

  test('also after a time without limits, and with limits of other brands', async () => {
    const merchant = await shop.newMerchant({ volume_limits: [MONTH] });
    await pay(merchant, '10.00');
    await limit(merchant, []);
    await pay(merchant, '20.00');
    await limit(merchant, [{ ...MONTH, brands: ['pin-a'], count: 1 }]);
    await pay(merchant, '30.00');
    expect(await counted(merchant)).toEqual({ count: 0, amount: 0 });
    await limit(merchant, [MONTH]);
    await pay(merchant, '40.00');
    expect(await counted(merchant)).toEqual({ count: 4, amount: 10_000 });
  });

  test('a count that is a day old is made anew', async () => {
    const merchant = await shop.newMerchant({ volume_limits: [MONTH] });
    await pay(merchant, '10.00');
    await shop.rows(`with spoilt as (update risk_volumes set amount = 1 where mid = '${merchant.mid}')
      update risk_volume_starts set counted_at = now() - interval '25 hours' where mid = '${merchant.mid}'`);
    await pay(merchant, '20.00');
    expect(await counted(merchant)).toEqual({ count: 2, amount: 3000 });
  });

  test('an account without limits has no rows', async () => {
    const merchant = await shop.newMerchant();
    await pay(merchant, '10.00');
    expect(await shop.rows(`select from risk_volume_open where mid = '${merchant.mid}'`)).toEqual([]);
  });
});

test('a back-test says what a rule would have done', async () => {
  const merchant = await shop.newMerchant();
  const [settled] = [await pay(merchant, '60.00'), await pay(merchant, '70.00', { identifier: 'decline@example.com' })];
  await pay(merchant, '10.00');
  await shop.admin('POST', `/payments/${settled?.trans_id}/refund`, { amount: '1.00' });
  const rule = {
    name: 'Large',
    condition: { field: 'amount', op: '>', value: '50.00', currency: 'USD' },
    action: { kind: 'block' },
  };
  const [from, to] = [new Date(Date.now() - 86_400_000), new Date(Date.now() + 86_400_000)].map((date) =>
    date.toISOString(),
  );
  const { status, body } = await shop.admin('POST', '/risk/back-tests', { rule, mid: merchant.mid, from, to });
  expect([status, body.state]).toEqual([201, 'running']);
  const read = async () => (await shop.admin('GET', `/risk/back-tests/${body.back_test_id}`)).body;
  await expect.poll(async () => (await read()).state, { timeout: 20_000 }).toBe('done');
  expect(await read()).toMatchObject({
    seen: 3,
    hits: 2,
    amounts: [{ currency: 'USD', amount: '130.00' }],
    settled: 1,
    refunded: 1,
    charged_back: 0,
  });
});
