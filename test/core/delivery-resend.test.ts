/** Callbacks are resent, one or thousands, while others are under way: none is lost, and none is sent twice. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveriesAt, holds, idOf, type Told } from '../support/delivery-shop.ts';
import { openShop } from '../support/gateway.ts';
import { answers } from '../support/receivers.ts';

const shop = openShop();
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(() => {
  deliveries = deliveriesAt(shop);
});
afterAll(() => deliveries.close());

const resendFirst = async (mid: string, paymentId: string, seq: number): Promise<void> => {
  expect(await shop.gateway.callbacks.resend({ mid, paymentId, seq }, shop.gateway.clock.now)).toBe(1);
};

test.each([200, 500])(
  'the earlier one is answered %i: the answer to the later one counts all the same',
  async (status) => {
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale({ auth: 'Y' });
    await deliveries.drain();
    await told.operate('CAPTURE', id);
    const held = holds(() => answers(200));
    told.receiver.behaviour = held.behaviour;
    const slow = (await shop.anotherGateway()).deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);

    const [first, second] = await told.callbacks(id);
    await resendFirst(told.merchant.mid, id, first?.seq ?? 0);
    told.receiver.behaviour = answers(status);
    void deliveries.drain();
    await expect.poll(async () => (await told.callbacks(id))[0]?.attempts).toBe(2);
    held.release();
    await slow;
    await deliveries.drain();
    const sent = told.receiver.received.map(idOf).filter((one) => one === `${id}-${second?.seq}`);
    expect(sent).toHaveLength(1);
    expect((await told.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
      [status === 200 ? 'delivered' : 'waiting', 2],
      ['delivered', 1],
    ]);
  },
);

test('what waited behind one that failed for long follows it at once', async () => {
  const told = await deliveries.tellingTo(answers(500));
  const id = await told.sale({ auth: 'Y' });
  await told.operate('CAPTURE', id);
  await told.pass(3600);
  told.receiver.behaviour = answers(200);
  const [first] = await told.callbacks(id);
  await resendFirst(told.merchant.mid, id, first?.seq ?? 0);
  await deliveries.drain();
  expect((await told.callbacks(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

describe('a range', () => {
  /** A merchant with so many payments that were told, most of them copies of one of them. */
  async function manyPayments(count: number): Promise<Told> {
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale();
    await deliveries.drain();
    await shop.rows(`insert into callbacks (mid, payment_id, seq, type, body, is_json, endpoint, state, attempts, created_at)
      select mid, gen_random_uuid(), seq, type, body, is_json, endpoint, 'delivered', 0,
        -- Many at the same time, so that the portions cut through them.
        created_at - (n / 700) * interval '1 second'
      from callbacks, generate_series(2, ${count}) n where payment_id = '${id}'`);
    told.receiver.received.length = 0;
    return told;
  }
  const resendAll = async ({ merchant: { mid } }: Told): Promise<number> => {
    const { status, body } = await shop.admin('POST', '/callbacks/resend', { mid });
    expect(status).toBe(200);
    return body.resent;
  };
  const idsOf = async ({ merchant: { mid } }: Told): Promise<string[]> =>
    (await shop.rows(`select payment_id || '-' || seq as id from callbacks where mid = '${mid}'`)).map(
      ({ id }) => id as string,
    );

  test.each([1000, 2300])('of %i callbacks is resent completely, each of them once', async (count) => {
    const told = await manyPayments(count);
    expect(await resendAll(told)).toBe(count);
    await deliveries.drain();
    expect(told.receiver.received.map(idOf).toSorted()).toEqual((await idsOf(told)).toSorted());
    expect(
      await shop.rows(`select from callbacks where mid = '${told.merchant.mid}' and state <> 'delivered'`),
    ).toEqual([]);
  });

  test('is delivered while it is resent: each callback once, and nothing waits for ever', async () => {
    const told = await manyPayments(2300);
    const other = await shop.anotherGateway();
    const [resent] = await Promise.all([
      resendAll(told),
      ...[shop.gateway, other].map(async ({ deliverer }) => {
        for (let n = 0; n < 5; n++) await deliverer.drain();
      }),
    ]);
    expect(resent).toBe(2300);
    await deliveries.drain();
    expect(told.receiver.received.map(idOf).toSorted()).toEqual((await idsOf(told)).toSorted());
  });

  test('goes past a row that is locked, and waits for it without a lock of its own', async () => {
    const told = await manyPayments(1200);
    const { mid } = told.merchant;
    const [first, second] = await shop.rows(
      `select payment_id as id from callbacks where mid = '${mid}' order by created_at, payment_id limit 2`,
    );
    const client = new pg.Client(shop.connection);
    await client.connect();
    try {
      await client.query('begin');
      const lock = (row?: Record<string, unknown>) =>
        client.query('select from callbacks where mid = $1 and payment_id = $2 for update', [mid, row?.id]);
      await lock(second);
      const resent = resendAll(told);
      const waiting = async () =>
        (await shop.rows(`select from callbacks where mid = '${mid}' and state = 'waiting'`)).length;
      await expect.poll(waiting).toBe(999);
      // Two that lock the same rows in another order: no deadlock, because the resend holds none while it waits.
      await lock(first);
      await client.query('commit');
      expect(await resent).toBe(1200);
      expect(await waiting()).toBe(1200);
    } finally {
      await client.end();
    }
    await deliveries.drain();
    expect(told.receiver.received).toHaveLength(1200);
  });
});
