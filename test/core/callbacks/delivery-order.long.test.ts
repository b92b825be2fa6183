/** Delivery across processes: in order per payment, shared between processes, and within a window per endpoint. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetAccounts } from '../../../src/core/accounts/accounts.ts';
import type { Gateway } from '../../../src/core/context.ts';
import { readClock } from '../../../src/core/sandbox/clock.ts';
import { type CallbackRow, SWEEP_START } from '../../../src/store/callbacks/callbacks.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import {
  attemptsBy,
  deliveriesAt,
  holds,
  idOf,
  type MerchantSite,
  pauseOf,
  RETRY_SCHEDULE,
  setReceiverTimeout,
} from '../../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { allowBursts, lengthenLimits } from '../../support/limits.ts';
import { answers, type Behaviour, hangs, inTurn } from '../../support/receivers.ts';

allowBursts();

/** Longer than any server here takes to answer, however busy the machine is. */
const USUAL_MS = 20_000;
/** A call that hangs does so until the test ends it. */
const PATIENT_MS = 120_000;
const DAY = 86_400;

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
/** A process whose calls hang. */
let patient: Gateway;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
  await setReceiverTimeout(shop.gateway, USUAL_MS);
  patient = await shop.anotherGateway();
  await setReceiverTimeout(patient, PATIENT_MS);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const idsAt = ({ receiver }: Pick<MerchantSite, 'receiver'>): string[] => receiver.received.map(idOf);
/** Advances a merchant's clock in one step: everything until then is due at the same moment. */
async function leap({ merchant: { mid } }: MerchantSite, seconds: number): Promise<void> {
  await shop.gateway.installation.moveClock(mid, seconds * 1000);
  await readClock(shop.gateway);
}

/** Claims what is due, as a process does that dies right afterwards. */
async function claimDue({ callbacks }: Gateway, now: number): Promise<CallbackRow[]> {
  const { found } = await callbacks.findDue(now, SWEEP_START);
  const requests = found.map((one) => ({ ...one, room: 16 }));
  return (await callbacks.claimDue(now, requests, 100)).rows;
}

const sorted = (ids: readonly string[]): string[] => [...ids].sort();

