/** Reports over many payments: they read the stored sums and the newest rows of the history, and little else. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { overview, report } from '../../../src/core/reports/reports.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { REPORT_GROUPS } from '../../../src/rules/reports.ts';
import { types } from '../../../src/store/database/database.ts';
import {
  LAST_NUMBERS,
  type Numbers,
  type ProgressRow,
  progressOf,
  tail,
} from '../../../src/store/projections/portions.ts';
import {
  declineStatement,
  type FigureGroup,
  type Missing,
  overviewStatement,
  reportStatement,
} from '../../../src/store/reports/figures.ts';
import { reports } from '../../../src/store/reports/projection.ts';
import { openShop } from '../../support/gateway.ts';
import { readingOf } from '../../support/plan.ts';
import { openPool } from '../../support/pool.ts';

const shop = openShop();

/** `FIGURES_COUNT=5000000` also measures durations, at that size, and prints them. */
const COUNT = Number(process.env.FIGURES_COUNT ?? 100_000);
const DAYS = 30;
const ACCOUNTS = 50;
const DAY_MS = 86_400_000;
const END = Math.floor(Date.now() / 3_600_000) * 3_600_000;
const START = END - DAYS * DAY_MS;
const RANGE = { from: START, to: END, mids: null };

/** Payments of 50 accounts over 30 days, the last account has the most; one in ten is declined. */
const PAYMENTS = (first: number, last: number): string => `
  insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, authorised, captured, refunded, is_authorisation, is_recurring_init, fingerprint,
    descriptor, decline_reason, details, created_at, updated_at)
  select ('00000000-0000-7000-8000-' || lpad(floor(sqrt(n % ${ACCOUNTS ** 2}))::text, 12, '0'))::uuid,
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    'order-' || n, 1, 's2s', (array['card', 'vcard', 'pin-a', 'upi-b', 'ips'])[1 + n / 7 % 5],
    case when n / 7 % 5 = 1 then 'vcard' else 'upstream' end, state, 2, '10.00',
    (array['EUR', 'USD', 'JPY'])[1 + n / 3 % 3], 1000, money, money, 0, false, false, '', 'SHOP',
    case when state = 'DECLINED' then 'Reason ' || n % 12 end, '{}', at, at
  from (
    select n, at, state, case when state = 'SETTLED' then 1000 else 0 end as money from (
      select n, to_timestamp(${START / 1000} + n::float8 / ${COUNT} * ${DAYS * 86_400}) as at,
        (case when n % 10 = 3 then 'DECLINED' else 'SETTLED' end)::payment_state as state
      from generate_series(${first}, ${last - 1}) n
    ) a
  ) b`;

const HISTORY = (from: number, to: number): string => `
  insert into history (mid, payment_id, seq, event, from_state, to_state, actor, call, at, amount)
  select mid, payment_id, s, case s when 1 then 'opened' else lower(state::text) end,
    case when s = 2 then 'PREPARE'::payment_state end, case s when 1 then 'PREPARE' else state end, 'provider',
    case when s = 2 then jsonb_build_object('verb', 'submit', 'connector', connector, 'outcome', 'settled', 'tookMs', 40) end,
    created_at, case when s = 2 and state = 'SETTLED' then 1000 end
  from payments, (values (1), (2)) v(s)
  where payment_id >= (lpad(to_hex(${from}), 12, '0') || '00000000000000000000')::uuid
    and payment_id < (lpad(to_hex(${to}), 12, '0') || '00000000000000000000')::uuid
  order by payment_id, s`;

let pool: pg.Pool;
let missing: Missing;
const STEPS = Math.max(1, COUNT / 500_000);

beforeAll(async () => {
  // Like the store, so that the plans are the same.
  pool = openPool({ ...shop.connection, max: 1, options: '-c enable_seqscan=off -c jit=off -c work_mem=32MB' });
  for (let step = 0; step < STEPS; step++) {
    await pool.query(PAYMENTS((COUNT / STEPS) * step, (COUNT / STEPS) * (step + 1)));
  }
  for (let day = 0; day < DAYS; day++) await pool.query(HISTORY(START + day * DAY_MS, START + (day + 1) * DAY_MS));
  await pool.query('vacuum analyze payments, history');
  await foldProjections(shop.gateway);
  await pool.query(
    'vacuum analyze rollups, rollup_declines, rollup_decline_classes, rollup_calls, rollup_totals, rollup_account_totals',
  );
  // The newest rows are not contained in the sums.
  for (let made = 0; made < 500; made += 50) await Promise.all(Array.from({ length: 50 }, () => shop.sale()));
  const text = `select p.*, ${LAST_NUMBERS} from projections p where name = 'reports'`;
  const { rows } = await pool.query<ProgressRow & Numbers>({ text, types });
  const row = rows[0] as ProgressRow & Numbers;
  missing = { tail: tail(progressOf(row), row, reports.logs), totalsBefore: null };
}, 3_600_000);
afterAll(() => pool?.end());

