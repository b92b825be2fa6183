/** The list of schedules with 100,000 schedules, one of which has 150,000 subscriptions. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listStatement, subscriptionsStatement } from '../../../src/store/schedules/schedules.ts';
import { type Answer, openShop } from '../../support/gateway.ts';
import { readingOf } from '../../support/plan.ts';
import { openPool } from '../../support/pool.ts';

const shop = openShop();

const SUBSCRIPTIONS = 150_000;
const SCHEDULES = 100_000;
const id = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [MID, OTHER_MID, SCHEDULE] = [id(1), id(2), id(3)];

let pool: pg.Pool;

beforeAll(async () => {
  pool = openPool({ ...shop.connection, max: 1 });
  await pool.query(`
    insert into schedules (mid, schedule_id, name, interval_length, interval_unit, payments_count, delays, version,
      created_at)
    select uuid '${OTHER_MID}', ('00000001-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Plan ' || n, 1, 'month'::interval_unit,
      12, 0, 1, timestamptz '2026-01-01 00:00Z' + n * interval '1 s'
    from generate_series(1, ${SCHEDULES}) n
    union all
    select uuid '${MID}', uuid '${SCHEDULE}', 'Large plan', 1, 'month'::interval_unit, 12, 0, 1, '2026-06-01 00:00Z'`);
  await pool.query(`
    insert into subscriptions (mid, subscription_id, schedule_id, first_payment_id, state, occurrences, declines,
      failed, anchor_at, anchor_day, intervals, schedule_version, next_at, due_at, created_at)
    select uuid '${MID}', ('00000002-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, uuid '${SCHEDULE}',
      ('00000003-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, state, 0, 0, 0, now(), 1, 0, 1, next_at, next_at, now()
    from (
      select n, case when n % 10 = 0 then 'finished' when n % 10 = 1 then 'ended' else 'active' end::subscription_state
        as state, case when n % 10 > 1 then timestamptz '2030-01-01 00:00Z' - n * interval '1 s' end as next_at
      from generate_series(1, ${SUBSCRIPTIONS}) n
    ) a`);
  await pool.query('vacuum analyze schedules');
  // A transaction that began before the insert keeps pages from being all-visible, and an index-only scan from being chosen.
  for (let hidden = 1; hidden > 0; ) {
    await pool.query('vacuum analyze subscriptions');
    const { rows } = await pool.query(
      `select relpages - relallvisible as hidden from pg_class where relname = 'subscriptions'`,
    );
    hidden = rows[0].hidden;
  }
}, 120_000);
afterAll(() => pool?.end());

test('a schedule with many subscriptions lists their number and those that are charged next', async () => {
  const { status, body } = await shop.admin('GET', `/schedules?mid=${MID}`);
  expect(status).toBe(200);
  expect(body.items).toHaveLength(1);
  const [schedule] = body.items;
  expect(schedule).toMatchObject({
    schedule_id: SCHEDULE,
    next_charge_at: '2029-12-30 06:20:01',
    subscriptions_total: SUBSCRIPTIONS,
    subscriptions_by_state: { active: 120_000, finished: 15_000, ended: 15_000 },
  });
  const dates = schedule.subscriptions.map((one: Answer['body']) => one.next_charge_at);
  expect(dates).toHaveLength(100);
  expect(dates).toEqual(dates.toSorted());
  expect(dates[0]).toBe(schedule.next_charge_at);
});

test('the pages of 100,000 schedules are contiguous', async () => {
  const names: string[] = [];
  for (let cursor = ''; names.length < 1500; ) {
    const { status, body } = await shop.admin('GET', `/schedules?limit=500&cursor=${cursor}`);
    expect(status).toBe(200);
    names.push(...body.items.map(({ name }: Answer['body']) => name));
    cursor = body.next_cursor;
  }
  const numbers = Array.from({ length: 1499 }, (_, n) => `Plan ${SCHEDULES - n}`);
  expect(names).toEqual(['Large plan', ...numbers]);
});

test('all subscriptions of the schedule can be read in pages', async () => {
  const seen = new Set<string>();
  let last = 'g';
  for (let cursor = '', pages = 0; pages < 5; pages++) {
    const { body } = await shop.admin('GET', `/schedules/${SCHEDULE}/subscriptions?limit=500&cursor=${cursor}`);
    for (const { subscription_id } of body.items) {
      expect(subscription_id < last).toBe(true);
      last = subscription_id;
      seen.add(subscription_id);
    }
    cursor = body.next_cursor;
  }
  expect(seen.size).toBe(2500);
  const end = `/schedules/${SCHEDULE}/subscriptions?mid=${MID}&limit=500&cursor=00000002-0000-7000-8000-000000000003`;
  expect((await shop.admin('GET', end)).body).toMatchObject({ items: [{}, {}], next_cursor: null });
});

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
test.each<[string, 'all' | 'ofAccount', unknown[]]>([
  ['the first page', 'all', ['infinity', LAST, LAST]],
  ['a later page', 'all', ['2026-01-01T10:00:00Z', id(0), id(0)]],
  ['one account', 'ofAccount', ['infinity', LAST, OTHER_MID]],
  ['a later page of one account', 'ofAccount', ['2026-01-01T10:00:00Z', id(0), OTHER_MID]],
  ['an account without schedules', 'ofAccount', ['infinity', LAST, id(9)]],
])('the list of schedules reads only its page: %s', async (name, kind, place) => {
  const reading = await readingOf(pool, listStatement(kind), [51, 100, ...place]);
  expect(reading.reads, JSON.stringify(reading)).not.toContain('Seq Scan');
  // All subscriptions of the large schedule are counted, with an index-only scan.
  const counted = name === 'the first page' ? SUBSCRIPTIONS : 0;
  expect(reading.rows - counted, JSON.stringify(reading)).toBeLessThan(400);
  expect(reading.pages, JSON.stringify(reading)).toBeLessThan(counted / 50 + 1000);
});

test.each([
  ['true', []],
  ['s.mid = $4', [MID]],
])('the list of subscriptions reads only its page: %s', async (condition, values) => {
  for (const cursor of ['ffffffff-ffff-ffff-ffff-ffffffffffff', '00000002-0000-7000-8000-000000050000']) {
    const reading = await readingOf(pool, subscriptionsStatement(condition), [SCHEDULE, cursor, 51, ...values]);
    expect(reading.reads, JSON.stringify(reading)).not.toContain('Seq Scan');
    expect(reading.rows, JSON.stringify(reading)).toBeLessThan(100);
  }
});
