/** Many endpoints hang at the same time: endpoints that answer get their callbacks without delay. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Gateway } from '../../../src/core/context.ts';
import { readClock } from '../../../src/core/sandbox/clock.ts';
import { deliveriesAt, holds, idOf, type MerchantSite, setReceiverTimeout } from '../../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { allowBursts, lengthenLimits } from '../../support/limits.ts';
import { answers } from '../../support/receivers.ts';

allowBursts();

// Calls hang for longer than a lease on a busy machine; then they would be made again.
lengthenLimits({ leaseMs: 300_000 });

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
/** A process with a long timeout, so that no endpoint is served only because calls to others timed out. */
let patient: Gateway;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
});
beforeEach(async () => {
  patient = await shop.anotherGateway();
  await setReceiverTimeout(patient, 120_000);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const SLOW_POLL = { timeout: 60_000 };
const SALES_AT_ONCE = 60;
/** In seconds; longer than a round of attempts takes here, so that nothing is due twice within one. */
const RETRY_AFTER = 600;
/** The in-flight limit of failing endpoints, stated independently of the source. */
const FAILING_MOST = 256;

/** A merchant with this many waiting callbacks, spread over this many endpoints. */
async function manyEndpoints(callbacks: number, endpoints: number): Promise<MerchantSite> {
  const site = await deliveries.siteWith(answers(503, { 'retry-after': String(RETRY_AFTER) }));
  for (let made = 0; made < callbacks; made += SALES_AT_ONCE) {
    await site.sales(Math.min(SALES_AT_ONCE, callbacks - made));
  }
  await shop.rows(`update callbacks c set endpoint = n.number % ${endpoints}
    from (select payment_id, row_number() over () as number from callbacks where mid = '${site.merchant.mid}') n
    where c.payment_id = n.payment_id`);
  return site;
}

/** How many callbacks of a merchant are claimed; its server sees fewer, because they share its connections. */
async function claimedOf({ merchant: { mid } }: MerchantSite): Promise<number> {
  const now = new Date(patient.clock.now(mid)).toISOString();
  return (await shop.rows(`select from callbacks where mid = '${mid}' and due_at > '${now}'`)).length;
}

/** Expects that another merchant gets its callbacks while at least this many hang; returns how many are claimed then. */
async function expectOthersAreServed(dead: MerchantSite, hanging: number): Promise<number> {
  const { receiver } = dead;
  const held = holds();
  receiver.behaviour = held.behaviour;
  const stuck = patient.deliverer.drain();
  try {
    await expect.poll(() => held.seen.length, SLOW_POLL).toBeGreaterThan(0);
    await expect.poll(() => claimedOf(dead), SLOW_POLL).toBeGreaterThanOrEqual(hanging);
    const other = await deliveries.siteWith(answers(200));
    const ids = await other.sales(3);
    void patient.deliverer.drain();
    const expected = ids.map((id) => `${id}-2`).toSorted();
    await expect.poll(() => other.receiver.received.map(idOf).toSorted(), SLOW_POLL).toEqual(expected);
    // No call was answered meanwhile: each that arrived found all earlier ones still open.
    expect(held.seen).toEqual(held.seen.map((_, index) => index + 1));
    return await claimedOf(dead);
  } finally {
    held.release();
    await stuck;
  }
}

test('at the first attempt, with several callbacks each: others are served', async () => {
  await expectOthersAreServed(await manyEndpoints(720, 180), 180);
}, 180_000);

test('after two failures: they share the limit of failing endpoints, and others are served', async () => {
  const dead = await manyEndpoints(1100, 1100);
  for (const attempts of [1, 2]) {
    await patient.deliverer.drain();
    expect(dead.receiver.received).toHaveLength(attempts * 1100);
    await shop.gateway.installation.moveClock(dead.merchant.mid, RETRY_AFTER * 1000);
    await readClock(patient);
  }
  expect(await expectOthersAreServed(dead, FAILING_MOST)).toBeLessThanOrEqual(FAILING_MOST);
  expect(dead.receiver.received).toHaveLength(3 * 1100);
}, 180_000);
