/** Scheduled charges: made on their dates, exactly once, with concurrent and crashing processes. */
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../../../src/connectors/connector.ts';
import { createVcard } from '../../../src/connectors/vcard.ts';
import { recordChargeback } from '../../../src/core/chargebacks/report.ts';
import type { Gateway } from '../../../src/core/context.ts';
import { advance } from '../../../src/core/payments/advance.ts';
import { processEverythingDue, readClock } from '../../../src/core/sandbox/clock.ts';
import { processDueSubscriptions } from '../../../src/core/schedules/schedules.ts';
import type { Deadline } from '../../../src/lib/time/deadline.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { type Answer, type Fields, newOrderId, openShop, sign } from '../../support/gateway.ts';
import { allowBursts } from '../../support/limits.ts';
import { isLong, sampled, sized } from '../../support/size.ts';

type Verb = 'submit' | 'query';
type Script = (submission: Submission, deadline: Deadline) => Outcome | Promise<Outcome>;

const usual = createVcard();
/** What the provider does with the payments of an account; by default, the test connector. */
const scripts = new Map<string, Partial<Record<Verb, Script>>>();
const calls: { verb: Verb; mid: string; reference: string; recurringOf: string | undefined }[] = [];

const play =
  (verb: Verb): Script =>
  (submission, deadline) => {
    const { mid, reference, recurringOf } = submission;
    calls.push({ verb, mid, reference, recurringOf });
    return (scripts.get(mid)?.[verb] ?? usual[verb])(submission, deadline);
  };
const provider: Connector = { ...usual, submit: play('submit'), query: play('query') };

const DECLINED: Script = () => ({ kind: 'declined', reason: 'Not enough money.' });
const SETTLED: Script = () => ({ kind: 'settled' });
const UNKNOWN: Script = () => ({ kind: 'unknown' });
const NO_ANSWER: Script = () => {
  throw new Error('The provider did not answer.');
};

allowBursts();

const shop = openShop({ connectors: { vcard: provider } });

const DAY = 86_400;
const [RETRY_1, RETRY_2] = LIMITS.scheduleRetryMs.map((ms) => ms / 1000) as [number, number];

