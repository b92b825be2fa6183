/** The generator of the panel's benchmark: what it writes is what the gateway reads. */
import { beforeAll, expect, test } from 'vitest';
import { accountId, generate } from '../../bench/generate.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();
const SIZE = { payments: 3000, accounts: 10, days: 60 };

beforeAll(() => generate(shop.connection, SIZE, () => undefined));

test('the payments of all accounts are in the figures', async () => {
  const from = new Date(Date.now() - 61 * 86_400_000).toISOString().slice(0, 10);
  const to = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const { body } = await shop.admin('GET', `/reports?group_by=mid&from=${from}&to=${to}`);
  const sums = new Map<string, number>();
  for (const { mid, payments } of body.items) sums.set(mid, (sums.get(mid) ?? 0) + payments);
  expect([...sums.values()].reduce((sum, payments) => sum + payments, 0)).toBe(SIZE.payments);
  expect([...sums.keys()].toSorted()).toEqual(Array.from({ length: SIZE.accounts }, (_, n) => accountId(n)));
  expect(sums.get(accountId(0))).toBeGreaterThan((sums.get(accountId(9)) as number) * 3);
});

test('payments of every state have their history, callback and operations', async () => {
  for (const state of ['SETTLED', 'DECLINED', 'REFUND', 'VOID', 'PENDING', 'EXPIRED', 'REDIRECT']) {
    const { items } = (await shop.admin('GET', `/payments?status=${state}&limit=1`)).body;
    const { status, history, callbacks, operations } = await shop.inspect(items[0].payment_id);
    expect(status).toBe(state);
    expect(history.at(-1).to).toBe(state);
    expect(callbacks).toHaveLength(state === 'REDIRECT' ? 0 : 1);
    if (['REFUND', 'VOID'].includes(state)) expect(operations).toHaveLength(1);
  }
});

test('a payment is found by its order, and by its e-mail address', async () => {
  const found = (await shop.admin('GET', '/payments?q=order-1234')).body.items;
  expect(found.map(({ order_id }: { order_id: string }) => order_id)).toEqual(['order-1234']);
  const { details } = (await shop.rows(`select details from payments where order_id = 'order-1234'`))[0] as {
    details: { payer: { email: string } };
  };
  const byEmail = (await shop.admin('GET', `/payments?q=${details.payer.email}`)).body.items;
  expect(byEmail.map(({ order_id }: { order_id: string }) => order_id)).toContain('order-1234');
});

test('the indexes are those of the migrations', async () => {
  const [row] = await shop.rows(`select count(*)::int as count from pg_indexes where tablename = 'payments'`);
  const other = await shop.rows(`select indexname from pg_indexes where indexname = 'payments_due'`);
  expect(row?.count).toBe(5);
  expect(other).toHaveLength(1);
});