describe('shared by several processes', () => {
  let other: Gateway;
  beforeAll(async () => {
    other = await shop.anotherGateway();
    await setReceiverTimeout(other, USUAL_MS);
  });

  test('every callback is sent once, and in order', async () => {
    const site = await deliveries.siteWith(holds(undefined, 5).behaviour);
    const ids = await site.sales(120, { auth: 'Y' });
    await Promise.all(ids.slice(0, 40).map((id) => site.operate('CAPTURE', id)));
    const before = await Promise.all([shop.gateway, other].map(attemptsBy));
    const all = async () => (await Promise.all(ids.map((id) => site.callbacks(id)))).flat();
    // A callback that one process found blocked, while the other delivered its blocker, is deferred for a moment.
    await expect
      .poll(async () => {
        await Promise.all([shop.gateway, other].map(({ deliverer }) => deliverer.drain()));
        return (await all()).filter(({ state }) => state !== 'delivered');
      })
      .toEqual([]);
    const names = (await all()).map(({ paymentId, seq }) => `${paymentId}-${seq}`);
    expect(names).toHaveLength(160);
    expect(sorted(idsAt(site))).toEqual(sorted(names));
    for (const id of ids.slice(0, 40)) {
      const own = idsAt(site).filter((name) => name.startsWith(id));
      expect(own).toEqual(names.filter((name) => name.startsWith(id)));
    }
    const after = await Promise.all([shop.gateway, other].map(attemptsBy));
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThan(before[index] as number);
  });

  test('callbacks claimed by a process that died are claimed again when their lease expires', async () => {
    const site = await deliveries.siteWith(answers(200));
    const ids = await site.sales(3);
    const claimed = await claimDue(other, other.clock.now());
    expect(sorted(claimed.map(({ paymentId }) => paymentId))).toEqual(sorted(ids));
    await deliveries.drain();
    await site.pass(10);
    expect(idsAt(site)).toEqual([]);
    await site.pass(21);
    expect(sorted(idsAt(site))).toEqual(sorted(ids.map((id) => `${id}-2`)));
    // The first claim does not count as an attempt.
    for (const id of ids) expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('an attempt whose outcome could not be recorded is repeated: delivery is at least once', async () => {
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale();
    const away = Promise.withResolvers<void>();
    site.receiver.behaviour = async (response, request) => {
      await shop.rows('alter table callback_attempts rename to callback_attempts_away');
      answers(200)(response, request);
      away.resolve();
    };
    await Promise.all([deliveries.drain(), away.promise]);
    await shop.rows('alter table callback_attempts_away rename to callback_attempts');
    expect(await site.newest(id)).toMatchObject({ state: 'waiting', attempts: 0 });
    site.receiver.behaviour = answers(200);
    await site.pass(31);
    expect(idsAt(site)).toEqual([`${id}-2`, `${id}-2`]);
    expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('nothing is lost while claims fail', async () => {
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale();
    await shop.rows('alter table callbacks rename to callbacks_away');
    await deliveries.drain();
    await shop.rows('alter table callbacks_away rename to callbacks');
    expect(idsAt(site)).toEqual([]);
    await deliveries.drain();
    expect(idsAt(site)).toEqual([`${id}-2`]);
  });

  test('a late answer after another process has delivered changes only the log', async () => {
    const held = holds((nth) => answers(nth === 1 ? 500 : 200));
    const site = await deliveries.siteWith(held.behaviour);
    const id = await site.sale();
    const another = await shop.anotherGateway();
    await setReceiverTimeout(another, PATIENT_MS);
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    await leap(site, 31);
    const quick = another.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(2);
    held.release();
    await Promise.all([slow, quick]);
    await deliveries.drain();
    const delivered = await site.newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, dueAt: null });
    expect(sorted(delivered.log.map(({ status }) => String(status)))).toEqual(['200', '500']);
  });

  test('a late answer after a resend neither parks the callback nor moves its next attempt', async () => {
    const held = holds(() => answers(500));
    const site = await deliveries.siteWith(held.behaviour);
    const id = await site.sale();
    // The last scheduled attempt.
    await shop.rows(`update callbacks set retry_index = ${RETRY_SCHEDULE.length} where payment_id = '${id}'`);
    const before = await attemptsBy(patient);
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    expect(await site.resend(id)).toBe(1);
    site.receiver.behaviour = answers(503, { 'retry-after': '600' });
    await deliveries.drain();
    expect(pauseOf(await site.newest(id))).toBe(600);
    held.release();
    await slow;
    const waiting = await site.newest(id);
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 2, retryIndex: 1 });
    expect(waiting.log.map(({ status }) => status)).toEqual([503, 500]);
    expect((waiting.dueAt as number) - (waiting.log[0]?.at as number)).toBe(600_000);
    // The metrics count no parked callback, because it was not parked.
    expect(await attemptsBy(patient)).toBe(before);
  });

  test('a callback that is resent while it is in flight is sent once more, whatever the answer is', async () => {
    const held = holds((nth) => answers(nth === 1 ? 200 : 204));
    const site = await deliveries.siteWith(held.behaviour);
    const id = await site.sale();
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    expect(await site.resend(id)).toBe(1);
    held.release();
    await slow;
    await deliveries.drain();
    const delivered = await site.newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, dueAt: null });
    expect(delivered.log.map(({ status }) => status)).toEqual([200, 204]);
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ])(
    'two answers at the same moment are both logged, when the one with the lease comes %s the other',
    async (_, place) => {
      const site = await deliveries.siteWith(answers(200));
      const id = await site.sale();
      const claimOne = async (now: number) => {
        const [row] = await claimDue(other, now);
        expect(row?.paymentId).toBe(id);
        return row as CallbackRow;
      };
      const lost = await claimOne(Date.now());
      await site.resend(id);
      const held = await claimOne(lost.dueAt as number);
      const outcomeOf = ({ mid, paymentId, seq, dueAt }: CallbackRow, status: number) => ({
        key: { mid, paymentId, seq },
        claimedUntil: dueAt,
        ...({ state: status === 200 ? 'delivered' : 'parked', reason: null, dueAt: null } as const),
        ...{ at: Date.now(), status, fault: null, tookMs: 1 },
      });
      const outcomes = [outcomeOf(lost, 500), outcomeOf(lost, 500)].with(place, outcomeOf(held, 200));
      const areCurrent = await Promise.all(outcomes.map(other.callbacks.record));
      expect(areCurrent).toEqual(outcomes.map(({ status }) => status === 200));
      const delivered = await site.newest(id);
      expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, retryIndex: 1, dueAt: null });
      expect(delivered.log.map(({ status }) => status)).toEqual(outcomes.map(({ status }) => status));
    },
  );

  test('a late answer does not cause the next callback, which is in flight, to be sent again', async () => {
    const late = holds(() => answers(200));
    const site = await deliveries.siteWith(late.behaviour);
    const id = await site.sale({ auth: 'Y' });
    await site.operate('CAPTURE', id);
    const slow = patient.deliverer.drain();
    await expect.poll(() => late.seen.length).toBe(1);
    await leap(site, 31);
    const next = holds(() => answers(200));
    site.receiver.behaviour = inTurn(answers(200), next.behaviour);
    const quick = deliveries.drain();
    await expect.poll(() => next.seen.length).toBe(1);
    late.release();
    await slow;
    next.release();
    await quick;
    const [first, second] = (await site.callbacks(id)).map(({ seq }) => `${id}-${seq}`);
    expect(idsAt(site)).toEqual([first, first, second]);
    expect((await site.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 2],
      ['delivered', 1],
    ]);
  });

  test('a call that hangs when its process stops does not count as an attempt', async () => {
    const leaving = await shop.anotherGateway();
    const site = await deliveries.siteWith(inTurn(hangs, answers(200)));
    const id = await site.sale();
    const drained = leaving.deliverer.drain();
    await expect.poll(() => site.receiver.received.length).toBe(1);
    await leaving.deliverer.stop();
    await drained;
    expect(await site.newest(id)).toMatchObject({ state: 'waiting', attempts: 0, log: [] });
    await site.pass(31);
    expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('a process that stops waits for answers that come soon, and they count', async () => {
    const leaving = await shop.anotherGateway();
    const site = await deliveries.siteWith(holds(undefined, 300).behaviour);
    const ids = await site.sales(4);
    const drained = leaving.deliverer.drain();
    await expect.poll(() => site.receiver.received.length).toBe(4);
    await leaving.deliverer.stop();
    await drained;
    for (const id of ids) expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('a process that delivers is notified of callbacks that another one has written', async () => {
    const listening = await shop.anotherGateway();
    listening.deliverer.start();
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale();
    await expect.poll(() => idsAt(site)).toEqual([`${id}-2`]);
    await listening.deliverer.stop();
  });
});

describe('a callback that cannot be signed', () => {
  const poison = async ({ merchant: { mid } }: MerchantSite, column: string): Promise<void> => {
    await shop.rows(`update accounts set ${column} = '\\x00' where mid = '${mid}'`);
    forgetAccounts(shop.gateway, mid);
  };

  test('is parked at once with a reason, without affecting others; after a repair it can be resent', async () => {
    const broken = await deliveries.siteWith(answers(200));
    const sound = await deliveries.siteAt(broken.receiver);
    const ids = await broken.sales(6);
    const others = await sound.sales(6);
    const { mid } = broken.merchant;
    const [row] = await shop.rows(`select encode(callback_secret, 'hex') as secret from accounts where mid = '${mid}'`);
    await poison(broken, 'callback_secret');
    await deliveries.drain();
    expect(sorted(idsAt(sound))).toEqual(sorted(others.map((id) => `${id}-2`)));
    const reason = 'It could not be signed: the secret of the account cannot be opened.';
    for (const id of ids) {
      expect(await broken.newest(id)).toMatchObject({ state: 'parked', reason, dueAt: null, log: [{ fault: reason }] });
    }
    await shop.rows(`update accounts set callback_secret = '\\x${row?.secret}' where mid = '${mid}'`);
    forgetAccounts(shop.gateway, mid);
    await broken.resend();
    await deliveries.drain();
    for (const id of ids) expect(await broken.newest(id)).toMatchObject({ state: 'delivered' });
  });

  test('is not claimed again and again when another secret of the account cannot be opened', async () => {
    const broken = await deliveries.siteWith(answers(200));
    const id = await broken.sale();
    await poison(broken, 'password');
    await deliveries.drain();
    expect(['delivered', 'parked']).toContain((await broken.newest(id)).state);
  });
});

describe('the window of an endpoint', () => {
  test('grows with each delivery, up to sixteen', async () => {
    const held = holds(undefined, 20);
    const site = await deliveries.siteWith(held.behaviour);
    await site.sales(200);
    await deliveries.drain();
    expect(held.seen).toHaveLength(200);
    expect(Math.max(...held.seen.slice(0, 4))).toBeLessThanOrEqual(4);
    expect(Math.max(...held.seen)).toBeLessThanOrEqual(16);
    expect(Math.max(...held.seen)).toBeGreaterThan(4);
  });

  test('shrinks to one when the endpoint fails, and grows step by step when it recovers', async () => {
    const FAILING = 40;
    // Later than this test takes.
    const refusal = answers(503, { 'retry-after': '3600' });
    const held = holds((nth) => (nth <= FAILING ? refusal : answers(200)), 20);
    const site = await deliveries.siteWith(held.behaviour);
    await site.sales(200);
    await deliveries.drain();
    expect(held.seen).toHaveLength(200);
    expect(Math.max(...held.seen.slice(0, 4))).toBeLessThanOrEqual(4);
    expect(new Set(held.seen.slice(4, FAILING + 1))).toEqual(new Set([1]));
    // Each success allows one more in flight, so before the nth success there are never more than n.
    for (const [index, underWay] of held.seen.slice(FAILING).entries()) {
      expect(underWay).toBeLessThanOrEqual(Math.min(16, index + 1));
    }
    expect(Math.max(...held.seen)).toBeGreaterThan(4);
  });

  test('grows step by step also for the backlog of an endpoint that failed for long', async () => {
    const held = holds(undefined, 5);
    const site = await deliveries.siteWith(answers(500));
    const ids = await site.sales(100);
    for (const hours of [0, 1, 2, 4]) {
      await leap(site, hours * 3600);
      await deliveries.drain();
    }
    site.receiver.received.length = 0;
    site.receiver.behaviour = held.behaviour;
    await leap(site, 10 * 3600);
    await deliveries.drain();
    expect(sorted(idsAt(site))).toEqual(sorted(ids.map((id) => `${id}-2`)));
    for (const [index, underWay] of held.seen.entries()) expect(underWay).toBeLessThanOrEqual(Math.min(16, index + 1));
  });

  describe('that hangs', () => {
    // Calls hang for longer than a lease on a busy machine; then they would be made again.
    lengthenLimits({ leaseMs: 300_000 });
    const SLOW_POLL = { timeout: 60_000 };

    test('keeps one endpoint of three hundred that hangs from delaying the others', async () => {
      const held = holds();
      const hanging = await deliveries.siteWith(held.behaviour);
      const healthy = await deliveries.receiver();
      const others = await deliveries.sitesAt(healthy, 299);
      const stuck = await hanging.sales(20);
      const ids = await Promise.all(others.map(({ sale }) => sale()));
      const drained = patient.deliverer.drain();
      await expect.poll(() => healthy.received.length, SLOW_POLL).toBe(299);
      expect(sorted(healthy.received.map(idOf))).toEqual(sorted(ids.map((id) => `${id}-2`)));
      expect(held.seen.length).toBeLessThanOrEqual(4);
      for (const id of stuck) expect(await hanging.newest(id)).toMatchObject({ state: 'waiting', attempts: 0 });
      held.release();
      await drained;
      for (const id of stuck) expect(await hanging.newest(id)).toMatchObject({ state: 'delivered' });
    });

    test('keeps a hundred endpoints of three hundred that hang from delaying the others', async () => {
      const held = holds();
      const hanging = await deliveries.receiver(held.behaviour);
      const healthy = await deliveries.receiver();
      const stuck = await deliveries.sitesAt(hanging, 100);
      const others = await deliveries.sitesAt(healthy, 200);
      await Promise.all(stuck.map(({ sales }) => sales(4)));
      await Promise.all(others.map(({ sale }) => sale()));
      const drained = patient.deliverer.drain();
      await expect.poll(() => healthy.received.length, SLOW_POLL).toBe(200);
      held.release();
      await drained;
      expect(hanging.received).toHaveLength(400);
    });
  });
});

describe('the order within a payment', () => {
  /** Refuses the callbacks of one payment and accepts the others. */
  const refuses =
    (id: string): Behaviour =>
    (response, request) =>
      answers(idOf(request).startsWith(id) ? 500 : 200)(response, request);

  /** A payment that is authorised, captured and refunded, with the ids of its three callbacks. */
  async function busyPayment(site: MerchantSite): Promise<{ id: string; names: string[] }> {
    const id = await site.sale({ auth: 'Y' });
    await site.operate('CAPTURE', id);
    await site.operate('CREDITVOID', id);
    const names = (await site.callbacks(id)).map(({ seq }) => `${id}-${seq}`);
    expect(names).toHaveLength(3);
    return { id, names };
  }

  test('a later callback is not sent before an earlier one is delivered; other payments are not affected', async () => {
    const site = await deliveries.siteWith(answers(200));
    const stuck = await busyPayment(site);
    site.receiver.behaviour = refuses(stuck.id);
    const fine = await busyPayment(site);
    await deliveries.drain();
    expect(idsAt(site).filter((name) => name.startsWith(stuck.id))).toEqual([stuck.names[0]]);
    expect(idsAt(site).filter((name) => name.startsWith(fine.id))).toEqual(fine.names);
    site.receiver.behaviour = answers(200);
    await site.pass(13);
    expect(idsAt(site).filter((name) => name.startsWith(stuck.id))).toEqual([stuck.names[0], ...stuck.names]);
    for (const { attempts, state } of await site.callbacks(stuck.id)) {
      expect([state, attempts <= 2]).toEqual(['delivered', true]);
    }
  });

  test('a callback that failed three times, or is parked, does not block the later ones', async () => {
    const site = await deliveries.siteWith(answers(200));
    const { id, names } = await busyPayment(site);
    const [first = '', ...later] = names;
    site.receiver.behaviour = refuses(first);
    await site.pass(5 * DAY);
    expect((await site.callbacks(id)).map(({ state }) => state)).toEqual(['parked', 'delivered', 'delivered']);
    expect(idsAt(site)).toEqual([...Array(3).fill(first), ...later, ...Array(11).fill(first)]);
  });

  test('each callback carries its sequence number, so that a receiver can order them', async () => {
    const site = await deliveries.siteWith(answers(200));
    const { id } = await busyPayment(site);
    await deliveries.drain();
    const numbers = site.receiver.received.map(({ headers }) => Number(headers['turnpike-sequence']));
    expect(numbers).toEqual((await site.callbacks(id)).map(({ seq }) => seq));
    expect(numbers).toEqual(sorted(numbers.map(String)).map(Number));
  });
});

test('in the end every invariant holds, and every attempt is in the log', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  const odd = await shop.rows(`
    select c.payment_id from callbacks c left join callback_attempts t using (mid, payment_id, seq)
    group by c.mid, c.payment_id, c.seq having c.attempts <> count(t.attempt) or c.attempts <> coalesce(max(t.attempt), 0)`);
  expect(odd).toEqual([]);
});
