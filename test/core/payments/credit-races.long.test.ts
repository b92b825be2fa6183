/** Concurrent credits and sales of one new order: exactly one of them gets the order. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../src/core/context.ts';
import { type CreditOrder, credit } from '../../../src/core/payments/credit.ts';
import { readClock } from '../../../src/core/sandbox/clock.ts';
import { Refusal } from '../../../src/rules/errors.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { checkoutOf } from '../../support/checkout.ts';
import { newOrderId, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
/** A second process over the same database. */
let other: Gateway;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'error' });
  checkout = checkoutOf(shop);
  other = await shop.anotherGateway();
  other.publicUrl = shop.url;
  other.inboundUrl = shop.url;
});
afterAll(() => shop.close());

/** A merchant with a settled card payment of 1000.00 USD. */
async function sold() {
  const merchant = await shop.newMerchant();
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const order = { number: newOrderId(), amount: '1000.00', currency: 'USD', description: 'Tea' };
  return { merchant, account, ...(await checkout.paidByCard({ order }, merchant)) };
}

const creditOf = (orderId: string, token: string, more: Partial<CreditOrder> = {}): CreditOrder => ({
  orderId,
  amountText: '1.00',
  currency: 'USD',
  card: { token },
  content: `credit ${orderId}`,
  ...more,
});

/** `made`, or the name of the refusal. */
const outcomeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'made',
    (error) => {
      if (error instanceof Refusal) return error.error;
      throw error;
    },
  );

const reservationsOf = (mid: string) => shop.rows(`select order_id from credits where mid = '${mid}' and part = ''`);
const creditsOf = (mid: string) =>
  shop.rows(`select payment_id, state from operations where mid = '${mid}' and verb = 'credit'`);

describe('a sale whose INSERT starts before the reservation of the credit and commits after it', () => {
  const HELD = 'held-';
  const LOCK = 4711;

  /**
   * Holds every INSERT of a payment whose order starts with `held-`, before or after its row is written. It does not
   * wait for a lock: after the lock timeout the gateway would write the payment in a later statement.
   */
  const holdInserts = (when: 'before' | 'after') =>
    shop.rows(`
      create or replace function hold_order() returns trigger language plpgsql as $$ begin
        while new.order_id like '${HELD}%' and not pg_try_advisory_xact_lock_shared(${LOCK}) loop
          perform pg_sleep(0.02);
        end loop;
        return new;
      end $$;
      create or replace trigger hold_order ${when} insert on payments for each row execute function hold_order()`);

  const waitingInserts = () =>
    shop.rows(`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`);

  test.each(['before', 'after'] as const)('held %s its row is written: the sale gets the order', async (when) => {
    const { merchant, account, token } = await sold();
    await holdInserts(when);
    const holder = new pg.Client(shop.connection);
    await holder.connect();
    try {
      await holder.query('select pg_advisory_lock($1)', [LOCK]);
      const orderId = `${HELD}${newOrderId()}`;
      const sale = shop.sale({ order_id: orderId }, merchant);
      await expect.poll(waitingInserts, { interval: 5 }).toHaveLength(1);
      const outcome = outcomeOf(credit(other, account, creditOf(orderId, token)));
      await expect.poll(() => reservationsOf(merchant.mid)).toHaveLength(1);
      // The credit has to wait until the sale has ended.
      const first = await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))]);
      await holder.query('select pg_advisory_unlock($1)', [LOCK]);
      expect((await sale).body.status).toBe('SETTLED');
      expect([first, await outcome]).toEqual(['waits', 'duplicatePayment']);
      expect([await reservationsOf(merchant.mid), await creditsOf(merchant.mid)]).toEqual([[], []]);
    } finally {
      await holder.end();
      await shop.rows('drop trigger if exists hold_order on payments');
    }
  });
});

