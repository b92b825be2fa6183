/** Settlements through the admin API: terms, reserves, cuts, payouts, returned transfers, and payments of providers. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readClock } from '../../src/core/installation/catch-up.ts';
import { foldProjections, rebuildProjection } from '../../src/core/projections/projections.ts';
import { cutSettlement } from '../../src/core/settlements/cuts.ts';
import { processDueSettlements } from '../../src/core/settlements/due.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { postAdjustments } from '../support/adjustments.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { type Answer, type Merchant, openShop } from '../support/gateway.ts';
import { holding, waitingLocksOf } from '../support/held-rows.ts';

const shop = openShop({ simulator: true });
const DAY = 86_400;
const IBAN = 'DE89370400440532013000';

let accountant: string;
const call = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
  shop.admin(method as 'GET', path, body as never, token);
const done = async (method: string, path: string, body?: unknown, token?: string): Promise<Answer['body']> => {
  const answer = await call(method, path, body, token);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};
const refused = async (status: number, message: RegExp, ...args: Parameters<typeof call>): Promise<void> => {
  const answer = await call(...args);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(JSON.stringify(answer.body)).toMatch(message);
};

const TERMS = { currency: 'USD', cycle: 'manual', delay_days: 0, reserve: null, hold: null };
const setTerms = ({ mid }: Merchant, terms: object = {}): Promise<Answer['body']> =>
  done('PUT', `/accounts/${mid}/settlement-terms`, { ...TERMS, ...terms });
const sale = async (merchant: Merchant, amount: string): Promise<string> =>
  (await shop.sale({ order_amount: amount }, merchant)).body.trans_id;
const refund = (id: string, amount: string): Promise<Answer['body']> =>
  done('POST', `/payments/${id}/refund`, { amount });
const cut = ({ mid }: Merchant, more: object = {}): Promise<Answer['body']> =>
  done('POST', '/settlements', { mid, currency: 'USD', ...more });
const balance = async ({ mid }: Merchant): Promise<Answer['body']> =>
  (await done('GET', `/accounts/${mid}/balance`)).items[0];
const approve = (id: string): Promise<Answer['body']> => done('POST', `/settlements/${id}/approve`);
const setBank = ({ mid }: Merchant, iban = IBAN): Promise<Answer['body']> =>
  done('PUT', `/accounts/${mid}/bank-account`, { currency: 'USD', holder: 'Müller & Söhne', iban });
const settlements = async ({ mid }: Merchant): Promise<Answer['body'][]> =>
  (await done('GET', `/settlements?mid=${mid}`)).items;

/** Whether a session waits for a lock. */
const isWaiting = async (): Promise<boolean> => Number((await shop.rows(waitingLocksOf()))[0]?.locks) > 0;

/** A settlement whose payout was approved. */
async function paidOut(merchant: Merchant, amount: string) {
  await sale(merchant, amount);
  await setBank(merchant);
  const settlement = await cut(merchant);
  await approve(settlement.settlement_id);
  const payout = await done('POST', '/payouts', { settlement_ids: [settlement.settlement_id], format: 'csv' });
  await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  const [{ transfer_id: transferId }] = payout.transfers;
  return { settlement, payout, transfer: `/payouts/${payout.payout_id}/transfers/${transferId}` };
}

beforeAll(async () => {
  ({ token: accountant } = await done('POST', '/tokens', { name: 'Books', role: 'accountant' }));
});

afterAll(async () => {
  await foldProjections(shop.gateway);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  const { totals } = await done('GET', '/ledger/trial-balance');
  for (const { debit, credit } of totals) expect(debit).toBe(credit);
});

