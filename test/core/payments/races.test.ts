/** Everything that can befall an authorised payment, at one moment and from two processes: one outcome, one truth. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createVcard } from '../../../src/connectors/vcard.ts';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../../src/core/context.ts';
import { processDuePayments, processEverythingDue } from '../../../src/core/due/due.ts';
import { capture, refund, voidPayment } from '../../../src/core/payments/change.ts';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { readClock } from '../../../src/core/sandbox/clock.ts';
import { createLog } from '../../../src/lib/text/log.ts';
import { Refusal } from '../../../src/rules/errors.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import type { Transition } from '../../../src/store/payments/payments.ts';
import { type Answer, type Merchant, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { brandSale, ledgerOf, type OperationAction, operationFields, REFUSALS } from '../../support/operations.ts';
import { sized } from '../../support/size.ts';

const ROUNDS = sized(2, 10);
const DAY = 86_400_000;

let shop: TestGateway;
/** A second process over the same database. */
let other: Gateway;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'error' });
  other = await shop.anotherGateway();
  other.publicUrl = shop.url;
  other.inboundUrl = shop.url;
});
afterAll(() => shop.close());

/** What somebody who asked for something heard: that it was done, or the code of a refusal. */
type Heard = 'done' | 'declined' | 'sent' | number;

interface Stage {
  brand: 'vcard' | 'pin-a';
  merchant: Merchant;
  account: Account;
  payments: PaymentWithDetails[];
}

/** An account of its own with this many payments, all of them authorised or settled. */
async function stage(brand: Stage['brand'], count: number, kind: 'authorised' | 'settled'): Promise<Stage> {
  const merchant = await shop.newMerchant();
  const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
  const payments = await Promise.all(
    Array.from({ length: count }, async () => {
      const fields = { order_amount: '100.00', ...(kind === 'authorised' && { auth: 'Y' }) };
      const { body } = await shop.post(brandSale(brand, merchant, fields));
      expect(body).toMatchObject({ status: kind === 'authorised' ? 'PENDING' : 'SETTLED' });
      return (await shop.gateway.payments.find({ mid: merchant.mid, paymentId: body.trans_id })) as PaymentWithDetails;
    }),
  );
  return { brand, merchant, account, payments };
}

const overHttp = async (action: OperationAction, id: string, merchant: Merchant, amount = ''): Promise<Heard> => {
  const { status, body }: Answer = await shop.post(operationFields(merchant, action, id, { amount }));
  if (status !== 200) return body.error_code;
  const results: Record<string, Heard> = { SUCCESS: 'done', ACCEPTED: 'done', DECLINED: 'declined', UNDEFINED: 'sent' };
  return results[body.result] as Heard;
};

/** The same through the core of a process, as a face of it would. */
async function inCore(
  gateway: Gateway,
  action: OperationAction,
  { account }: Pick<Stage, 'account'>,
  payment: PaymentWithDetails,
  amount = '',
): Promise<Heard> {
  const perform: Record<OperationAction, () => ReturnType<typeof capture>> = {
    CAPTURE: () => capture(gateway, account, payment, amount, 'merchant'),
    VOID: () => voidPayment(gateway, payment, 'merchant'),
    CREDITVOID: () => refund(gateway, account, payment, amount, 'merchant'),
  };
  try {
    return (await perform[action]()).operation.state;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const codes: Partial<Record<typeof error.error, number>> = {
      captureNotPending: 208003,
      actionNotSupported: 204005,
      refundNotSettled: 208005,
      refundTooMuch: 208006,
    };
    return codes[error.error] ?? -1;
  }
}

const codeOf = (name: keyof typeof REFUSALS): number => REFUSALS[name][0];

interface Actor {
  name: string;
  /** Befalls one payment, in either process; what was heard must be one of these. */
  act(staged: Stage, payment: PaymentWithDetails, round: number): Promise<Heard | undefined>;
  hears: readonly (Heard | undefined)[];
}

const operation =
  (action: OperationAction): Actor['act'] =>
  // Some of them over HTTP, some in the other process, so that the guard has to hold in the database.
  (staged, payment, round) =>
    round % 2 === 0 ? overHttp(action, payment.paymentId, staged.merchant) : inCore(other, action, staged, payment);