const REPORTS: FigureGroup[][] = [[], ['day'], ['mid'], ['day', 'mid', 'brand', 'connector'], ['brand', 'connector']];

test('the sums are those of all payments', async () => {
  const { rows } = await report(shop.gateway, RANGE, [], 10);
  const total = (read: (row: (typeof rows)[number]) => number): number => rows.reduce((sum, row) => sum + read(row), 0);
  expect(total(({ payments }) => payments)).toBe(COUNT);
  expect(total(({ declined }) => declined)).toBe(COUNT / 10);
  expect(rows.reduce((sum, { captured }) => sum + captured, 0n)).toBe(BigInt((COUNT / 10) * 9 * 1000));
});

test('the overview is the same from totals and from sums, with the largest accounts first', async () => {
  const { rows } = await pool.query<{ mid: string }>('select distinct mid from rollups');
  const range = { from: START, to: END + DAY_MS };
  const { openWork: _all, ...all } = await overview(shop.gateway, { ...range, mids: null });
  const mids = [...rows.map(({ mid }) => mid), shop.merchant.mid];
  const { openWork: _named, ...named } = await overview(shop.gateway, { ...range, mids });
  expect(all).toEqual(named);
  const largest = Array.from({ length: LIMITS.overviewItems }, (_, index) => ACCOUNTS - 1 - index);
  expect(all.byMid.map(([mid]) => Number(mid.slice(-12)))).toEqual(largest);
});

describe('reads few rows of the history and of payments', () => {
  /** The sums of the range, and the new rows of the history with their payments; not the other rows of either table. */
  const check = async ({ text, values }: { text: string; values: unknown[] }): Promise<number> => {
    const reading = await readingOf(pool, text, values);
    const details = JSON.stringify(reading);
    expect(reading.reads, details).toContain('history_in_order');
    expect(
      reading.reads.some((index) => index.startsWith('rollup')),
      details,
    ).toBe(true);
    const { rows } = await pool.query(
      `select (select count(*) from rollups where grain = 'day')::int
         + (select count(*) from rollups where grain = 'hour' and starts_at >= $1)::int as sums`,
      [new Date(END - 3 * DAY_MS)],
    );
    expect(reading.rows, details).toBeLessThan(rows[0].sums + 10_000);
    expect(reading.rows, details).toBeLessThan(COUNT / 2);
    return reading.rows;
  };
  test.each(REPORTS.map((groups) => ({ groups })))('report by $groups', async ({ groups }) => {
    const statement = (before: number | null) =>
      reportStatement({ ...RANGE, to: END + DAY_MS }, groups, 10_000, { ...missing, totalsBefore: before });
    const [fromTotals, fromSums] = [await check(statement(null)), await check(statement(END))];
    // The new rows of the history and their payments are read either way.
    const fresh = 2500;
    if (!groups.includes('mid')) expect(fromTotals - fresh).toBeLessThan((fromSums - fresh) / 5);
    else if (groups.length === 1) expect(fromTotals).toBeLessThan(fromSums);
    else expect(fromTotals).toBe(fromSums);
  });
  test('report by the class of declines', async () => {
    await check(declineStatement({ ...RANGE, to: END + DAY_MS }, ['day', 'decline_class'], 10_000, missing.tail));
  });
  test.each(['hour', 'day'] as const)('overview by %s', async (bucket) => {
    await check(overviewStatement({ ...RANGE, from: END - 2 * DAY_MS, to: END + DAY_MS }, bucket, missing));
  });
});

test.runIf(process.env.FIGURES_COUNT)('prints how long each report takes', async () => {
  const durations: Record<string, number> = {};
  const time = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const samples: number[] = [];
    for (let index = 0; index < 5; index++) {
      const started = performance.now();
      await run();
      samples.push(performance.now() - started);
    }
    durations[name] = Math.round(samples.sort((a, b) => a - b)[2] as number);
  };
  const to = END + DAY_MS;
  for (const days of [1, 7, 30]) {
    await time(`overview of ${days} d`, () => overview(shop.gateway, { ...RANGE, from: END - days * DAY_MS, to }));
  }
  await time('report', () => report(shop.gateway, { ...RANGE, to }, [], 10_000));
  await time('report of 7.5 d', () =>
    report(shop.gateway, { ...RANGE, from: END - 7.5 * DAY_MS, to }, ['day'], 10_000),
  );
  // The largest report that is answered as JSON.
  await time('report of 12 d by everything', () =>
    report(shop.gateway, { ...RANGE, from: END - 12 * DAY_MS, to }, [...REPORT_GROUPS], 10_000),
  );
  await time('report of one account', () =>
    report(shop.gateway, { ...RANGE, to, mids: ['00000000-0000-7000-8000-000000000001'] }, ['day'], 10_000),
  );
  console.log(durations);
});
