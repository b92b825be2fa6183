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

const pay = async (merchant: Merchant): Promise<void> => {
  const { body } = await shop.sale({ payer_email: 'jo@example.com' }, merchant);
  expect(body.status).toBe('SETTLED');
};

/** So many sales before, until each statement is prepared and the rules are in memory. */
const PREPARED = 4;
const prepare = async (merchant: Merchant): Promise<void> => {
  for (let count = 0; count < PREPARED; count++) await pay(merchant);
};

/** The trips over the connections that write payments, and over those that only rules use. */
const trips = () => ({ writes: proxy.roundTrips('updated as ('), own: proxy.roundTrips('risk_lock') });

/** On a busy machine a transaction may be slow, and the next ones then use another connection, which is new. */
const SALES = 5;

test.each([
  ['without rules', 2, undefined],
  ['no rule matches', 2, 1000],
  ['a rule matches', 3, 0],
])('%s: the intent with its counts, the decision and the outcome take %i', async (_, expected, least) => {
  const merchant = least === undefined ? await shop.newMerchant() : await ruled(least);
  await prepare(merchant);
  const taken: number[] = [];
  for (let count = 0; count < SALES; count++) {
    const before = trips();
    await pay(merchant);
    const after = trips();
    taken.push(after.writes + after.own - before.writes - before.own);
  }
  expect(Math.min(...taken)).toBe(expected);
});

/** Most of the last 31. */
const SLOW_ONES = 16;

test('after slow transactions, rules use connections of their own', async () => {
  const merchant = await ruled(1000);
  await prepare(merchant);
  await shop.rows(`
    create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.03); return null; end';
    create trigger slow after insert on risk_decisions execute function slow()`);
  for (let count = 0; count < SLOW_ONES; count++) await pay(merchant);
  await shop.rows('drop trigger slow on risk_decisions; drop function slow');
  const before = trips();
  await pay(merchant);
  expect(trips().own).toBeGreaterThan(before.own);
});

test('an account without rules does not use the connections of rules', async () => {
  await ruled(1000);
  const before = trips();
  expect((await shop.sale()).body.status).toBe('SETTLED');
  expect(trips().own).toBe(before.own);
});
