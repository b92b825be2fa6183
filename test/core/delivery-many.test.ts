/** Many endpoints that hang at the same time: whoever answers is told as if they were not there. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readClock } from '../../src/core/clock.ts';
import type { Gateway } from '../../src/core/context.ts';
import { deliveriesAt, holds, idOf, loseThePatienceOf, type Told } from '../support/delivery-shop.ts';
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
  await loseThePatienceOf(patient, 120_000);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const PATIENTLY = { timeout: 60_000 };
const SALES_AT_ONCE = 60;

/** A merchant with this many callbacks that wait, spread over so many endpoints. */
async function manyEndpoints(callbacks: number, endpoints: number): Promise<Told> {
  const told = await deliveries.tellingTo(answers(500));
  for (let made = 0; made < callbacks; made += SALES_AT_ONCE) {
    await told.sales(Math.min(SALES_AT_ONCE, callbacks - made));
  }
  await shop.rows(`update callbacks c set endpoint = n.number % ${endpoints}
    from (select payment_id, row_number() over () as number from callbacks where mid = '${told.merchant.mid}') n
    where c.payment_id = n.payment_id`);
  return told;
}

/** That another merchant is told while everything that hangs still does. */
async function expectOthersAreTold({ receiver }: Told): Promise<void> {
  const held = holds();
  receiver.behaviour = held.behaviour;
  const stuck = patient.deliverer.drain();
  try {
    await expect.poll(() => held.seen.length, PATIENTLY).toBeGreaterThan(0);
    const other = await deliveries.tellingTo(answers(200));
    const ids = await other.sales(3);
    void patient.deliverer.drain();
    const told = ids.map((id) => `${id}-2`).toSorted();
    await expect.poll(() => other.receiver.received.map(idOf).toSorted(), PATIENTLY).toEqual(told);
    // Nobody was answered meanwhile: each that came still stands there with those before it.
    expect(held.seen).toEqual(held.seen.map((_, index) => index + 1));
  } finally {
    held.release();
    await stuck;
  }
}

test('from the first try on, with several callbacks each: others are told', async () => {
  await expectOthersAreTold(await manyEndpoints(720, 180));
}, 180_000);

test('again, after they have failed: others are told', async () => {
  const dead = await manyEndpoints(1100, 1100);
  await patient.deliverer.drain();
  expect(dead.receiver.received).toHaveLength(1100);
  await shop.gateway.installation.moveClock(dead.merchant.mid, 13_000);
  await readClock(patient);
  await expectOthersAreTold(dead);
  expect(dead.receiver.received).toHaveLength(2200);
}, 180_000);
