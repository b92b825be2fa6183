/** A callback that keeps failing blocks the later ones of its payment for three attempts, and no longer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCallback } from '../support/callbacks.ts';
import { deliveriesAt, expectPause, type MerchantSite } from '../support/delivery-shop.ts';
import { openShop } from '../support/gateway.ts';
import { answers, type Behaviour } from '../support/receivers.ts';

const shop = openShop();
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(() => {
  deliveries = deliveriesAt(shop);
});
afterAll(() => deliveries.close());

/** Stated independently of the source: after how many failed attempts the later callbacks pass. */
const BLOCKING_ATTEMPTS = 3;

/** Redirects callbacks with this action and accepts the others. */
const redirectsAction =
  (action: string): Behaviour =>
  (response, request) => {
    const isRefused = readCallback(request).fields.action === action;
    return answers(isRefused ? 302 : 200, isRefused ? { location: 'https://elsewhere.example/' } : {})(
      response,
      request,
    );
  };

/** The action and the sequence of each callback that arrived, in order of arrival. */
const arrived = ({ receiver }: MerchantSite): [string | undefined, number][] =>
  receiver.received.map((one) => {
    const { fields, sequence } = readCallback(one);
    return [fields.action, sequence];
  });

/** A sale with two refunds, whose receiver redirects the callback of the sale. */
async function refundedSale() {
  const site = await deliveries.siteWith(redirectsAction('SALE'));
  const id = await site.sale();
  await site.operate('CREDITVOID', id, { amount: '1.00' });
  await site.operate('CREDITVOID', id, { amount: '2.00' });
  const [sale = 0, ...refunds] = (await site.callbacks(id)).map(({ seq }) => seq);
  expect(refunds).toHaveLength(2);
  const sales = (count: number): [string, number][] => Array.from({ length: count }, () => ['SALE', sale]);
  const later = refunds.map((seq): [string, number] => ['CREDITVOID', seq]);
  return { site, id, sale, sales, later };
}

test('the later callbacks wait for two failed attempts, and pass in order after the third', async () => {
  const { site, id, sales, later } = await refundedSale();
  await deliveries.drain();
  expect(arrived(site)).toEqual(sales(1));
  await site.pass(13);
  expect(arrived(site)).toEqual(sales(2));
  await site.pass(37);
  expect(arrived(site)).toEqual([...sales(BLOCKING_ATTEMPTS), ...later]);
  const [failing, ...refunds] = await site.callbacks(id);
  expect(failing).toMatchObject({ state: 'waiting', attempts: BLOCKING_ATTEMPTS });
  for (const refund of refunds) expect(refund).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('the failing callback goes through its whole retry schedule, and new ones are delivered at once meanwhile', async () => {
  const { site, id, sales, later } = await refundedSale();
  await site.pass(60);
  expectPause((await site.callbacks(id))[0] as never, BLOCKING_ATTEMPTS - 1);
  await site.operate('CREDITVOID', id, { amount: '3.00' });
  await deliveries.drain();
  const newest = await site.newest(id);
  expect(newest).toMatchObject({ state: 'delivered', attempts: 1 });
  const passed = [...sales(BLOCKING_ATTEMPTS), ...later, ['CREDITVOID', newest.seq]];
  expect(arrived(site)).toEqual(passed);
  await site.pass(5 * 86_400);
  expect(arrived(site)).toEqual([...passed, ...sales(14 - BLOCKING_ATTEMPTS)]);
  expect((await site.callbacks(id)).map(({ state }) => state)).toEqual([
    'parked',
    'delivered',
    'delivered',
    'delivered',
  ]);
});

test('a resent callback blocks the later ones for three attempts again', async () => {
  const { site, id, sale, sales, later } = await refundedSale();
  await site.pass(3600);
  site.receiver.received.length = 0;
  const answer = await shop.admin('POST', '/callbacks/resend', { payment_id: id });
  expect(answer).toMatchObject({ status: 200, body: { resent: 3 } });
  await deliveries.drain();
  expect(arrived(site)).toEqual(sales(1));
  expect((await site.callbacks(id))[0]).toMatchObject({ seq: sale, state: 'waiting', retryIndex: 1 });
  await site.pass(13);
  expect(arrived(site)).toEqual(sales(2));
  await site.pass(37);
  expect(arrived(site)).toEqual([...sales(BLOCKING_ATTEMPTS), ...later]);
});

test('two failing callbacks have their own retry schedules: the attempts of one do not move those of the other', async () => {
  const site = await deliveries.siteWith(answers(500));
  const id = await site.sale();
  await site.operate('CREDITVOID', id, { amount: '1.00' });
  await site.pass(60);
  // The first has failed three times, the second once; 60 seconds after its third attempt the first fails again.
  for (let attempts = (await site.newest(id)).attempts; attempts < 10; attempts++) {
    const [first, second] = await site.callbacks(id);
    expectPause(second as never, attempts - 1);
    await site.pass((((second?.dueAt ?? 0) as number) - shop.gateway.clock.now(site.merchant.mid)) / 1000);
    expect(await site.newest(id)).toMatchObject({ attempts: attempts + 1 });
    expect((await site.callbacks(id))[0]?.attempts).toBeGreaterThanOrEqual(first?.attempts ?? 0);
  }
  await site.pass(10 * 86_400);
  expect((await site.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['parked', 14],
    ['parked', 14],
  ]);
});
