/** The statements of the text search: each kind of word is read through its index, and a page reads a bounded number of rows. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { readSearch, type SearchWord } from '../../src/rules/payment-search.ts';
import type { PaymentFilter } from '../../src/store/payment-list.ts';
import { paymentSearch, SEARCH_SETTINGS, searchCounts } from '../../src/store/payment-search.ts';
import { openShop } from '../support/gateway.ts';
import { type PlanReading, readingOf } from '../support/plan.ts';

const shop = openShop();

const COUNT = 40_000;
const START = Date.UTC(2026, 0, 1);
const STEP_MS = 60_000;
const LIMIT = 51;

const account = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [LARGE, SMALL] = [account(1), account(4)];
const SCHEDULE = account(77);
const OPERATION = account(88);
const idOf = (n: number): string => {
  const time = (START + n * STEP_MS).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
};

/** One payment per minute. Half of them have the same card, e-mail, amount and order prefix; the others are rare. */
const GENERATE = `
  insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, authorised, captured, due_at, is_authorisation, is_recurring_init, fingerprint,
    descriptor, recurring_token, schedule_id, provider_reference, details, created_at, updated_at)
  select case when n % 1000 = 500 then uuid '${SMALL}' else uuid '${LARGE}' end,
    (lpad(to_hex(${START} + n::bigint * ${STEP_MS}), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    case when n % 2 = 0 then 'often-' else 'r' || n % 5000 || '-' end || n, 1, 's2s', 'card', 'upstream',
    (case when is_open then 'PREPARE' else 'SETTLED' end)::payment_state, 2, 'x',
    case when n % 14 = 7 then 'JPY' else 'EUR' end, amount, case when is_open then 0 else amount end,
    case when is_open then 0 else amount end, case when is_open then now() end, false, false, '', 'SHOP',
    case when n % 100 = 3 then 'token-' || n end, case when n % 500 = 0 then uuid '${SCHEDULE}' end,
    case when n % 3 > 0 then 'reference-' || n end,
    jsonb_build_object(
      'payer', jsonb_build_object('email', case when n % 2 = 0 then 'Often@example.com' else 'p' || n % 5000 || '@example.com' end),
      'card', jsonb_build_object('masked', '411111******' || case when n % 2 = 0 then '4242' else lpad((n % 4000)::text, 4, '0') end)),
    to_timestamp((${START} + n::bigint * ${STEP_MS}) / 1000.0), now()
  from (
    select n, n > ${COUNT - 100} and n % 4 = 0 as is_open, case when n % 2 = 0 then 1000 else 2000 + n % 5000 end as amount
    from generate_series(0, ${COUNT - 1}) n
  ) g`;

let pool: pg.Pool;
beforeAll(async () => {
  pool = new pg.Pool({ ...shop.connection, max: 1, idleTimeoutMillis: 0 });
  for (const setting of SEARCH_SETTINGS) await pool.query(`set ${setting}`);
  await pool.query(GENERATE);
  await pool.query(`
    insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at)
    select '${LARGE}', ('00000000-0000-7000-8000-' || lpad((n + 20)::text, 12, '0'))::uuid, payment_id, 'upstream',
      'refund', 1, 'done', 0, now()
    from (select payment_id, row_number() over (order by payment_id) n from payments where mid = '${LARGE}') p
    where n <= 5000`);
  await pool.query('vacuum analyze payments, operations');
}, 120_000);
afterAll(() => pool?.end());

async function readingBy(
  q: string,
  filter: Partial<PaymentFilter> = {},
): Promise<PlanReading & { ids: string[]; end: string | null }> {
  const words = readSearch(q) as SearchWord[];
  const whole = { mids: null, limit: LIMIT, ...filter };
  const { rows } = await pool.query(searchCounts(whole, words));
  const { text, values } = paymentSearch(whole, words, rows[0], ['paymentId', 'amount'], 0);
  const found = await pool.query(text, values);
  const ids = found.rows.flatMap(({ paymentId }) => paymentId ?? []);
  return { ...(await readingOf(pool, text, values)), ids, end: found.rows[0].end };
}
/** What a search reads at least: its page, and the open payments. */
const PAGE_ROWS = 2 * LIMIT + 100;

describe('a word of each kind is read through its index', () => {
  test.each([
    [idOf(7), 'payments_by_time', 1],
    [OPERATION, 'operations_by_id', 1],
    [SCHEDULE, 'payments_by_schedule', LIMIT],
    ['reference-77', 'payments_by_reference', 1],
    ['token-103', 'payments_by_recurring_token', 1],
    ['often-78', 'payments_mid_order_id_attempt_key', undefined],
    ['often-', 'payments_by_time', LIMIT],
    ['r4321-4321', 'payments_mid_order_id_attempt_key', 1],
    ['OFTEN@example.com', 'payments_by_email', LIMIT],
    ['p77@example.com', 'payments_by_email', COUNT / 5000],
    ['4242', 'payments_by_last_four', LIMIT],
    ['0077', 'payments_by_last_four', COUNT / 4000],
    ['10.00', 'payments_by_amount', LIMIT],
    ['20.77', 'payments_by_amount', undefined],
    ['none', 'payments_mid_order_id_attempt_key', 0],
  ])('%s: %s', async (q, index, count) => {
    const { reads, rows, pages, ids, end } = await readingBy(q);
    const details = JSON.stringify({ reads, rows, pages });
    if (count !== undefined) expect(ids).toHaveLength(count);
    else expect(ids.length).toBeGreaterThan(0);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(end).toBeNull();
    expect(reads, details).toContain(index);
    expect(reads, details).not.toContain('Seq Scan');
    // A prefix that few orders have is a set, which is read completely.
    expect(rows, details).toBeLessThan(4 * PAGE_ROWS + (q.startsWith('often-7') ? LIMITS.searchPrefixMost : 0));
    expect(pages, details).toBeLessThan(q.startsWith('often-7') ? 3 * LIMITS.searchPrefixMost : 2000);
  });
});

