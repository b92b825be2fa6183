/** Moving the sandbox clock: everything that falls due on the way is processed at its due time, in order. */
import { describe, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../../../src/connectors/connector.ts';
import { createVcard } from '../../../src/connectors/vcard.ts';
import { processEverythingDue, readClock } from '../../../src/core/sandbox/clock.ts';
import type { Deadline } from '../../../src/lib/time/deadline.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { type Answer, type Fields, type Merchant, openShop, sign } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';

type Script = (submission: Submission, deadline: Deadline) => Outcome;
const usual = createVcard();
/** What the provider of the test brand does with the payments of an account. */
const scripts = new Map<string, { submit?: Script; query?: Script }>();
const provider: Connector = {
  ...usual,
  submit: (submission, deadline) => (scripts.get(submission.mid)?.submit ?? usual.submit)(submission, deadline),
  query: (submission, deadline) => (scripts.get(submission.mid)?.query ?? usual.query)(submission, deadline),
};
/** A bank that accepts every transfer and never gets the money. */
const bank: Connector = {
  ...usual,
  submit: () => ({ kind: 'accepted', instructions: { account: '1' } }),
  query: () => ({ kind: 'accepted' }),
};
const SILENT: Script = () => ({ kind: 'unknown' });

const shop = openShop({ connectors: { vcard: provider, upstream: bank } });

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

type Item = Answer['body'];
const seconds = (date: string): number => Date.parse(`${date}Z`) / 1000;
const clock = async (mid = ''): Promise<Item> => (await shop.admin('GET', `/clock?mid=${mid}`)).body;

/** A schedule of an account and a first payment on it; the charges of it so far, oldest first. */
async function subscribe(merchant: Merchant, terms: Fields, sale: Fields = {}) {
  const { body } = await shop.post({
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    ...{ name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '15', ...terms },
    hash: sign(merchant.password),
  });
  const { schedule_id } = body;
  const first = (await shop.sale({ schedule_id, recurring_init: 'Y', ...sale }, merchant)).body;
  const charges = async (): Promise<Item[]> =>
    (await shop.admin('GET', `/payments?schedule_id=${schedule_id}&limit=500`)).body.items
      .reverse()
      .filter(({ payment_id }: Item) => payment_id !== first.trans_id);
  return {
    first,
    charges,
    /** How long after the first payment each charge was made. */
    pauses: async (): Promise<number[]> =>
      (await charges()).map(({ created_at }) => seconds(created_at) - seconds(first.trans_date)),
  };
}

/**
 * Processing takes time, so an event is written a little after its due time, and never before. It may be later by what
 * the event before it was late, because some are due at a pause after the last one.
 */
function expectMoments(found: number[], expected: number[]): void {
  const words = `${found} should be ${expected}`;
  expect(found.length, words).toBe(expected.length);
  let late = 0;
  for (const [index, moment] of expected.entries()) {
    expect(found[index], words).toBeGreaterThanOrEqual(moment);
    expect(found[index], words).toBeLessThan(moment + late + 30);
    late = Math.max(late, (found[index] as number) - moment);
  }
}

/** The events after `opened`, and the seconds after it. */
async function expectHistory(id: string, expected: [event: string, after: number][]): Promise<void> {
  const { history, created_at } = await shop.inspect(id);
  const later = history.slice(1);
  expect(later.map(({ event }: Item) => event)).toEqual(expected.map(([event]) => event));
  expectMoments(
    later.map(({ at }: Item) => seconds(at) - seconds(created_at)),
    expected.map(([, after]) => after),
  );
}

/** The queries of a payment without an answer, in seconds after it was opened. */
const QUERIES: [string, number][] = [
  ['unanswered', 0],
  ['queried', 5],
  ['queried', 10],
  ['queried', 25],
  ['queried', 55],
  ['queried', 115],
  ['queried', 415],
  ['queried', 1315],
  ['queried', 4915],
  ['queried', 26_515],
  ['queried', 112_915],
  ['queried', 199_315],
];

describe('one long move', () => {
  test('processes every kind of work at its due time', async () => {
    const merchant = await shop.newMerchant();
    const silent = await shop.newMerchant();
    scripts.set(silent.mid, { submit: SILENT, query: SILENT });
    const weekly = await subscribe(merchant, { interval_unit: 'week' });
    const authorised = (await shop.sale({ auth: 'Y' }, merchant)).body;
    const transfer = (
      await shop.sale({ brand: 'transfer-a', order_currency: 'ARS', bank_cuil: '20-12345678-6' }, merchant)
    ).body;
    expect(transfer, JSON.stringify(transfer)).toHaveProperty('trans_id');
    const unanswered = (await shop.sale({}, silent)).body;
    const abandoned = preparedPayment(shop, { mid: merchant.mid });
    await shop.gateway.payments.open(abandoned);

    await shop.advanceClock(3 * DAY);
    await expectHistory(unanswered.trans_id, QUERIES);
    scripts.delete(silent.mid);
    await shop.advanceClock(27 * DAY);

    expectMoments(await weekly.pauses(), [7 * DAY, 14 * DAY, 21 * DAY, 28 * DAY]);
    await expectHistory(authorised.trans_id, [
      ['authorised', 0],
      ['requested expiry', 7 * DAY],
      ['expired', 7 * DAY],
    ]);
    await expectHistory(abandoned.paymentId, [['settled', 30]]);
    await expectHistory(unanswered.trans_id, [...QUERIES, ['settled', 285_715]]);
    const { history, created_at } = await shop.inspect(transfer.trans_id);
    const ended = history.find(({ event }: Item) => event === 'abandoned');
    expectMoments([seconds(ended.at) - seconds(created_at)], [5 * MINUTE]);
  });

  test('histories, and the payments of each schedule, are in order of time', async () => {
    const merchant = await shop.newMerchant();
    const plans = [
      await subscribe(merchant, { interval_length: '3' }),
      await subscribe(merchant, { interval_length: '5' }),
      await subscribe(merchant, { interval_unit: 'week' }),
    ];
    await shop.advanceClock(30.5 * DAY, merchant.mid);
    const made = await Promise.all(plans.map(({ charges }) => charges()));
    expect(made.map((charges) => charges.length)).toEqual([10, 6, 4]);
    // Lists sort by id. In a sandbox, the ids of charges follow that of their subscription.
    for (const charges of made) {
      const dates = charges.map(({ created_at }) => created_at);
      expect(dates).toEqual([...dates].sort());
    }
    expect(
      await shop.rows(`select h.payment_id from history h join history before
        on before.mid = h.mid and before.payment_id = h.payment_id and before.seq = h.seq - 1 where h.at < before.at`),
    ).toEqual([]);
  });

  test('has the same result as many short ones', async () => {
    const parts: [words: string, moves: number[]][] = [
      ['at once', [12.5 * DAY]],
      ['day by day', [...Array(12).fill(DAY), DAY / 2]],
      ['in uneven steps', [...Array(12).fill(90_000), 0]],
    ];
    for (const [words, moves] of parts) {
      const merchant = await shop.newMerchant();
      const { pauses } = await subscribe(merchant, { interval_length: '2' });
      const authorised = (await shop.sale({ auth: 'Y' }, merchant)).body;
      for (const move of moves) await shop.advanceClock(move, merchant.mid);
      expect(
        (await pauses()).map((pause) => Math.floor(pause / HOUR)),
        words,
      ).toEqual([48, 96, 144, 192, 240, 288]);
      const { history } = await shop.inspect(authorised.trans_id);
      const expired = seconds(history.at(-1).at) - seconds(authorised.trans_date);
      expect([history.at(-1).event, Math.floor(expired / HOUR)], words).toEqual(['expired', 168]);
    }
  });

  test('moves the clock by exactly the requested time, whatever the steps', async () => {
    const merchant = await shop.newMerchant();
    await subscribe(merchant, {});
    await shop.sale({ auth: 'Y' }, merchant);
    for (const move of [0, 1, 0.5, 12.345, HOUR, 10 * DAY, 400.001]) {
      const before = await clock(merchant.mid);
      const { status, body } = await shop.admin('POST', '/clock', { advance_seconds: move, mid: merchant.mid });
      expect(status).toBe(200);
      expect(body.offset_seconds - before.offset_seconds).toBeCloseTo(move, 3);
      expect(await clock(merchant.mid)).toMatchObject({ offset_seconds: body.offset_seconds, mid: merchant.mid });
    }
  });

  test('concurrent moves add up, and nothing is processed twice', async () => {
    const merchant = await shop.newMerchant();
    const { charges } = await subscribe(merchant, {});
    const before = await clock(merchant.mid);
    await Promise.all([shop.advanceClock(5.25 * DAY, merchant.mid), shop.advanceClock(5.25 * DAY, merchant.mid)]);
    expect((await clock(merchant.mid)).offset_seconds - before.offset_seconds).toBeCloseTo(10.5 * DAY, 3);
    const made = await charges();
    expect(made.length).toBeLessThanOrEqual(10);
    expect(new Set(made.map(({ order_id }) => order_id)).size).toBe(made.length);
    for (const { status } of made) expect(status).toBe('SETTLED');
  });
});

describe('the clock', () => {
  test('of one account: the work of the other one waits for its own clock', async () => {
    const [one, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const [mine, theirs] = [await subscribe(one, {}), await subscribe(other, {})];
    const held = (await shop.sale({ auth: 'Y' }, other)).body;
    const before = await clock();
    await shop.advanceClock(10.5 * DAY, one.mid);
    expect(await mine.charges()).toHaveLength(10);
    expect(await theirs.charges()).toEqual([]);
    await expectHistory(held.trans_id, [['authorised', 0]]);
    expect((await clock()).offset_seconds).toBe(before.offset_seconds);
    await shop.advanceClock(8.5 * DAY, other.mid);
    expectMoments(
      await theirs.pauses(),
      Array.from({ length: 8 }, (_, n) => (n + 1) * DAY),
    );
    await expectHistory(held.trans_id, [
      ['authorised', 0],
      ['requested expiry', 7 * DAY],
      ['expired', 7 * DAY],
    ]);
    expect(await mine.charges()).toHaveLength(10);
  });

  test('of all accounts: work is processed at the due times of each', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, () => shop.newMerchant()));
    const plans = await Promise.all(accounts.map((account) => subscribe(account, { interval_length: '2' })));
    await shop.advanceClock(9 * DAY);
    for (const { pauses } of plans) expectMoments(await pauses(), [2 * DAY, 4 * DAY, 6 * DAY, 8 * DAY]);
  });

  test('of all accounts, some of them ahead: each account by its own clock', async () => {
    const [ahead, further, usual] = [await shop.newMerchant(), await shop.newMerchant(), await shop.newMerchant()];
    await shop.advanceClock(20 * DAY, ahead.mid);
    await shop.advanceClock(400 * DAY, further.mid);
    const threes = await subscribe(ahead, { interval_length: '3' });
    const fours = await subscribe(further, { interval_length: '4' });
    const fives = await subscribe(usual, { interval_length: '5' });
    const [first, second, third] = [threes, fours, fives].map((plan) => seconds(plan.first.trans_date));
    expect(Math.round(((first ?? 0) - (third ?? 0)) / DAY)).toBe(20);
    expect(Math.round(((second ?? 0) - (third ?? 0)) / DAY)).toBe(400);
    const days = (...numbers: number[]): number[] => numbers.map((n) => n * DAY);
    await shop.advanceClock(10.5 * DAY);
    expectMoments(await threes.pauses(), days(3, 6, 9));
    expectMoments(await fours.pauses(), days(4, 8));
    expectMoments(await fives.pauses(), days(5, 10));
    await shop.advanceClock(3 * DAY, ahead.mid);
    expectMoments(await threes.pauses(), days(3, 6, 9, 12));
    await shop.advanceClock(3 * DAY);
    expectMoments(await threes.pauses(), days(3, 6, 9, 12, 15));
    expectMoments(await fours.pauses(), days(4, 8, 12));
    expectMoments(await fives.pauses(), days(5, 10));
  });

  test('of all accounts: an account that was ahead repeats nothing', async () => {
    const merchant = await shop.newMerchant();
    const { charges } = await subscribe(merchant, { payments_count: '3' });
    await shop.advanceClock(30 * DAY, merchant.mid);
    const made = await charges();
    expect(made).toHaveLength(3);
    await shop.advanceClock(30 * DAY);
    expect(await charges()).toEqual(made);
  });

  test('is shared by all gateways on the same database', async () => {
    const merchant = await shop.newMerchant();
    const other = await shop.anotherGateway();
    const { charges } = await subscribe(merchant, {});
    await shop.advanceClock(4.5 * DAY, merchant.mid);
    await expect.poll(() => other.clock.offset(merchant.mid)).toBe(shop.gateway.clock.offset(merchant.mid));
    await processEverythingDue(other);
    expect(await charges()).toHaveLength(4);
  });

  test('a gateway with an outdated clock writes the right times', async () => {
    const [merchant, further] = [await shop.newMerchant(), await shop.newMerchant()];
    await shop.advanceClock(400 * DAY, further.mid);
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    const behind = await shop.anotherGateway();
    const before = await shop.gateway.installation.clockOffsets();
    const offset = behind.clock.offset(merchant.mid);
    await shop.gateway.installation.moveClock(merchant.mid, 7.5 * DAY * 1000);
    // Once the gateway has been notified of the move, its clock is set back.
    await expect.poll(() => behind.clock.offset(merchant.mid)).toBe(offset + 7.5 * DAY * 1000);
    behind.clock.set(before);
    await processEverythingDue(behind);
    await readClock(behind);
    await processEverythingDue(behind);
    await expectHistory(body.trans_id, [
      ['authorised', 0],
      ['requested expiry', 7.5 * DAY],
      ['expired', 7.5 * DAY],
    ]);
  });
});

