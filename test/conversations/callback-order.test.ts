/** A callback that keeps failing holds the later ones of its payment back for three tries, and no longer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCallback } from '../support/callbacks.ts';
import { deliveriesAt, expectPause, type Told } from '../support/delivery-shop.ts';
import { openShop } from '../support/gateway.ts';
import { answers, type Behaviour } from '../support/receivers.ts';

const shop = openShop();
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(() => {
  deliveries = deliveriesAt(shop);
});
afterAll(() => deliveries.close());

/** Written a second time by hand: how often a callback is tried before the later ones pass it. */
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
const arrived = ({ receiver }: Told): [string | undefined, number][] =>
  receiver.received.map((one) => {
    const { fields, sequence } = readCallback(one);
    return [fields.action, sequence];
  });

/** A sale with two refunds, whose receiver redirects the callback of the sale. */
async function refundedSale() {
  const told = await deliveries.tellingTo(redirectsAction('SALE'));
  const id = await told.sale();
  await told.operate('CREDITVOID', id, { amount: '1.00' });
  await told.operate('CREDITVOID', id, { amount: '2.00' });
  const [sale = 0, ...refunds] = (await told.callbacks(id)).map(({ seq }) => seq);
  expect(refunds).toHaveLength(2);
  const sales = (count: number): [string, number][] => Array.from({ length: count }, () => ['SALE', sale]);
  const later = refunds.map((seq): [string, number] => ['CREDITVOID', seq]);
  return { told, id, sale, sales, later };
}

test('the later callbacks wait for two failed tries, and pass in their order after the third', async () => {
  const { told, id, sales, later } = await refundedSale();
  await deliveries.drain();
  expect(arrived(told)).toEqual(sales(1));
  await told.pass(13);
  expect(arrived(told)).toEqual(sales(2));
  await told.pass(37);
  expect(arrived(told)).toEqual([...sales(BLOCKING_ATTEMPTS), ...later]);
  const [failing, ...refunds] = await told.callbacks(id);
  expect(failing).toMatchObject({ state: 'waiting', attempts: BLOCKING_ATTEMPTS });
  for (const refund of refunds) expect(refund).toMatchObject({ state: 'delivered', attempts: 1 });
});

test('the failing callback climbs its ladder to the end, and what happens meanwhile is delivered at once', async () => {
  const { told, id, sales, later } = await refundedSale();
  await told.pass(60);
  expectPause((await told.callbacks(id))[0] as never, BLOCKING_ATTEMPTS - 1);
  await told.operate('CREDITVOID', id, { amount: '3.00' });
  await deliveries.drain();
  const newest = await told.newest(id);
  expect(newest).toMatchObject({ state: 'delivered', attempts: 1 });
  const passed = [...sales(BLOCKING_ATTEMPTS), ...later, ['CREDITVOID', newest.seq]];
  expect(arrived(told)).toEqual(passed);
  await told.pass(5 * 86_400);
  expect(arrived(told)).toEqual([...passed, ...sales(14 - BLOCKING_ATTEMPTS)]);
  expect((await told.callbacks(id)).map(({ state }) => state)).toEqual([
    'parked',
    'delivered',
    'delivered',
    'delivered',
  ]);
});

test('a callback that is sent again holds the later ones back for three tries once more', async () => {
  const { told, id, sale, sales, later } = await refundedSale();
  await told.pass(3600);
  told.receiver.received.length = 0;
  const answer = await shop.admin('POST', '/callbacks/resend', { payment_id: id });
  expect(answer).toMatchObject({ status: 200, body: { resent: 3 } });
  await deliveries.drain();
  expect(arrived(told)).toEqual(sales(1));
  expect((await told.callbacks(id))[0]).toMatchObject({ seq: sale, state: 'waiting', retryIndex: 1 });
  await told.pass(13);
  expect(arrived(told)).toEqual(sales(2));
  await told.pass(37);
  expect(arrived(told)).toEqual([...sales(BLOCKING_ATTEMPTS), ...later]);
});

test('two failing callbacks climb their own ladders: the tries of one do not move those of the other', async () => {
  const told = await deliveries.tellingTo(answers(500));
  const id = await told.sale();
  await told.operate('CREDITVOID', id, { amount: '1.00' });
  await told.pass(60);
  // The first has failed three times, the second once, and 60 seconds after its third try the first fails again.
  for (let attempts = (await told.newest(id)).attempts; attempts < 10; attempts++) {
    const [first, second] = await told.callbacks(id);
    expectPause(second as never, attempts - 1);
    await told.pass((((second?.dueAt ?? 0) as number) - shop.gateway.clock.now(told.merchant.mid)) / 1000);
    expect(await told.newest(id)).toMatchObject({ attempts: attempts + 1 });
    expect((await told.callbacks(id))[0]?.attempts).toBeGreaterThanOrEqual(first?.attempts ?? 0);
  }
  await told.pass(10 * 86_400);
  expect((await told.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['parked', 14],
    ['parked', 14],
  ]);
});