type Item = Answer['body'];
const ms = (date: string): number => Date.parse(`${date}Z`);
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** A new account with this time on its clock, and a schedule, by default a daily one. */
async function merchantWith(terms: Fields = {}, time = '2027-03-01T12:00:00') {
  const merchant = await shop.newMerchant();
  const { mid, client_key, password } = merchant;
  const now = (): number => shop.gateway.clock.now(mid);
  const pass = (seconds: number): Promise<void> => shop.advanceClock(seconds, mid);
  await pass((ms(time) - now()) / 1000);

  const post = async (action: string, fields: Fields, ...signed: string[]): Promise<Item> => {
    const { status, body } = await shop.post({ action, client_key, ...fields, hash: sign(password, ...signed) });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  const plan = { name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '1200', ...terms };
  const { schedule_id } = await post('CREATE_SCHEDULE', plan);

  /** All payments of the schedule, oldest first. */
  const payments = async (): Promise<Item[]> =>
    (await shop.admin('GET', `/payments?schedule_id=${schedule_id}&limit=500`)).body.items
      .reverse()
      .sort((one: Item, other: Item) => Date.parse(one.created_at) - Date.parse(other.created_at));
  const scheduleView = async (): Promise<Item> => (await shop.admin('GET', `/schedules?mid=${mid}`)).body.items[0];
  return {
    merchant,
    mid,
    schedule_id,
    now,
    pass,
    post,
    payments,
    sell: async (fields: Fields = {}): Promise<Item> => {
      const { body } = await shop.sale({ recurring_init: 'Y', schedule_id, ...fields }, merchant);
      expect(body, JSON.stringify(body)).toHaveProperty('trans_id');
      return body;
    },
    update: (fields: Fields) => post('UPDATE_SCHEDULE', { schedule_id, ...fields }, schedule_id),
    remove: () => post('DELETE_SCHEDULE', { schedule_id }, schedule_id),
    script: (verbs: Partial<Record<Verb, Script>>) => scripts.set(mid, verbs),
    scheduleView,
    subscription: async (): Promise<Item> => (await scheduleView()).subscriptions[0],
    /** Moves the clock without processing what is due. */
    jump: async (seconds: number, gateways: Gateway[] = [shop.gateway]): Promise<void> => {
      await shop.gateway.installation.moveClock(mid, seconds * 1000);
      for (const gateway of gateways) await readClock(gateway);
    },
    submits: (of: string): number => calls.filter((c) => c.verb === 'submit' && c.recurringOf === of).length,
  };
}

/** The same, with a first payment. */
async function subscribed(terms?: Fields, time?: string, sale?: Fields) {
  const account = await merchantWith(terms, time);
  const first = await account.sell(sale);
  return {
    ...account,
    first,
    charges: async (): Promise<Item[]> => (await account.payments()).filter((p) => p.payment_id !== first.trans_id),
  };
}

/** The days of payments; checks that each was made at the time of day of the first one. */
function daysOf(payments: Item[], first: Item): string[] {
  const timeOfDay = (date: string): number => ms(`1970-01-01 ${date.slice(11)}`) / 1000;
  for (const { created_at } of payments) {
    const late = timeOfDay(created_at) - timeOfDay(first.trans_date);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(120);
  }
  return payments.map(({ created_at }) => created_at.slice(0, 10));
}

describe('on their dates', () => {
  if (isLong) {
    test('every month for three years, from the last day of a year', async () => {
      const { first, charges, pass, subscription } = await subscribed(
        { interval_unit: 'month', payments_count: '36' },
        '2027-12-31T12:00:00',
      );
      await pass(1100 * DAY);
      const year = (february: string): string[] =>
        `01-31 ${february} 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31`.split(' ');
      expect(daysOf(await charges(), first)).toEqual([
        ...year('02-29').map((day) => `2028-${day}`),
        ...year('02-28').map((day) => `2029-${day}`),
        ...year('02-28').map((day) => `2030-${day}`),
      ]);
      expect(await subscription()).toMatchObject({
        state: 'finished',
        occurrences: 36,
        failed: 0,
        next_charge_at: null,
      });
      await pass(3660 * DAY);
      expect(await charges()).toHaveLength(36);
    });
  }

  test.each<[words: string, terms: Fields, first: string, days: string]>(
    sampled([
      ['every day', {}, '2028-02-27', '2028-02-28 2028-02-29 2028-03-01 2028-03-02'],
      ['every third day', { interval_length: '3' }, '2027-12-27', '2027-12-30 2028-01-02 2028-01-05'],
      ['every week', { interval_unit: 'week' }, '2027-12-20', '2027-12-27 2028-01-03 2028-01-10'],
      ['every other week', { interval_unit: 'week', interval_length: '2' }, '2028-02-01', '2028-02-15 2028-02-29'],
      [
        'every year',
        { interval_unit: 'month', interval_length: '12' },
        '2028-02-29',
        '2029-02-28 2030-02-28 2031-02-28',
      ],
      ['on day 31', { interval_unit: 'month', day_of_month: '31' }, '2027-01-15', '2027-02-28 2027-03-31 2027-04-30'],
      ['on day 1', { interval_unit: 'month', day_of_month: '1' }, '2027-01-15', '2027-02-01 2027-03-01 2027-04-01'],
      ['every day, one delay', { delays: '1' }, '2027-01-01', '2027-01-03 2027-01-04'],
      ['every third day, two delays', { interval_length: '3', delays: '2' }, '2027-01-01', '2027-01-10 2027-01-13'],
      ['every month, one delay', { interval_unit: 'month', delays: '1' }, '2027-12-31', '2028-02-29 2028-03-31'],
      ['once, after ten delays', { payments_count: '1', delays: '10' }, '2027-01-01', '2027-01-12'],
    ]),
  )('%s', async (_, terms, day, days) => {
    const expected = days.split(' ');
    const account = await subscribed({ payments_count: String(expected.length), ...terms }, `${day}T12:00:00`);
    await account.pass(4 * 366 * DAY);
    expect(daysOf(await account.charges(), account.first)).toEqual(expected);
    expect(await account.subscription()).toMatchObject({ state: 'finished', occurrences: expected.length });
  });

  test.each(sampled([1, 2, 5]))('payments_count=%i means as many charges besides the first payment', async (count) => {
    const { charges, pass } = await subscribed({ payments_count: String(count) });
    await pass((count - 0.5) * DAY);
    expect(await charges()).toHaveLength(count - 1);
    await pass(30 * DAY);
    expect(await charges()).toHaveLength(count);
  });

  test('not before the date', async () => {
    const { charges, pass } = await subscribed();
    await pass(DAY - 20);
    expect(await charges()).toEqual([]);
    await pass(20);
    expect(await charges()).toHaveLength(1);
  });
});

describe('each charge is a separate payment', () => {
  test('with its own order, submitted once, with the same amount and payer, and without a recurring token', async () => {
    const sale = { order_amount: '1.500', order_currency: 'KWD', payer_email: 'ada@shop.example' };
    const { first, charges, pass, submits, merchant, mid, schedule_id } = await subscribed({}, undefined, sale);
    await pass(5.5 * DAY);
    const made = await charges();
    expect(new Set([first.order_id, ...made.map(({ order_id }) => order_id)]).size).toBe(6);
    expect(submits(first.trans_id)).toBe(5);
    for (const { payment_id } of made) {
      expect((await shop.admin('GET', `/payments/${payment_id}`)).body).toMatchObject({
        mid,
        schedule_id,
        status: 'SETTLED',
        attempt: 1,
        protocol: 's2s',
        brand: 'vcard',
        amount: '1.500',
        currency: 'KWD',
        captured: '1.500',
        details: {
          recurring_init_trans_id: first.trans_id,
          payer: { email: 'ada@shop.example' },
          description: 'A test order',
        },
        provider_calls: [{ verb: 'submit', outcome: 'settled' }],
      });
      expect((await shop.status(payment_id, merchant)).body).not.toHaveProperty('recurring_token');
    }
  });

  test.each(sampled([251, 252, 253, 254, 255], 5))('also for an order_id of %i characters', async (length) => {
    const order_id = newOrderId().padEnd(length, 'x');
    const { charges, pass } = await subscribed({ payments_count: '11' }, undefined, { order_id });
    await pass(20 * DAY);
    const orders = (await charges()).map((charge) => charge.order_id);
    expect(new Set([order_id, ...orders]).size).toBe(12);
    for (const order of orders) expect(order.length).toBeLessThanOrEqual(255);
  });

  /** The order id of the first charge, so that a test can use it before. */
  async function orderIdOfCharge(order_id: string): Promise<string> {
    const probe = await subscribed();
    await probe.pass(DAY);
    const [charged] = await probe.charges();
    return charged.order_id.replace(probe.first.order_id, order_id);
  }

  /** Every order is settled at most once, and its attempts are numbered from 1. */
  async function expectConsistentOrders(mid: string): Promise<void> {
    const orders = new Map<string, Item[]>();
    for (const payment of (await shop.admin('GET', `/payments?mid=${mid}`)).body.items.reverse()) {
      orders.set(payment.order_id, [...(orders.get(payment.order_id) ?? []), payment]);
    }
    for (const [order, attempts] of orders) {
      expect(attempts.filter(({ status }) => status === 'SETTLED').length, order).toBeLessThanOrEqual(1);
      expect(
        attempts.map(({ attempt }) => attempt),
        order,
      ).toEqual(attempts.map((_, index) => index + 1));
    }
  }

  test('charges under another order id if the merchant has used the first one', async () => {
    const { sell, pass, payments, merchant } = await merchantWith();
    const order_id = newOrderId();
    await shop.sale({ order_id: await orderIdOfCharge(order_id), order_amount: '0.01' }, merchant);
    await sell({ order_id });
    await pass(DAY);
    expect((await payments()).map(({ amount }) => amount)).toEqual(['10.00', '10.00']);
  });

  test('a retry does not pay an order of the merchant', async () => {
    const { sell, pass, payments, script, merchant } = await merchantWith({ interval_unit: 'week' });
    const order_id = newOrderId();
    const own = (await shop.sale({ order_id: await orderIdOfCharge(order_id) }, merchant)).body;
    await sell({ order_id });
    script({ submit: DECLINED });
    await pass(7 * DAY + 60);
    script({});
    await pass(RETRY_1);
    const [, ...attempts] = await payments();
    expect(attempts.map(({ status }) => status)).toEqual(['DECLINED', 'SETTLED']);
    expect(attempts.map((attempt) => attempt.order_id)).not.toContain(own.order_id);
    await expectConsistentOrders(merchant.mid);
  });

  test('a retry succeeds after the merchant has paid the declined order', async () => {
    const { sell, pass, payments, script, merchant } = await merchantWith({ interval_unit: 'week' });
    await sell();
    script({ submit: DECLINED });
    await pass(7 * DAY + 60);
    script({});
    const [, declined] = await payments();
    expect((await shop.sale({ order_id: declined.order_id }, merchant)).body.status).toBe('SETTLED');
    await pass(RETRY_1);
    expect((await payments()).map(({ status }) => status)).toEqual(['SETTLED', 'DECLINED', 'SETTLED']);
    await expectConsistentOrders(merchant.mid);
  });

  test.each(
    sampled([
      ['paid', SETTLED, ['SETTLED', 'DECLINED', 'SETTLED']],
      ['declined', DECLINED, ['SETTLED', 'DECLINED', 'DECLINED', 'SETTLED']],
    ]),
  )('an occurrence that the merchant retried and that was %s is not charged twice', async (_, outcome, states) => {
    const { sell, pass, payments, script, merchant, subscription } = await merchantWith({ interval_unit: 'week' });
    await sell();
    script({ submit: DECLINED });
    await pass(7 * DAY + 60);
    const [, declined] = await payments();
    script({ submit: outcome });
    const { merchant_key, password } = merchant;
    const request = { merchant_key, payment_id: declined.payment_id, hash: sign(password, declined.payment_id) };
    const answer = await fetch(`${shop.url}/api/v1/payment/retry`, {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    script({});
    await pass(RETRY_1);
    expect((await payments()).map(({ status }) => status)).toEqual(states);
    expect(await subscription()).toMatchObject({ occurrences: 1, failed: 0, declines: 0 });
    await expectConsistentOrders(merchant.mid);
  });

  test('charges the second attempt of an order whose first payment was voided', async () => {
    const { sell, pass, payments, post } = await merchantWith();
    const order_id = newOrderId();
    const voided = await sell({ order_id, auth: 'Y' });
    await pass(1.5 * DAY);
    expect(await payments()).toHaveLength(2);
    await post('VOID', { trans_id: voided.trans_id }, voided.trans_id);
    await sell({ order_id });
    await pass(1.5 * DAY);
    expect((await payments()).map(({ status }) => status)).toEqual(['VOID', 'SETTLED', 'SETTLED', 'SETTLED']);
  });
});

describe('a charge that is declined', () => {
  const monthly = { interval_unit: 'month' };

  test('is retried after each pause, then counted as failed; the next one is made on its date', async () => {
    const account = await subscribed(monthly, '2027-01-31T12:00:00');
    const { first, charges, pass, subscription, script } = account;
    script({ submit: DECLINED });
    await pass(28.5 * DAY);
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 0, declines: 1, failed: 0 });
    await pass(RETRY_1);
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 0, declines: 2, failed: 0 });
    const before = shop.logs.filter((line) => line.includes('scheduled charge declined, no retries left')).length;
    await pass(RETRY_2);
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 1, declines: 0, failed: 1 });
    expect((await subscription()).next_charge_at).toBe(`2027-03-31 ${first.trans_date.slice(11)}`);
    const warnings = shop.logs
      .filter((line) => line.includes('scheduled charge declined, no retries left'))
      .slice(before);
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
      { mid: account.mid, schedule_id: account.schedule_id, payment_id: first.trans_id, occurrence: 1 },
    ]);

    const attempts = await charges();
    const february = ms('2027-02-28 12:00:00') / 1000;
    const days = [february, february + RETRY_1, february + RETRY_1 + RETRY_2].map((at) =>
      dateOf(at * 1000).slice(0, 10),
    );
    expect(daysOf(attempts, first)).toEqual(days);
    expect(attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'DECLINED'],
      [2, 'DECLINED'],
      [3, 'DECLINED'],
    ]);
    expect(new Set(attempts.map(({ order_id }) => order_id)).size).toBe(1);

    script({});
    await pass(31 * DAY);
    const next = (await charges()).slice(3);
    expect(daysOf(next, first)).toEqual(['2027-03-31']);
    expect(next[0]).toMatchObject({ status: 'SETTLED', attempt: 1 });
    expect(next[0].order_id).not.toBe(attempts[0].order_id);
  });

  test('and then paid at the second attempt: does not count as failed, and the dates stay', async () => {
    const { first, charges, pass, subscription, script } = await subscribed(monthly, '2027-01-31T12:00:00');
    script({ submit: DECLINED });
    await pass(28.5 * DAY);
    script({});
    await pass(60 * DAY);
    expect((await charges()).map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'DECLINED'],
      [2, 'SETTLED'],
      [1, 'SETTLED'],
    ]);
    const retried = dateOf(ms('2027-02-28 12:00:00') + RETRY_1 * 1000).slice(0, 10);
    expect(daysOf(await charges(), first)).toEqual(['2027-02-28', retried, '2027-03-31']);
    expect(await subscription()).toMatchObject({ occurrences: 2, declines: 0, failed: 0 });
  });

  test('counts towards payments_count also when it fails', async () => {
    const { charges, pass, subscription, script } = await subscribed({ ...monthly, payments_count: '2' });
    script({ submit: DECLINED });
    await pass(200 * DAY);
    expect(await charges()).toHaveLength(2 * (1 + LIMITS.scheduleRetryMs.length));
    expect(await subscription()).toMatchObject({ state: 'finished', occurrences: 2, failed: 2, next_charge_at: null });
  });

  test('every day: while one is retried no other is due, and no two are made on one day', async () => {
    const { first, charges, pass, script } = await subscribed();
    script({ submit: DECLINED });
    await pass(DAY + RETRY_1 + RETRY_2 + 3600);
    script({});
    await pass(2 * DAY);
    const made = await charges();
    expect(made.map(({ status }) => status)).toEqual(['DECLINED', 'DECLINED', 'DECLINED', 'SETTLED', 'SETTLED']);
    const days = daysOf(made, first);
    expect(new Set(days).size).toBe(days.length);
  });

  test('because the account moved the identifier to those that decline', async () => {
    const { mid, charges, pass } = await subscribed();
    const moved = { 'vcard.success': ['other@example.com'], 'vcard.decline': ['success@example.com'] };
    await shop.admin('PATCH', `/accounts/${mid}`, moved);
    await pass(DAY);
    expect(await charges()).toMatchObject([{ status: 'DECLINED', decline_reason: expect.any(String) }]);
  });
});

