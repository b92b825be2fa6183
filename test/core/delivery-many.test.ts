/** Many endpoints that hang at the same time: whoever answers is told as if they were not there. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readClock } from '../../src/core/clock.ts';
import type { Gateway } from '../../src/core/context.ts';
import { deliveriesAt, exhaustQueriesOf, holds, idOf, type Told } from '../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { answers } from '../support/receivers.ts';

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
/** One who does not lose patience, so that nobody is served only because others were given up. */
let patient: Gateway;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
});
beforeEach(async () => {
  patient = await shop.anotherGateway();
  await exhaustQueriesOf(patient, 120_000);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const PATIENTLY = { timeout: 60_000 };
const SALES_AT_ONCE = 60;
/** In seconds: longer than any round of tries takes here, so that nothing is due a second time within one. */
const RETRY_AFTER = 600;
/** How many are taken for those that fail, written a second time by hand. */
const FAILING_MOST = 256;

/** A merchant with this many callbacks that wait, spread over so many endpoints. */
async function manyEndpoints(callbacks: number, endpoints: number): Promise<Told> {
  const told = await deliveries.tellingTo(answers(503, { 'retry-after': String(RETRY_AFTER) }));
  for (let made = 0; made < callbacks; made += SALES_AT_ONCE) {
    await told.sales(Math.min(SALES_AT_ONCE, callbacks - made));
  }
  await shop.rows(`update callbacks c set endpoint = n.number % ${endpoints}
    from (select payment_id, row_number() over () as number from callbacks where mid = '${told.merchant.mid}') n
    where c.payment_id = n.payment_id`);
  return told;
}

/** How many callbacks of a merchant are taken; its server sees fewer, for they share its connections. */
async function takenOf({ merchant: { mid } }: Told): Promise<number> {
  const now = new Date(patient.clock.now(mid)).toISOString();
  return (await shop.rows(`select from callbacks where mid = '${mid}' and due_at > '${now}'`)).length;
}

/** That another merchant is told while at least so many hang, and still do; returns how many are taken then. */
async function expectOthersAreTold(dead: Told, hanging: number): Promise<number> {
  const { receiver } = dead;
  const held = holds();
  receiver.behaviour = held.behaviour;
  const stuck = patient.deliverer.drain();
  try {
    await expect.poll(() => held.seen.length, PATIENTLY).toBeGreaterThan(0);
    await expect.poll(() => takenOf(dead), PATIENTLY).toBeGreaterThanOrEqual(hanging);
    const other = await deliveries.tellingTo(answers(200));
    const ids = await other.sales(3);
    void patient.deliverer.drain();
    const told = ids.map((id) => `${id}-2`).toSorted();
    await expect.poll(() => other.receiver.received.map(idOf).toSorted(), PATIENTLY).toEqual(told);
    // Nobody was answered meanwhile: each that came still stands there with those before it.
    expect(held.seen).toEqual(held.seen.map((_, index) => index + 1));
    return await takenOf(dead);
  } finally {
    held.release();
    await stuck;
  }
}

test('from the first try on, with several callbacks each: others are told', async () => {
  await expectOthersAreTold(await manyEndpoints(720, 180), 180);
}, 180_000);

test('again, after they have failed twice: they share a lane, and others are told', async () => {
  const dead = await manyEndpoints(1100, 1100);
  for (const attempts of [1, 2]) {
    await patient.deliverer.drain();
    expect(dead.receiver.received).toHaveLength(attempts * 1100);
    await shop.gateway.installation.moveClock(dead.merchant.mid, RETRY_AFTER * 1000);
    await readClock(patient);
  }
  expect(await expectOthersAreTold(dead, FAILING_MOST)).toBeLessThanOrEqual(FAILING_MOST);
  expect(dead.receiver.received).toHaveLength(3 * 1100);
}, 180_000);