describe('terms', () => {
  test('are set for each currency, and read back', async () => {
    const merchant = await shop.newMerchant();
    expect(await done('GET', `/accounts/${merchant.mid}/settlement-terms`)).toEqual({ items: [], next_cursor: null });
    const weekly = {
      cycle: 'weekly',
      weekday: 5,
      delay_days: 2,
      minimum: '10.00',
      reserve: { percent: '5', days: 90 },
    };
    await setTerms(merchant, weekly);
    await setTerms(merchant, { currency: 'EUR', hold: 'Waiting for documents' });
    const { items } = await done('GET', `/accounts/${merchant.mid}/settlement-terms`);
    expect(items).toEqual([
      expect.objectContaining({ currency: 'EUR', cycle: 'manual', reserve: null, hold: 'Waiting for documents' }),
      expect.objectContaining({ currency: 'USD', ...weekly, day: null, hold: null }),
    ]);
  });

  test.each([
    [{ currency: 'XXX' }, /currency/],
    [{ cycle: 'yearly' }, /cycle.*daily, weekly, monthly, manual/],
    [{ cycle: 'weekly' }, /weekday.*from 1 to 7/],
    [{ cycle: 'monthly', day: 32 }, /day.*from 1 to 31/],
    [{ weekday: 1 }, /weekday.*Only with cycle weekly/],
    [{ delay_days: -1 }, /delay_days/],
    [{ delay_days: '2' }, /delay_days/],
    [{ minimum: '1.005' }, /minimum/],
    [{ reserve: { percent: '101', days: 1 } }, /reserve.percent/],
    [{ reserve: { percent: '5', days: 0 } }, /reserve.days/],
    [{ hold: '' }, /hold/],
    [{ time_zone: 'Europe/Atlantis' }, /time_zone.*Europe.Berlin/],
    [{ cut_off: '24:00' }, /cut_off.*23:59/],
    [{ business_days: 'yes' }, /business_days.*true or false/],
    [{ holds: 'x' }, /Did you mean hold/],
  ])('%j are refused', async (terms, message) => {
    const merchant = await shop.newMerchant();
    await refused(400, message, 'PUT', `/accounts/${merchant.mid}/settlement-terms`, { ...TERMS, ...terms });
    expect((await done('GET', `/accounts/${merchant.mid}/settlement-terms`)).items).toEqual([]);
  });

  test('an accountant reads them, and changes none', async () => {
    const { mid } = await shop.newMerchant();
    await done('GET', `/accounts/${mid}/settlement-terms`, undefined, accountant);
    await refused(403, /role/, 'PUT', `/accounts/${mid}/settlement-terms`, TERMS, accountant);
  });

  test('delay and reserve apply to later sales; other debits count at once', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    await setTerms(merchant, { delay_days: 3, reserve: { percent: '10', days: 30 } });
    const id = await sale(merchant, '100.05');
    await refund(id, '20.00');
    expect(await balance(merchant)).toMatchObject({
      available: '-10.00',
      pending: '90.04',
      reserve: '10.01',
      total: '90.05',
    });
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    expect(await balance(merchant)).toMatchObject({ available: '-10.00', pending: '90.04', reserve: '10.01' });
  });

  test('a reserve is released on its day, once, also after the ledger was built again', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { reserve: { percent: '10', days: 30 } });
    await sale(merchant, '100.00');
    await shop.advanceClock(29 * DAY, merchant.mid);
    expect(await balance(merchant)).toMatchObject({ available: '90.00', reserve: '10.00' });
    await shop.advanceClock(DAY + 60, merchant.mid);
    expect(await balance(merchant)).toMatchObject({ available: '100.00', reserve: '0.00' });
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    await shop.advanceClock(60 * DAY, merchant.mid);
    expect(await balance(merchant)).toMatchObject({ available: '100.00', reserve: '0.00', total: '100.00' });
  });

  test('a reserve is released no earlier than on its day by a process that has not read the moved clock', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { reserve: { percent: '10', days: 30 } });
    await sale(merchant, '100.00');
    await foldProjections(shop.gateway);
    const day = new Date(Date.now() + 30 * DAY * 1000).toISOString().slice(0, 10);
    await shop.rows(`insert into clock_offsets (mid, offset_ms) values ('${merchant.mid}', ${31 * DAY * 1000})`);
    await processDueSettlements(shop.gateway, () => false);
    const { items } = await done('GET', `/ledger/entries?mid=${merchant.mid}&category=reserve_released`);
    expect(items).toHaveLength(1);
    expect(items[0].posted_at.slice(0, 10) > day).toBe(true);
  });

  test('a reserve is not available before its sale', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { delay_days: 10, reserve: { percent: '10', days: 3 } });
    await sale(merchant, '100.00');
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await balance(merchant)).toMatchObject({ available: '0.00', pending: '100.00', reserve: '0.00' });
    expect(await cut(merchant)).toMatchObject({
      closing: '100.00',
      withheld: [{ reason: 'pending', amount: '100.00' }],
      payout: '0.00',
    });
    const { items } = await done('GET', `/ledger/entries?mid=${merchant.mid}`);
    expect(items.map(({ category }: { category: string }) => category)).toContain('reserve_released');
    expect(new Set(items.map(({ available_on: day }: { available_on: string }) => day)).size).toBe(1);
    await shop.advanceClock(6 * DAY, merchant.mid);
    expect(await balance(merchant)).toMatchObject({ available: '100.00', pending: '0.00' });
    expect(await cut(merchant)).toMatchObject({ closing: '100.00', withheld: [], payout: '100.00' });
  });
});