describe('nothing more is charged', () => {
  type Account = Awaited<ReturnType<typeof subscribed>>;
  test.each<[words: string, sale: Fields, end: (account: Account) => Promise<unknown>, state: string]>(
    sampled([
      ['when the schedule was deleted', {}, ({ remove }) => remove(), 'SETTLED'],
      [
        'when the first payment was voided',
        { auth: 'Y' },
        ({ post, first: { trans_id } }) => post('VOID', { trans_id }, trans_id),
        'VOID',
      ],
      [
        'when the first payment was reversed',
        { auth: 'Y' },
        ({ post, first: { trans_id } }) => post('CREDITVOID', { trans_id }, trans_id),
        'REVERSAL',
      ],
      ['when the first payment expired', { auth: 'Y' }, ({ pass }) => pass(5.75 * DAY), 'EXPIRED'],
      [
        'when the first payment was charged back',
        {},
        async ({ first }) => {
          const payment = await shop.gateway.payments.findAnywhere(first.trans_id);
          if (!payment) return;
          await recordChargeback(shop.gateway, payment, {});
          await advance(shop.gateway, payment, { event: 'chargedBack', actor: 'provider' });
        },
        'CHARGEBACK',
      ],
    ]),
  )('%s', async (_, sale, end, state) => {
    const account = await subscribed({}, undefined, sale);
    await account.pass(1.5 * DAY);
    expect(await account.charges()).toHaveLength(1);
    await end(account);
    const before = (await account.charges()).length;
    await account.pass(20 * DAY);
    expect(await account.charges()).toHaveLength(before);
    expect((await shop.admin('GET', `/payments/${account.first.trans_id}`)).body.status).toBe(state);
    expect(await account.subscription()).toMatchObject({ state: 'ended', occurrences: before, next_charge_at: null });
  });

  test('when the first payment was declined', async () => {
    const { charges, pass, subscription } = await subscribed({}, undefined, { identifier: 'decline@example.com' });
    await pass(20 * DAY);
    expect(await charges()).toEqual([]);
    expect(await subscription()).toMatchObject({ state: 'ended', occurrences: 0, next_charge_at: null });
  });

  test('when the schedule is deleted while a declined charge waits for its retry', async () => {
    const { charges, pass, remove, script, subscription } = await subscribed();
    script({ submit: DECLINED });
    await pass(1.5 * DAY);
    await remove();
    await pass(20 * DAY);
    expect(await charges()).toHaveLength(1);
    expect((await subscription()).state).toBe('ended');
  });
});

