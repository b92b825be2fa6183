/** Many callbacks, a third of the servers faulty, delivering processes killed: no callback is lost or altered. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { idOf, isSigned } from '../../support/delivery-shop.ts';
import {
  become,
  delaysOf,
  LOST,
  percentile,
  RECOVERING,
  type StormMerchant,
  startStorm,
} from '../../support/delivery-storm.ts';
import { clearAway, type RunningGateway } from '../../support/process.ts';
import { answers } from '../../support/receivers.ts';

/** The number of callbacks; 20,000 are a realistic load and take a minute and a half. */
const EVENTS = Number(process.env.TURNPIKE_STORM_EVENTS ?? 4000);
const HEALTHY = 28;
const REAL_SALES = 6;
const KILLS = 5;
const HEALTHY_PER_SECOND = 400;

let storm: Awaited<ReturnType<typeof startStorm>>;
let healthy: StormMerchant[];
let recovering: StormMerchant[];
let lost: StormMerchant[];
beforeAll(async () => {
  storm = await startStorm();
  healthy = await Promise.all(
    Array.from({ length: HEALTHY }, () => storm.merchant('healthy', answers(200), REAL_SALES)),
  );
  const faulty = (kinds: typeof RECOVERING | typeof LOST) =>
    Promise.all(Object.entries(kinds).map(([name, behaviour]) => storm.merchant(name, behaviour, REAL_SALES)));
  recovering = await faulty(RECOVERING);
  lost = await faulty(LOST);
});
afterAll(async () => {
  await storm.close();
  await clearAway();
});

const midsOf = (merchants: readonly StormMerchant[]): string[] => merchants.map(({ merchant }) => merchant.mid);
const waiting = (merchants: readonly StormMerchant[]): Promise<number> =>
  storm.count(`state = 'waiting'`, midsOf(merchants));
/** Due by the gateway's clock, and not blocked by an earlier callback of the payment. */
const IS_DUE = `state = 'waiting'
  and due_at <= now() + (select coalesce(max(offset_ms), 0) from clock_offsets) * interval '1 ms'
  and not exists (select from callbacks b where b.mid = callbacks.mid and b.payment_id = callbacks.payment_id
    and b.seq < callbacks.seq and b.state = 'waiting' and b.retry_index < 3)`;
const SLOW_POLL = { timeout: 240_000, interval: 100 };

/** Waits until these merchants have no waiting callbacks. */
const allDelivered = (merchants: readonly StormMerchant[]): Promise<void> =>
  expect.poll(() => waiting(merchants), SLOW_POLL).toBe(0);

test(`${EVENTS} callbacks: each is delivered or parked, and healthy servers do not wait for faulty ones`, async () => {
  const all = [...healthy, ...recovering, ...lost];
  const faulty = [...recovering, ...lost];
  // First to healthy servers only, then to all, then twice as many while processes are killed.
  const each = Math.ceil(EVENTS / (HEALTHY + 3 * all.length));
  const phaseMs = (1000 * each * HEALTHY) / HEALTHY_PER_SECOND;
  const figures: Record<string, unknown> = { events: EVENTS };

  const first = await storm.worker();
  await allDelivered(healthy);
  const measure = async (name: string, merchants: readonly StormMerchant[]): Promise<number> => {
    const written = await storm.pour(merchants, each, phaseMs);
    await allDelivered(healthy);
    const delays = delaysOf(healthy, written);
    figures[name] = { count: delays.length, p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) };
    return percentile(delays, 0.99);
  };
  const baseline = await measure('baseline', healthy);
  const stormy = await measure('stormy', all);
  figures.ratio = stormy / baseline;
  expect(await waiting(faulty)).toBeGreaterThan(0);

  const workers: RunningGateway[] = [first, await storm.worker()];
  await storm.pour(all, each, 0);
  const poured = storm.pour(all, each, phaseMs);
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(Math.random() * 1000);
    const victim = workers.shift() as RunningGateway;
    victim.signal('SIGKILL');
    expect((await victim.ended).signal).toBe('SIGKILL');
    workers.push(await storm.worker());
  }
  await poured;
  figures.leased = await storm.count(`state = 'waiting' and due_at > now()`, midsOf(healthy));
  await storm.leap(LIMITS.leaseMs / 1000 + 1);
  await allDelivered(healthy);
  expect(await waiting(faulty)).toBeGreaterThan(0);
  expect(await storm.count(`state = 'parked'`)).toBe(0);

  for (const one of recovering) {
    if (one.name === 'failsTls') await storm.move(one);
    else become(one.receivers[0], answers(200), one);
  }
  // Other tests go through the whole retry schedule; here its last attempts are enough.
  await storm.rows(`update callbacks set retry_index = 12 where state = 'waiting' and mid = any($1)`, [midsOf(lost)]);
  for (let leaps = 0; leaps < 10 && (await waiting(faulty)) > 0; leaps++) {
    await storm.leap(30 * 3600);
    await expect.poll(() => storm.count(IS_DUE), SLOW_POLL).toBe(0);
  }
  for (const worker of workers) await worker.stop();

  expect(await storm.count(`state = 'waiting'`)).toBe(0);
  expect(await storm.count(`state = 'parked'`, midsOf([...healthy, ...recovering]))).toBe(0);
  expect(await storm.count(`state = 'delivered'`, midsOf(lost))).toBe(0);

  const bodies = new Map<string, Map<string, string>>();
  for (const { mid, id, body } of await storm.rows(`select mid, payment_id || '-' || seq as id, body from callbacks`)) {
    const own = bodies.get(mid as string) ?? new Map();
    bodies.set(mid as string, own.set(id, body));
  }
  let copies = 0;
  for (const { merchant, name, receivers, accepted } of all) {
    const own = bodies.get(merchant.mid) as Map<string, string>;
    const received = receivers.flatMap((one) => one.received);
    copies += received.length;
    for (const one of received) {
      expect(own.get(idOf(one)), `${name}: every body is as written`).toBe(one.body.toString());
      expect(isSigned(one, merchant.callback_secret), `${name}: everything is signed`).toBe(true);
    }
    if (!(name in LOST)) expect(new Set(received.map(idOf)).size, `${name}: nothing is missing`).toBe(own.size);
    // An endless answer is cut off before its end.
    if (!(name in LOST) && name !== 'floods') expect(accepted.size, `${name}: all were accepted`).toBe(own.size);
    if (name === 'healthy') expectOrder(received.map(idOf));
  }
  const [total] = await storm.rows('select count(*)::int as count, sum(attempts)::int as attempts from callbacks');
  expect(total?.count).toBeGreaterThanOrEqual(EVENTS);
  const twice = healthy.map(({ receivers, arrivals }) => receivers[0].received.length - arrivals.size);
  figures.total = total;
  figures.copies = copies;
  figures.healthyDuplicates = twice.reduce((sum, one) => sum + one, 0);
  console.log(JSON.stringify(figures));
  expect((await verifyAt(storm.connection)).violations).toEqual([]);
}, 900_000);

/** The first arrivals of a payment's callbacks are in order. */
function expectOrder(ids: readonly string[]): void {
  const firsts = new Map<string, number>();
  for (const id of new Set(ids)) {
    const [, payment = '', seq = ''] = /^(.*)-(\d+)$/.exec(id) ?? [];
    expect(Number(seq), id).toBeGreaterThan(firsts.get(payment) ?? 0);
    firsts.set(payment, Number(seq));
  }
}