describe('a transaction that does not end', () => {
  shortenLimits({ creditReservationMs: 2000 });

  test('the credit is refused without a refund, and a repeat succeeds', async () => {
    const { merchant, account, token } = await sold();
    const holder = new pg.Client(shop.connection);
    await holder.connect();
    const order = creditOf(newOrderId(), token);
    try {
      await holder.query('begin');
      await holder.query('update payments set updated_at = updated_at where false');
      expect(await outcomeOf(credit(other, account, order))).toBe('unavailable');
      expect(await creditsOf(merchant.mid)).toEqual([]);
      await holder.query('rollback');
    } finally {
      await holder.end();
    }
    expect(await outcomeOf(credit(other, account, order))).toBe('made');
    expect(await creditsOf(merchant.mid)).toMatchObject([{ state: 'done' }]);
  }, 60_000);
});

test('a hundred pairs of a sale and a credit in two processes: exactly one of each pair succeeds', async () => {
  const { merchant, account, token } = await sold();
  const PAIRS = 100;
  const orders = Array.from({ length: PAIRS }, newOrderId);
  for (let from = 0; from < PAIRS; from += 10) {
    await Promise.all(
      orders.slice(from, from + 10).map(async (orderId, index) => {
        const gateway = index % 2 === 0 ? other : shop.gateway;
        const [sale, outcome] = await Promise.all([
          shop.sale({ order_id: orderId }, merchant),
          outcomeOf(credit(gateway, account, creditOf(orderId, token))),
        ]);
        const isSold = sale.body.status === 'SETTLED';
        if (!isSold) expect(sale.body.error_message).toBe('order_id: Duplicate payment.');
        expect(outcome, orderId).toBe(isSold ? 'duplicatePayment' : 'made');
      }),
    );
  }
  const [counts] = await shop.rows(`
    select (select count(*)::int from payments where mid = '${merchant.mid}') - 1 as sales,
      (select count(*)::int from operations where mid = '${merchant.mid}') as credits,
      (select count(*)::int from credits c join payments p using (mid, order_id)
        where c.mid = '${merchant.mid}' and c.part = '') as both`);
  expect(counts).toMatchObject({ both: 0 });
  expect(Number(counts?.sales) + Number(counts?.credits)).toBe(PAIRS);
});

describe('two credits that share a reservation and refund different payments', () => {
  test.each(['one process', 'two processes'])('in %s, both slow to start: one of them succeeds', async (where) => {
    const { merchant, account, id, token } = await sold();
    const second = await checkout.paidByCard({}, merchant, { card_number: '5555555555554444' });
    const orderId = newOrderId();
    // Both search for the operation and find none before either of them writes it.
    let arrived = 0;
    const both = Promise.withResolvers<void>();
    const slow = (gateway: Gateway, finds: number): Gateway => {
      let calls = 0;
      return {
        ...gateway,
        operations: {
          ...gateway.operations,
          async find(key) {
            const found = await gateway.operations.find(key);
            if (++calls !== finds) return found;
            if (++arrived === 2) both.resolve();
            await both.promise;
            return found;
          },
        },
      };
    };
    const first = outcomeOf(credit(slow(shop.gateway, 1), account, creditOf(orderId, token)));
    await expect.poll(() => arrived).toBe(1);
    await shop.gateway.installation.moveClock(merchant.mid, 15_000);
    for (const gateway of [shop.gateway, other]) await readClock(gateway);
    const process = where === 'one process' ? shop.gateway : other;
    // Its first search is for the operation of the reservation, the second for its own operation.
    const secondOutcome = outcomeOf(
      credit(slow(process, 2), account, creditOf(orderId, second.token, { content: 'other' })),
    );
    expect([await first, await secondOutcome].toSorted()).toEqual(['duplicatePayment', 'made']);
    expect(await creditsOf(merchant.mid)).toMatchObject([{ state: 'done' }]);
    const refunded = [await shop.inspect(id), await shop.inspect(second.id)].map((payment) => payment.refunded);
    expect(refunded.toSorted()).toEqual(['0.00', '1.00']);
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
