/** How a callback is delivered: what counts as success, and how it is retried until it is parked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import {
  deliveriesAt,
  expectPause,
  idOf,
  isSigned,
  type MerchantSite,
  pauseOf,
  RETRY_SCHEDULE,
  setReceiverTimeout,
} from '../../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { allowBursts } from '../../support/limits.ts';
import {
  answers,
  type Behaviour,
  closesBeforeAnswer,
  closesInAnswer,
  drips,
  floods,
  hangs,
  inTurn,
  redirectsTo,
  speaksNonsense,
} from '../../support/receivers.ts';

allowBursts();

const PATIENT_MS = 60_000;
/** The patience with a server that does not answer. */
const SHORT_MS = 1500;
const DAY = 86_400;

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
  await setReceiverTimeout(shop.gateway, PATIENT_MS);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const failsTimes = (count: number): Behaviour =>
  inTurn(...(Array(count).fill(answers(500)) as [Behaviour]), answers(200));
const idsAt = ({ receiver }: MerchantSite): string[] => receiver.received.map(idOf);

describe('the retry schedule', () => {
  test('a receiver that always fails gets fourteen attempts with growing pauses; then the callback is parked, and can be resent', async () => {
    const { merchant, receiver, sale, newest, pass, resend } = await deliveries.siteWith(answers(500));
    const id = await sale();
    await deliveries.drain();
    for (const [retryIndex, scheduled] of RETRY_SCHEDULE.entries()) {
      const waiting = await newest(id);
      expect(waiting).toMatchObject({ state: 'waiting', attempts: retryIndex + 1, reason: null, finishedAt: null });
      expectPause(waiting, retryIndex);
      await pass(scheduled / 5);
      expect(receiver.received).toHaveLength(retryIndex + 1);
      await pass(pauseOf(waiting) - scheduled / 5);
      expect(receiver.received).toHaveLength(retryIndex + 2);
    }
    const parked = await newest(id);
    expect(parked).toMatchObject({
      state: 'parked',
      reason: 'All scheduled attempts failed.',
      attempts: RETRY_SCHEDULE.length + 1,
      dueAt: null,
      finishedAt: expect.any(Number),
    });
    expect(parked.log.map((one) => one.attempt)).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
    expect(new Set(parked.log.map(({ status }) => status))).toEqual(new Set([500]));

    await pass(30 * DAY);
    expect(receiver.received).toHaveLength(14);

    receiver.behaviour = answers(200);
    expect(await resend(id)).toBe(1);
    await deliveries.drain();
    const delivered = await newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', reason: null, attempts: 15, dueAt: null });
    expect(delivered.log.at(-1)).toMatchObject({ attempt: 15, status: 200, fault: null });
    // Every attempt has the same id and body, and is signed.
    expect(new Set(receiver.received.map(idOf))).toEqual(new Set([`${id}-${delivered.seq}`]));
    for (const one of receiver.received) {
      expect(one.body.toString()).toBe(delivered.body);
      expect(isSigned(one, merchant.callback_secret)).toBe(true);
    }
  });

  test('all attempts also happen in one long advance of the clock', async () => {
    const { receiver, sale, newest, pass } = await deliveries.siteWith(answers(500));
    const id = await sale();
    await pass(5 * DAY);
    expect(receiver.received).toHaveLength(14);
    expect(await newest(id)).toMatchObject({ state: 'parked', attempts: 14 });
  });

  test.each([2, 5, 14])('it ends when attempt %i succeeds', async (nth) => {
    const { receiver, sale, newest, pass } = await deliveries.siteWith(failsTimes(nth - 1));
    const id = await sale();
    await pass(5 * DAY);
    expect(receiver.received).toHaveLength(nth);
    const delivered = await newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: nth });
    expect(delivered.log.map(({ status }) => status)).toEqual([...Array(nth - 1).fill(500), 200]);
  });

  test('a resent callback that fails again starts from the first pause', async () => {
    const { receiver, sale, newest, pass, resend } = await deliveries.siteWith(answers(500));
    const id = await sale();
    await pass(5 * DAY);
    await resend();
    await deliveries.drain();
    expectPause(await newest(id), 0);
    await pass(5 * DAY);
    expect(receiver.received).toHaveLength(28);
    expect(await newest(id)).toMatchObject({ state: 'parked', attempts: 28 });
  });

  test('a delivered callback can be resent, with the same id', async () => {
    const site = await deliveries.siteWith(answers(200));
    const id = await site.sale();
    await deliveries.drain();
    expect(await site.resend(id)).toBe(1);
    await deliveries.drain();
    expect(idsAt(site)).toEqual([`${id}-2`, `${id}-2`]);
    expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  test('jitter: callbacks that failed together are not retried together', async () => {
    const { sales, newest } = await deliveries.siteWith(answers(500));
    const ids = await sales(12);
    await deliveries.drain();
    const pauses = await Promise.all(ids.map(async (id) => pauseOf(await newest(id))));
    expect(new Set(pauses.map(Math.round)).size).toBeGreaterThan(1);
  });
});

