/** A restored database and a provider that keeps its ledger: nothing is charged or voided twice. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../../../src/connectors/connector.ts';
import { createVcard } from '../../../src/connectors/vcard.ts';
import { findAccount } from '../../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../../src/core/context.ts';
import { processDueOperations, processDuePayments } from '../../../src/core/due/due.ts';
import { releaseRestore } from '../../../src/core/installation/restores.ts';
import { commandCaller } from '../../../src/core/operators/principal.ts';
import { retry } from '../../../src/core/schedules/recur.ts';
import { processDueSubscriptions } from '../../../src/core/schedules/schedules.ts';
import { isUuid, timeOfId } from '../../../src/lib/crypto/id.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { dump, restore } from '../../../src/store/installation/backup.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { query as statement } from '../../support/database.ts';
import { type Answer, newOrderId, openShop, sign, UUID_7 } from '../../support/gateway.ts';
import { clearAway, newDatabase } from '../../support/process.ts';

const DAY = 86_400_000;
const SETTLED: Outcome = { kind: 'settled' };
const DECLINED: Outcome = { kind: 'declined', reason: 'Not enough money.' };

/** What the provider has, by our reference; and what was sent to it. */
const ledger = new Map<string, Outcome>();
const submitted: string[] = [];
const operated: string[] = [];
let nextOutcome: Outcome = SETTLED;
let isSilent = false;
let isReceived = true;

const answering = <Result>(answer: Result): Result => {
  if (isSilent) throw new Error('The provider did not answer.');
  return answer;
};
const usual = createVcard();
const provider: Connector = {
  ...usual,
  submit({ reference, authoriseOnly }: Submission) {
    submitted.push(reference);
    const outcome: Outcome = authoriseOnly ? { kind: 'authorised' } : nextOutcome;
    // A repeat of a reference is the same payment.
    if (!ledger.has(reference)) ledger.set(reference, outcome);
    return answering(ledger.get(reference) as Outcome);
  },
  query: ({ reference }) => answering(ledger.get(reference) ?? { kind: 'notFound' }),
  operate({ verb, operation }) {
    if (!isReceived) throw new Error('The provider did not answer.');
    operated.push(`${verb} ${operation}`);
    return { kind: 'done' };
  },
  queryOperation: () => answering({ kind: 'notFound' }),
};

// Ids of scheduled charges contain their planned moment only outside of the sandbox.
const shop = openShop({ environment: 'production', connectors: { vcard: provider } });
afterAll(clearAway);
beforeEach(async () => {
  // The subscriptions of other tests are not charged in this one.
  await shop.rows(`update subscriptions set state = 'ended', next_at = null, due_at = null`);
  [nextOutcome, isSilent, isReceived] = [SETTLED, false, true];
  submitted.length = 0;
  operated.length = 0;
});

type Item = Answer['body'];
const charge = (gateway: Gateway): Promise<void> => processDueSubscriptions(gateway);
const rowsOf = async ({ connection }: Restored, sql: string) => (await statement(connection, sql)).rows;

interface Restored {
  gateway: Gateway;
  connection: Awaited<ReturnType<typeof newDatabase>>['connection'];
}

async function backup(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of dump(
    shop.connection,
    () => undefined,
    () => undefined,
  ))
    pieces.push(piece);
  return Buffer.concat(pieces);
}

async function restored(file: Buffer): Promise<Restored> {
  const { connection } = await newDatabase();
  await migrateAt(connection);
  await restore(
    connection,
    (async function* () {
      yield file;
    })(),
    () => undefined,
  );
  return { connection, gateway: await shop.anotherGateway(connection) };
}

const release = ({ gateway }: Restored) => releaseRestore(gateway, commandCaller('test'), 'Compared with the ledger.');

const post = async (action: string, fields: Record<string, string>, ...signed: string[]): Promise<Item> => {
  const { client_key, password } = shop.merchant;
  return (await shop.post({ action, client_key, ...fields, hash: sign(password, ...signed) })).body;
};