describe('a schedule that is changed between two charges', () => {
  test.each<[words: string, before: Fields, change: Fields, days: string]>(
    sampled([
      ['a longer interval', {}, { interval_length: '3' }, '2027-03-02 2027-03-03 2027-03-06 2027-03-09'],
      ['another unit', {}, { interval_unit: 'week' }, '2027-03-02 2027-03-03 2027-03-10 2027-03-17'],
      ['more charges', { payments_count: '2' }, { payments_count: '4' }, '2027-03-02 2027-03-03 2027-03-04 2027-03-05'],
      ['fewer charges', {}, { payments_count: '2' }, '2027-03-02 2027-03-03'],
      ['as many charges as were made', {}, { payments_count: '1' }, '2027-03-02'],
      ['another name', { payments_count: '3' }, { name: 'Other' }, '2027-03-02 2027-03-03 2027-03-04'],
      ['delays, which have passed', { payments_count: '3' }, { delays: '9' }, '2027-03-02 2027-03-03 2027-03-04'],
    ]),
  )('%s', async (_, before, change, days) => {
    const expected = days.split(' ');
    const { first, charges, pass, update } = await subscribed(before);
    await pass(1.5 * DAY);
    await update(change);
    await pass(20 * DAY);
    const made = await charges();
    expect(daysOf(made.slice(0, expected.length), first)).toEqual(expected);
    const isAll = change.payments_count !== undefined || before.payments_count !== undefined;
    if (isAll) expect(made).toHaveLength(expected.length);
  });

  test.each<[words: string, change: Fields, days: string]>(
    sampled([
      ['a day of the month', { day_of_month: '10' }, '2027-02-28 2027-03-31 2027-04-10 2027-05-10'],
      ['every other month', { interval_length: '2' }, '2027-02-28 2027-03-31 2027-05-31 2027-07-31'],
      ['nothing at all', {}, '2027-02-28 2027-03-31 2027-04-30 2027-05-31'],
      [
        'days in place of months',
        { interval_unit: 'day', interval_length: '10' },
        '2027-02-28 2027-03-31 2027-04-10 2027-04-20',
      ],
    ]),
  )('every month from 31 January, then %s', async (_, change, days) => {
    const expected = days.split(' ');
    const { first, charges, pass, update } = await subscribed({ interval_unit: 'month' }, '2027-01-31T12:00:00');
    await pass(29 * DAY);
    await update(change);
    await pass(160 * DAY);
    expect(daysOf((await charges()).slice(0, expected.length), first)).toEqual(expected);
  });

  test.each<[words: string, change: Fields, days: string]>(
    sampled([
      ['nothing', {}, '2027-02-28 2027-03-31 2027-04-30 2027-05-31'],
      ['the interval', { interval_length: '2' }, '2027-02-28 2027-04-30 2027-06-30 2027-08-31'],
      ['the day', { day_of_month: '30' }, '2027-02-28 2027-03-30 2027-04-30 2027-05-30'],
    ]),
  )(
    'every month from 31 January, %s is changed before February: the other months keep their last day',
    async (_, change, days) => {
      const expected = days.split(' ');
      const { first, charges, pass, update } = await subscribed({ interval_unit: 'month' }, '2027-01-31T12:00:00');
      await pass(10 * DAY);
      await update(change);
      await pass(210 * DAY);
      expect(daysOf((await charges()).slice(0, expected.length), first)).toEqual(expected);
    },
  );

  if (isLong) {
    test('months in place of days count from the last charge', async () => {
      const { first, charges, pass, update } = await subscribed({}, '2027-03-01T12:00:00');
      await pass(29.5 * DAY);
      await update({ interval_unit: 'month' });
      await pass(62 * DAY);
      expect(daysOf((await charges()).slice(28), first)).toEqual([
        '2027-03-30',
        '2027-03-31',
        '2027-04-30',
        '2027-05-31',
      ]);
    });
  }

  test('a change while a declined charge waits for its retry', async () => {
    const { first, charges, pass, update, script } = await subscribed();
    script({ submit: DECLINED });
    await pass(1.25 * DAY);
    script({});
    await update({ interval_length: '10' });
    await pass(RETRY_1 + 11 * DAY);
    expect(daysOf(await charges(), first)).toEqual(['2027-03-02', '2027-03-03', '2027-03-12']);
  });
});

