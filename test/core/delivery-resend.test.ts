/** A callback is asked for anew while a later one of its payment is under way: neither is lost, and neither is sent twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveriesAt, holds, idOf } from '../support/delivery-shop.ts';
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
    await expect.poll(async () => (await told.callbacks(id))[0]?.tries).toBe(2);
    held.release();
    await slow;
    await deliveries.drain();
    const sent = told.receiver.received.map(idOf).filter((one) => one === `${id}-${second?.seq}`);
    expect(sent).toHaveLength(1);
    expect((await told.callbacks(id)).map(({ state, tries }) => [state, tries])).toEqual([
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