/** A daily subscription whose next occurrence was planned this many days ago. */
async function subscribed(daysAgo: number) {
  const terms = { name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '10' };
  const { schedule_id } = await post('CREATE_SCHEDULE', terms);
  const order_id = newOrderId();
  const { body } = await shop.sale({ recurring_init: 'Y', schedule_id, order_id });
  expect(body, JSON.stringify(body)).toMatchObject({ status: 'SETTLED' });
  const plannedAt = Math.floor(Date.now() / 1000) * 1000 - daysAgo * DAY;
  const first = body.trans_id as string;
  await shop.rows(`update subscriptions set anchor_at = to_timestamp(${plannedAt - DAY} / 1000.0), intervals = 1,
    created_at = to_timestamp(${plannedAt - DAY} / 1000.0)
    where first_payment_id = '${first}'`);
  /** As if the gateway came to the occurrence only then. */
  const plan = (at: number) =>
    shop.rows(`update subscriptions set next_at = to_timestamp(${at} / 1000.0), due_at = to_timestamp(${at} / 1000.0),
      intervals = ${1 + Math.round((at - plannedAt) / DAY)} where first_payment_id = '${first}'`);
  await plan(plannedAt);
  submitted.length = 0;
  return {
    schedule_id,
    order_id,
    first,
    plannedAt,
    plan,
    paymentsIn: async (where: Restored): Promise<Record<string, unknown>[]> =>
      rowsOf(
        where,
        `select payment_id, order_id, attempt, state::text from payments
         where schedule_id = '${schedule_id}' and payment_id <> '${first}' order by order_id, attempt`,
      ),
    subscriptionIn: async (where: Restored) =>
      (
        await rowsOf(
          where,
          `select *, extract(epoch from next_at) * 1000 as ms from subscriptions where first_payment_id = '${first}'`,
        )
      )[0] as Item,
    makeDue: (where: Restored) =>
      rowsOf(where, `update subscriptions set due_at = now() where first_payment_id = '${first}' and state = 'active'`),
  };
}

const dueNow = (where: Restored, id: string) =>
  rowsOf(where, `update payments set due_at = now() where payment_id = '${id}'`);

describe('scheduled charges', () => {
  test('have an id that contains their planned moment, and that nobody can tell before', async () => {
    const { plannedAt } = await subscribed(2);
    await charge(shop.gateway);
    const [id = ''] = submitted;
    expect(id).toMatch(UUID_7);
    expect(isUuid(id)).toBe(true);
    expect(timeOfId(id)).toBe(plannedAt);
  });

  test('that are made late are listed by the date of their creation', async () => {
    await subscribed(20);
    await charge(shop.gateway);
    const today = new Date(Date.now() - 3_600_000).toISOString();
    for (const filter of ['', `&mid=${shop.merchant.mid}`, '&brand=vcard', '&q=order']) {
      const { items } = (await shop.admin('GET', `/payments?from=${today}&limit=500${filter}`)).body;
      expect(items.map((item: Item) => item.payment_id)).toContain(submitted[0]);
    }
    const tomorrow = new Date(Date.now() + DAY).toISOString();
    const { items } = (await shop.admin('GET', `/payments?from=${tomorrow}&limit=500`)).body;
    expect(items).toEqual([]);
  });

  test('of the lost time are booked, not charged: also if planned dates were skipped; then one is charged', async () => {
    const { plannedAt, plan, paymentsIn, subscriptionIn, order_id } = await subscribed(5);
    const file = await backup();
    await charge(shop.gateway);
    // The gateway was down for a day: the second occurrence was planned for a later date.
    await plan(plannedAt + 2 * DAY);
    await charge(shop.gateway);
    const lost = [...submitted];
    expect(lost.map(timeOfId)).toEqual([plannedAt, plannedAt + 2 * DAY]);

    const where = await restored(file);
    await charge(where.gateway);
    expect(submitted).toEqual(lost);
    expect(await paymentsIn(where)).toEqual([]);
    await release(where);
    await charge(where.gateway);
    expect(submitted).toHaveLength(3);
    expect(new Set(submitted).size).toBe(3);
    expect(await paymentsIn(where)).toEqual([
      { payment_id: lost[0], order_id: `${order_id}:1`, attempt: 1, state: 'SETTLED' },
      { payment_id: lost[1], order_id: `${order_id}:2`, attempt: 1, state: 'SETTLED' },
      { payment_id: submitted[2], order_id: `${order_id}:3`, attempt: 1, state: 'SETTLED' },
    ]);
    const { occurrences, ms } = await subscriptionIn(where);
    expect([occurrences, Number(ms) > Date.now()]).toEqual([3, true]);
    await charge(where.gateway);
    expect(submitted).toHaveLength(3);
    expect((await verifyAt(where.connection)).violations).toEqual([]);
  });

  test('that were declined in the lost time are booked with their retries, too', async () => {
    const { plannedAt, paymentsIn, order_id } = await subscribed(8);
    const file = await backup();
    nextOutcome = DECLINED;
    await charge(shop.gateway);
    nextOutcome = SETTLED;
    await shop.rows(`update subscriptions set due_at = now() where declines = 1 and state = 'active'`);
    await charge(shop.gateway);
    const lost = [...submitted];
    expect(lost.map(timeOfId)).toEqual([plannedAt, plannedAt + DAY]);

    const where = await restored(file);
    await release(where);
    await charge(where.gateway);
    expect((await paymentsIn(where)).slice(0, 2)).toEqual([
      { payment_id: lost[0], order_id: `${order_id}:1`, attempt: 1, state: 'DECLINED' },
      { payment_id: lost[1], order_id: `${order_id}:1`, attempt: 2, state: 'SETTLED' },
    ]);
    expect(submitted.filter((id) => lost.includes(id))).toHaveLength(2);
  });

  test('that the merchant retried in the lost time are found', async () => {
    const { paymentsIn, order_id, makeDue } = await subscribed(1);
    nextOutcome = DECLINED;
    await charge(shop.gateway);
    const file = await backup();
    const account = (await findAccount(shop.gateway, shop.merchant.mid)) as Account;
    const again = await retry(shop.gateway, account, submitted[0] as string);
    nextOutcome = SETTLED;
    const paid = await retry(shop.gateway, account, again.paymentId);
    expect([again.state, paid.state]).toEqual(['DECLINED', 'SETTLED']);

    const where = await restored(file);
    await release(where);
    await makeDue(where);
    await charge(where.gateway);
    expect(submitted).toHaveLength(3);
    expect(await paymentsIn(where)).toEqual([
      { payment_id: submitted[0], order_id: `${order_id}:1`, attempt: 1, state: 'DECLINED' },
      { payment_id: again.paymentId, order_id: `${order_id}:1`, attempt: 2, state: 'DECLINED' },
      { payment_id: paid.paymentId, order_id: `${order_id}:1`, attempt: 3, state: 'SETTLED' },
    ]);
    expect((await verifyAt(where.connection)).violations).toEqual([]);
  });

  test('wait as long as the provider does not say what it has', async () => {
    const { paymentsIn, makeDue, subscriptionIn } = await subscribed(0.5);
    const file = await backup();
    await charge(shop.gateway);
    const where = await restored(file);
    await release(where);
    isSilent = true;
    await charge(where.gateway);
    expect([submitted.length, await paymentsIn(where)]).toEqual([1, []]);
    expect((await subscriptionIn(where)).occurrences).toBe(0);
    isSilent = false;
    await makeDue(where);
    await charge(where.gateway);
    expect(await paymentsIn(where)).toMatchObject([{ payment_id: submitted[0], state: 'SETTLED' }]);
    expect(submitted).toHaveLength(1);
  });

  test('after the lost time are made without a question', async () => {
    const { first } = await subscribed(0.5);
    const where = await restored(await backup());
    await release(where);
    await rowsOf(where, `update subscriptions set next_at = now() where first_payment_id = '${first}'`);
    isSilent = true;
    await charge(where.gateway);
    // It was submitted, although the provider answers no query.
    expect(submitted).toHaveLength(1);
  });
});