describe('at most once', () => {
  let ten: Gateway[];
  beforeAll(async () => {
    ten = [shop.gateway];
    while (ten.length < 10) ten.push(await shop.anotherGateway());
  });

  const MANY = sized(40, 150);
  test(`ten concurrent gateways, ${MANY} subscriptions, three dates`, async () => {
    const { jump, payments, sell } = await merchantWith({ payments_count: '3' });
    const firsts = await Promise.all(Array.from({ length: MANY }, async () => (await sell()).trans_id as string));
    for (let date = 1; date <= 3; date++) {
      await jump(DAY + 60, ten);
      await Promise.all([...ten, ...ten].map((gateway) => processDueSubscriptions(gateway)));
      const submits = new Map<string, number>();
      for (const { verb, recurringOf } of calls) {
        if (verb === 'submit' && recurringOf) submits.set(recurringOf, (submits.get(recurringOf) ?? 0) + 1);
      }
      expect(firsts.map((first) => submits.get(first))).toEqual(firsts.map(() => date));
    }
    await jump(10 * DAY, ten);
    await Promise.all(ten.map((gateway) => processDueSubscriptions(gateway)));
    const made = await shop.rows(
      `select details->>'recurringOf' as first, count(*)::int as charges, count(distinct order_id)::int as orders
       from payments where state = 'SETTLED' and details->>'recurringOf' in (${firsts.map((id) => `'${id}'`).join()})
       group by 1`,
    );
    expect(made).toHaveLength(MANY);
    for (const { charges, orders } of made) expect([charges, orders]).toEqual([3, 3]);
    // A list has no more than 500.
    expect(await payments()).toHaveLength(Math.min(500, 4 * MANY));
  });

  test('ten concurrent gateways and declined charges: each attempt once', async () => {
    const { jump, payments, sell, script, scheduleView } = await merchantWith({
      interval_unit: 'month',
      payments_count: '1',
    });
    for (let n = 0; n < 20; n++) await sell();
    script({ submit: DECLINED });
    for (const seconds of [31 * DAY + 60, RETRY_1 + 60, RETRY_2 + 60, 60 * DAY]) {
      await jump(seconds, ten);
      await Promise.all([...ten, ...ten].map((gateway) => processDueSubscriptions(gateway)));
    }
    expect((await payments()).filter(({ status }) => status === 'DECLINED')).toHaveLength(60);
    for (const subscription of (await scheduleView()).subscriptions) {
      expect(subscription).toMatchObject({ state: 'finished', occurrences: 1, failed: 1 });
    }
  });

  /** A gateway on the same database that crashes at this call. */
  async function dyingAt<Store extends 'schedules' | 'payments'>(store: Store, step: keyof Gateway[Store]) {
    const gateway = await shop.anotherGateway();
    const die = () => Promise.reject(new Error('The process died.'));
    gateway[store] = { ...gateway[store], [step]: die };
    return gateway;
  }

  test('a crash between the payment and the update of the subscription: the payment is found', async () => {
    const { first, charges, jump, pass, submits, subscription } = await subscribed({ payments_count: '2' });
    const dying = await dyingAt('schedules', 'proceed');
    await jump(DAY + 1, [shop.gateway, dying]);
    await processDueSubscriptions(dying).catch(() => undefined);
    expect(await charges()).toMatchObject([{ status: 'SETTLED' }]);
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 0 });
    await processDueSubscriptions(shop.gateway);
    expect((await subscription()).occurrences, 'the lease is still valid').toBe(0);
    await pass(LIMITS.leaseMs / 1000 + 1);
    expect(await charges()).toHaveLength(1);
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 1, failed: 0 });
    await pass(5 * DAY);
    expect(await charges()).toHaveLength(2);
    expect(submits(first.trans_id)).toBe(2);
  });

  test('ten such crashes in a row', async () => {
    const { first, charges, jump, pass, submits, subscription } = await subscribed({ payments_count: '1' });
    const dying = await dyingAt('schedules', 'proceed');
    await jump(DAY + 1, [shop.gateway, dying]);
    for (let deaths = 0; deaths < 10; deaths++) {
      await processDueSubscriptions(dying).catch(() => undefined);
      await jump(LIMITS.leaseMs / 1000 + 1, [shop.gateway, dying]);
    }
    await pass(0);
    expect(await charges()).toHaveLength(1);
    expect(submits(first.trans_id)).toBe(1);
    expect(await subscription()).toMatchObject({ state: 'finished', occurrences: 1 });
  });

  test('a crash before the charge: another process charges', async () => {
    const { charges, jump, pass } = await subscribed({ payments_count: '1' });
    const dying = await dyingAt('payments', 'open');
    await jump(DAY + 1, [shop.gateway, dying]);
    await processDueSubscriptions(dying).catch(() => undefined);
    expect(await charges()).toEqual([]);
    await pass(LIMITS.leaseMs / 1000 + 1);
    expect(await charges()).toMatchObject([{ status: 'SETTLED' }]);
  });

  test('a crash before the outcome is written: the provider is queried, and the charge is not submitted again', async () => {
    const { first, charges, jump, submits, subscription } = await subscribed({ payments_count: '1' });
    const dying = await dyingAt('payments', 'transition');
    await jump(DAY + 1, [shop.gateway, dying]);
    await processDueSubscriptions(dying).catch(() => undefined);
    expect(await charges()).toMatchObject([{ status: 'PREPARE' }]);
    await jump(LIMITS.submissionMs / 1000 + 30);
    await processEverythingDue(shop.gateway);
    expect(await charges()).toMatchObject([{ status: 'SETTLED' }]);
    expect(submits(first.trans_id)).toBe(1);
    expect(await subscription()).toMatchObject({ state: 'finished', occurrences: 1, failed: 0 });
  });

  test('a late update of a subscription does not undo newer ones', async () => {
    const { charges, jump, pass, subscription } = await subscribed({ payments_count: '9' });
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const late = await shop.anotherGateway();
    const { proceed } = late.schedules;
    late.schedules = { ...late.schedules, proceed: (steps) => opened.then(() => proceed(steps)) };
    await jump(DAY + 1, [shop.gateway, late]);
    const working = processDueSubscriptions(late);
    await expect.poll(async () => (await charges()).map(({ status }) => status)).toEqual(['SETTLED']);
    await pass(2.5 * DAY);
    const before = await subscription();
    expect(before).toMatchObject({ state: 'active', occurrences: 3 });
    open();
    await working;
    expect(await subscription()).toEqual(before);
    expect(await charges()).toHaveLength(3);
  });

  test('a gateway with an outdated clock makes up one charge, on the right date', async () => {
    const behind = ten.at(-1) as Gateway;
    await merchantWith({}, '2060-01-01T00:00:00');
    const { mid, charges, jump } = await subscribed();
    const before = await shop.gateway.installation.clockOffsets();
    const offset = behind.clock.offset(mid);
    await jump(6.5 * DAY, ten.slice(0, -1));
    // Once the gateway has been notified of the move, its clock is set back.
    await expect.poll(() => behind.clock.offset(mid)).toBe(offset + 6.5 * DAY * 1000);
    behind.clock.set(before);
    await processDueSubscriptions(behind);
    await readClock(behind);
    await processDueSubscriptions(behind);
    expect((await charges()).map(({ created_at }) => created_at.slice(0, 10))).toEqual(['2027-03-08']);
  });

  test('the lease expires while a charge is in flight, by a jump of the clock: another process waits for the charge', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const { first, charges, jump, script, submits, subscription } = await subscribed({ payments_count: '3' });
    script({ submit: async (submission, deadline) => opened.then(() => usual.submit(submission, deadline)) });
    await jump(DAY + 1, ten);
    const slow = processDueSubscriptions(ten[0] as Gateway);
    await expect.poll(() => submits(first.trans_id)).toBe(1);
    await jump(3600, ten);
    const other = processDueSubscriptions(ten[1] as Gateway);
    await pause(150);
    expect(submits(first.trans_id)).toBe(1);
    open();
    await Promise.all([slow, other]);
    expect(await charges()).toMatchObject([{ status: 'SETTLED' }]);
    expect(submits(first.trans_id)).toBe(1);
    expect(await subscription()).toMatchObject({ occurrences: 1, declines: 0 });
  });
});

