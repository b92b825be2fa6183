/** The statements of the hot path and of the work loop read large tables by an index only, whatever the statistics say. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountId, generate } from '../../../bench/generate.ts';
import { type CallbackStore, SWEEP_START } from '../../../src/store/callbacks/callbacks.ts';
import { INDEX_ONLY } from '../../../src/store/database/database.ts';
import { prepareSession } from '../../../src/store/database/session.ts';
import type { OperationStore } from '../../../src/store/payments/operations.ts';
import type { PaymentStore, PaymentWithDetails } from '../../../src/store/payments/payments.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';
import { readingOf } from '../../support/plan.ts';
import { openRecordedStores, type Statement } from '../../support/plans.ts';

/** Enough that even operations, which are few, are cheaper to read by an index than in full. */
const SIZE = { payments: 20_000, accounts: 50, days: 30 };
const LARGE = ['payments', 'history', 'operations', 'callbacks', 'callback_attempts_before'];
const DUE_CONNECTOR = 'due';
/** Far less than the table of payments has; a claim updates sixteen rows and their entries in all indexes. */
const PAGES_MOST = 1500;

let shop: TestGateway;
let statements: Statement[];
let payments: PaymentStore;
let operations: OperationStore;
let callbacks: CallbackStore;
let close: () => Promise<void>;
let known: { mid: string; paymentId: string; orderId: string };

beforeAll(async () => {
  shop = await startTestGateway();
  ({ statements, payments, operations, callbacks, close } = openRecordedStores(shop.connection));
  await generate(shop.connection, SIZE, () => undefined);
  [known] = (await shop.rows(
    `select mid, payment_id as "paymentId", order_id as "orderId" from payments where order_id = 'order-12345'`,
  )) as [typeof known];
  await shop.rows(`update payments set connector = '${DUE_CONNECTOR}', due_at = now() - interval '1 second'
    where order_id in (select 'order-' || n from generate_series(100, 115) n)`);
  await shop.rows(`update operations set connector = '${DUE_CONNECTOR}', due_at = now() - interval '1 second'
    where operation_id in (select operation_id from operations limit 16)`);
  await shop.rows(`update callbacks set state = 'waiting', reason = null, due_at = now() - interval '1 second'
    where payment_id in (select payment_id from payments where mid = '${accountId(0)}' limit 16)`);
});
afterAll(async () => {
  await close();
  await shop.close();
});

/** As ANALYZE leaves them when it ran while one account had a few settled payments and nothing was due. */
async function skewStatistics(): Promise<void> {
  for (const table of LARGE) {
    await shop.rows(`select pg_restore_relation_stats('schemaname', 'public', 'relname', '${table}',
      'relpages', 1::integer, 'reltuples', 20::real, 'relallvisible', 0::integer)`);
    await shop.rows(`select pg_restore_attribute_stats('schemaname', 'public', 'relname', '${table}',
        'attname', c.column_name::text, 'inherited', false, 'avg_width', 16,
        'null_frac', case when c.column_name = 'due_at' then 1 else 0 end::real,
        'n_distinct', case when c.column_name in ('payment_id', 'order_id', 'operation_id') then -1 else 1 end::real)
      from information_schema.columns c where c.table_name = '${table}' and c.column_name in
        ('mid', 'payment_id', 'order_id', 'operation_id', 'connector', 'state', 'endpoint', 'due_at')`);
  }
}

async function clearStatistics(): Promise<void> {
  for (const table of LARGE) {
    await shop.rows(`select pg_clear_relation_stats('public', '${table}')`);
    await shop.rows(`delete from pg_statistic where starelid = '${table}'::regclass`);
  }
}

const find = async (): Promise<PaymentWithDetails> => (await payments.find(known)) as PaymentWithDetails;

const HOT: [string, () => Promise<unknown>][] = [
  ['opening a payment', () => payments.open(preparedPayment(shop, { mid: accountId(3) }))],
  ['opening a further attempt', () => payments.open(preparedPayment(shop, { ...known, attempt: 2 }))],
  [
    'a transition',
    async () => {
      const payment = preparedPayment(shop, { mid: accountId(4) });
      await payments.open(payment);
      statements.length = 0;
      const after: PaymentWithDetails = { ...payment, state: 'DECLINED', declineReason: 'No money.', historyLength: 2 };
      await payments.transition({ before: payment, after, event: 'declined', actor: 'provider', call: undefined });
    },
  ],
  ['a payment', find],
  ['a status', () => payments.status(known)],
  ['an order', () => payments.findByOrder(known)],
  ['a payment of any account', () => payments.findAnywhere(known.paymentId)],
  ['the history of a payment', async () => payments.history(await find())],
  ['the operations of a payment', () => operations.of(known)],
  ['the callbacks of a payment', () => callbacks.of(known)],
  ['a page of payments', () => payments.list({ mids: null, limit: 50 })],
  ['a page of payments of an account', () => payments.list({ mids: null, mid: known.mid, limit: 50 })],
  ['the connectors of due payments', () => payments.dueConnectors()],
  ['a claim of due payments', () => payments.claimDue(DUE_CONNECTOR, 16)],
  ['hastening the payments of a connector', () => payments.hasten(DUE_CONNECTOR)],
  ['the connectors of due operations', () => operations.dueConnectors()],
  ['a claim of due operations', () => operations.claimDue(DUE_CONNECTOR, 16)],
  ['a search for due callbacks', () => callbacks.findDue(Date.now(), SWEEP_START)],
  [
    'a claim of due callbacks',
    () =>
      callbacks.claimDue(Date.now(), [{ mid: accountId(0), endpoint: '', lookahead: 0, since: null, room: 16 }], 64),
  ],
  [
    'the outcome of a callback',
    () =>
      callbacks.record({
        key: { ...known, seq: 2 },
        claimedUntil: null,
        state: 'delivered',
        reason: null,
        dueAt: null,
        at: Date.now(),
        status: 200,
        fault: null,
        tookMs: 1,
      }),
  ],
];

/** Runs the statements again as their connection would plan them now, without keeping what they write. */
async function readAgain({ text, values, isHot }: Statement, isOfProjection: boolean) {
  const client = new pg.Client(shop.connection);
  await client.connect();
  await prepareSession(client, isHot ? INDEX_ONLY : {});
  await client.query(isOfProjection ? 'begin; set local enable_seqscan = off' : 'begin');
  try {
    return await readingOf(client, text, values);
  } finally {
    await client.end();
  }
}

describe.each<[string, () => Promise<unknown>]>([
  ['fresh', () => shop.rows(`analyze ${LARGE.join(', ')}`)],
  ['of a time when the tables were small', skewStatistics],
  ['missing', clearStatistics],
])('with statistics that are %s', (_, prepare) => {
  beforeAll(async () => {
    await prepare();
  });

  test.each(HOT)('%s reads no large table in full', async (_name, run) => {
    statements.length = 0;
    await run();
    const recorded = [...statements];
    expect(recorded.length).toBeGreaterThan(0);
    // What reads a projection first reads how far it is, and sets this for its transaction.
    const isOfProjection = recorded.some(({ text }) => text.includes('from projections'));
    for (const statement of recorded) {
      const { scanned, reads, pages } = await readAgain(statement, isOfProjection);
      const details = `${statement.text}\n${reads.join(', ')}`;
      expect(
        scanned.filter((table) => LARGE.includes(table)),
        details,
      ).toEqual([]);
      expect(pages, details).toBeLessThanOrEqual(PAGES_MOST);
    }
  });
});