describe('the word with the fewest payments is read', () => {
  test.each([
    ['4242 10.00 p77@example.com', 'payments_by_email', 0],
    ['4242 10.00 r4321-', 'payments_mid_order_id_attempt_key', 0],
    ['often- 0077', 'payments_by_last_four', 0],
    ['4242 20.77', 'payments_by_amount', 0],
    ['0077 20.77', 'payments_by_amount', undefined],
    [`often- 4242 10.00 ${idOf(6)}`, 'payments_by_time', 1],
    ['often- 4242 reference-76', 'payments_by_reference', 1],
  ])('%s: %s', async (q, index, count) => {
    const { reads, rows, ids } = await readingBy(q);
    const details = JSON.stringify({ reads, rows });
    if (count !== undefined) expect(ids).toHaveLength(count);
    else expect(ids.length).toBeGreaterThan(0);
    expect(reads, details).toContain(index);
    expect(reads, details).not.toContain('Seq Scan');
    expect(rows, details).toBeLessThan(4 * PAGE_ROWS);
  });
});

describe('a page', () => {
  /** An index reads its maximum for the page, and again to find where it stopped. */
  const MOST = 2 * LIMITS.searchReadMost + 2000;

  test.each([
    ['4242', { brand: 'none' }],
    ['10.00', { brand: 'none' }],
    ['often@example.com', { brand: 'none' }],
    ['often-', { brand: 'none' }],
    ['4242 10.00', { brand: 'none' }],
    ['often- 4242', { state: 'REFUND' }],
  ] as const)('of %s with %j stops after the maximum, and says where', async (q, filter) => {
    const { reads, rows, ids, end } = await readingBy(q, filter);
    expect(ids).toEqual([]);
    expect(end).toEqual(expect.any(String));
    expect(reads).not.toContain('Seq Scan');
    expect(rows, JSON.stringify(reads)).toBeLessThan(MOST);
    // The next page begins there, and reads no more either.
    const next = await readingBy(q, { ...filter, before: end as string });
    expect(next.end === null || next.end < (end as string)).toBe(true);
    expect(next.rows).toBeLessThan(MOST);
  });

  test.each(['4242', '10.00', 'often@example.com'])('of %s of an account skips other accounts', async (q) => {
    for (const filter of [{ mid: SMALL }, { mids: [SMALL] }]) {
      const { reads, rows, ids, end } = await readingBy(q, filter);
      expect(ids).toHaveLength(Math.min(LIMIT, COUNT / 1000));
      expect(end).toBeNull();
      expect(reads).not.toContain('Seq Scan');
      expect(rows, JSON.stringify(reads)).toBeLessThan(4 * PAGE_ROWS);
    }
    for (const filter of [{ mid: LARGE }, { mids: [LARGE, SMALL] }]) {
      const { reads, rows, ids } = await readingBy(q, filter);
      expect(ids).toHaveLength(LIMIT);
      expect(reads).toContain(
        { 4242: 'payments_by_last_four', '10.00': 'payments_by_amount' }[q] ?? 'payments_by_email',
      );
      expect(rows, JSON.stringify(reads)).toBeLessThan(4 * PAGE_ROWS);
    }
  });

  test('of a small account reads its payments, not those of others with the same card or amount', async () => {
    for (const q of ['0077', '4242 99.99', '10.00 4243']) {
      const { pages, rows, ids } = await readingBy(q, { mid: SMALL });
      expect(ids).toEqual([]);
      expect(rows).toBeLessThan(4 * PAGE_ROWS);
      expect(pages).toBeLessThan(600);
    }
  });

  test('of a period reads that period', async () => {
    const from = START + 1000 * STEP_MS;
    const { rows, ids } = await readingBy('4242', { from, to: from + 10 * STEP_MS });
    expect(ids).toEqual([1008, 1006, 1004, 1002, 1000].map(idOf));
    expect(rows).toBeLessThan(500);
  });

  test('contains open payments, which are not in the indexes', async () => {
    const open = idOf(COUNT - 4);
    for (const q of ['4242', '10.00', 'often@example.com']) {
      expect((await readingBy(q)).ids.slice(0, 2), q).toEqual([idOf(COUNT - 2), open]);
      expect((await readingBy(q, { state: 'PREPARE' })).ids, q).toHaveLength(24);
    }
  });
});