describe('after an outage', () => {
  test.each<[words: string, terms: Fields, outage: number, madeUp: string, next: string]>(
    sampled([
      ['six days', {}, 6.5, '2027-03-08', '2027-03-08'],
      ['not one date', {}, 0.5, '', '2027-03-02'],
      ['exactly one date', {}, 1.5, '2027-03-03', '2027-03-03'],
      ['five weeks', { interval_unit: 'week' }, 36, '2027-04-06', '2027-04-12'],
      ['four months', { interval_unit: 'month' }, 130, '2027-07-09', '2027-08-01'],
      ['years', { interval_unit: 'month', day_of_month: '31' }, 1000, '2029-11-25', '2029-11-30'],
    ]),
  )(
    'of %s: makes up at most one charge, and the next date is in the future',
    async (_, terms, outage, madeUp, next) => {
      const { first, charges, jump, subscription, pass, now } = await subscribed(terms);
      await jump(outage * DAY);
      await processEverythingDue(shop.gateway);
      await processEverythingDue(shop.gateway);
      const made = await charges();
      expect(made.map(({ created_at }) => created_at.slice(0, 10))).toEqual(madeUp === '' ? [] : [madeUp]);
      const { next_charge_at, occurrences } = await subscription();
      expect(occurrences).toBe(made.length);
      expect(next_charge_at).toBe(`${next} ${first.trans_date.slice(11)}`);
      expect(ms(next_charge_at)).toBeGreaterThan(now());
      await pass((ms(next_charge_at) - now()) / 1000 + 1);
      expect(daysOf((await charges()).slice(made.length), first)).toEqual([next]);
    },
  );

  test('missed dates do not count: payments_count charges are made', async () => {
    const { charges, jump, pass, subscription } = await subscribed({ payments_count: '3' });
    await jump(10.5 * DAY);
    await pass(10 * DAY);
    expect(await charges()).toHaveLength(3);
    expect(await subscription()).toMatchObject({ state: 'finished', occurrences: 3, failed: 0 });
  });
});