describe('a cut', () => {
  test('has a line for each category, and pays what is available', async () => {
    const merchant = await shop.newMerchant();
    const id = await sale(merchant, '100.00');
    await sale(merchant, '50.00');
    await refund(id, '30.00');
    const settlement = await cut(merchant);
    expect(settlement).toMatchObject({
      number: 1,
      mid: merchant.mid,
      currency: 'USD',
      from: null,
      opening: '0.00',
      lines: [
        { category: 'refund', count: 1, amount: '-30.00' },
        { category: 'sale', count: 2, amount: '150.00' },
      ],
      closing: '120.00',
      withheld: [],
      payout: '120.00',
      state: 'draft',
    });
    const path = `/settlements/${settlement.settlement_id}`;
    expect(await done('GET', path)).toEqual(settlement);
    const first = await done('GET', `${path}/entries?limit=2`);
    const rest = await done('GET', `${path}/entries?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...rest.items].map(({ category }) => category)).toEqual(['sale', 'sale', 'refund']);
    expect((await call('GET', `${path}/entries.csv`)).status).toBe(200);
    expect((await call('GET', `/settlements.csv?mid=${merchant.mid}`)).status).toBe(200);
  });

  test('twice, also at the same time, gives one settlement', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '100.00');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call('POST', '/settlements', { mid: merchant.mid, currency: 'USD' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.settlement_id)).size).toBe(1);
    expect(await settlements(merchant)).toHaveLength(1);
  });

  test('from two processes, while sales go on, has each entry once', async () => {
    const merchant = await shop.newMerchant();
    const other = await shop.anotherGateway();
    const owner = { mid: merchant.mid, currency: 'USD' };
    const cutter = { kind: 'system', id: null, name: 'test', address: null } as const;
    await sale(merchant, '1.00');
    const cuts = [shop.gateway, other].map(async (gateway) => {
      for (let times = 0; times < 8; times++) await cutSettlement(gateway, cutter, owner, undefined);
    });
    const sales = [1, 2, 3].map(async () => {
      for (let times = 0; times < 5; times++) await sale(merchant, '1.00');
    });
    await Promise.all([...cuts, ...sales]);
    const last = await cut(merchant);
    expect(last).toMatchObject({ closing: '16.00' });
    const all = await settlements(merchant);
    expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => all.length - index));
    const count = all.flatMap(({ lines }) => lines).reduce((sum, line) => sum + line.count, 0);
    expect(count).toBe(16);
    expect(all.reduce((sum, { payout }) => sum + Number(payout), 0)).toBe(16);
  });

  /** Postings of a balance before the end of a settlement that is none of theirs. */
  const missed = ({ mid }: Merchant) =>
    shop.rows(`
      select e.category from ledger_entries e where e.mid = '${mid}'
        and e.posted_at < (select max(until_at) from settlements s where s.mid = e.mid)
        and not exists (select from settlement_entries t where t.mid = e.mid and t.entry_id = e.entry_id)`);

  test('has everything that was posted before its time, also what is posted while it waits', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    await foldProjections(shop.gateway);
    let waiting: Promise<Answer['body']> | undefined;
    await holding(shop.connection, "projections where name = 'ledger'", async () => {
      waiting = cut(merchant);
      await expect.poll(isWaiting).toBe(true);
      await sale(merchant, '5.00');
    });
    expect(await waiting).toMatchObject({ closing: '10.00' });
    await foldProjections(shop.gateway);
    expect(await missed(merchant)).toEqual([]);
    expect(await cut(merchant)).toMatchObject({ number: 2, closing: '15.00' });
  });

  /** Cuts while a posting to the balance has its time, and is not written yet. */
  async function cutDuring(merchant: Merchant, post: () => Promise<unknown>): Promise<void> {
    await foldProjections(shop.gateway);
    let waiting: Promise<unknown> | undefined;
    await holding(shop.connection, `ledger_totals where account = 'merchant:${merchant.mid}:balance'`, async () => {
      const posting = post();
      await expect.poll(isWaiting).toBe(true);
      const cutting = cut(merchant);
      waiting = Promise.all([posting, cutting]);
      // The cut waits too, or is made.
      const locks = async () => Number((await shop.rows(waitingLocksOf()))[0]?.locks);
      await expect.poll(async () => Promise.race([cutting.then(() => 2), locks()])).toBe(2);
    });
    await waiting;
    expect(await missed(merchant)).toEqual([]);
  }

  test('has an adjustment that is being approved', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    const input = { mid: merchant.mid, currency: 'USD', amount: '1.00', reason: 'Goodwill' };
    const { adjustment_id: id } = await done('POST', '/ledger/adjustments', input);
    await cutDuring(merchant, () => done('POST', `/ledger/adjustments/${id}/approve`, undefined, accountant));
    expect(await settlements(merchant)).toMatchObject([{ number: 1, closing: '11.00' }]);
  });

  test('has a returned payout that is being recorded', async () => {
    const merchant = await shop.newMerchant();
    const { transfer } = await paidOut(merchant, '10.00');
    await cutDuring(merchant, () => done('POST', transfer, { state: 'returned', reason: 'Account closed' }));
    expect((await settlements(merchant))[0]).toMatchObject({ number: 2, closing: '10.00' });
  });

  test('has a reserve that is being released', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { reserve: { percent: '10', days: 1 } });
    await sale(merchant, '10.00');
    await foldProjections(shop.gateway);
    await shop.gateway.installation.moveClock(merchant.mid, 2 * DAY * 1000);
    await readClock(shop.gateway);
    await cutDuring(merchant, () => processDueSettlements(shop.gateway, () => false));
    expect(await settlements(merchant)).toMatchObject([{ number: 1, closing: '10.00' }]);
  });

  test('ends after the one before, also if a clock was set back', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    await cut(merchant);
    await shop.rows(`update settlements set until_at = until_at + interval '1 minute' where mid = '${merchant.mid}'`);
    await sale(merchant, '5.00');
    const second = await cut(merchant);
    expect(second).toMatchObject({ number: 2, opening: '10.00', closing: '15.00' });
    expect(second.until >= second.from).toBe(true);
  });

  test('of the time that an answer names is the same cut', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '1.00');
    const first = await cut(merchant);
    expect(await cut(merchant, { until: first.until })).toEqual(first);
    await shop.advanceClock(2, merchant.mid);
    await sale(merchant, '2.00');
    await cut(merchant);
    expect(await cut(merchant, { until: first.until })).toEqual(first);
  });

  test('has what was posted before its time; the rest is in the next one', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    await shop.advanceClock(DAY, merchant.mid);
    await sale(merchant, '5.00');
    const until = new Date(shop.gateway.clock.now(merchant.mid) - 3_600_000).toISOString();
    expect(await cut(merchant, { until })).toMatchObject({ closing: '10.00', payout: '10.00' });
    const again = () => call('POST', '/settlements', { mid: merchant.mid, currency: 'USD', until });
    expect(await again()).toMatchObject({ status: 200, body: { number: 1 } });
    expect(await cut(merchant)).toMatchObject({
      number: 2,
      opening: '10.00',
      closing: '15.00',
      withheld: [{ reason: 'earlier', amount: '10.00' }],
      payout: '5.00',
    });
    expect(await again()).toMatchObject({ status: 200, body: { number: 1 } });
    await refused(400, /until.*later settlement/, 'POST', '/settlements', {
      mid: merchant.mid,
      currency: 'USD',
      until: new Date(Date.parse(until) + 1).toISOString(),
    });
  });

  test('is refused for a time in the future, an unknown account or currency', async () => {
    const { mid } = await shop.newMerchant();
    const until = new Date(Date.now() + 60_000).toISOString();
    await refused(400, /until.*future/, 'POST', '/settlements', { mid, currency: 'USD', until });
    await refused(400, /until.*A date/, 'POST', '/settlements', { mid, currency: 'USD', until: 'now' });
    await refused(400, /currency/, 'POST', '/settlements', { mid, currency: 'usd' });
    await refused(404, /Account does not exist/, 'POST', '/settlements', { mid: crypto.randomUUID(), currency: 'USD' });
    await refused(400, /untill/, 'POST', '/settlements', { mid, currency: 'USD', untill: until });
  });

  test.each([
    ['pending', { delay_days: 2 }, '100.00'],
    ['minimum', { minimum: '100.01' }, '100.00'],
    ['hold', { hold: 'Waiting for documents' }, '100.00'],
  ])('withholds with the reason %s', async (reason, terms, amount) => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, terms);
    await sale(merchant, '100.00');
    expect(await cut(merchant)).toMatchObject({ closing: '100.00', withheld: [{ reason, amount }], payout: '0.00' });
  });

  test('a negative balance is carried over, and later sales make up for it', async () => {
    const merchant = await shop.newMerchant();
    const { transfer } = await paidOut(merchant, '100.00');
    await done('POST', transfer, { state: 'paid' });
    const [{ payment_id: paymentId }] = (await done('GET', `/payments?mid=${merchant.mid}`)).items;
    await refund(paymentId, '40.00');
    expect(await cut(merchant)).toMatchObject({
      opening: '100.00',
      lines: [
        { category: 'payout', count: 1, amount: '-100.00' },
        { category: 'refund', count: 1, amount: '-40.00' },
      ],
      closing: '-40.00',
      withheld: [{ reason: 'negative', amount: '-40.00' }],
      payout: '0.00',
    });
    await sale(merchant, '60.00');
    expect(await cut(merchant)).toMatchObject({ opening: '-40.00', closing: '20.00', withheld: [], payout: '20.00' });
  });

  test('can be voided while it is the newest and a draft; its entries are settled again', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    const first = await cut(merchant);
    await sale(merchant, '5.00');
    const second = await cut(merchant);
    await refused(400, /newest/, 'POST', `/settlements/${first.settlement_id}/void`);
    expect(await done('POST', `/settlements/${second.settlement_id}/void`)).toMatchObject({ state: 'void' });
    await refused(400, /draft/, 'POST', `/settlements/${second.settlement_id}/approve`);
    expect(await cut(merchant)).toMatchObject({ number: 3, opening: '10.00', closing: '15.00', payout: '5.00' });
    await approve(first.settlement_id);
    await refused(400, /draft/, 'POST', `/settlements/${first.settlement_id}/void`);
    await refused(404, /Settlement does not exist/, 'POST', `/settlements/${crypto.randomUUID()}/approve`);
  });

  test('survives a rebuild of the ledger', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    const settlement = await cut(merchant);
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    expect(await cut(merchant)).toEqual(settlement);
    expect((await done('GET', `/settlements/${settlement.settlement_id}/entries`)).items).toHaveLength(1);
  });

  test('is made by the cycle at midnight, from the entries before it, and none without entries', async () => {
    const merchant = await shop.newMerchant();
    const empty = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily' });
    await setTerms(empty, { cycle: 'daily' });
    await sale(merchant, '10.00');
    await shop.advanceClock(DAY, merchant.mid);
    await shop.advanceClock(3 * DAY, empty.mid);
    const [first, ...more] = await settlements(merchant);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ closing: '10.00', payout: '10.00', until: expect.stringMatching(/ 00:00:00$/) });
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await settlements(merchant)).toHaveLength(1);
    expect(await settlements(empty)).toEqual([]);
  });

  test('that is due when the terms change is made by the terms that it was due by', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily' });
    await sale(merchant, '10.00');
    // The work loop has not come to it.
    await shop.gateway.installation.moveClock(merchant.mid, DAY * 1000);
    await readClock(shop.gateway);
    await setTerms(merchant, { cycle: 'monthly', day: 1, minimum: '500.00' });
    const midnight = expect.stringMatching(/ 00:00:00$/);
    expect(await settlements(merchant)).toMatchObject([{ until: midnight, payout: '10.00', withheld: [] }]);
    await sale(merchant, '5.00');
    await shop.advanceClock(32 * DAY, merchant.mid);
    expect(await settlements(merchant)).toMatchObject([
      { number: 2, closing: '15.00', withheld: [{ reason: 'earlier' }, { reason: 'minimum', amount: '5.00' }] },
      { number: 1 },
    ]);
  });

  test('that failed and is tried again later is made before the terms change', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily' });
    await sale(merchant, '10.00');
    await shop.gateway.installation.moveClock(merchant.mid, DAY * 1000);
    await readClock(shop.gateway);
    await shop.gateway.settlements.postpone(
      { mid: merchant.mid, currency: 'USD' },
      shop.gateway.clock.now(merchant.mid) + 60_000,
    );
    await setTerms(merchant);
    expect(await settlements(merchant)).toMatchObject([{ number: 1, payout: '10.00' }]);
  });

  test('of many cycles is made together; one that fails is tried again, and keeps no other from its cut', async () => {
    const merchants = await Promise.all([1, 2, 3].map(() => shop.newMerchant()));
    for (const merchant of merchants) {
      await setTerms(merchant, { cycle: 'daily' });
      await sale(merchant, '10.00');
    }
    const [failing, ...others] = merchants as [Merchant, ...Merchant[]];
    await shop.rows(`
      create function fail_cut() returns trigger language plpgsql as $$ begin raise exception 'The cut fails.'; end $$;
      create trigger fail_cut before insert on settlements for each row when (new.mid = '${failing.mid}')
        execute function fail_cut()`);
    for (const { mid } of merchants) await shop.gateway.installation.moveClock(mid, DAY * 1000);
    await readClock(shop.gateway);
    await processDueSettlements(shop.gateway, () => false);
    for (const merchant of others) expect(await settlements(merchant)).toMatchObject([{ number: 1, payout: '10.00' }]);
    expect(await settlements(failing)).toEqual([]);
    await shop.rows('drop trigger fail_cut on settlements; drop function fail_cut');
    await shop.advanceClock(61, failing.mid);
    expect(await settlements(failing)).toMatchObject([{ number: 1, payout: '10.00' }]);
  });

  test('has what was posted late to a month that was settled before, and nothing twice', async () => {
    const merchant = await shop.newMerchant();
    const post = (daysAgo: number, amount: bigint): Promise<void> => postAdjustments(shop, merchant, [daysAgo], amount);
    const adjustments = (count: number, amount: string) => ({ lines: [{ category: 'adjustment', count, amount }] });
    for (const daysAgo of [100, 65, 1]) await post(daysAgo, 1000n);
    expect(await cut(merchant)).toMatchObject(adjustments(3, '30.00'));
    await post(100, -100n);
    await post(0, 500n);
    const second = await cut(merchant);
    expect(second).toMatchObject({ ...adjustments(2, '4.00'), closing: '34.00' });
    await done('POST', `/settlements/${second.settlement_id}/void`);
    await post(65, 100n);
    expect(await cut(merchant)).toMatchObject({ ...adjustments(3, '5.00'), closing: '35.00' });
  });

  test('pays what becomes available later, also without new entries', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily', delay_days: 3 });
    await sale(merchant, '10.00');
    await shop.advanceClock(10 * DAY, merchant.mid);
    expect((await settlements(merchant)).map(({ payout, closing }) => [closing, payout])).toEqual([
      ['10.00', '10.00'],
      ['10.00', '0.00'],
    ]);
  });
});

describe('the calendar', () => {
  const at = (days: number): Date => new Date(Date.now() + days * DAY * 1000);
  const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

  test('has the holidays of the installation, which are replaced as a whole', async () => {
    const holidays = [
      { day: '2027-01-01', name: 'New Year' },
      { day: '2026-12-25', name: 'Christmas' },
    ];
    const { items } = await done('PUT', '/holidays', { holidays });
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['Christmas', 'New Year']);
    expect(await done('GET', '/holidays', undefined, accountant)).toEqual({ items, next_cursor: null });
    await refused(403, /role/, 'PUT', '/holidays', { holidays: [] }, accountant);
    await refused(400, /holidays.*list/, 'PUT', '/holidays', { holidays: '2026-12-25' });
    await refused(400, /holidays\[0\]\.day.*2026-12-25/, 'PUT', '/holidays', {
      holidays: [{ day: '2026-02-30', name: 'None' }],
    });
    await refused(400, /holidays\[1\]\.day.*once/, 'PUT', '/holidays', { holidays: [holidays[0], holidays[0]] });
    await refused(400, /holidays\[0\]\.name/, 'PUT', '/holidays', { holidays: [{ day: '2027-01-01' }] });
    await refused(400, /days/, 'PUT', '/holidays', { days: [] });
    expect((await done('GET', '/holidays')).items).toEqual(items);
    await done('PUT', '/holidays', { holidays: [] });
  });

  test('cuts at the cut-off in the time zone of the account', async () => {
    const merchant = await shop.newMerchant();
    const terms = { cycle: 'daily', time_zone: 'Asia/Tokyo', cut_off: '17:30' };
    expect(await setTerms(merchant, terms)).toMatchObject({ ...terms, business_days: false });
    await sale(merchant, '10.00');
    await shop.advanceClock(2 * DAY, merchant.mid);
    const [first] = await settlements(merchant);
    expect(first).toMatchObject({ payout: '10.00', until: expect.stringMatching(/ 08:30:00$/) });
  });

  test('moves a cut from a holiday to the next day, also when the holiday is added after the terms', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily', business_days: true });
    await sale(merchant, '10.00');
    // Ten holidays in a row, then a business day.
    const holidays = Array.from({ length: 10 }, (_, index) => ({ day: dayOf(at(index + 1)), name: 'Fair' }));
    await done('PUT', '/holidays', { holidays });
    await shop.advanceClock(9 * DAY, merchant.mid);
    expect(await settlements(merchant)).toEqual([]);
    await shop.advanceClock(6 * DAY, merchant.mid);
    const [first] = await settlements(merchant);
    expect(first).toMatchObject({ payout: '10.00' });
    const cutOn = new Date(`${first.until.replace(' ', 'T')}Z`);
    expect(cutOn.getTime()).toBeGreaterThan(at(10).getTime());
    expect([1, 2, 3, 4, 5]).toContain(cutOn.getUTCDay());
    await done('PUT', '/holidays', { holidays: [] });
  });

  test('a list of holidays concerns later sales, also after the ledger was built again', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { delay_days: 1, business_days: true });
    const availableOn = async (): Promise<string[]> =>
      (await done('GET', `/ledger/entries?mid=${merchant.mid}&category=sale`)).items.map(
        (entry: { available_on: string }) => entry.available_on,
      );
    await sale(merchant, '1.00');
    const [before = ''] = await availableOn();
    await done('PUT', '/holidays', { holidays: [{ day: before, name: 'Fair' }] });
    await sale(merchant, '2.00');
    const [after = '', first] = await availableOn();
    expect(first).toBe(before);
    expect(after > before).toBe(true);
    await rebuildProjection(shop.gateway, 'ledger');
    await foldProjections(shop.gateway);
    expect(await availableOn()).toEqual([after, before]);
    await done('PUT', '/holidays', { holidays: [] });
  });

  test('a reserve is paid by a cut on the day of its release, where that begins after the day of UTC', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { time_zone: 'Pacific/Pago_Pago', reserve: { percent: '10', days: 1 } });
    await sale(merchant, '100.00');
    const now = new Date();
    const fiveLater = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 2, 5);
    await shop.advanceClock(Math.round((fiveLater - now.getTime()) / 1000), merchant.mid);
    expect(await cut(merchant)).toMatchObject({ closing: '100.00', withheld: [], payout: '100.00' });
  });

  test('a balance is available, and a payout approved, by the day of its currency, where it begins before that of UTC', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily', time_zone: 'Pacific/Kiritimati', delay_days: 1 });
    await setTerms(merchant, { currency: 'EUR', delay_days: 2 });
    await sale(merchant, '10.00');
    await shop.sale({ order_amount: '20.00', order_currency: 'EUR' }, merchant);
    // At 11:00 in UTC the next day has begun fourteen hours east of it.
    const now = new Date();
    const elevenNext = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, 11);
    await shop.advanceClock(Math.round((elevenNext - now.getTime()) / 1000), merchant.mid);
    const { items } = await done('GET', `/accounts/${merchant.mid}/balance`);
    expect(items).toMatchObject([
      { currency: 'EUR', available: '0.00', pending: '20.00' },
      { currency: 'USD', available: '10.00', pending: '0.00' },
    ]);
    const [{ settlement_id: id }] = await settlements(merchant);
    await setBank(merchant);
    await approve(id);
    const payout = await done('POST', '/payouts', { settlement_ids: [id], format: 'csv' });
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  });
});

describe('a bank account', () => {
  test('is checked, and read back masked', async () => {
    const { mid } = await shop.newMerchant();
    const path = `/accounts/${mid}/bank-account`;
    const holder = 'Müller & Söhne';
    await refused(400, /iban/, 'PUT', path, { currency: 'USD', holder, iban: 'DE88370400440532013000' });
    await refused(400, /holder/, 'PUT', path, { currency: 'USD', iban: IBAN });
    await refused(400, /account_number/, 'PUT', path, { currency: 'USD', holder, iban: IBAN, account_number: '1' });
    await refused(400, /bank_code/, 'PUT', path, { currency: 'USD', holder, account_number: '12345', country: 'US' });
    await done('PUT', path, { currency: 'USD', holder, iban: 'de89 3704 0044 0532 0130 00' });
    const answer = await done('GET', path);
    expect(answer.items).toEqual([expect.objectContaining({ currency: 'USD', holder, held_until: null })]);
    expect(JSON.stringify(answer)).not.toContain('0440532013');
    expect(answer.items[0].account).toMatch(/^DE.*3000$/);
  });

  test('that was changed holds payouts for a day, unless another person confirms it', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '10.00');
    await setBank(merchant);
    const { settlement_id: id } = await cut(merchant);
    await approve(id);
    expect((await setBank(merchant, 'GB82WEST12345698765432')).held_until).not.toBeNull();
    await refused(400, /24 hours/, 'POST', '/payouts', { settlement_ids: [id], format: 'csv' });
    const path = `/accounts/${merchant.mid}/bank-account/confirm`;
    await refused(403, /Another person/, 'POST', path, { currency: 'USD' });
    await refused(404, /Bank account does not exist/, 'POST', path, { currency: 'EUR' }, accountant);
    expect(await done('POST', path, { currency: 'USD' }, accountant)).toMatchObject({ held_until: null });
    const payout = await done('POST', '/payouts', { settlement_ids: [id], format: 'csv' });
    await setBank(merchant);
    await shop.advanceClock(DAY + 1, merchant.mid);
    await refused(400, /changed since/, 'POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    await done('POST', `/payouts/${payout.payout_id}/refuse`, undefined, accountant);
    await done('POST', '/payouts', { settlement_ids: [id], format: 'csv' });
  });
});

describe('a payout', () => {
  test('moves the money when another person approves it, and returns the same file each time', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '100.00');
    const settlement = await cut(merchant);
    const input = { settlement_ids: [settlement.settlement_id], format: 'pain.001' };
    await refused(400, /draft, not approved/, 'POST', '/payouts', input);
    await approve(settlement.settlement_id);
    await refused(400, /no bank account/, 'POST', '/payouts', input);
    await setBank(merchant);
    await refused(400, /No account is set/, 'POST', '/payouts', input);
    const own = { currency: 'USD', holder: 'Operator Ltd', iban: 'GB82WEST12345698765432', bic: 'COBADEFFXXX' };
    await done('PUT', '/payout-account', own);
    await refused(400, /format/, 'POST', '/payouts', { ...input, format: 'xml' });
    const payout = await done('POST', '/payouts', input);
    expect(payout).toMatchObject({
      state: 'waiting',
      control_sum: '100.00',
      sha256: expect.stringMatching(/^\w{64}$/),
    });
    expect(payout.transfers).toEqual([
      expect.objectContaining({
        ...{ settlement_id: settlement.settlement_id, amount: '100.00', state: 'waiting' },
        ...{ holder: 'Müller & Söhne', holder_in_file: 'Mueller + Soehne' },
      }),
    ]);
    await refused(400, /in payout, not approved/, 'POST', '/payouts', input);
    const path = `/payouts/${payout.payout_id}`;
    await refused(400, /not approved/, 'GET', `${path}/file`);
    await refused(403, /Another person/, 'POST', `${path}/approve`);
    expect(await balance(merchant)).toMatchObject({ available: '100.00', in_transit: '0.00' });
    await done('POST', `${path}/approve`, undefined, accountant);
    await refused(400, /decided already/, 'POST', `${path}/approve`, undefined, accountant);
    expect(await balance(merchant)).toMatchObject({ available: '0.00', in_transit: '100.00', total: '100.00' });
    const files = await Promise.all([1, 2].map(() => call('GET', `${path}/file`)));
    const [text] = files.map(({ body }) => body as unknown as string);
    expect(files[1]?.body).toBe(text);
    expect(
      createHash('sha256')
        .update(text as string)
        .digest('hex'),
    ).toBe(payout.sha256);
    expect(text).toContain('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09');
    expect(text).toContain('<CtrlSum>100.00</CtrlSum>');
    expect(text).toContain('<Nm>Mueller + Soehne</Nm>');
    expect(text).toContain(`<IBAN>${IBAN}</IBAN>`);
    const [{ state }] = await settlements(merchant);
    expect(state).toBe('in_payout');
    // The name is kept as it was, whatever becomes of the bank account.
    await done('PUT', `/accounts/${merchant.mid}/bank-account`, { currency: 'USD', holder: 'Łukasz', iban: IBAN });
    expect((await done('GET', path)).transfers[0]).toMatchObject({ holder: 'Müller & Söhne' });
    const [stored] = await shop.rows(`select holder from transfers where mid = '${merchant.mid}'`);
    expect(String(stored?.holder)).not.toMatch(/ller/);
    expect((await done('GET', '/payouts')).items[0]).toMatchObject({ payout_id: payout.payout_id, state: 'approved' });
  });

  test('that the bank returns restores the balance once, also after it was paid', async () => {
    const merchant = await shop.newMerchant();
    const { transfer } = await paidOut(merchant, '100.00');
    await refused(400, /state/, 'POST', transfer, { state: 'lost' });
    expect(await done('POST', transfer, { state: 'paid' })).toMatchObject({ state: 'paid' });
    await refused(400, /recorded/, 'POST', transfer, { state: 'paid' });
    expect(await balance(merchant)).toMatchObject({ available: '0.00', in_transit: '0.00', total: '0.00' });
    const answers = await Promise.all(
      [1, 2, 3].map(() => call('POST', transfer, { state: 'returned', reason: 'Account closed' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    await refused(400, /recorded/, 'POST', transfer, { state: 'paid' });
    expect(await balance(merchant)).toMatchObject({ available: '100.00', in_transit: '0.00', total: '100.00' });
    expect((await settlements(merchant))[0].state).toBe('returned');
    expect(await cut(merchant)).toMatchObject({ opening: '100.00', closing: '100.00', withheld: [], payout: '100.00' });
  });

  test('is not approved for more than is available now', async () => {
    const merchant = await shop.newMerchant();
    const id = await sale(merchant, '100.00');
    await setBank(merchant);
    const { settlement_id: settlementId } = await cut(merchant);
    await approve(settlementId);
    const payout = await done('POST', '/payouts', { settlement_ids: [settlementId], format: 'csv' });
    await refund(id, '1.00');
    await refused(400, /available now is lower/, 'POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    await sale(merchant, '1.00');
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  });

  /** Refunds a part of a sale while the approval of its payout waits for these rows; `id` is that of the payout. */
  async function refundDuringApproval(rows: (id: string) => string, isRefundFirst: boolean): Promise<void> {
    const merchant = await shop.newMerchant();
    const sold = await sale(merchant, '100.00');
    await setBank(merchant);
    const { settlement_id: settlementId } = await cut(merchant);
    await approve(settlementId);
    const payout = await done('POST', '/payouts', { settlement_ids: [settlementId], format: 'csv' });
    let approval: Promise<void> | undefined;
    await holding(shop.connection, rows(payout.payout_id), async () => {
      if (isRefundFirst) await refund(sold, '1.00');
      const path = `/payouts/${payout.payout_id}/approve`;
      approval = refused(400, /available now is lower/, 'POST', path, undefined, accountant);
      await expect.poll(() => Promise.race([approval, isWaiting()])).toBe(true);
      if (!isRefundFirst) await refund(sold, '1.00');
    });
    await approval;
  }

  test('is not approved from a ledger that another process still folds', () =>
    refundDuringApproval(() => "projections where name = 'ledger'", true));

  test('is not approved without a refund that is finished after the ledger was folded', () =>
    refundDuringApproval((id) => `payouts where payout_id = '${id}'`, false));

  test('is neither made nor approved while the terms have a hold, also one that came after the cut', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '100.00');
    await setBank(merchant);
    const { settlement_id: settlementId } = await cut(merchant);
    await approve(settlementId);
    const input = { settlement_ids: [settlementId], format: 'csv' };
    await setTerms(merchant, { hold: 'Under review' });
    await refused(400, /have a hold/, 'POST', '/payouts', input);
    await setTerms(merchant, { currency: 'EUR', hold: 'Another currency' });
    await setTerms(merchant);
    const { payout_id: payoutId } = await done('POST', '/payouts', input);
    await setTerms(merchant, { hold: 'Under review' });
    await refused(400, /have a hold/, 'POST', `/payouts/${payoutId}/approve`, undefined, accountant);
    await setTerms(merchant);
    await done('POST', `/payouts/${payoutId}/approve`, undefined, accountant);
  });

  test('a cut before the payout was posted does not pay the same money again', async () => {
    const merchant = await shop.newMerchant();
    await sale(merchant, '100.00');
    await shop.advanceClock(DAY, merchant.mid);
    await setBank(merchant);
    const until = (hours: number): string =>
      new Date(shop.gateway.clock.now(merchant.mid) - hours * 3_600_000).toISOString();
    const first = await cut(merchant, { until: until(3) });
    await approve(first.settlement_id);
    const payout = await done('POST', '/payouts', { settlement_ids: [first.settlement_id], format: 'csv' });
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    const second = await cut(merchant, { until: until(1) });
    expect(second.settlement_id).toBe(first.settlement_id);
    expect(await cut(merchant)).toMatchObject({ number: 2, closing: '0.00', withheld: [], payout: '0.00' });
  });

  test('is refused for settlements that do not exist, and for none', async () => {
    await refused(400, /does not exist/, 'POST', '/payouts', { settlement_ids: [crypto.randomUUID()], format: 'csv' });
    await refused(400, /settlement_ids/, 'POST', '/payouts', { settlement_ids: [], format: 'csv' });
    await refused(404, /Payout does not exist/, 'GET', `/payouts/${crypto.randomUUID()}`);
  });
});

describe('what merchants of other gateways complain of', () => {
  test('a payout is the sum of its lines less what it names, and a transfer is the payout', async () => {
    await paidOut(await shop.newMerchant(), '100.00');
    const rows = await shop.rows(`
      select s.settlement_id from settlements s left join transfers t using (mid, settlement_id)
      where s.payout <> s.opening + (select coalesce(sum((l ->> 'amount')::bigint), 0) from jsonb_array_elements(s.lines) l)
          - (select coalesce(sum((w ->> 'amount')::bigint), 0) from jsonb_array_elements(s.withheld) w)
        or t.amount <> s.payout`);
    expect(rows).toEqual([]);
    expect((await shop.rows('select from transfers')).length).toBeGreaterThan(0);
  });

  test('a refund after the payout lowers the next one, and breaks none', async () => {
    const merchant = await shop.newMerchant();
    const { transfer } = await paidOut(merchant, '100.00');
    await done('POST', transfer, { state: 'paid' });
    const [{ payment_id: id }] = (await done('GET', `/payments?mid=${merchant.mid}`)).items;
    await refund(id, '30.00');
    await sale(merchant, '50.00');
    const next = await cut(merchant);
    expect(next).toMatchObject({ opening: '100.00', closing: '20.00', withheld: [], payout: '20.00' });
    await approve(next.settlement_id);
    const payout = await done('POST', '/payouts', { settlement_ids: [next.settlement_id], format: 'csv' });
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  });

  test('a refund and a chargeback of the same payment take its amount once', async () => {
    const merchant = await shop.newMerchant();
    const id = await sale(merchant, '100.00');
    await refund(id, '30.00');
    await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    await expect.poll(async () => (await shop.inspect(id)).status).toBe('CHARGEBACK');
    expect(await cut(merchant)).toMatchObject({
      lines: [
        { category: 'chargeback', count: 1, amount: '-70.00' },
        { category: 'refund', count: 1, amount: '-30.00' },
        { category: 'sale', count: 1, amount: '100.00' },
      ],
      closing: '0.00',
      payout: '0.00',
    });
  });

  test('a reserve is a line and a part of the balance: nothing is missing', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { reserve: { percent: '10', days: 30 } });
    const { settlement, transfer } = await paidOut(merchant, '100.00');
    expect(settlement).toMatchObject({
      lines: [
        { category: 'reserve_held', count: 1, amount: '-10.00' },
        { category: 'sale', count: 1, amount: '100.00' },
      ],
      withheld: [],
      payout: '90.00',
    });
    await done('POST', transfer, { state: 'paid' });
    expect(await balance(merchant)).toMatchObject({ available: '0.00', reserve: '10.00', total: '10.00' });
    await shop.advanceClock(31 * DAY, merchant.mid);
    expect(await cut(merchant)).toMatchObject({ closing: '10.00', payout: '10.00' });
  });

  test('a refund that is under way is counted, in a cut and in an approval', async () => {
    const merchant = await shop.newMerchant();
    const pin = { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete };
    const { trans_id: id } = (await shop.sale({ ...pin, order_amount: '100.00', order_currency: 'USD' }, merchant))
      .body;
    await setBank(merchant);
    const first = await cut(merchant);
    await approve(first.settlement_id);
    const payout = await done('POST', '/payouts', { settlement_ids: [first.settlement_id], format: 'csv' });
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'error_500', count: 20 });
    await call('POST', `/payments/${id}/refund`, { amount: '40.00' });
    expect((await shop.inspect(id)).refunded).toBe('0.00');
    await refused(400, /available now is lower/, 'POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'none' });
    await sale(merchant, '70.00');
    expect(await cut(merchant)).toMatchObject({
      closing: '170.00',
      withheld: [
        { reason: 'pending', amount: '40.00' },
        { reason: 'earlier', amount: '100.00' },
      ],
      payout: '30.00',
    });
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  });

  test('a payout to a payer that is under way is counted, until its outcome is known', async () => {
    const merchant = await shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' });
    await sale(merchant, '100.00');
    await setBank(merchant);
    const first = await cut(merchant);
    await approve(first.settlement_id);
    const payout = await done('POST', '/payouts', { settlement_ids: [first.settlement_id], format: 'csv' });
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'timeout_before' });
    const fields = { brand: 'payout-a', identifier: '', ...BRAND_EXPECTATIONS['payout-a']?.complete };
    const { body } = await shop.sale({ ...fields, order_amount: '40.00', order_currency: 'USD' }, merchant);
    expect(body).toMatchObject({ status: 'PENDING' });
    await refused(400, /available now is lower/, 'POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    // The provider does not answer for weeks: its queries end, and an operator has to look at the payout.
    await shop.rows(
      `update payments set due_at = null, attention = 'unresolved' where payment_id = '${body.trans_id}'`,
    );
    await refused(400, /available now is lower/, 'POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
    await sale(merchant, '70.00');
    expect(await cut(merchant)).toMatchObject({
      closing: '170.00',
      withheld: [
        { reason: 'pending', amount: '40.00' },
        { reason: 'earlier', amount: '100.00' },
      ],
      payout: '30.00',
    });
    // It never reached the provider, which says so when it is queried again.
    await shop.rows(`update payments set due_at = now(), attention = null where payment_id = '${body.trans_id}'`);
    for (let times = 0; times < 4; times++) await shop.advanceClock(60, merchant.mid);
    expect((await shop.inspect(body.trans_id)).status).toBe('DECLINED');
    expect(await cut(merchant)).toMatchObject({
      closing: '170.00',
      withheld: [{ reason: 'earlier', amount: '130.00' }],
      payout: '40.00',
    });
    await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  });

  test('a payout is never short without a line that says why', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { delay_days: 2, minimum: '500.00' });
    await sale(merchant, '100.00');
    await setTerms(merchant, { minimum: '500.00' });
    await sale(merchant, '60.00');
    expect(await cut(merchant)).toMatchObject({
      closing: '160.00',
      withheld: [
        { reason: 'pending', amount: '100.00' },
        { reason: 'minimum', amount: '60.00' },
      ],
      payout: '0.00',
    });
  });

  test('a negative balance is carried over once, and does not keep later cycles from paying', async () => {
    const merchant = await shop.newMerchant();
    await setTerms(merchant, { cycle: 'daily' });
    const { transfer } = await paidOut(merchant, '50.00');
    await done('POST', transfer, { state: 'paid' });
    const [{ payment_id: id }] = (await done('GET', `/payments?mid=${merchant.mid}`)).items;
    await refund(id, '50.00');
    await shop.advanceClock(2 * DAY, merchant.mid);
    await sale(merchant, '80.00');
    await shop.advanceClock(DAY, merchant.mid);
    expect((await settlements(merchant)).map(({ closing, payout }) => [closing, payout])).toEqual([
      ['30.00', '30.00'],
      ['-50.00', '0.00'],
      ['50.00', '50.00'],
    ]);
  });
});

describe('a payment of a provider', () => {
  test('reduces what the provider owes; the same reference is one', async () => {
    const input = { connector: 'vcard', currency: 'USD', amount: '12.50', reference: 'R-1', received_on: '2026-01-31' };
    const answers = await Promise.all([1, 2].map(() => call('POST', '/provider-payments', input)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
    const { items } = await done('GET', '/ledger/entries?category=provider_payment');
    expect(items).toHaveLength(1);
    expect(items[0].postings).toEqual([
      { account: 'operator:bank', side: 'debit', amount: '12.50', currency: 'USD' },
      { account: 'provider:vcard:receivable', side: 'credit', amount: '12.50', currency: 'USD' },
    ]);
    await refused(400, /reference/, 'POST', '/provider-payments', { ...input, amount: '12.51' });
    await refused(400, /received_on/, 'POST', '/provider-payments', { ...input, received_on: '2026-02-30' });
    await refused(400, /connector/, 'POST', '/provider-payments', { ...input, connector: '' });
    expect((await done('GET', '/provider-payments')).items).toHaveLength(1);
  });

  test('is of a provider that payments can have', async () => {
    const input = { currency: 'USD', amount: '1.00', received_on: '2026-01-31' };
    const wrong = { ...input, connector: 'strpe', reference: 'S-1' };
    await refused(400, /connector/, 'POST', '/provider-payments', wrong);
    await done('POST', '/provider-payments', { ...input, connector: 'stripe', reference: 'S-1' });
  });
});