/** A notification that a payment was settled or declined: from the provider where there is one, which may know better. */
const notification =
  (word: 'executed' | 'rejected'): Actor['act'] =>
  async ({ brand }, { paymentId }, round) => {
    if (brand === 'pin-a') {
      await shop.sandbox('POST', `/payments/${paymentId}`, { provider_status: word });
      return undefined;
    }
    const status = word === 'executed' ? 'settled' : 'declined';
    await receiveNotifications(round % 2 === 0 ? shop.gateway : other, 'vcard', [
      {
        eventId: `${status}-${paymentId}`,
        reference: paymentId,
        body: { type: 'payment', reference: paymentId, status, amount: '10000', currency: 'USD' },
      },
    ]);
    return undefined;
  };

const ACTORS: readonly Actor[] = [
  { name: 'capture', act: operation('CAPTURE'), hears: ['done', 'declined', codeOf('captureNotPending')] },
  { name: 'void', act: operation('VOID'), hears: ['done', 'declined', codeOf('notSupported')] },
  { name: 'creditvoid', act: operation('CREDITVOID'), hears: ['done', 'declined', codeOf('refundNotSettled')] },
  { name: 'settled notification', act: notification('executed'), hears: [undefined] },
  { name: 'declined notification', act: notification('rejected'), hears: [undefined] },
  {
    name: 'status',
    async act({ merchant }, { paymentId }) {
      expect((await shop.status(paymentId, merchant)).body).toMatchObject({ result: 'SUCCESS' });
      return undefined;
    },
    hears: [undefined],
  },
  // Time passes for all payments of an account at once: the work loops of both processes look at them.
  { name: 'expiry', act: async () => undefined, hears: [undefined] },
];

/** Lets an account's time pass in both processes, without anybody doing yet what is due. */
async function moveClock(mid: string, ms: number): Promise<void> {
  await shop.gateway.installation.moveClock(mid, ms);
  for (const gateway of [shop.gateway, other]) await readClock(gateway);
}

const aMoment = (): Promise<void> => pause(Math.random() * 6);

/** All actors at every payment at once; at the last payment in turn, so that each combination has one sure outcome. */
async function race(staged: Stage, actors: readonly Actor[]): Promise<void> {
  const hasExpiry = actors.some(({ name }) => name === 'expiry');
  if (hasExpiry) await moveClock(staged.merchant.mid, 7 * DAY + 1000);
  const perform = async ({ name, act, hears }: Actor, payment: PaymentWithDetails, round: number): Promise<void> =>
    expect(hears, name).toContain(await act(staged, payment, round));
  const loops = hasExpiry ? [shop.gateway, other] : [];
  await Promise.all([
    ...loops.map((gateway) => aMoment().then(() => processDuePayments(gateway))),
    ...staged.payments.slice(0, -1).flatMap((payment, round) =>
      actors.map(async (actor) => {
        await aMoment();
        await perform(actor, payment, round);
      }),
    ),
    (async () => {
      const last = staged.payments.length - 1;
      for (const actor of actors) await perform(actor, staged.payments[last] as PaymentWithDetails, last);
    })(),
  ]);
  // What was busy when its time was over is looked at again; and where reports contradicted each other the provider is
  // asked which one is right.
  if (hasExpiry) await moveClock(staged.merchant.mid, 31_000);
  await processEverythingDue(other);
}

interface Ours {
  id: string;
  state: string;
  attention: string | null;
  authorised: number;
  captured: number;
  refunded: number;
  reserved: number;
  busy: string | null;
  due: boolean;
  /** How many times the payment left PENDING, and what was done to it. */
  ends: number;
  open: number;
  done: string[];
  refunds: number;
}

const ours = async ({ mid }: { mid: string }): Promise<Ours[]> =>
  (await shop.rows(`
    select p.payment_id as id, p.state, p.attention, p.authorised::int, p.captured::int, p.refunded::int,
      p.reserved::int, p.busy, p.due_at is not null as due,
      (select count(*)::int from history h where h.mid = p.mid and h.payment_id = p.payment_id
        and h.from_state = 'PENDING' and h.to_state <> 'PENDING') as ends,
      (select count(*)::int from operations o where o.mid = p.mid and o.payment_id = p.payment_id
        and o.state = 'sent') as open,
      array(select verb::text from operations o where o.mid = p.mid and o.payment_id = p.payment_id
        and o.state = 'done' and o.verb <> 'refund') as done,
      (select coalesce(sum(amount), 0)::int from operations o where o.mid = p.mid and o.payment_id = p.payment_id
        and o.state = 'done' and o.verb = 'refund') as refunds
    from payments p where p.mid = '${mid}'`)) as unknown as Ours[];

