/** The report on rules that only watch, over the admin API: hits, amounts and outcomes by day, of the own accounts only. */
import { expect, test } from 'vitest';
import { type Merchant, openShop } from '../../support/gateway.ts';

const shop = openShop();

const watch = async (merchant: Merchant | null, name: string, least: string): Promise<string> => {
  const { status, body } = await shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant?.mid ?? null, name, state: 'shadow', action: { kind: 'block' } },
    condition: { field: 'amount', op: '>=', value: least, currency: 'USD' },
  });
  expect(status).toBe(201);
  return body.rule_id;
};

const report = async (token?: string) => (await shop.admin('GET', '/risk/shadow', undefined, token)).body;

test('what each rule would have done', async () => {
  const [merchant, other] = [await shop.newMerchant(), await shop.newMerchant()];
  const busy = await watch(merchant, 'From twenty', '20.00');
  const quiet = await watch(merchant, 'Very high', '5000.00');
  const installation = await watch(null, 'Everywhere', '20.00');
  const foreign = await watch(other, 'Of the other', '20.00');
  for (const order_amount of ['19.00', '20.00', '21.50']) await shop.sale({ order_amount }, merchant);
  await shop.sale({ order_amount: '30.00', identifier: 'decline@example.com' }, merchant);
  await shop.sale({ order_amount: '99.00' }, other);
  const all = await report();
  expect(all.next_cursor).toBeNull();
  const of = (id: string) => all.items.find(({ rule_id }: { rule_id: string }) => rule_id === id);
  const sums = [{ currency: 'USD', amount: '71.50' }];
  expect(of(busy)).toMatchObject({
    ...{ name: 'From twenty', action: { kind: 'block' }, hits: 3, amounts: sums, settled: 2, charged_back: 0 },
  });
  // The payments may be on both sides of midnight.
  const days: { day: string; hits: number }[] = of(busy).days;
  expect(days).toHaveLength(7);
  expect(days.map(({ day }) => day)).toEqual(days.map(({ day }) => day).toSorted());
  expect(days.reduce((sum, { hits }) => sum + hits, 0)).toBe(3);
  expect(of(quiet)).toMatchObject({ name: 'Very high', hits: 0, amounts: [], settled: 0 });
  expect(of(installation)).toMatchObject({ hits: 4 });
  expect(of(foreign)).toMatchObject({ hits: 1 });

  const { body: token } = await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [merchant.mid] });
  const ids = (await report(token.token)).items.map(({ rule_id }: { rule_id: string }) => rule_id);
  expect(ids).toEqual([busy, quiet]);

  const file = await shop.admin('GET', '/risk/shadow.csv', undefined, token.token);
  expect(file.body.split('\r\n')).toEqual([
    'rule_id,name,action,hits,amounts,settled,charged_back',
    `${busy},From twenty,block,3,71.50 USD,2,0`,
    `${quiet},Very high,block,0,,0,0`,
    '',
  ]);
  const wrong = await shop.admin('GET', '/risk/shadow?state=on');
  expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining('state')]);

  // What a rule has matched stays in the report after it decides, or is deleted.
  await shop.admin('DELETE', `/risk/rules/${busy}`);
  await shop.admin('DELETE', `/risk/rules/${quiet}`);
  expect((await report(token.token)).items).toMatchObject([{ rule_id: busy, hits: 3 }]);
});
