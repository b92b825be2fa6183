/** The list of payments with 100,000 payments: every filter finds the right ones and reads few rows. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstIdAt, newId } from '../../src/lib/id.ts';
import { type PaymentFilter, paymentList } from '../../src/store/payment-list.ts';
import { openShop } from '../support/gateway.ts';
import { readingOf } from '../support/plan.ts';

const shop = openShop();

const COUNT = 100_000;
const STEP_MS = 60_000;
const START = Date.UTC(2026, 0, 1);
const END = START + COUNT * STEP_MS;
const at = (share: number): number => START + Math.floor(COUNT * share) * STEP_MS;

const account = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [LARGE, UNDECLINED, STOPPED, SMALL] = [account(1), account(2), account(3), account(4)];
const SCHEDULE = account(77);

/**
 * One payment per minute. Half of them belong to one account; another account has only old payments, a third has no
 * declined ones, a fourth has very few. Some brands and states are rare, and those of `ips` are all old.
 */
const GENERATE = `
  insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, authorised, captured, due_at, is_authorisation, is_recurring_init, fingerprint,
    descriptor, decline_reason, schedule_id, attention, details, created_at, updated_at)
  select mid, (lpad(to_hex(${START} + n::bigint * ${STEP_MS}), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    'order-' || n / 2 * 2, 1 + n % 2, 's2s', brand, 'upstream', state, 2, '10.00', 'EUR', 1000,
    case when state = 'SETTLED' then 1000 else 0 end, case when state = 'SETTLED' then 1000 else 0 end,
    case when state in ('PREPARE', 'PENDING') and n % 7 <> 0 then at + interval '1 day' end, false, false, '', 'SHOP',
    case when state = 'DECLINED' then 'No.' end,
    case when n % 500 = 0 then uuid '${SCHEDULE}' end, case when n % 5000 = 1 then 'late_success'::attention end,
    '{}', at, at
  from (
    select n, at, mid,
      case when n % 20000 = 13 then 'VOID' when n > ${COUNT - 200} and n % 4 = 0 then 'PREPARE'
        when n > ${COUNT - 2000} and n % 10 = 3 then 'PENDING'
        when n % 8 = 1 and mid <> '${UNDECLINED}' then 'DECLINED' else 'SETTLED' end::payment_state as state,
      case when n % 10000 = 17 then 'rare-a' when n < ${COUNT / 2} and n % 5 = 0 then 'ips'
        when n % 11 = 0 then 'hosted-a' else 'card' end as brand
    from (
      select n, to_timestamp((${START} + n::bigint * ${STEP_MS}) / 1000.0) as at,
        case when n % 1000 = 500 then uuid '${SMALL}' when n / 2 % 2 = 0 then uuid '${LARGE}'
          when n < ${COUNT / 4} then uuid '${STOPPED}' else uuid '${UNDECLINED}' end as mid
      from generate_series(0, ${COUNT - 1}) n
    ) a
  ) b`;

interface Row {
  payment_id: string;
  mid: string;
  order_id: string;
  state: string;
  brand: string;
  attention: string | null;
  schedule_id: string | null;
  at: number;
}
let pool: pg.Pool;
let all: Row[];

beforeAll(async () => {
  pool = new pg.Pool({ ...shop.connection, max: 1 });
  await pool.query(GENERATE);
  await pool.query('vacuum analyze payments');
  const { rows } = await pool.query(
    `select payment_id, mid, order_id, state, brand, attention, schedule_id,
       (extract(epoch from created_at) * 1000)::float8 as at
     from payments order by payment_id desc`,
  );
  all = rows;
}, 120_000);
afterAll(() => pool?.end());

/** What the filter should find, computed without SQL. */
const expected = (filter: PaymentFilter): string[] =>
  all
    .filter(
      (row) =>
        (filter.mid ?? row.mid) === row.mid &&
        (filter.orderId ?? row.order_id) === row.order_id &&
        (filter.state ?? row.state) === row.state &&
        (filter.brand ?? row.brand) === row.brand &&
        (filter.attention ?? row.attention) === row.attention &&
        (filter.scheduleId ?? row.schedule_id) === row.schedule_id &&
        row.at >= (filter.from ?? 0) &&
        row.at < (filter.to ?? Number.POSITIVE_INFINITY) &&
        row.payment_id < (filter.before ?? 'g'),
    )
    .slice(0, filter.limit)
    .map((row) => row.payment_id);