describe('a provider in doubt', () => {
  test('does not repeat a charge in doubt; once it is settled, the next date follows', async () => {
    const { first, charges, jump, pass, script, submits, subscription, now } = await subscribed();
    script({ submit: NO_ANSWER, query: UNKNOWN });
    await pass(DAY + 3600);
    const [charge] = await charges();
    expect(charge.status).toBe('PENDING');
    expect(await subscription()).toMatchObject({ state: 'active', occurrences: 0, declines: 0 });
    for (let day = 0; day < 5; day++) {
      await jump(DAY);
      await processEverythingDue(shop.gateway);
    }
    expect(await charges()).toHaveLength(1);
    expect(submits(first.trans_id)).toBe(1);
    script({ submit: SETTLED, query: SETTLED });
    await jump(DAY);
    await processEverythingDue(shop.gateway);
    expect(await charges()).toMatchObject([{ payment_id: charge.payment_id, status: 'SETTLED', captured: '10.00' }]);
    expect(await subscription()).toMatchObject({ occurrences: 1, declines: 0, failed: 0 });
    expect(ms((await subscription()).next_charge_at)).toBeGreaterThan(now());
    await pass(DAY);
    expect(await charges()).toHaveLength(2);
    expect(submits(first.trans_id)).toBe(2);
  });

  test('retries a charge in doubt that turns out to be declined', async () => {
    const { charges, jump, pass, script, subscription } = await subscribed();
    script({ submit: NO_ANSWER, query: UNKNOWN });
    await pass(DAY + 60);
    script({ submit: SETTLED, query: DECLINED });
    await jump(3600);
    await processEverythingDue(shop.gateway);
    expect(await charges()).toMatchObject([{ status: 'DECLINED', attempt: 1 }]);
    expect(await subscription()).toMatchObject({ occurrences: 0, declines: 1 });
    await pass(RETRY_1 + 60);
    expect(await charges()).toMatchObject([
      { status: 'DECLINED', attempt: 1 },
      { status: 'SETTLED', attempt: 2 },
    ]);
    expect(await subscription()).toMatchObject({ occurrences: 1, declines: 0, failed: 0 });
  });

  test('charges nothing while the first payment is in doubt', async () => {
    const account = await merchantWith();
    account.script({ submit: NO_ANSWER, query: UNKNOWN });
    const first = await account.sell();
    expect(first).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    for (let day = 0; day < 3; day++) {
      await account.jump(DAY);
      await processEverythingDue(shop.gateway);
    }
    expect(await account.payments()).toHaveLength(1);
    account.script({ query: SETTLED });
    await account.jump(DAY);
    await processEverythingDue(shop.gateway);
    expect(await account.payments()).toMatchObject([{ status: 'SETTLED' }, { status: 'SETTLED' }]);
    expect(await account.subscription()).toMatchObject({ state: 'active', occurrences: 1 });
    expect(ms((await account.subscription()).next_charge_at)).toBeGreaterThan(account.now());
  });

  test('charges nothing if the first payment turns out to be declined', async () => {
    const account = await merchantWith();
    account.script({ submit: NO_ANSWER, query: DECLINED });
    await account.sell();
    await account.pass(10 * DAY);
    expect(await account.payments()).toMatchObject([{ status: 'DECLINED' }]);
    expect((await account.subscription()).state).toBe('ended');
  });

  test('a declined charge does not delay the others', async () => {
    const account = await merchantWith({ payments_count: '1' });
    const firsts = [await account.sell(), await account.sell(), await account.sell()];
    const [, poor] = firsts;
    account.script({
      submit: (submission, deadline) =>
        (submission.recurringOf === poor.trans_id ? DECLINED : SETTLED)(submission, deadline),
    });
    await account.pass(DAY + 60);
    const { subscriptions } = await account.scheduleView();
    expect(subscriptions.map(({ state }: Item) => state)).toEqual(['active', 'finished', 'finished']);
    expect(subscriptions[0].first_payment_id).toBe(poor.trans_id);
  });
});

test('no payment was submitted twice, and every invariant holds', async () => {
  const submits = calls.filter(({ verb }) => verb === 'submit').map(({ reference }) => reference);
  expect(submits.length).toBeGreaterThan(sized(300, 600));
  expect(new Set(submits).size).toBe(submits.length);
  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBeGreaterThan(sized(300n, 600n));
});
