/** The list of payments with 100,000 payments: every filter and every word finds the right ones, on every page. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { firstIdAt, newId } from '../../../src/lib/crypto/id.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { readSearch, type SearchWord } from '../../../src/rules/payment-search.ts';
import type { PaymentFilter, PaymentSelection } from '../../../src/store/payments/list.ts';
import { openShop } from '../../support/gateway.ts';
import { OPEN_HISTORY } from '../../support/payments.ts';
import { openPool } from '../../support/pool.ts';

const shop = openShop();

const COUNT = 100_000;
const STEP_MS = 60_000;
const START = Date.UTC(2026, 0, 1);
const END = START + COUNT * STEP_MS;
const at = (share: number): number => START + Math.floor(COUNT * share) * STEP_MS;

const account = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [LARGE, UNDECLINED, STOPPED, SMALL] = [account(1), account(2), account(3), account(4)];
const SCHEDULE = account(77);
const CONNECTION = account(78);

/**
 * One payment per minute. Half of them belong to one account; another account has only old payments, a third has no
 * declined ones, a fourth has very few. Some brands and states are rare, and those of `ips` are all old.
 */
const GENERATE = `
  insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, authorised, captured, due_at, is_authorisation, is_recurring_init, fingerprint,
    descriptor, decline_reason, schedule_id, attention, details, created_at, updated_at)
  select mid, (lpad(to_hex(${START} + n::bigint * ${STEP_MS}), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    'order-' || n / 2 * 2, 1 + n % 2, 's2s', brand, case when n % 700 = 5 then 'stripe/${CONNECTION}' else 'upstream' end, state, 2,
    '10.00', case when n % 10 = 4 then 'JPY' else 'EUR' end, 1000,
    case when state = 'SETTLED' then 1000 else 0 end, case when state = 'SETTLED' then 1000 else 0 end,
    case when state in ('PREPARE', 'PENDING') and n % 7 <> 0 then at + interval '1 day' end, false, false, '', 'SHOP',
    case when state = 'DECLINED' then 'No.' end,
    case when n % 500 = 0 then uuid '${SCHEDULE}' end, case when n % 5000 = 1 then 'late_success'::attention end,
    jsonb_build_object('description', case when n % 9973 = 7 then 'Crème brûlée, dish ' || n else 'Tea, number ' || n end,
        'payer', jsonb_build_object('country', case when n % 9 = 0 then 'SE' else 'DE' end, 'email', 'payer' || n % 5000 || '@example.com'))
      || case when n % 3 = 0 then jsonb_build_object('card', jsonb_build_object('network', case when n % 4000 = 3 then 'jcb' else 'visa' end)) else '{}' end,
    at, at
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
  connector: string;
  currency: string;
  network: string | null;
  country: string;
  description: string;
  email: string;
  reference: string | null;
  at: number;
}
let pool: pg.Pool;
let all: Row[];

beforeAll(async () => {
  pool = openPool({ ...shop.connection, max: 1 });
  await pool.query(GENERATE);
  await pool.query(OPEN_HISTORY);
  await pool.query('vacuum analyze payments, history');
  await foldProjections(shop.gateway);
  await readAll();
}, 120_000);

async function readAll(): Promise<void> {
  const { rows } = await pool.query(
    `select payment_id, mid, order_id, state, brand, attention, schedule_id, connector, currency,
       details #>> '{card,network}' as network, details #>> '{payer,country}' as country, details ->> 'description' as description,
       details #>> '{payer,email}' as email, provider_reference as reference, (extract(epoch from created_at) * 1000)::float8 as at
     from payments order by payment_id desc`,
  );
  all = rows;
}
afterAll(() => pool?.end());

/** All have 1000 minor units. */
const decimalOf = ({ currency }: Row): number => (currency === 'JPY' ? 1000 : 10);

/** Whether a payment has a word in one of its texts, whatever its case and accents. */
function hasWord(row: Row, { typed }: SearchWord): boolean {
  const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const amount = row.currency === 'JPY' ? '1000' : '10.00';
  return [row.order_id, row.description, row.email, row.reference ?? '', amount, '10.00'].some((text) =>
    folded(text).includes(folded(typed).replace('10,00', '10.00')),
  );
}

/** What the filter should find, computed without SQL. */
const expected = (filter: PaymentFilter): string[] =>
  all
    .filter(
      (row) =>
        (filter.words ?? []).every((word) => hasWord(row, word)) &&
        (filter.mid ?? row.mid) === row.mid &&
        (filter.orderId ?? row.order_id) === row.order_id &&
        (filter.state ?? row.state) === row.state &&
        (filter.brand ?? row.brand) === row.brand &&
        (filter.attention ?? row.attention) === row.attention &&
        (filter.scheduleId ?? row.schedule_id) === row.schedule_id &&
        (filter.connection ?? row.connector.split('/').at(-1)) === row.connector.split('/').at(-1) &&
        (filter.network ?? row.network) === row.network &&
        (filter.country ?? row.country) === row.country &&
        (filter.currency ?? row.currency) === row.currency &&
        Number(filter.amountFrom ?? 0) <= decimalOf(row) &&
        Number(filter.amountTo ?? Number.POSITIVE_INFINITY) >= decimalOf(row) &&
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
  ...[CONNECTION, 'upstream', account(9)].map((connection) => ({ connection })),
  { connection: CONNECTION, state: 'DECLINED', mid: LARGE },
  ...['visa', 'jcb', 'amex'].map((network) => ({ network })),
  { network: 'jcb', country: 'SE' },
  { country: 'SE', mid: SMALL },
  { amountFrom: '10.00', amountTo: '10.00' },
  { amountFrom: '10.01' },
  { amountFrom: '5', amountTo: '999.99' },
  { amountFrom: '1000', amountTo: '1000' },
  { amountTo: '9.99' },
  { amountFrom: '10.005' },
  { amountFrom: '10', amountTo: '10', currency: 'JPY' },
  { currency: 'JPY', brand: 'rare-a' },
];

describe.each(FILTERS)('%j', (filter) => {
  test('finds the right payments for every date range and page', async () => {
    for (const range of RANGES) {
      const whole = { mids: null, ...filter, ...range, limit: 51 };
      expect(await found(whole), JSON.stringify(range)).toEqual(expected(whole));
    }
  });
});

const words = (text: string): PaymentFilter['words'] => readSearch(text);

/** All pages of a list, and how many payments the largest one has. */
async function allPages(filter: Omit<PaymentFilter, 'limit'>, limit: number): Promise<{ ids: string[]; most: number }> {
  const ids: string[] = [];
  let most = 0;
  for (let before: string | undefined | null; before !== null; ) {
    const page = await shop.gateway.payments.list({ ...filter, before, limit });
    ids.push(...page.payments.map(({ paymentId }) => paymentId));
    most = Math.max(most, page.payments.length);
    before = page.next;
  }
  return { ids, most };
}

const SEARCHES: { q: string; filter?: Omit<PaymentSelection, 'mids' | 'words'> }[] = [
  { q: 'creme' },
  { q: 'BRÛLÉE' },
  { q: 'creme dish' },
  { q: '"brulee, dish"' },
  { q: 'creme tea' },
  { q: 'payer42@example.com' },
  { q: 'payer42@', filter: { mid: LARGE } },
  { q: 'payer42@', filter: { mid: SMALL } },
  { q: 'number 4242' },
  { q: 'order-70001' },
  { q: 'order-7000' },
  { q: 'tea', filter: { state: 'VOID' } },
  { q: 'tea', filter: { from: at(0.2), to: at(0.2005) } },
  { q: '10,00', filter: { brand: 'rare-a' } },
  { q: '99 13', filter: { network: 'jcb' } },
  { q: 'nothing-has-this' },
];

describe.each(SEARCHES)('a search: %j', ({ q, filter }) => {
  test('its pages have every match once, newest first, and the count is their number', async () => {
    const selection = { mids: null, ...filter, words: words(q) };
    const right = expected({ ...selection, limit: COUNT });
    const { ids, most } = await allPages(selection, 50);
    expect(ids).toEqual(right);
    expect(most).toBeLessThanOrEqual(50);
    const counted = { ...selection, limit: 50, isCounted: true };
    const first = await shop.gateway.payments.list(counted);
    const { count = 0, isMore } = first.total ?? {};
    if (isMore) expect(count).toBeLessThanOrEqual(right.length);
    else expect(count).toBe(right.length);
    if (first.next === null) return;
    // The other pages say the same.
    expect((await shop.gateway.payments.list({ ...counted, before: first.next })).total).toEqual(first.total);
  });
});

test('a word that is everywhere fills a page, and its count says that there are more', async () => {
  const selection = { mids: null, words: words('tea') };
  expect(await found({ ...selection, limit: 51 })).toEqual(expected({ ...selection, limit: 51 }));
  const { total } = await shop.gateway.payments.list({ ...selection, limit: 51, isCounted: true });
  expect(total).toEqual({ count: LIMITS.countedMost, isMore: true });
});

test('payments that change long after they were placed are found by what is new, before and after it is folded', async () => {
  const selection = { mids: null, words: words('late-reference'), limit: 100 };
  expect(await found(selection)).toEqual([]);
  await pool.query(`
    with changed as (
      update payments set provider_reference = 'late-reference-' || payment_id, history_length = history_length + 1
      where payment_id in (select payment_id from payments where order_id like 'order-%76' and attempt = 1)
      returning mid, payment_id, history_length, state
    )
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at)
    select mid, payment_id, history_length, 'noted settled', state, state, 'provider', now() from changed`);
  await readAll();
  const right = expected(selection);
  expect(right.length).toBe(100);
  expect(await found(selection)).toEqual(right);
  await foldProjections(shop.gateway);
  expect(await found(selection)).toEqual(right);
  const { body } = await shop.admin('GET', '/payments?q=late-reference&limit=3');
  expect(body.items.map(({ payment_id }: { payment_id: string }) => payment_id)).toEqual(right.slice(0, 3));
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