const FINAL = ['SETTLED', 'DECLINED', 'VOID', 'REVERSAL', 'REFUND', 'EXPIRED'];

/** What has to be true of every payment, whoever was first. */
function expectSound(one: Ours, isEnded: boolean): void {
  const story = JSON.stringify(one);
  expect(one.ends, story).toBe(isEnded ? 1 : 0);
  if (isEnded) expect(FINAL, story).toContain(one.state);
  // As long as the provider has not said which report is right it is asked again.
  if (isEnded) expect(one.due, story).toBe(one.attention === 'conflict');
  expect(one.captured, story).toBeLessThanOrEqual(one.authorised);
  expect(one.refunded, story).toBeLessThanOrEqual(one.captured);
  expect(one.refunded, story).toBe(one.refunds);
  expect([one.reserved, one.busy, one.open], story).toEqual([0, null, 0]);
  expect(one.done.length, story).toBeLessThanOrEqual(1);
}

const MEANS: Record<string, string[]> = {
  capture: ['SETTLED', 'REFUND'],
  void: ['VOID'],
  reversal: ['REVERSAL'],
  expiry: ['EXPIRED'],
};

/** What the provider has done is the state, unless it has said something else itself and the operator is told. */
function expectTruth(one: Ours): void {
  if (one.state === 'DECLINED' && one.attention === 'late_success') return;
  for (const verb of one.done) expect(MEANS[verb], JSON.stringify(one)).toContain(one.state);
}

/** What moved at the provider of each payment: in with the payment, out with refunds. */
async function theirs(): Promise<Map<string, { in: number; out: number }>> {
  const sums = new Map<string, { in: number; out: number }>();
  for (const { reference, direction, amount } of await ledgerOf(shop)) {
    const sum = sums.get(reference) ?? { in: 0, out: 0 };
    sum[direction] += Number(amount);
    sums.set(reference, sum);
  }
  return sums;
}

/** Both books tell the same, or an operator is told that they do not. */
function expectSameBooks(one: Ours, theirs: { in: number; out: number } = { in: 0, out: 0 }): void {
  const story = `${JSON.stringify(one)}, at the provider ${JSON.stringify(theirs)}`;
  if (one.attention === 'late_success') expect(theirs, story).toEqual({ in: 10_000, out: 0 });
  else expect({ in: one.captured, out: one.refunded }, story).toEqual(theirs);
}

const pairs = ACTORS.flatMap((first, index) => ACTORS.slice(index).map((second) => [first, second]));
const triples = ACTORS.flatMap((first, index) =>
  ACTORS.slice(index + 1).flatMap((second, next) =>
    ACTORS.slice(index + next + 2).map((third) => [first, second, third]),
  ),
);
const COMBINATIONS = [...pairs, ...triples].map((actors) => ({
  actors,
  names: actors.map(({ name }) => name).join(' + '),
}));

test('there are 28 pairs and 35 triples', () => {
  expect([pairs.length, triples.length]).toEqual([28, 35]);
  expect(new Set(COMBINATIONS.map(({ names }) => names)).size).toBe(63);
});

const reached = new Set<string>();

describe.each(sized(['pin-a'] as const, ['vcard', 'pin-a'] as const))(`%s, ${ROUNDS} times each`, (brand) => {
  const isSampled = ({ actors }: { actors: readonly unknown[] }): boolean => actors.length === 2;
  test.each(COMBINATIONS.filter(sized(isSampled, () => true)))('$names', async ({ actors }) => {
    const staged = await stage(brand, ROUNDS, 'authorised');
    await race(staged, actors);
    const isEnded = actors.some(({ name }) => name !== 'status');
    const all = await ours(staged.merchant);
    expect(all).toHaveLength(ROUNDS);
    const books = brand === 'pin-a' ? await theirs() : undefined;
    for (const one of all) {
      reached.add(one.state);
      expectSound(one, isEnded);
      expectTruth(one);
      if (books) expectSameBooks(one, books.get(one.id));
    }
  });
});

