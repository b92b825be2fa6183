/** Who delivers what, when and how many at a time: in order per payment, shared by processes, paced per endpoint. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetAccounts } from '../../src/core/accounts.ts';
import { readClock } from '../../src/core/clock.ts';
import type { Gateway } from '../../src/core/context.ts';
import { type CallbackRow, SWEEP_START } from '../../src/store/callbacks.ts';
import { verifyAt } from '../../src/store/verify.ts';
import {
  deliveriesAt,
  exhaustQueriesOf,
  holds,
  idOf,
  LADDER,
  pauseOf,
  type Told,
  triesOf,
} from '../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { answers, type Behaviour, hangs, inTurn } from '../support/receivers.ts';

const PATIENCE_MS = 1500;
const DAY = 86_400;

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
/** One who does not lose patience: whoever hangs does so until the test lets go. */
let patient: Gateway;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
  await exhaustQueriesOf(shop.gateway, PATIENCE_MS);
  patient = await shop.anotherGateway();
  await exhaustQueriesOf(patient, 120_000);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const idsAt = ({ receiver }: Pick<Told, 'receiver'>): string[] => receiver.received.map(idOf);
/** Lets a merchant's time pass without anything happening on the way: all of it is due at the same moment. */
async function leap({ merchant: { mid } }: Told, seconds: number): Promise<void> {
  await shop.gateway.installation.moveClock(mid, seconds * 1000);
  await readClock(shop.gateway);
}

/** Takes what is due, as a process does that dies right after it. */
async function takeDue({ callbacks }: Gateway, now: number): Promise<CallbackRow[]> {
  const { found } = await callbacks.findDue(now, SWEEP_START);
  const wanted = found.map((one) => ({ ...one, room: 16 }));
  return (await callbacks.claimDue(now, wanted, 100)).rows;
}

const sorted = (ids: readonly string[]): string[] => [...ids].sort();