describe('zero seconds', () => {
  test('changes nothing if nothing is due', async () => {
    const merchant = await shop.newMerchant();
    const { charges } = await subscribe(merchant, {});
    const before = await clock(merchant.mid);
    await shop.advanceClock(0, merchant.mid);
    await shop.advanceClock(0);
    expect(await charges()).toEqual([]);
    expect((await clock(merchant.mid)).offset_seconds).toBe(before.offset_seconds);
  });

  test('processes what is due already', async () => {
    const merchant = await shop.newMerchant();
    const { charges } = await subscribe(merchant, {});
    await shop.gateway.installation.moveClock(merchant.mid, 1.5 * DAY * 1000);
    await readClock(shop.gateway);
    expect(await charges()).toEqual([]);
    await shop.advanceClock(0);
    expect(await charges()).toHaveLength(1);
  });
});

describe('consequences of work on the way', () => {
  test('a charge without an answer is queried seconds later, and the next dates follow', async () => {
    const merchant = await shop.newMerchant();
    const { charges, pauses } = await subscribe(merchant, { interval_length: '2' });
    let lost = 0;
    scripts.set(merchant.mid, {
      submit: (submission, deadline) => (lost++ === 0 ? SILENT : provider.query)(submission, deadline) as Outcome,
    });
    await shop.advanceClock(7 * DAY, merchant.mid);
    expectMoments(await pauses(), [2 * DAY, 4 * DAY, 6 * DAY]);
    const [first, ...others] = (await charges()).map(({ payment_id }) => payment_id);
    await expectHistory(first, [
      ['unanswered', 0],
      ['settled', 5],
    ]);
    for (const id of others) await expectHistory(id, [['settled', 0]]);
  });

  test('a charge that stays in doubt for weeks does not delay other accounts', async () => {
    const [silent, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const doubtful = await subscribe(silent, { interval_length: '2' });
    scripts.set(silent.mid, { submit: SILENT, query: SILENT });
    const { pauses } = await subscribe(other, { interval_length: '3' });
    await shop.advanceClock(31 * DAY);
    expectMoments(
      await pauses(),
      Array.from({ length: 10 }, (_, n) => (n + 1) * 3 * DAY),
    );
    expect(await doubtful.charges()).toMatchObject([{ status: 'PENDING' }]);
    scripts.delete(silent.mid);
  });

  test('a declined charge is retried after its pauses, then counted as failed', async () => {
    const merchant = await shop.newMerchant();
    const { charges, pauses } = await subscribe(merchant, { interval_unit: 'week' });
    scripts.set(merchant.mid, { submit: () => ({ kind: 'declined', reason: 'Not enough money.' }) });
    await shop.advanceClock(15 * DAY + HOUR, merchant.mid);
    expectMoments(await pauses(), [7 * DAY, 8 * DAY, 11 * DAY, 14 * DAY, 15 * DAY]);
    expect((await charges()).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2]);
  });

  test('a first payment without an answer is found, then charged on its dates', async () => {
    const merchant = await shop.newMerchant();
    scripts.set(merchant.mid, { submit: SILENT });
    const { first, charges, pauses } = await subscribe(merchant, {});
    expect(first).toMatchObject({ status: 'PENDING', result: 'UNDEFINED' });
    scripts.delete(merchant.mid);
    await shop.advanceClock(3.5 * DAY, merchant.mid);
    await expectHistory(first.trans_id, [
      ['unanswered', 0],
      ['settled', 5],
    ]);
    expectMoments(await pauses(), [DAY, 2 * DAY, 3 * DAY]);
    for (const { status } of await charges()) expect(status).toBe('SETTLED');
  });

  test('a first payment that expires on the way is charged until then, and not afterwards', async () => {
    const merchant = await shop.newMerchant({ authorisation_days: 5 });
    const { first, pauses } = await subscribe(merchant, { interval_length: '2' }, { auth: 'Y' });
    await shop.advanceClock(20 * DAY, merchant.mid);
    await expectHistory(first.trans_id, [
      ['authorised', 0],
      ['requested expiry', 5 * DAY],
      ['expired', 5 * DAY],
    ]);
    expectMoments(await pauses(), [2 * DAY, 4 * DAY]);
  });

  test('an authorisation found by a query on the way expires on the way', async () => {
    const merchant = await shop.newMerchant();
    scripts.set(merchant.mid, { submit: SILENT });
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    await shop.advanceClock(8 * DAY, merchant.mid);
    await expectHistory(body.trans_id, [
      ['unanswered', 0],
      ['authorised', 5],
      ['requested expiry', 7 * DAY + 5],
      ['expired', 7 * DAY + 5],
    ]);
  });
});

test('every invariant of the database holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