const CLOSED = 'The server closed the connection before its answer was complete.';
const LATE = 'The server did not answer in time.';

describe('the receiver', () => {
  test.each([
    ['answers 200', answers(200), 200],
    ['answers 204', answers(204), 204],
    ['answers with ten megabytes', floods(), 200],
  ])('%s: delivered', async (_, behaviour, status) => {
    const { sale, newest, pass, receiver } = await deliveries.siteWith(behaviour);
    const id = await sale();
    await deliveries.drain();
    const delivered = await newest(id);
    expect(delivered).toMatchObject({ state: 'delivered', reason: null, attempts: 1, dueAt: null });
    expect(delivered.log).toEqual([
      { attempt: 1, at: expect.any(Number), status, fault: null, tookMs: expect.any(Number) },
    ]);
    await pass(5 * DAY);
    expect(receiver.received).toHaveLength(1);
  });

  test.each<[string, Behaviour, number | null, string | null]>([
    ['answers 300', answers(300), 300, null],
    ['answers 304', answers(304), 304, null],
    ['answers 400', answers(400), 400, null],
    ['answers 410', answers(410), 410, null],
    ['answers 429', answers(429), 429, null],
    ['answers 500', answers(500), 500, null],
    ['answers 503', answers(503), 503, null],
    ['hangs', hangs, null, LATE],
    ['sends byte by byte', drips(), null, LATE],
    ['closes before it answers', closesBeforeAnswer, null, CLOSED],
    ['closes while it answers', closesInAnswer, null, CLOSED],
    ['does not speak HTTP', speaksNonsense, null, 'The connection broke, or the answer was not HTTP.'],
  ])('%s: retried', async (_, behaviour, status, fault) => {
    const { receiver, sale, newest, pass } = await deliveries.siteWith(inTurn(behaviour, answers(200)));
    const id = await sale();
    if (fault === LATE) await setReceiverTimeout(shop.gateway, SHORT_MS);
    await deliveries.drain();
    await setReceiverTimeout(shop.gateway, PATIENT_MS);
    const waiting = await newest(id);
    expect(waiting).toMatchObject({ state: 'waiting', reason: null, attempts: 1 });
    expect(waiting.log).toEqual([{ attempt: 1, at: expect.any(Number), status, fault, tookMs: expect.any(Number) }]);
    expectPause(waiting, 0);
    await pass(13);
    expect(await newest(id)).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  test('redirects: not followed', async () => {
    const elsewhere = await deliveries.receiver();
    const { sale, newest } = await deliveries.siteWith(redirectsTo(elsewhere.url));
    const id = await sale();
    await deliveries.drain();
    expect((await newest(id)).log).toMatchObject([{ status: 301, fault: null }]);
    expect(elsewhere.received).toEqual([]);
  });

  test('has a self-signed certificate: not called', async () => {
    const receiver = await deliveries.receiver(answers(200), { certificate: selfSigned(['127.0.0.1']) });
    const { sale, newest } = await deliveries.siteAt(receiver);
    const id = await sale();
    await deliveries.drain();
    const fault = 'The server could not prove who it is: its certificate or its TLS is not valid.';
    expect(await newest(id)).toMatchObject({ state: 'waiting', log: [{ status: null, fault }] });
    expect(receiver.received).toEqual([]);
  });

  test('refuses connections: retried', async () => {
    const site = await deliveries.siteWith(answers(200));
    await site.receiver.close();
    const id = await site.sale();
    await deliveries.drain();
    const fault = 'The server refused the connection.';
    expect(await site.newest(id)).toMatchObject({ state: 'waiting', log: [{ status: null, fault }] });
  });
});

describe('Retry-After', () => {
  const inAnHour = (): string => new Date(Date.now() + 3_600_000 + 60_000).toUTCString();
  test.each<[string, string | (() => string), number]>([
    ['longer than the schedule is honoured', '120', 120],
    ['of an hour is honoured', '3600', 3600],
    ['of more than an hour counts as an hour', '3601', 3600],
    ['of years counts as an hour', '999999999', 3600],
    ['may be a date', inAnHour, 3600],
  ])('%s', async (_, header, seconds) => {
    const behaviour: Behaviour = (response) =>
      void response.writeHead(429, { 'retry-after': typeof header === 'string' ? header : header() }).end();
    const { receiver, sale, newest, pass } = await deliveries.siteWith(behaviour);
    const id = await sale();
    await deliveries.drain();
    expect(pauseOf(await newest(id))).toBe(seconds);
    await pass(seconds / 2);
    expect(receiver.received).toHaveLength(1);
    await pass(seconds / 2);
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    ['shorter than the schedule', '2'],
    ['of zero', '0'],
    ['that is not a number', 'soon'],
    ['below zero', '-60'],
  ])('%s does not shorten the pause', async (_, header) => {
    const { sale, newest } = await deliveries.siteWith(answers(503, { 'retry-after': header }));
    const id = await sale();
    await deliveries.drain();
    expectPause(await newest(id), 0);
  });

  test('does not shorten later pauses, and does not add attempts', async () => {
    const { receiver, sale, newest, pass } = await deliveries.siteWith(answers(503, { 'retry-after': '3600' }));
    const id = await sale();
    await deliveries.drain();
    for (const [retryIndex, scheduled] of RETRY_SCHEDULE.entries()) {
      const waiting = await newest(id);
      if (scheduled > 3600 / 0.8) expectPause(waiting, retryIndex);
      else expect(pauseOf(waiting)).toBeGreaterThanOrEqual(3600);
      await pass(pauseOf(waiting));
    }
    expect(receiver.received).toHaveLength(14);
    expect(await newest(id)).toMatchObject({ state: 'parked' });
  });
});

describe('the address', () => {
  test('is read at every attempt: after a correction the backlog is delivered', async () => {
    const site = await deliveries.siteWith(answers(404));
    const ids = await site.sales(5);
    await deliveries.drain();
    const right = await deliveries.receiver();
    await site.set({ callback_url: right.url });
    await site.pass(13);
    expect(right.received.map(idOf).sort()).toEqual(ids.map((id) => `${id}-2`).sort());
    for (const id of ids) expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  test('that was removed is a fault of its own, and the retries go on until there is one again', async () => {
    const site = await deliveries.siteWith(answers(500));
    const id = await site.sale();
    await deliveries.drain();
    await site.set({ callback_url: '' });
    await site.pass(13);
    const waiting = await site.newest(id);
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 2 });
    expect(waiting.log.at(-1)).toMatchObject({ status: null, fault: 'No callback_url is set.' });
    expectPause(waiting, 1);
    expect(site.receiver.received).toHaveLength(1);
    site.receiver.behaviour = answers(200);
    await site.set({ callback_url: site.receiver.url });
    await site.pass(36);
    expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 3 });
  });

  test('that was never set: parked without an attempt, and can be resent once there is one', async () => {
    const site = await deliveries.siteWith(answers(200), { callback_url: '' });
    const id = await site.sale();
    await deliveries.drain();
    expect(await site.newest(id)).toMatchObject({ state: 'parked', reason: 'No callback_url is set.', attempts: 0 });
    await site.set({ callback_url: site.receiver.url });
    await site.resend();
    await deliveries.drain();
    expect(await site.newest(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('of a payment is an endpoint of its own: its failures do not affect the account’s', async () => {
    const site = await deliveries.siteWith(answers(200));
    const own = await deliveries.receiver(answers(500));
    const id = await site.sale({ callback_url: own.url });
    const other = await site.sale();
    await deliveries.drain();
    expect(own.received.map(idOf)).toEqual([`${id}-2`]);
    expect(idsAt(site)).toEqual([`${other}-2`]);
    expect(await site.newest(id)).toMatchObject({ state: 'waiting', attempts: 1 });
  });
});
