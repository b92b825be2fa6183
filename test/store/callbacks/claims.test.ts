/** Finding and claiming due callbacks reads a bounded number of rows, however many wait or are due. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDeliverer } from '../../../src/core/callbacks/deliver.ts';
import {
  type CallbackRow,
  type CallbackStore,
  type DueEndpoint,
  SWEEP_START,
  type SweepPosition,
} from '../../../src/store/callbacks/callbacks.ts';
import { deliveriesAt, idOf } from '../../support/delivery-shop.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { openRecordedStores, readingOf, type Statement } from '../../support/plans.ts';
import { answers } from '../../support/receivers.ts';
import { sized } from '../../support/size.ts';

/** The planner settings of the connection for deliveries. */
const AS_DELIVERIES =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan';
const MANY = sized(10_000, 50_000);
/** How many rows one statement may read at most, scans for updates included. */
const ROWS_MOST = 5000;

let shop: TestGateway;
let store: CallbackStore;
let statements: Statement[];
let close: () => Promise<void>;
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
  ({ callbacks: store, statements, close } = openRecordedStores(shop.connection));
});
afterAll(async () => {
  await close();
  await shop.close();
  await deliveries.close();
});
beforeEach(async () => {
  await shop.rows('truncate callbacks');
  statements.length = 0;
});

/** Inserts waiting callbacks of payments that do not exist; `n` numbers them. */
async function insert(count: number, columns: { mid?: string; endpoint?: string; due: string; retryIndex?: number }) {
  const { mid = 'gen_random_uuid()', endpoint = `''`, due, retryIndex = 0 } = columns;
  await shop.rows(`insert into callbacks
      (mid, payment_id, seq, type, body, is_json, endpoint, state, retry_index, due_at, created_at)
    select ${mid}, gen_random_uuid(), 2, 'sale', 'a=b', false, ${endpoint}, 'waiting', ${retryIndex}, ${due}, now()
    from generate_series(1, ${count}) n`);
  await shop.rows('analyze callbacks');
}

/** Runs the recorded statements again and expects that each reads few rows, by an index. */
async function expectFewRows(): Promise<void> {
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of new Map(statements.map((one) => [one.text, one])).values()) {
    const { rows, scans } = await readingOf(shop.connection, statement, 'callbacks', AS_DELIVERIES);
    expect(rows, `${statement.text}\n${scans.join(', ')}`).toBeLessThanOrEqual(ROWS_MOST);
    expect(scans.filter((scan) => scan.startsWith('Seq'))).toEqual([]);
  }
}

/** All endpoints that one sweep finds, and the number of searches. */
async function sweep(now: number): Promise<{ found: Map<string, DueEndpoint>; searches: number }> {
  const found = new Map<string, DueEndpoint>();
  let searches = 0;
  for (let position: SweepPosition | undefined = SWEEP_START; position !== undefined; searches++) {
    const searched = await store.findDue(now, position);
    for (const one of searched.found) found.set(`${one.mid} ${one.endpoint}`, one);
    position = searched.sweep;
  }
  return { found, searches };
}

test.each(['accounts', 'endpoints of one account'])(
  `${MANY} %s that wait for a later attempt are not read when callbacks are claimed and attempts are recorded`,
  async (kind) => {
    const site = await deliveries.siteWith(answers(200));
    const own = kind === 'accounts' ? {} : { mid: `'${site.merchant.mid}'::uuid`, endpoint: 'n::text' };
    await insert(MANY, { ...own, due: `now() + n * interval '1 s' + interval '1 hour'`, retryIndex: 8 });
    const id = await site.sale();
    await createDeliverer({ ...shop.gateway, callbacks: store }).drain();
    expect(site.receiver.received.map(idOf)).toEqual([`${id}-2`]);
    expect(new Set(statements.map(({ text }) => text)).size).toBe(3);
    await expectFewRows();
  },
  120_000,
);

test(`of ${MANY} endpoints with due callbacks, a search reads a part, and a sweep finds all`, async () => {
  await insert(MANY, { due: `now() - interval '1 s'` });
  const { found, searches } = await sweep(Date.now());
  expect([found.size, searches]).toEqual([MANY, MANY / 1000 + 1]);
  const requests = [...found.values()].slice(0, 512).map((one) => ({ ...one, room: 16 }));
  const { rows, remaining } = await store.claimDue(Date.now(), requests, 512);
  expect(rows).toHaveLength(512);
  expect(remaining.length).toBeLessThanOrEqual(1);
  await expectFewRows();
}, 120_000);

test(`a backlog of ${MANY} of one endpoint hides no other endpoint, and is claimed in order`, async () => {
  const mid = '0199ffff-0000-7000-8000-000000000002';
  await insert(MANY, { mid: `'${mid}'::uuid`, due: `now() - interval '1 s' - n * interval '1 ms'` });
  await insert(1, { due: `now() - interval '20 s'` });
  await insert(1, { due: 'now()' });
  const first = await store.findDue(Date.now(), undefined);
  expect(first.found).toHaveLength(2);
  expect((await sweep(Date.now())).found.size).toBe(3);
  const requests = [{ mid, endpoint: '', lookahead: 0, since: null, room: 64 }];
  const claimed: CallbackRow[] = [];
  for (let claims = 0; claims < 3; claims++) {
    const { rows, remaining } = await store.claimDue(Date.now(), requests, 4096);
    expect([rows.length, remaining.length]).toEqual([64, 1]);
    claimed.push(...rows);
  }
  expect(new Set(claimed.map(({ paymentId }) => paymentId)).size).toBe(192);
  const oldest = await shop.rows(`select count(*)::int as left from callbacks
    where mid = '${mid}' and not is_leased and due_at < (select due_at from callbacks where mid = '${mid}' and not is_leased
      order by due_at limit 1)`);
  expect(oldest).toEqual([{ left: 0 }]);
  await expectFewRows();
}, 120_000);

test('blocked callbacks are deferred, so that they do not hide the others of their endpoint', async () => {
  const mid = '0199ffff-0000-7000-8000-000000000003';
  const BLOCKED = 5000;
  // An earlier callback of each payment has failed once and waits for its next attempt.
  await insert(BLOCKED, { mid: `'${mid}'::uuid`, due: `now() + interval '5 minutes'`, retryIndex: 1 });
  await shop.rows(`insert into callbacks
      (mid, payment_id, seq, type, body, is_json, endpoint, state, retry_index, due_at, created_at)
    select mid, payment_id, 4, type, body, is_json, endpoint, state, 0, now() - interval '1 s', created_at
    from callbacks where mid = '${mid}'`);
  await insert(1, { mid: `'${mid}'::uuid`, due: 'now()' });
  const now = Date.now() + 1;
  const claimed: CallbackRow[] = [];
  let remaining: DueEndpoint[] = [{ mid, endpoint: '', lookahead: 0, since: null }];
  let claims = 0;
  for (; remaining.length > 0; claims++) {
    const result = await store.claimDue(
      now,
      remaining.map((one) => ({ ...one, room: 1 })),
      4096,
    );
    claimed.push(...result.rows);
    remaining = result.remaining;
  }
  expect(claimed).toHaveLength(1);
  expect(claimed[0]).toMatchObject({ seq: 2, retryIndex: 0 });
  expect(claims).toBeLessThan(BLOCKED / 50);
  const [row] = await shop.rows(`select count(*)::int as due from callbacks where mid = '${mid}'
    and due_at <= '${new Date(now).toISOString()}'`);
  expect(row).toEqual({ due: 0 });
  await expectFewRows();
}, 120_000);
