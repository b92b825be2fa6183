/** Costs in the ledger that a statement of a provider tells: what an estimate differs by, once, and what had no estimate. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type Answer, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop({ simulator: true });
const DAY_MS = 86_400_000;
const day = (offset = 0): string => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
const PERIOD = { from: day(-1), to: day(2) };

const admin = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
interface Entry {
  entry_id: string;
  category: string;
  reverses: string | null;
  note: string | null;
  postings: Fields[];
}
const costs = async (id: string): Promise<Entry[]> =>
  (await shop.inspect(id)).entries.filter(({ category }: Entry) => category.startsWith('cost.'));
const sides = ({ category, postings }: Entry): string =>
  `${category}: ${postings.map(({ account, side, amount }) => `${side} ${account} ${amount}`).join(', ')}`;

let merchant: Merchant;
let estimated: string;
let unpriced: string;
beforeAll(async () => {
  merchant = await shop.newMerchant();
  const { url, key, notificationSecret } = shop.provider as NonNullable<typeof shop.provider>;
  const credentials = { url, key, notification_secret: notificationSecret };
  const { connection_id } = await admin('POST', '/connections', { connector: 'upstream', name: 'Costly', credentials });
  await admin('PUT', `/accounts/${merchant.mid}/routes`, [{ connection_id, brands: ['pin-a'] }]);
  const { plan_id } = await admin('POST', '/price-plans', { name: 'Costs', side: 'buy' });
  await admin('POST', `/price-plans/${plan_id}/versions`, { lines: [{ event: 'sale', percent: '1' }] });
  await admin('PUT', `/connections/${connection_id}/price-plan`, { plan_id });
  estimated = await operationsOf(shop).sale('pin-a', merchant, { order_amount: '100.00' }, 'SETTLED');
  unpriced = (await shop.sale({ order_amount: '50.00' }, merchant)).body.trans_id;
  await admin('POST', `/payments/${unpriced}/refund`, { amount: '20.00' });
});
afterAll(async () => {
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

const statement = (fee: string) =>
  [
    'Payment ID,Type,Gross,Fee,Net,Currency,Date',
    `${estimated},sale,100.00,${fee},${(100 - Number(fee)).toFixed(2)},USD,${day()}`,
    `${unpriced},sale,50.00,0.80,49.20,USD,${day()}`,
    `${unpriced},refund,-20.00,0.10,-20.10,USD,${day()}`,
  ].join('\n');

test('what a statement tells is posted as a cost, and corrects the estimate by an entry that names it', async () => {
  const [estimate] = await costs(estimated);
  expect(sides(estimate as Entry)).toBe(
    'cost.sale: debit operator:costs 1.00, credit provider:upstream:receivable 1.00',
  );
  const { status, body } = await uploadStatement(shop, statement('1.35'), { ...PERIOD, filename: 'november.csv' });
  expect(status, JSON.stringify(body)).toBe(201);
  const [, correction, ...more] = await costs(estimated);
  expect(more).toEqual([]);
  expect(sides(correction as Entry)).toBe(
    'cost.sale: debit operator:costs 0.35, credit provider:upstream:receivable 0.35',
  );
  expect(correction).toMatchObject({ reverses: estimate?.entry_id, note: 'november.csv' });
  expect((await shop.inspect(estimated)).money.costs).toBe('1.35');
  expect((await costs(unpriced)).map(sides)).toEqual([
    'cost.sale: debit operator:costs 0.80, credit provider:vcard:receivable 0.80',
    'cost.refund: debit operator:costs 0.10, credit provider:vcard:receivable 0.10',
  ]);
});

test('the same costs are posted once; a later statement corrects them again, in either direction', async () => {
  const before = [...(await costs(estimated)), ...(await costs(unpriced))];
  await uploadStatement(shop, `${statement('1.35')}\n`, PERIOD);
  expect([...(await costs(estimated)), ...(await costs(unpriced))]).toEqual(before);
  await uploadStatement(shop, statement('0.90'), PERIOD);
  expect((await shop.inspect(estimated)).money.costs).toBe('0.90');
  expect(sides((await costs(estimated)).at(-1) as Entry)).toBe(
    'cost.sale: credit operator:costs 0.45, debit provider:upstream:receivable 0.45',
  );
});

test('a rebuild keeps them, and margins contain them', async () => {
  const { items } = await admin('GET', `/ledger/margin?mid=${merchant.mid}`);
  expect(items).toEqual([{ currency: 'USD', fees: '0.00', costs: '1.80', margin: '-1.80' }]);
  const before = await admin('GET', `/ledger/entries?mid=${merchant.mid}`);
  await foldProjections(shop.gateway);
  await rebuildProjection(shop.gateway, 'ledger');
  await foldProjections(shop.gateway);
  expect(await admin('GET', `/ledger/entries?mid=${merchant.mid}`)).toEqual(before);
  expect((await admin('GET', `/ledger/margin?mid=${merchant.mid}`)).items).toEqual(items);
});

test('a fee that is no amount is refused, naming the column', async () => {
  const csv = `Payment ID,Amount,Fee,Currency\n${estimated},100.00,much,USD\n`;
  const { status, body } = await uploadStatement(shop, csv, PERIOD);
  expect(status).toBe(400);
  expect(body.errors[0].param).toBe('fee');
});
