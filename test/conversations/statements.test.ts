/** Statements through the admin API: a row for each entry with the balance after it, of a settlement and of a month. */
import { beforeAll, describe, expect, test } from 'vitest';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { type Answer, type Merchant, openShop } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const DAY = 86_400;

const read = async (path: string, status = 200, token?: string): Promise<Answer['body']> => {
  const { status: found, body } = await shop.admin('GET', path, undefined, token);
  expect(found, JSON.stringify(body)).toBe(status);
  return body;
};
const csv = async (path: string): Promise<string[][]> =>
  (await read(path))
    .trimEnd()
    .split('\r\n')
    .map((line: string) => line.split(','));
const cut = async ({ mid }: Merchant): Promise<Answer['body']> =>
  (await shop.admin('POST', '/settlements', { mid, currency: 'USD' })).body;
const minor = (amount: string): number => Math.round(Number(amount) * 100);
const month = (): string => new Date().toISOString().slice(0, 7);

/** An account that pays 2 % and 19 % tax on it, and whose reserve is 10 %. */
async function priced(): Promise<Merchant> {
  const merchant = await shop.newMerchant({ name: 'Tea House' });
  const { plan_id: planId } = (await shop.admin('POST', '/price-plans', { name: 'Two', side: 'sell' })).body;
  const lines = [{ event: 'sale', percent: '2' }];
  await shop.admin('POST', `/price-plans/${planId}/versions`, { tax_percent: '19', lines });
  await shop.admin('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: planId });
  const terms = { currency: 'USD', cycle: 'manual', delay_days: 0, reserve: { percent: '10', days: 30 } };
  await shop.admin('PUT', `/accounts/${merchant.mid}/settlement-terms`, terms);
  return merchant;
}

let merchant: Merchant;
let first: Answer['body'];
let second: Answer['body'];
let saleId: string;
beforeAll(async () => {
  merchant = await priced();
  saleId = (await shop.sale({ order_amount: '100.00', order_id: 'tea-1' }, merchant)).body.trans_id;
  first = await cut(merchant);
  await shop.admin('POST', `/payments/${saleId}/refund`, { amount: '30.00' });
  await shop.sale({ order_amount: '50.00', order_id: 'tea-2' }, merchant);
  second = await cut(merchant);
});

describe('of a settlement', () => {
  test('has its entries with payment, order, gross, fee, tax, net and balance', async () => {
    const statement = await read(`/settlements/${first.settlement_id}/statement`);
    expect(statement).toMatchObject({
      mid: merchant.mid,
      name: 'Tea House',
      currency: 'USD',
      settlement_id: first.settlement_id,
      number: 1,
      from: null,
      until: first.until,
      opening: '0.00',
      totals: { gross: '90.00', fee: '-2.00', tax: '-0.38', net: '87.62' },
      closing: '87.62',
      next_cursor: null,
    });
    const row = (category: string) =>
      statement.items.find((item: { category: string }) => item.category === category) as Answer['body'];
    const owner = { payment_id: saleId, order_id: 'tea-1' };
    expect(row('sale')).toMatchObject({ ...owner, gross: '100.00', fee: '0.00', tax: '0.00', net: '100.00' });
    expect(row('fee.sale')).toMatchObject({ ...owner, gross: '0.00', fee: '-2.00', tax: '-0.38', net: '-2.38' });
    expect(row('reserve_held')).toMatchObject({ ...owner, gross: '-10.00', net: '-10.00' });
    expect(statement.items).toHaveLength(3);
    expect(statement.items.at(-1).balance).toBe('87.62');
  });

  test('begins with the balance of the one before, and each balance is the sum of what is above it', async () => {
    const { opening, items, closing } = await read(`/settlements/${second.settlement_id}/statement`);
    expect(opening).toBe('87.62');
    expect(closing).toBe(second.closing);
    let balance = minor(opening);
    for (const item of items) {
      expect(minor(item.gross) + minor(item.fee) + minor(item.tax)).toBe(minor(item.net));
      balance += minor(item.net);
      expect(minor(item.balance)).toBe(balance);
    }
    expect(balance).toBe(minor(closing));
    expect(items.map((item: { category: string }) => item.category)).toContain('refund');
  });

  test('is the same as CSV, and after the ledger was built again', async () => {
    const path = `/settlements/${second.settlement_id}/statement`;
    const before = await read(path);
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    expect(await read(path)).toEqual(before);
    const [header, ...lines] = await csv(`${path}.csv`);
    expect(header).toEqual([
      ...['entry_id', 'posted_at', 'available_on', 'category', 'payment_id', 'order_id', 'operation_id', 'note'],
      ...['gross', 'fee', 'tax', 'net', 'balance', 'currency'],
    ]);
    expect(lines).toEqual(
      before.items.map((item: Record<string, string | null>) => [
        ...Object.values(item).map((value) => value ?? ''),
        'USD',
      ]),
    );
  });

  test('does not exist for a void settlement, or for one that the caller does not see', async () => {
    const other = await priced();
    await shop.sale({ order_amount: '1.00' }, other);
    const { settlement_id: id } = await cut(other);
    const { token } = (await shop.admin('POST', '/tokens', { name: 'Tea', role: 'merchant', mids: [merchant.mid] }))
      .body;
    await read(`/settlements/${id}/statement`, 404, token);
    await read(`/settlements/${first.settlement_id}/statement.csv`, 200, token);
    await shop.admin('POST', `/settlements/${id}/void`);
    expect(JSON.stringify(await read(`/settlements/${id}/statement`, 400))).toContain('void settlement');
    await read(`/settlements/${crypto.randomUUID()}/statement`, 404);
    await read(`/settlements/x/statement.csv`, 404);
  });
});

describe('of a month', () => {
  test('is listed with its balances, newest first', async () => {
    const own = await priced();
    await shop.sale({ order_amount: '100.00' }, own);
    await shop.advanceClock(40 * DAY, own.mid);
    await shop.sale({ order_amount: '10.00' }, own);
    const { items } = await read(`/accounts/${own.mid}/statements`);
    expect(items.at(-1)).toMatchObject({ month: month(), currency: 'USD', opening: '0.00', credits: '100.00' });
    expect(items.length).toBeGreaterThan(1);
    items.forEach((item: Answer['body'], index: number) => {
      expect(minor(item.opening) + minor(item.credits) - minor(item.debits)).toBe(minor(item.closing));
      if (items[index + 1]) expect(item.opening).toBe(items[index + 1].closing);
    });
    expect((await csv(`/accounts/${own.mid}/statements.csv`)).length).toBe(items.length + 1);
    for (const item of items) {
      const path = `/accounts/${own.mid}/statements/${item.month}`;
      const statement = await read(`${path}?currency=USD`);
      expect(statement).toMatchObject({ month: item.month, opening: item.opening, closing: item.closing });
      expect((await csv(`${path}.csv?currency=USD`)).length).toBe(statement.items.length + 1);
    }
  });

  test('without entries has the balance of the month before', async () => {
    const own = await priced();
    await shop.sale({ order_amount: '100.00' }, own);
    const { closing } = await read(`/accounts/${own.mid}/statements/${month()}?currency=USD`);
    await shop.advanceClock(400 * DAY, own.mid);
    const later = await read(`/accounts/${own.mid}/statements/${Number(month().slice(0, 4)) + 1}-02?currency=USD`);
    // The reserve was released before.
    expect(later).toMatchObject({ items: [], opening: '97.62', closing: '97.62' });
    expect(closing).toBe('87.62');
    const earlier = await read(`/accounts/${own.mid}/statements/2020-01?currency=USD`);
    expect(earlier).toMatchObject({ items: [], opening: '0.00', closing: '0.00' });
  });

  test.each([
    ['2026-13?currency=USD', /month.*such as 2026-11/],
    ['2999-01?currency=USD', /month.*has begun/],
    ['2026-01', /currency/],
    ['2026-01?currency=XXX', /currency/],
    ['2026-01.csv?currency=XXX', /currency/],
    ['2026-01?curency=USD', /Did you mean currency/],
  ])('%s is refused', async (path, message) => {
    expect(JSON.stringify(await read(`/accounts/${merchant.mid}/statements/${path}`, 400))).toMatch(message);
  });
});

test('merchants see who works for the operator under a neutral name', async () => {
  const { token } = (await shop.admin('POST', '/tokens', { name: 'Tea', role: 'merchant', mids: [merchant.mid] })).body;
  await shop.admin('POST', `/settlements/${first.settlement_id}/approve`);
  expect(await read(`/settlements/${first.settlement_id}`)).toMatchObject({
    cut_by: 'TURNPIKE_ADMIN_TOKEN',
    decided_by: 'TURNPIKE_ADMIN_TOKEN',
  });
  expect(await read(`/settlements/${first.settlement_id}`, 200, token)).toMatchObject({
    cut_by: 'operator',
    decided_by: 'operator',
  });
  const { items } = await read('/settlements', 200, token);
  expect(items.map((item: Answer['body']) => [item.cut_by, item.decided_by])).toEqual([
    ['operator', null],
    ['operator', 'operator'],
  ]);
  expect(await read('/settlements.csv', 200, token)).not.toContain('TURNPIKE_ADMIN_TOKEN');
});