const found = async (filter: PaymentFilter): Promise<string[]> =>
  (await shop.gateway.payments.list(filter)).payments.map(({ paymentId }) => paymentId);

const RANGES: Omit<PaymentFilter, 'limit' | 'mids'>[] = [
  {},
  { before: firstIdAt(at(0.9)) },
  { before: firstIdAt(at(0.01)) },
  { from: at(0.5), to: at(0.51) },
  { from: at(0.01), to: at(0.02) },
  { from: at(0.995) },
  { to: at(0.01) },
  { from: at(0.3), to: at(0.6), before: firstIdAt(at(0.4)) },
  { from: END },
];
const FILTERS: Omit<PaymentFilter, 'limit' | 'mids'>[] = [
  {},
  ...[LARGE, UNDECLINED, STOPPED, SMALL, account(9)].map((mid) => ({ mid })),
  { orderId: 'order-70000' },
  { orderId: 'order-70000', mid: LARGE },
  { orderId: 'none' },
  ...['SETTLED', 'DECLINED', 'VOID', 'PREPARE', 'PENDING', 'REFUND'].map((state) => ({ state })),
  ...['card', 'ips', 'hosted-a', 'rare-a', 'none'].map((brand) => ({ brand })),
  ...['late_success', 'unresolved'].map((attention) => ({ attention })),
  ...[SCHEDULE, account(9)].map((scheduleId) => ({ scheduleId })),
  { mid: LARGE, state: 'DECLINED' },
  { mid: UNDECLINED, state: 'DECLINED' },
  { mid: STOPPED, state: 'SETTLED' },
  { mid: SMALL, state: 'PREPARE' },
  { mid: STOPPED, brand: 'ips' },
  { mid: SMALL, brand: 'card' },
  { mid: SMALL, brand: 'rare-a' },
  { mid: LARGE, attention: 'late_success' },
  { mid: LARGE, scheduleId: SCHEDULE },
  { brand: 'ips', state: 'SETTLED' },
  { brand: 'rare-a', state: 'DECLINED' },
  { brand: 'card', state: 'PREPARE' },
  { brand: 'card', state: 'PENDING', mid: LARGE },
];

describe.each(FILTERS)('%j', (filter) => {
  test('finds the right payments for every date range and page', async () => {
    for (const range of RANGES) {
      const whole = { mids: null, ...filter, ...range, limit: 51 };
      expect(await found(whole), JSON.stringify(range)).toEqual(expected(whole));
    }
  });

  test('uses an index, and reads little more than the page', async () => {
    for (const range of RANGES) {
      const { text, values } = paymentList({ mids: null, ...filter, ...range, limit: 51 }, ['paymentId', 'amount'], 0);
      const reading = await readingOf(pool, text, values);
      const details = JSON.stringify({ range, reading });
      expect(reading.reads, details).not.toContain('Seq Scan');
      expect(reading.rows, details).toBeLessThan(1200);
      // A brand of an account skips the entries of other accounts in the index, without reading their rows.
      expect(reading.pages, details).toBeLessThan(1500);
    }
  });
});

describe('in a sandbox with a moved clock', () => {
  test('dates are those of the account’s clock, not of the ids', async () => {
    const ahead = await shop.newMerchant();
    const DAY = 86_400;
    await shop.advanceClock(400 * DAY, ahead.mid);
    const before = shop.gateway.clock.now(ahead.mid) - 5000;
    const { body } = await shop.sale({}, ahead);
    const now = (await shop.sale()).body.trans_id;
    const ids = async (from: number, to: number): Promise<string[]> => {
      const [first, last] = [from, to].map((ms) => new Date(ms).toISOString());
      const { items } = (await shop.admin('GET', `/payments?from=${first}&to=${last}`)).body;
      return items.map(({ payment_id }: { payment_id: string }) => payment_id);
    };
    expect(await ids(before, before + 60_000)).toEqual([body.trans_id]);
    const today = await ids(Date.now() - 60_000, Date.now() + 60_000);
    expect(today).toContain(now);
    expect(today).not.toContain(body.trans_id);
  });
});

test('the first id of a moment is after all earlier ids and not after any later one', () => {
  const id = newId();
  const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  expect(firstIdAt(ms) <= id && id < firstIdAt(ms + 1)).toBe(true);
  expect(firstIdAt(-1)).toBe('00000000-0000-0000-0000-000000000000');
  expect(firstIdAt(Number.POSITIVE_INFINITY)).toBe('ffffffff-ffff-0000-0000-000000000000');
});