test('every end was reached, and the whole database is sound', async () => {
  expect([...reached].sort()).toEqual([...FINAL, 'PENDING'].sort());
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

test('a partial capture and a settled notification: both ledgers have the same amount', async () => {
  const staged = await stage('pin-a', 2 * ROUNDS, 'authorised');
  await Promise.all(
    staged.payments.flatMap((payment, round) => [
      aMoment().then(() => overHttp('CAPTURE', payment.paymentId, staged.merchant, '40.00')),
      aMoment().then(() => notification('executed')(staged, payment, round)),
    ]),
  );
  const books = await theirs();
  for (const one of await ours(staged.merchant)) {
    expectSound(one, true);
    expectSameBooks(one, books.get(one.id));
  }
});

describe('the work loop and an operation', () => {
  test.each(['CAPTURE', 'VOID', 'CREDITVOID'] as const)(
    '%s begins after the loop has taken the payment to expire it: the operation decides',
    async (action) => {
      const staged = await stage('pin-a', 1, 'authorised');
      const { merchant, payments } = staged;
      const { paymentId } = payments[0] as PaymentWithDetails;
      await moveClock(merchant.mid, 7 * DAY + 1000);
      // The loop looks up the account between taking the payment and expiring it; there it is held.
      const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const find: typeof other.accounts.find = async (mid) => {
        taken.resolve();
        await released.promise;
        return other.accounts.find(mid);
      };
      const errors: string[] = [];
      const log = createLog('error', { write: (line) => void errors.push(line) });
      const loop = processDuePayments({ ...other, log, accounts: { ...other.accounts, find } });
      await taken.promise;
      await shop.sandbox('POST', '/faults', { mode: 'timeout_after', mid: merchant.mid });
      await overHttp(action, paymentId, merchant);
      released.resolve();
      await loop;
      expect(errors).toEqual([]);
      expect((await ours(merchant))[0]).toMatchObject({ state: 'PENDING', open: 1 });
      await shop.advanceClock(60, merchant.mid);
      const [one] = (await ours(merchant)) as [Ours];
      expectSound(one, true);
      expectTruth(one);
      expectSameBooks(one, (await theirs()).get(paymentId));
    },
  );
});

describe.each(['vcard', 'pin-a'] as const)('%s, many at once', (brand) => {
  /** Every call in a process of its own, or over HTTP, all of them at once. */
  const allAtOnce = (
    staged: Stage,
    payment: PaymentWithDetails,
    action: OperationAction,
    amounts: string[],
  ): Promise<Heard[]> =>
    Promise.all(
      amounts.map((amount, index) =>
        index % 2 === 0
          ? overHttp(action, payment.paymentId, staged.merchant, amount)
          : inCore(other, action, staged, payment, amount),
      ),
    );
  const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
  const sorted = (heard: Heard[]): string[] => heard.map(String).sort();

  test('refunds of 60 and 60 of 100: one is done, one is too much', async () => {
    const staged = await stage(brand, 30, 'settled');
    await Promise.all(
      staged.payments.map(async (payment) => {
        const heard = await allAtOnce(staged, payment, 'CREDITVOID', ['60.00', '60.00']);
        expect(sorted(heard)).toEqual(['208006', 'done']);
      }),
    );
    const books = await theirs();
    for (const one of await ours(staged.merchant)) {
      expect(one).toMatchObject({ state: 'SETTLED', captured: 10_000, refunded: 6000, reserved: 0 });
      if (brand === 'pin-a') expectSameBooks(one, books.get(one.id));
    }
  });

  test('twenty refunds of 10 of 100: ten are done', async () => {
    const staged = await stage(brand, 3, 'settled');
    for (const payment of staged.payments) {
      const heard = await allAtOnce(staged, payment, 'CREDITVOID', times(20, '10.00'));
      expect(heard.filter((one) => one === 'done')).toHaveLength(10);
      // Whoever comes when everything is paid back finds a payment that is not settled any more.
      for (const one of heard) expect(['done', codeOf('refundTooMuch'), codeOf('refundNotSettled')]).toContain(one);
    }
    const books = await theirs();
    for (const one of await ours(staged.merchant)) {
      expect(one).toMatchObject({ state: 'REFUND', captured: 10_000, refunded: 10_000, reserved: 0 });
      if (brand === 'pin-a') expectSameBooks(one, books.get(one.id));
    }
  });

  test('fifty captures: one is done, 49 are refused', async () => {
    const staged = await stage(brand, 3, 'authorised');
    for (const payment of staged.payments) {
      const heard = await allAtOnce(staged, payment, 'CAPTURE', times(50, '100.00'));
      expect(sorted(heard)).toEqual([...times(49, '208003'), 'done']);
    }
    const books = await theirs();
    for (const one of await ours(staged.merchant)) {
      expect(one).toMatchObject({ state: 'SETTLED', captured: 10_000, done: ['capture'] });
      if (brand === 'pin-a') expectSameBooks(one, books.get(one.id));
    }
  });
});

test('two processes at the same payments in opposite order: nobody is thrown out of the database', async () => {
  const staged = await stage('vcard', 3, 'authorised');
  const [first, middle, last] = staged.payments as [PaymentWithDetails, PaymentWithDetails, PaymentWithDetails];
  // Somebody holds the payment in the middle until both processes have begun with their first ones.
  const client = new pg.Client(shop.connection);
  await client.connect();
  await client.query('begin');
  await client.query('select from payments where payment_id = $1 for update', [middle.paymentId]);
  const heard = Promise.allSettled([
    ...[first, middle, last].map((payment) => inCore(shop.gateway, 'CAPTURE', staged, payment)),
    ...[last, middle, first].map((payment) => inCore(other, 'VOID', staged, payment)),
  ]);
  await pause(200);
  await client.query('rollback');
  await client.end();
  const thrown = (await heard).filter((one) => one.status === 'rejected');
  expect(thrown.map(({ reason }) => String(reason))).toEqual([]);
  for (const one of await ours(staged.merchant)) {
    expectSound(one, true);
    expectTruth(one);
  }
});

describe('the proof that these races are races', () => {
  /** A provider that takes its time, so that both processes are in the middle of it. */
  const slow: Gateway['connectors'] = {
    vcard: {
      ...createVcard(),
      async operate() {
        await pause(50);
        return { kind: 'done' };
      },
    },
  };
  const guarded = (gateway: Gateway): Gateway => ({ ...gateway, connectors: slow });
  /** A process that looks first and writes then, whatever has happened in between. */
  const unguarded = (gateway: Gateway): Gateway => ({
    ...guarded(gateway),
    payments: {
      ...gateway.payments,
      async transition(transition: Transition) {
        for (let { before, after } = transition; ; ) {
          if (await gateway.payments.transition({ ...transition, before, after })) return true;
          const current = (await gateway.payments.find(before)) as PaymentWithDetails;
          before = { ...before, state: current.state, historyLength: current.historyLength };
          after = { ...after, historyLength: current.historyLength + 1 };
        }
      },
    },
  });

  /** How many captures of one payment were done at most, and how much more was refunded than captured. */
  async function worst(process: (gateway: Gateway) => Gateway): Promise<{ captures: number; excess: number }> {
    const processes = [process(shop.gateway), process(other)];
    const both = (staged: Stage, action: OperationAction, amount: string) =>
      Promise.all(
        staged.payments.flatMap((payment) =>
          // What the constraints of the database stop is not done either.
          processes.map((gateway) => inCore(gateway, action, staged, payment, amount).catch(() => undefined)),
        ),
      );
    const authorised = await stage('vcard', ROUNDS, 'authorised');
    await both(authorised, 'CAPTURE', '');
    const settled = await stage('vcard', ROUNDS, 'settled');
    await both(settled, 'CREDITVOID', '60.00');
    const excess = (await ours(settled.merchant)).map(({ refunds, captured }) => refunds - captured);
    return {
      captures: Math.max(...(await ours(authorised.merchant)).map(({ done }) => done.length)),
      excess: Math.max(...excess, 0),
    };
  }

  test('with the guard: one capture, and never more refunded than captured', async () => {
    expect(await worst(guarded)).toEqual({ captures: 1, excess: 0 });
  });
  test('without the guard: two captures of one payment, and more refunded than captured', async () => {
    expect(await worst(unguarded)).toEqual({ captures: 2, excess: 2000 });
  });
});
