/** The statements on callbacks read a number of rows that does not grow with the table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallbackFilter, CallbackStore } from '../../../src/store/callbacks/callbacks.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { openRecordedStores, readingOf, type Statement } from '../../support/plans.ts';

const MERCHANTS = 50;
const CALLBACKS = 100_000;
const START = Date.parse('2026-03-01T00:00:00Z');
const SECOND = 1000;
/** How many rows one statement resends at most, stated independently of the source. */
const PORTION = 1000;

let shop: TestGateway;
let store: CallbackStore;
let statements: Statement[];
let close: () => Promise<void>;
let payment: string;

const merchant = (number: number): string => `0199ffff-0000-7000-8000-${String(number).padStart(12, '0')}`;
/** How many callbacks wait. */
const WAITING = (CALLBACKS * 2) / 100;
/** The merchant whose callbacks are older than all others. */
const OLD = merchant(999);
/** The merchant whose callbacks were all parked. */
const PARKED = merchant(998);
/** A merchant without callbacks. */
const NEW = merchant(997);

beforeAll(async () => {
  shop = await startTestGateway();
  ({ callbacks: store, statements, close } = openRecordedStores(shop.connection));
  payment = (await shop.sale()).body.trans_id;
  const insert = (mid: string, state: string, count: number, second: string) =>
    shop.rows(`insert into callbacks (mid, payment_id, seq, type, body, is_json, endpoint, state, due_at, created_at)
      select ${mid}::uuid, gen_random_uuid(), 2, 'sale', 'a=b', false, '', s.state::callback_state,
        case when s.state = 'waiting' then timestamptz '2026-03-01Z' end,
        timestamptz '2026-03-01Z' + ${second} * interval '1 second'
      from (select n, ${state} as state from generate_series(1, ${count}) n) s`);
  const some = `('0199ffff-0000-7000-8000-' || lpad((n % ${MERCHANTS})::text, 12, '0'))`;
  const mixed = `case when n % 100 = 0 then 'parked' when n % 100 < 3 then 'waiting' else 'delivered' end`;
  await insert(some, mixed, CALLBACKS, 'n');
  await insert(`'${OLD}'`, `'delivered'`, 500, '-n');
  await insert(`'${PARKED}'`, `'parked'`, 5000, '(n * 20)');
  await shop.rows(`insert into callback_log (mid, payment_id, seq, created_at)
    select mid, payment_id, seq, created_at from callbacks on conflict do nothing`);
  await shop.rows('analyze callbacks; analyze callback_log');
});
afterAll(async () => {
  await close();
  await shop.close();
});

/** Runs it, and returns how its statements read the table of callbacks. */
async function readingBy(run: () => Promise<unknown>) {
  statements.length = 0;
  await run();
  expect(statements.length).toBeGreaterThan(0);
  const readings = await Promise.all(statements.map((one) => readingOf(shop.connection, one, 'callbacks')));
  return { rows: readings.map(({ rows }) => rows), scans: readings.flatMap(({ scans }) => scans) };
}

describe('a page of the list', () => {
  const LIMIT = 51;
  const at = (second: number): number => START + second * SECOND;
  const middle = { from: at(40_000), to: at(60_000) };
  const FILTERS: [string, CallbackFilter][] = [
    ['no filter', {}],
    ['an account', { mid: merchant(7) }],
    ['an account whose callbacks are all old', { mid: OLD }],
    ['an account that has none', { mid: NEW }],
    ['a period', middle],
    ['the beginning', { to: at(100) }],
    ['the latest period', { from: at(99_990) }],
    ['a period without callbacks', { from: at(200_000) }],
    ['an account and a period', { mid: merchant(7), ...middle }],
    ...(['waiting', 'delivered', 'parked'] as const).flatMap((state): [string, CallbackFilter][] => [
      [state, { state }],
      [`${state} of an account`, { state, mid: merchant(8) }],
      [`${state} of an account without such`, { state, mid: state === 'parked' ? OLD : PARKED }],
      [`${state} of a period`, { state, ...middle }],
      [`${state} of an account and a period`, { state, mid: merchant(8), ...middle }],
    ]),
  ];

  test.each(FILTERS)('by %s reads a few rows, by an index', async (_, filter) => {
    const { rows, scans } = await readingBy(() => store.list(filter, LIMIT));
    // A page of the log, of what follows it, and the page itself. All callbacks that wait are read, because they are few,
    // and of an account without delivered ones its log; each of these is also looked up.
    const isRare = filter.state === 'delivered' && filter.mid === PARKED;
    const most = filter.state === 'waiting' ? 2 * WAITING : isRare ? 2 * 5000 : 4 * LIMIT;
    expect(Math.max(...rows), scans.join(', ')).toBeLessThanOrEqual(most + 10);
    expect(scans.filter((scan) => scan.startsWith('Seq'))).toEqual([]);
  });

  test('so does the next page', async () => {
    const { mid } = shop.merchant;
    const [own] = await store.list({ paymentId: payment }, 1);
    expect(own).toMatchObject({ mid, paymentId: payment });
    for (const filter of [{}, { mid }, { state: 'delivered' as const }, middle]) {
      const { rows, scans } = await readingBy(() => store.list(filter, LIMIT, own));
      expect(Math.max(...rows), scans.join(', ')).toBeLessThanOrEqual(4 * LIMIT + 10);
      expect(scans.filter((scan) => scan.startsWith('Seq'))).toEqual([]);
    }
  });

  test.each<CallbackFilter>([{}, { state: 'waiting' }, { state: 'delivered' }, middle])(
    'by a payment, and %j, reads its rows only',
    async (filter) => {
      const { rows, scans } = await readingBy(() => store.list({ ...filter, paymentId: payment }, LIMIT));
      expect(Math.max(...rows), scans.join(', ')).toBeLessThanOrEqual(10);
    },
  );

  test('has the newest callbacks first, whatever the filter', async () => {
    for (const [, filter] of FILTERS) {
      const times = (await store.list(filter, LIMIT)).map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    }
    const newest = await store.list({ mid: merchant(7) }, 3);
    expect(newest.map(({ createdAt }) => (createdAt - START) / SECOND)).toEqual([99_957, 99_907, 99_857]);
  });
});

test('a resend of an account updates one portion per statement, and every callback once', async () => {
  const { rows, scans } = await readingBy(async () => {
    let portions = 0;
    const count = await store.resend({ mid: PARKED, state: 'parked' }, Date.now, () => portions++);
    expect([count, portions]).toEqual([5000, 6]);
  });
  // Each reads how far the log is, the keys, and the callbacks.
  expect(rows).toHaveLength(3 * 6);
  expect(Math.max(...rows), scans.join(', ')).toBeLessThanOrEqual(5 * PORTION);
  expect(scans.filter((scan) => scan.startsWith('Seq'))).toEqual([]);
  const left = await shop.rows(`select state, count(*)::int from callbacks where mid = '${PARKED}' group by state`);
  expect(left).toEqual([{ state: 'waiting', count: 5000 }]);
});