describe('authorisations whose time is over', () => {
  const authorised = async (): Promise<string> => {
    const { trans_id } = (await shop.sale({ auth: 'Y' })).body;
    await shop.rows(`update history set at = at - interval '30 days' where payment_id = '${trans_id}'`);
    return trans_id;
  };
  const stateIn = async (where: Restored, id: string): Promise<unknown> =>
    (await rowsOf(where, `select state::text from payments where payment_id = '${id}'`))[0]?.state;

  test('are not voided before the release; what was captured in the lost time is booked', async () => {
    const [captured, kept] = [await authorised(), await authorised()];
    const where = await restored(await backup());
    ledger.set(captured, SETTLED);
    for (const id of [captured, kept]) await dueNow(where, id);
    await processDuePayments(where.gateway);
    expect([await stateIn(where, captured), await stateIn(where, kept)]).toEqual(['SETTLED', 'PENDING']);
    expect(operated).toEqual([]);
    await release(where);
    await dueNow(where, kept);
    await processDuePayments(where.gateway);
    expect([await stateIn(where, kept), operated]).toEqual(['EXPIRED', [expect.stringMatching(/^void /)]]);
  });

  test('are asked about after the release, too, and only voided if they are still there', async () => {
    const captured = await authorised();
    const where = await restored(await backup());
    await release(where);
    ledger.set(captured, SETTLED);
    isSilent = true;
    await dueNow(where, captured);
    await processDuePayments(where.gateway);
    expect([await stateIn(where, captured), operated]).toEqual(['PENDING', []]);
    isSilent = false;
    await dueNow(where, captured);
    await processDuePayments(where.gateway);
    expect([await stateIn(where, captured), operated]).toEqual(['SETTLED', []]);
  });
});

test('an operation that the provider never received is sent again only after the release', async () => {
  const { trans_id } = (await shop.sale()).body;
  isReceived = false;
  const operation_id = randomUUID();
  await shop.admin('POST', `/payments/${trans_id}/refund`, { amount: '1.00', operation_id });
  const where = await restored(await backup());
  isReceived = true;
  const makeDue = () => rowsOf(where, `update operations set due_at = now() where state = 'sent'`);
  await makeDue();
  await processDueOperations(where.gateway);
  expect(operated).toEqual([]);
  await release(where);
  await makeDue();
  await processDueOperations(where.gateway);
  expect(operated).toEqual([`refund ${operation_id}`]);
});
