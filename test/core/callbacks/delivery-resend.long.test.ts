/** Callbacks are resent, one or thousands, while others are in flight: none is lost, and none is sent twice. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveriesAt, holds, idOf, type MerchantSite } from '../../support/delivery-shop.ts';
import { openShop } from '../../support/gateway.ts';
import { PAST_PAYMENT_ID } from '../../support/payments.ts';
import { answers } from '../../support/receivers.ts';

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
  'a resent callback is answered %i while the next one is in flight: the outcome of the next one counts',
  async (status) => {
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale({ auth: 'Y' });
    await deliveries.drain();
    await site.operate('CAPTURE', id);
    const held = holds(() => answers(200));
    site.receiver.behaviour = held.behaviour;
    const slow = (await shop.anotherGateway()).deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);

    const [first, second] = await site.callbacks(id);
    await resendFirst(site.merchant.mid, id, first?.seq ?? 0);
    site.receiver.behaviour = answers(status);
    void deliveries.drain();
    await expect.poll(async () => (await site.callbacks(id))[0]?.attempts).toBe(2);
    held.release();
    await slow;
    await deliveries.drain();
    const sent = site.receiver.received.map(idOf).filter((one) => one === `${id}-${second?.seq}`);
    expect(sent).toHaveLength(1);
    expect((await site.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
      [status === 200 ? 'delivered' : 'waiting', 2],
      ['delivered', 1],
    ]);
  },
);

test('a callback behind one that failed for long is sent right after it', async () => {
  const site = await deliveries.siteWith(answers(500));
  const id = await site.sale({ auth: 'Y' });
  await site.operate('CAPTURE', id);
  await site.pass(3600);
  site.receiver.behaviour = answers(200);
  const [first] = await site.callbacks(id);
  await resendFirst(site.merchant.mid, id, first?.seq ?? 0);
  await deliveries.drain();
  expect((await site.callbacks(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

describe('a bulk resend', () => {
  /** A merchant with this many delivered callbacks, most of them copies of one. */
  async function manyPayments(count: number): Promise<MerchantSite> {
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale();
    await deliveries.drain();
    await shop.rows(`insert into callbacks (mid, payment_id, seq, type, body, is_json, endpoint, state, attempts, created_at)
      select mid, ${PAST_PAYMENT_ID}, seq, type, body, is_json, endpoint, 'delivered', 0,
        -- Many have the same time, so that portions end between them.
        created_at - (n / 700) * interval '1 second'
      from callbacks, generate_series(2, ${count}) n where payment_id = '${id}'`);
    await shop.rows(`insert into callback_log (mid, payment_id, seq, created_at)
      select mid, payment_id, seq, created_at from callbacks where mid = '${site.merchant.mid}' on conflict do nothing`);
    site.receiver.received.length = 0;
    return site;
  }
  const resendAll = async ({ merchant: { mid } }: MerchantSite): Promise<number> => {
    const { status, body } = await shop.admin('POST', '/callbacks/resend', { mid });
    expect(status).toBe(200);
    return body.resent;
  };
  const idsOf = async ({ merchant: { mid } }: MerchantSite): Promise<string[]> =>
    (await shop.rows(`select payment_id || '-' || seq as id from callbacks where mid = '${mid}'`)).map(
      ({ id }) => id as string,
    );

  test.each([1000, 2300])('of %i callbacks sends each of them once', async (count) => {
    const site = await manyPayments(count);
    expect(await resendAll(site)).toBe(count);
    await deliveries.drain();
    expect(site.receiver.received.map(idOf).toSorted()).toEqual((await idsOf(site)).toSorted());
    expect(
      await shop.rows(`select from callbacks where mid = '${site.merchant.mid}' and state <> 'delivered'`),
    ).toEqual([]);
  });

  test('is delivered while it is under way: each callback once, and none is left', async () => {
    const count = 2300;
    const site = await manyPayments(count);
    const other = await shop.anotherGateway();
    const [resent] = await Promise.all([
      resendAll(site),
      ...[shop.gateway, other].map(async ({ deliverer }) => {
        for (let n = 0; n < 5; n++) await deliverer.drain();
      }),
    ]);
    expect(resent).toBe(count);
    await deliveries.drain();
    expect(site.receiver.received.map(idOf).toSorted()).toEqual((await idsOf(site)).toSorted());
  });

  test('skips a locked row, and waits for it later without holding a lock', async () => {
    const site = await manyPayments(1200);
    const { mid } = site.merchant;
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
      const resent = resendAll(site);
      const waiting = async () =>
        (await shop.rows(`select from callbacks where mid = '${mid}' and state = 'waiting'`)).length;
      await expect.poll(waiting).toBe(999);
      // Locks the rows in another order: no deadlock, because the resend holds no lock while it waits.
      await lock(first);
      await client.query('commit');
      expect(await resent).toBe(1200);
      expect(await waiting()).toBe(1200);
    } finally {
      await client.end();
    }
    await deliveries.drain();
    expect(site.receiver.received).toHaveLength(1200);
  });
});
