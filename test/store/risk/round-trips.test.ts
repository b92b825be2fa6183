/** Round trips to the database: a sale with rules takes no more of them than one without, unless a rule matches. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type FreezingProxy, startFreezingProxy } from '../../support/faulty-database.ts';
import { type Merchant, startTestGateway, type TestGateway } from '../../support/gateway.ts';

let proxy: FreezingProxy;
let shop: TestGateway;
beforeAll(async () => {
  proxy = await startFreezingProxy(inject('database'));
  shop = await startTestGateway({ through: proxy, logLevel: 'error' });
});
afterAll(async () => {
  await shop.close();
  await proxy.close();
});

async function ruled(value: number): Promise<Merchant> {
  const merchant = await shop.newMerchant();
  const { status } = await shop.admin('POST', '/risk/rules', {
    ...{ mid: merchant.mid, name: 'Often', action: { kind: 'score', points: 1 }, state: 'on' },
    condition: { velocity: { measure: 'count', by: ['email'], within: '1h' }, op: '>=', value },
  });
  expect(status).toBe(201);
  return merchant;
}

/** So many sales before, until each statement is prepared and the rules are in memory. */
const PREPARED = 4;

test.each([
  ['no rule matches', 1, 1000],
  ['a rule matches', 2, 0],
])('%s: the intent, the counts and the decision take %i', async (_, expected, least) => {
  const merchant = await ruled(least);
  const pay = async () => {
    const { body } = await shop.sale({ payer_email: 'jo@example.com' }, merchant);
    expect(body.status).toBe('SETTLED');
  };
  for (let count = 0; count < PREPARED; count++) await pay();
  const before = proxy.roundTrips('risk_lock');
  await pay();
  expect(proxy.roundTrips('risk_lock') - before).toBe(expected);
});

test('an account without rules does not use the connections of rules', async () => {
  await ruled(1000);
  const before = proxy.roundTrips('risk_lock');
  expect((await shop.sale()).body.status).toBe('SETTLED');
  expect(proxy.roundTrips('risk_lock')).toBe(before);
});