describe('shared by several processes', () => {
  let other: Gateway;
  beforeAll(async () => {
    other = await shop.anotherGateway();
    await exhaustQueriesOf(other, PATIENCE_MS);
  });

  test('everything is sent once, and in order', async () => {
    const told = await deliveries.tellingTo(holds(undefined, 5).behaviour);
    const ids = await told.sales(120, { auth: 'Y' });
    await Promise.all(ids.slice(0, 40).map((id) => told.operate('CAPTURE', id)));
    const before = await Promise.all([shop.gateway, other].map(triesOf));
    const all = async () => (await Promise.all(ids.map((id) => told.callbacks(id)))).flat();
    // One that looked held back to a process, while the other delivered what held it, is put off for a moment.
    await expect
      .poll(async () => {
        await Promise.all([shop.gateway, other].map(({ deliverer }) => deliverer.drain()));
        return (await all()).filter(({ state }) => state !== 'delivered');
      })
      .toEqual([]);
    const names = (await all()).map(({ paymentId, seq }) => `${paymentId}-${seq}`);
    expect(names).toHaveLength(160);
    expect(sorted(idsAt(told))).toEqual(sorted(names));
    for (const id of ids.slice(0, 40)) {
      const own = idsAt(told).filter((name) => name.startsWith(id));
      expect(own).toEqual(names.filter((name) => name.startsWith(id)));
    }
    const after = await Promise.all([shop.gateway, other].map(triesOf));
    for (const [index, count] of after.entries()) expect(count).toBeGreaterThan(before[index] as number);
  });

  test('what a process took that died before it sent it is taken over when its lease is over', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const ids = await told.sales(3);
    const taken = await takeDue(other, other.clock.now());
    expect(sorted(taken.map(({ paymentId }) => paymentId))).toEqual(sorted(ids));
    await deliveries.drain();
    await told.pass(20);
    expect(idsAt(told)).toEqual([]);
    await told.pass(11);
    expect(sorted(idsAt(told))).toEqual(sorted(ids.map((id) => `${id}-2`)));
    // That somebody had it before is no try.
    for (const id of ids) expect(await told.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('a try that could not be written is made again: told twice rather than never', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale();
    const away = Promise.withResolvers<void>();
    told.receiver.behaviour = async (response, request) => {
      await shop.rows('alter table callback_attempts rename to callback_attempts_away');
      answers(200)(response, request);
      away.resolve();
    };
    await Promise.all([deliveries.drain(), away.promise]);
    await shop.rows('alter table callback_attempts_away rename to callback_attempts');
    expect(await told.newest(id)).toMatchObject({ state: 'waiting', attempts: 0 });
    told.receiver.behaviour = answers(200);
    await told.pass(31);
    expect(idsAt(told)).toEqual([`${id}-2`, `${id}-2`]);
    expect(await told.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('a database that hands out nothing for a while loses nothing', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale();
    await shop.rows('alter table callbacks rename to callbacks_away');
    await deliveries.drain();
    await shop.rows('alter table callbacks_away rename to callbacks');
    expect(idsAt(told)).toEqual([]);
    await deliveries.drain();
    expect(idsAt(told)).toEqual([`${id}-2`]);
  });

  test('an answer that comes after another process has delivered changes nothing but the log', async () => {
    const held = holds((nth) => answers(nth === 1 ? 500 : 200));
    const told = await deliveries.tellingTo(held.behaviour);
    const id = await told.sale();
    const another = await shop.anotherGateway();
    await exhaustQueriesOf(another, 120_000);
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    await leap(told, 31);
    const quick = another.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(2);
    held.release();
    await Promise.all([slow, quick]);
    await deliveries.drain();
    const delivered = await told.newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, dueAt: null });
    expect(sorted(delivered.log.map(({ status }) => String(status)))).toEqual(['200', '500']);
  });

  test('an answer that comes after the callback was asked for anew does not park it, nor move its next try', async () => {
    const held = holds(() => answers(500));
    const told = await deliveries.tellingTo(held.behaviour);
    const id = await told.sale();
    // The last try of the ladder.
    await shop.rows(`update callbacks set retry_index = ${LADDER.length} where payment_id = '${id}'`);
    const before = await triesOf(patient);
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    expect(await told.resend(id)).toBe(1);
    told.receiver.behaviour = answers(503, { 'retry-after': '600' });
    await deliveries.drain();
    expect(pauseOf(await told.newest(id))).toBe(600);
    held.release();
    await slow;
    const waiting = await told.newest(id);
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 2, retryIndex: 1 });
    expect(waiting.log.map(({ status }) => status)).toEqual([503, 500]);
    expect((waiting.dueAt as number) - (waiting.log[0]?.at as number)).toBe(600_000);
    // Nobody is told of a callback that was parked: it was not.
    expect(await triesOf(patient)).toBe(before);
  });

  test('what is asked for while it is under way is sent once more, whatever the answer is', async () => {
    const held = holds((nth) => answers(nth === 1 ? 200 : 204));
    const told = await deliveries.tellingTo(held.behaviour);
    const id = await told.sale();
    const slow = patient.deliverer.drain();
    await expect.poll(() => held.seen.length).toBe(1);
    expect(await told.resend(id)).toBe(1);
    held.release();
    await slow;
    await deliveries.drain();
    const delivered = await told.newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, dueAt: null });
    expect(delivered.log.map(({ status }) => status)).toEqual([200, 204]);
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ])('two answers at the same moment are both listed, and the one that counts comes %s the other', async (_, place) => {
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale();
    const take = async (now: number) => {
      const [row] = await takeDue(other, now);
      expect(row?.paymentId).toBe(id);
      return row as CallbackRow;
    };
    const lost = await take(Date.now());
    await told.resend(id);
    const held = await take(lost.dueAt as number);
    const tried = ({ mid, paymentId, seq, dueAt }: CallbackRow, status: number) => ({
      key: { mid, paymentId, seq },
      claimedUntil: dueAt,
      ...({ state: status === 200 ? 'delivered' : 'parked', reason: null, dueAt: null } as const),
      ...{ at: Date.now(), status, fault: null, tookMs: 1 },
    });
    const records = [tried(lost, 500), tried(lost, 500)].with(place, tried(held, 200));
    const counted = await Promise.all(records.map(other.callbacks.record));
    expect(counted).toEqual(records.map(({ status }) => status === 200));
    const delivered = await told.newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, retryIndex: 1, dueAt: null });
    expect(delivered.log.map(({ status }) => status)).toEqual(records.map(({ status }) => status));
  });

  test('an answer that comes too late lets nobody send again what comes after it and is under way', async () => {
    const late = holds(() => answers(200));
    const told = await deliveries.tellingTo(late.behaviour);
    const id = await told.sale({ auth: 'Y' });
    await told.operate('CAPTURE', id);
    const slow = patient.deliverer.drain();
    await expect.poll(() => late.seen.length).toBe(1);
    await leap(told, 31);
    const next = holds(() => answers(200));
    told.receiver.behaviour = inTurn(answers(200), next.behaviour);
    const quick = deliveries.drain();
    await expect.poll(() => next.seen.length).toBe(1);
    late.release();
    await slow;
    next.release();
    await quick;
    const [first, second] = (await told.callbacks(id)).map(({ seq }) => `${id}-${seq}`);
    expect(idsAt(told)).toEqual([first, first, second]);
    expect((await told.callbacks(id)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 2],
      ['delivered', 1],
    ]);
  });

  test('a process that is stopped in the middle of a call that hangs has not tried', async () => {
    const leaving = await shop.anotherGateway();
    const told = await deliveries.tellingTo(inTurn(hangs, answers(200)));
    const id = await told.sale();
    const drained = leaving.deliverer.drain();
    await expect.poll(() => told.receiver.received.length).toBe(1);
    await leaving.deliverer.stop();
    await drained;
    expect(await told.newest(id)).toMatchObject({ state: 'waiting', attempts: 0, log: [] });
    await told.pass(31);
    expect(await told.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('a process that is stopped waits for what is answered soon, and that counts', async () => {
    const leaving = await shop.anotherGateway();
    const told = await deliveries.tellingTo(holds(undefined, 300).behaviour);
    const ids = await told.sales(4);
    const drained = leaving.deliverer.drain();
    await expect.poll(() => told.receiver.received.length).toBe(4);
    await leaving.deliverer.stop();
    await drained;
    for (const id of ids) expect(await told.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('one that delivers by itself hears of what another has written', async () => {
    const listening = await shop.anotherGateway();
    listening.deliverer.start();
    const told = await deliveries.tellingTo(answers(200));
    const id = await told.sale();
    await expect.poll(() => idsAt(told)).toEqual([`${id}-2`]);
    await listening.deliverer.stop();
  });
});

describe('what cannot be sent at all', () => {
  const poison = async ({ merchant: { mid } }: Told, column: string): Promise<void> => {
    await shop.rows(`update accounts set ${column} = '\\x00' where mid = '${mid}'`);
    forgetAccounts(shop.gateway, mid);
  };

  test('is parked at once with its reason, and the others go on; mended, it can be resent', async () => {
    const broken = await deliveries.tellingTo(answers(200));
    const sound = await deliveries.told(broken.receiver);
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

  test('is not taken again and again when something else of the account cannot be opened', async () => {
    const broken = await deliveries.tellingTo(answers(200));
    const id = await broken.sale();
    await poison(broken, 'password');
    await deliveries.drain();
    expect(['delivered', 'parked']).toContain((await broken.newest(id)).state);
  });
});

describe('a few at a time', () => {
  test('a receiver that answers gets more and more, and never more than sixteen', async () => {
    const held = holds(undefined, 20);
    const told = await deliveries.tellingTo(held.behaviour);
    await told.sales(200);
    await deliveries.drain();
    expect(held.seen).toHaveLength(200);
    expect(Math.max(...held.seen.slice(0, 4))).toBeLessThanOrEqual(4);
    expect(Math.max(...held.seen)).toBeLessThanOrEqual(16);
    expect(Math.max(...held.seen)).toBeGreaterThan(4);
  });

  test('one that fails gets one at a time; when it is back it gets more step by step', async () => {
    const FAILING = 40;
    const held = holds((nth) => answers(nth <= FAILING ? 500 : 200), 5);
    const told = await deliveries.tellingTo(held.behaviour);
    await told.sales(200);
    await deliveries.drain();
    expect(held.seen).toHaveLength(200);
    expect(Math.max(...held.seen.slice(0, 4))).toBeLessThanOrEqual(4);
    expect(new Set(held.seen.slice(4, FAILING + 1))).toEqual(new Set([1]));
    // Each success lets one more be under way, so before the nth success there are never more than n.
    for (const [index, underWay] of held.seen.slice(FAILING).entries()) {
      expect(underWay).toBeLessThanOrEqual(Math.min(16, index + 1));
    }
    expect(Math.max(...held.seen)).toBeGreaterThan(4);
  });

  test('the backlog of one that was dead for long comes back at this pace, too', async () => {
    const held = holds(undefined, 5);
    const told = await deliveries.tellingTo(answers(500));
    const ids = await told.sales(100);
    for (const hours of [0, 1, 2, 4]) {
      await leap(told, hours * 3600);
      await deliveries.drain();
    }
    told.receiver.received.length = 0;
    told.receiver.behaviour = held.behaviour;
    await leap(told, 10 * 3600);
    await deliveries.drain();
    expect(sorted(idsAt(told))).toEqual(sorted(ids.map((id) => `${id}-2`)));
    for (const [index, underWay] of held.seen.entries()) expect(underWay).toBeLessThanOrEqual(Math.min(16, index + 1));
  });

  test('one endpoint of three hundred that hangs delays nobody', async () => {
    const held = holds();
    const hanging = await deliveries.tellingTo(held.behaviour);
    const healthy = await deliveries.receiver();
    const others = await Promise.all(Array.from({ length: 299 }, () => deliveries.told(healthy)));
    const stuck = await hanging.sales(20);
    const ids = await Promise.all(others.map(({ sale }) => sale()));
    const drained = patient.deliverer.drain();
    await expect.poll(() => healthy.received.length, { timeout: 10_000 }).toBe(299);
    expect(sorted(healthy.received.map(idOf))).toEqual(sorted(ids.map((id) => `${id}-2`)));
    expect(held.seen.length).toBeLessThanOrEqual(4);
    for (const id of stuck) expect(await hanging.newest(id)).toMatchObject({ state: 'waiting', attempts: 0 });
    held.release();
    await drained;
    for (const id of stuck) expect(await hanging.newest(id)).toMatchObject({ state: 'delivered' });
  });

  test('even a hundred endpoints of three hundred that hang delay nobody', async () => {
    const held = holds();
    const hanging = await deliveries.receiver(held.behaviour);
    const healthy = await deliveries.receiver();
    const stuck = await Promise.all(Array.from({ length: 100 }, () => deliveries.told(hanging)));
    const others = await Promise.all(Array.from({ length: 200 }, () => deliveries.told(healthy)));
    await Promise.all(stuck.map(({ sales }) => sales(4)));
    await Promise.all(others.map(({ sale }) => sale()));
    const drained = patient.deliverer.drain();
    await expect.poll(() => healthy.received.length, { timeout: 8000 }).toBe(200);
    held.release();
    await drained;
    expect(hanging.received).toHaveLength(400);
  });
});

describe('in the order of each payment', () => {
  /** Refuses what is said of one payment and takes the rest. */
  const refuses =
    (id: string): Behaviour =>
    (response, request) =>
      answers(idOf(request).startsWith(id) ? 500 : 200)(response, request);

  /** A payment that is authorised, captured and refunded: three callbacks, here by their numbers. */
  async function busyPayment(told: Told): Promise<{ id: string; names: string[] }> {
    const id = await told.sale({ auth: 'Y' });
    await told.operate('CAPTURE', id);
    await told.operate('CREDITVOID', id);
    const names = (await told.callbacks(id)).map(({ seq }) => `${id}-${seq}`);
    expect(names).toHaveLength(3);
    return { id, names };
  }

  test('a later event is not sent before an earlier one was delivered; other payments go on', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const stuck = await busyPayment(told);
    told.receiver.behaviour = refuses(stuck.id);
    const fine = await busyPayment(told);
    await deliveries.drain();
    expect(idsAt(told).filter((name) => name.startsWith(stuck.id))).toEqual([stuck.names[0]]);
    expect(idsAt(told).filter((name) => name.startsWith(fine.id))).toEqual(fine.names);
    told.receiver.behaviour = answers(200);
    await told.pass(13);
    expect(idsAt(told).filter((name) => name.startsWith(stuck.id))).toEqual([stuck.names[0], ...stuck.names]);
    for (const { attempts, state } of await told.callbacks(stuck.id)) {
      expect([state, attempts <= 2]).toEqual(['delivered', true]);
    }
  });

  test('what fails three times does not stand in the way of what comes after it, nor when it is parked', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const { id, names } = await busyPayment(told);
    const [first = '', ...later] = names;
    told.receiver.behaviour = refuses(first);
    await told.pass(5 * DAY);
    expect((await told.callbacks(id)).map(({ state }) => state)).toEqual(['parked', 'delivered', 'delivered']);
    expect(idsAt(told)).toEqual([...Array(3).fill(first), ...later, ...Array(11).fill(first)]);
  });

  test('each is sent with the number of its event, so that a receiver can put them in order', async () => {
    const told = await deliveries.tellingTo(answers(200));
    const { id } = await busyPayment(told);
    await deliveries.drain();
    const numbers = told.receiver.received.map(({ headers }) => Number(headers['turnpike-sequence']));
    expect(numbers).toEqual((await told.callbacks(id)).map(({ seq }) => seq));
    expect(numbers).toEqual(sorted(numbers.map(String)).map(Number));
  });
});

test('after all of this every invariant holds, and every try is in the log', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  const odd = await shop.rows(`
    select c.payment_id from callbacks c left join callback_attempts t using (mid, payment_id, seq)
    group by c.mid, c.payment_id, c.seq having c.attempts <> count(t.try) or c.attempts <> coalesce(max(t.try), 0)`);
  expect(odd).toEqual([]);
});
