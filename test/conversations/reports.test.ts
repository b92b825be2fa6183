/** The overview and reports: figures equal the sums that the test keeps itself, before and after they are rolled up. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { overview, report } from '../../src/core/reports/reports.ts';
import { checkoutOf, fill, VCARD } from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { brandSale, operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);
const checkout = checkoutOf(shop);

const DAY = 86_400;
const EXPONENTS: Record<string, number> = { USD: 2, JPY: 0, KWD: 3 };
const FIGURES = ['payments', 'settled', 'declined', 'captured', 'refunded', 'charged_back', 'paid_out'] as const;
type Figure = (typeof FIGURES)[number];
const GROUPS = ['day', 'mid', 'brand', 'currency', 'connection'] as const;
type Group = (typeof GROUPS)[number];

/** What the test did; amounts in minor units. */
interface Entry extends Record<Group, string> {
  figure: Figure;
  value: number;
}

const decimal = (minor: number, currency: string): string => {
  const exponent = EXPONENTS[currency] as number;
  return (minor / 10 ** exponent).toFixed(Math.max(2, exponent));
};

/** A list of what was done, and the report that follows from it. */
function openBook() {
  const entries: Entry[] = [];
  /** Notes figures of a payment on the day of its latest event. */
  const note = async (id: string, figures: Partial<Record<Figure, number>>, onDay?: string): Promise<void> => {
    const { mid, brand, currency, connector, history } = await shop.inspect(id);
    const day = onDay ?? history.at(-1).at.slice(0, 10);
    for (const [figure, value] of Object.entries(figures)) {
      entries.push({ day, mid, brand, currency, connection: connector, figure: figure as Figure, value });
    }
  };
  const rows = (groups: readonly Group[], filter: (entry: Entry) => boolean = () => true) => {
    const keys = GROUPS.filter((group) => group === 'currency' || groups.includes(group));
    const sorted = ['day', 'mid', 'brand', 'connection', 'currency'].filter((key) => keys.includes(key as Group));
    const grouped = Map.groupBy(entries.filter(filter), (entry) => sorted.map((key) => entry[key as Group]).join('\n'));
    return [...grouped]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, same]) => {
        const { currency } = same[0] as Entry;
        const sum = (figure: Figure): number =>
          same.reduce((total, entry) => total + (entry.figure === figure ? entry.value : 0), 0);
        const money = (minor: number): string => decimal(minor, currency);
        return {
          ...Object.fromEntries(keys.map((key) => [key, (same[0] as Entry)[key]])),
          payments: sum('payments'),
          settled: sum('settled'),
          declined: sum('declined'),
          captured: money(sum('captured')),
          refunded: money(sum('refunded')),
          charged_back: money(sum('charged_back')),
          paid_out: money(sum('paid_out')),
          net: money(sum('captured') - sum('refunded') - sum('charged_back') - sum('paid_out')),
        };
      });
  };
  return { note, rows, entries };
}

const SUBSETS: Group[][] = Array.from({ length: 2 ** GROUPS.length }, (_, bits) =>
  GROUPS.filter((_group, index) => bits & (1 << index)),
);

const date = (ms: number): string => new Date(ms).toISOString();
/** A range around everything that the tests do, with the clocks that they move. */
const range = () => ({ from: date(Date.now() - 2 * DAY * 1000), to: date(Date.now() + 200 * DAY * 1000) });
const get = (path: string, query: Record<string, string> = {}): Promise<Answer> =>
  shop.admin('GET', `/${path}?${new URLSearchParams(query)}`);

/** Compares the reports of some accounts, and of all, with the book, for every subset of groups. */
async function compare(book: ReturnType<typeof openBook>, mids: readonly string[]): Promise<void> {
  for (const groups of SUBSETS) {
    for (const mid of [...mids, undefined]) {
      const ofAccount = mid === undefined ? {} : { mid };
      const { status, body } = await get('reports', { ...range(), ...ofAccount, group_by: groups.join(',') });
      expect(status, JSON.stringify(body)).toBe(200);
      const expected = book.rows(groups, (entry) => mid === undefined || entry.mid === mid);
      expect(body.items, groups.join(',')).toEqual(expected);
    }
  }
}

/** Sales, declines, captures, partial refunds and chargebacks of an account, in three currencies. */
async function trade(book: ReturnType<typeof openBook>, merchant: Merchant): Promise<string[]> {
  const sale = async (amount: string, currency: string, brand = 'pin-a', fields: Fields = {}): Promise<string> => {
    const id = await at.settled(brand, { order_amount: amount, order_currency: currency, ...fields }, merchant);
    const minor = Math.round(Number(amount) * 10 ** (EXPONENTS[currency] as number));
    await book.note(id, { payments: 1, settled: 1, captured: minor });
    return id;
  };
  await sale('10.00', 'USD', 'vcard');
  const refunded = await sale('25.50', 'USD');
  await sale('1500', 'JPY', 'vcard');
  const yen = await sale('700', 'JPY');
  const dinar = await sale('12.345', 'KWD', 'vcard');

  const { body: declined } = await shop.sale({ identifier: 'decline@example.com', order_amount: '3.00' }, merchant);
  await book.note(declined.trans_id, { payments: 1, declined: 1 });

  const refund = async (id: string, amount: string, minor: number): Promise<void> => {
    await at.send('CREDITVOID', id, { amount }, merchant);
    await book.note(id, { refunded: minor });
  };
  await refund(refunded, '5.25', 525);
  await refund(refunded, '0.25', 25);
  await refund(dinar, '2.345', 2345);

  const captured = await at.authorised('pin-a', { order_amount: '40.00' }, merchant);
  await book.note(captured, { payments: 1 });
  await at.send('CAPTURE', captured, { amount: '30.00' }, merchant);
  await book.note(captured, { settled: 1, captured: 3000 });
  const voided = await at.authorised('vcard', {}, merchant);
  await book.note(voided, { payments: 1 });
  await at.send('VOID', voided, {}, merchant);

  for (const [id, left] of [
    [yen, 700],
    [refunded, 2000],
  ] as const) {
    await at.control(id, { chargeback: true });
    await at.becomes(id, 'CHARGEBACK');
    await book.note(id, { charged_back: left });
  }
  await at.control(refunded, { chargeback_reversed: true });
  await at.becomes(refunded, 'SETTLED');
  await book.note(refunded, { charged_back: -2000 });
  await at.control(refunded, { second_chargeback: { amount: '5.00' } });
  await at.becomes(refunded, 'CHARGEBACK');
  await book.note(refunded, { charged_back: 500 });
  return [captured, dinar];
}

describe('figures of two accounts in three currencies', () => {
  const book = openBook();
  let merchants: Merchant[];
  let open: string[];
  const mids = () => merchants.map(({ mid }) => mid);

  test('before anything is rolled up', async () => {
    merchants = [await shop.newMerchant(), await shop.newMerchant()];
    [, open = []] = await Promise.all([trade(book, merchants[0] as Merchant), trade(book, merchants[1] as Merchant)]);
    expect((await shop.rows('select history_number::int as number from projections'))[0]).toEqual({ number: 0 });
    await compare(book, mids());
  });

  test('after they are rolled up', async () => {
    await foldProjections(shop.gateway);
    const [{ live } = {}] = await shop.rows(
      'select count(*)::int as live from history h, projections p where h.number > p.history_number',
    );
    expect(live).toBe(0);
    await compare(book, mids());
  });

  test('with events after the rollup, in the same hour', async () => {
    await trade(book, merchants[0] as Merchant);
    const [captured = ''] = open;
    await at.send('CREDITVOID', captured, { amount: '10.00' }, merchants[1] as Merchant);
    await book.note(captured, { refunded: 1000 });
    await compare(book, mids());
    await foldProjections(shop.gateway);
    await compare(book, mids());
  });

  test('after the clock of one account has moved by 40 days, and in its past', async () => {
    const [behind, ahead] = merchants as [Merchant, Merchant];
    await shop.advanceClock(40 * DAY, ahead.mid);
    await trade(book, ahead);
    const [, dinar = ''] = open;
    await at.send('CREDITVOID', dinar, { amount: '1.000' }, ahead);
    await book.note(dinar, { refunded: 1000 });
    await compare(book, mids());
    await foldProjections(shop.gateway);
    // These events have an earlier time than what was rolled up before.
    await trade(book, behind);
    await compare(book, mids());
    await foldProjections(shop.gateway);
    await compare(book, mids());
    const days = new Set(book.entries.filter(({ mid }) => mid === ahead.mid).map(({ day }) => day));
    expect(days.size).toBeGreaterThan(1);
  });

  test('the default range of the overview is the last 24 hours by the clock of the account', async () => {
    const [behind, ahead] = merchants as [Merchant, Merchant];
    const moved = date(Date.now() + 30 * DAY * 1000);
    const created = (mid: string, isRecent: (entry: Entry) => boolean = () => true): number =>
      book.entries.filter((entry) => entry.mid === mid && entry.figure === 'payments' && isRecent(entry)).length;
    const { body: present } = await get('overview', { mid: behind.mid });
    expect(present.totals.payments).toBe(created(behind.mid));
    const { body: future } = await get('overview', { mid: ahead.mid });
    expect(future.totals.payments).toBe(created(ahead.mid, ({ day }) => day > moved));
    expect(future.from > moved.replace('T', ' ')).toBe(true);
    const { body: past } = await get('overview', { mid: ahead.mid, to: date(Date.now() + DAY * 1000) });
    expect(past.totals.payments).toBe(created(ahead.mid, ({ day }) => day < moved));
    expect([future.totals.payments > 0, past.totals.payments > 0]).toEqual([true, true]);
  });

  test('a range of single days contains these days only', async () => {
    const mid = (merchants[1] as Merchant).mid;
    const days = [...new Set(book.entries.filter((entry) => entry.mid === mid).map(({ day }) => day))];
    for (const day of days) {
      const to = date(Date.parse(day) + DAY * 1000).slice(0, 10);
      const { body } = await get('reports', { from: day, to, mid, group_by: 'day,brand' });
      expect(body).toMatchObject({ from: `${day} 00:00:00`, to: `${to} 00:00:00`, complete: true });
      expect(body.items).toEqual(book.rows(['day', 'brand'], (entry) => entry.mid === mid && entry.day === day));
    }
  });

  test('the totals of the report are those of its currencies', async () => {
    const mid = (merchants[0] as Merchant).mid;
    const { body } = await get('reports', { ...range(), mid, group_by: 'brand,day' });
    expect(body.group_by).toEqual(['day', 'brand']);
    const expected = book.rows([], (entry) => entry.mid === mid);
    expect(body.totals).toEqual(expected.map(({ payments: _p, settled: _s, declined: _d, ...amounts }) => amounts));
    expect(expected.map(({ currency }: Fields | Record<string, unknown>) => currency)).toEqual(['JPY', 'KWD', 'USD']);
  });

  test('accounts that the caller may not see are left out', async () => {
    const [first, second] = mids() as [string, string];
    const { from, to } = range();
    const span = { from: Math.floor(Date.parse(from) / 3.6e6) * 3.6e6, to: Math.ceil(Date.parse(to) / 3.6e6) * 3.6e6 };
    const seen = async (scope: string[]) => (await report(shop.gateway, { ...span, mids: scope }, ['mid'], 100)).rows;
    expect(new Set((await seen([first])).map(({ mid }) => mid))).toEqual(new Set([first]));
    expect(new Set((await seen([first, second])).map(({ mid }) => mid))).toEqual(new Set([first, second]));
    expect(await seen([])).toEqual([]);
    const found = await overview(shop.gateway, { ...span, mids: [second] });
    expect(found.byMid.map(([mid]) => mid)).toEqual([second]);
    expect(found.totals.payments).toBe(
      book.entries.filter(({ mid, figure }) => mid === second && figure === 'payments').length,
    );
    const none = await overview(shop.gateway, { ...span, mids: [] });
    expect([none.totals.payments, none.deliveries, none.openWork.callbacksParked]).toEqual([
      0,
      { delivered: 0, failed: 0 },
      0,
    ]);
  });

  test('the overview of all accounts is that of each account together', async () => {
    await foldProjections(shop.gateway);
    const end = Math.ceil(Date.now() / 3.6e6) * 3.6e6 + 3.6e6;
    for (const days of [2, 60]) {
      const span = { from: end - days * DAY * 1000, to: end + days * DAY * 1000 };
      // Totals are read for all accounts, and the sums of accounts if they are named.
      const { openWork: _all, ...all } = await overview(shop.gateway, { ...span, mids: null });
      const { openWork: _named, ...named } = await overview(shop.gateway, { ...span, mids: mids() });
      expect(all.bucket).toBe('day');
      expect(all.totals.payments).toBeGreaterThan(20);
      expect(all).toEqual(named);
    }
  });

  test('as CSV: the same rows', async () => {
    const mid = (merchants[0] as Merchant).mid;
    for (const groups of [[], ['day', 'brand'], [...GROUPS]] as Group[][]) {
      const query = { ...range(), mid, group_by: groups.join(',') };
      const answer = await get('reports.csv', query);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="report-[\d-]+to-[\d-]+\.csv"$/);
      const [header = '', ...lines] = String(answer.body).split('\r\n').slice(0, -1);
      const names = header.split(',');
      const rows = lines.map((line) => Object.fromEntries(line.split(',').map((text, index) => [names[index], text])));
      const { items } = (await get('reports', query)).body;
      const texts = (item: object) =>
        Object.fromEntries(Object.entries(item).map(([name, value]) => [name, String(value)]));
      expect(rows).toEqual(items.map(texts));
      expect(rows.length).toBeGreaterThan(2);
    }
  });
});

describe('Checkout', () => {
  test('a session counts once: without a brand, and under the brand after the choice', async () => {
    const merchant = await shop.newMerchant();
    const counts = async (): Promise<Record<string, number[]>> => {
      const { body } = await get('reports', { ...range(), mid: merchant.mid, group_by: 'brand,connection' });
      return Object.fromEntries(
        body.items.map((row: Record<string, unknown>) => [
          `${row.brand} ${row.connection}`,
          [row.payments, row.settled, row.declined],
        ]),
      );
    };
    const both = async (expected: Record<string, number[]>): Promise<void> => {
      expect(await counts()).toEqual(expected);
      await foldProjections(shop.gateway);
      expect(await counts()).toEqual(expected);
    };
    const session = await checkout.open({ methods: ['vcard'] }, merchant);
    const late = await checkout.open({ methods: ['vcard'], session_expiry: '30' }, merchant);
    await both({ 'unchosen none': [2, 0, 0] });
    expect((await fill(session.url, VCARD.success)).status).toBe(303);
    await both({ 'unchosen none': [1, 0, 0], 'vcard vcard': [1, 1, 0] });
    // Opened and chosen between two rollups; the second attempt of the session is another payment.
    const declined = await checkout.paid({}, merchant, 'decline');
    expect((await fill(declined.url, VCARD.success)).status).toBe(303);
    await both({ 'unchosen none': [1, 0, 0], 'vcard vcard': [3, 2, 1] });
    await shop.advanceClock(DAY / 24, merchant.mid);
    expect((await shop.inspect(late.id)).status).toBe('DECLINED');
    await both({ 'unchosen none': [1, 0, 1], 'vcard vcard': [3, 2, 1] });
  });
});

test('payouts are not captured amounts, and reduce the net amount', async () => {
  const merchant = await shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' });
  const id = await at.sale('payout-a', merchant, { order_amount: '8.00' }, 'PENDING');
  await at.becomes(id, 'SETTLED');
  await at.settled('vcard', { order_amount: '5.00' }, merchant);
  const { body } = await get('reports', { mid: merchant.mid });
  expect(body.items).toMatchObject([{ captured: '5.00', paid_out: '8.00', net: '-3.00', payments: 2, settled: 2 }]);
});

describe('several processes', () => {
  test('each row is added once while two processes roll up and payments are made', async () => {
    const merchant = await shop.newMerchant();
    const other = await shop.anotherGateway();
    let isDone = false;
    const rolling = [shop.gateway, other, other].map(async (gateway) => {
      while (!isDone) await foldProjections(gateway);
    });
    const COUNT = 60;
    for (let made = 0; made < COUNT; made += 10) {
      await Promise.all(Array.from({ length: 10 }, () => shop.sale({ order_amount: '1.10' }, merchant)));
    }
    isDone = true;
    await Promise.all(rolling);
    const expected = [{ payments: COUNT, settled: COUNT, captured: '66.00', net: '66.00' }];
    const query = { ...range(), mid: merchant.mid };
    expect((await get('reports', query)).body.items).toMatchObject(expected);
    await foldProjections(other);
    expect((await get('reports', query)).body.items).toMatchObject(expected);
    const [sum] = await shop.rows(
      `select sum(payments)::int as payments from rollups where grain = 'hour' and mid = '${merchant.mid}'`,
    );
    expect(sum).toEqual({ payments: COUNT });
  });

  test('a row whose transaction ends late is neither passed nor lost', async () => {
    const merchant = await shop.newMerchant();
    const { body } = await shop.sale({}, merchant);
    await foldProjections(shop.gateway);
    const writer = new pg.Client(shop.connection);
    await writer.connect();
    try {
      await writer.query('begin');
      await writer.query(
        `insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at, amount)
         select mid, payment_id, 3, 'partlyRefunded', 'SETTLED', 'SETTLED', 'provider', at, 250 from history
         where payment_id = $1 and seq = 2`,
        [body.trans_id],
      );
      await shop.sale({}, merchant);
      // The sale after the open transaction has a higher number, and is not added yet either.
      expect(await shop.gateway.projections.settled()).toBeUndefined();
      await foldProjections(shop.gateway);
      const live = (await get('reports', { mid: merchant.mid })).body.items;
      expect(live).toMatchObject([{ payments: 2, refunded: '0.00' }]);
      await writer.query('commit');
    } finally {
      await writer.end();
    }
    const both = [{ payments: 2, settled: 2, captured: '20.00', refunded: '2.50', net: '17.50' }];
    expect((await get('reports', { mid: merchant.mid })).body.items).toMatchObject(both);
    await foldProjections(shop.gateway);
    expect((await get('reports', { mid: merchant.mid })).body.items).toMatchObject(both);
  });
});

describe('the overview', () => {
  test('series, totals, declines, latency, callbacks, and what needs a person', async () => {
    const merchant = await shop.newMerchant({ callback_url: '' });
    const { mid } = merchant;
    await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: `${shop.url}/sandbox/callbacks/${mid}` });
    for (const amount of ['10.00', '20.00', '30.00']) await at.settled('pin-a', { order_amount: amount }, merchant);
    await at.settled('vcard', { order_amount: '500', order_currency: 'JPY' }, merchant);
    for (let made = 0; made < 2; made++) await shop.sale({ identifier: 'decline@example.com' }, merchant);
    const id = await at.settled('pin-a', {}, merchant);
    await at.control(id, { chargeback: true });
    await at.becomes(id, 'CHARGEBACK');
    await at.fault('wrong_amount', { mid, brand: 'pin-a', count: 1 });
    const wrong = (await shop.post(brandSale('pin-a', merchant))).body;
    expect((await shop.inspect(wrong.trans_id)).attention).toBe('wrong_amount');
    await at.fault('timeout_before', { mid, brand: 'vcard', count: 1 });
    const doubtful = (await shop.sale({}, merchant)).body;
    expect((await shop.inspect(doubtful.trans_id)).in_doubt).toBe(true);
    await shop.gateway.deliverer.drain();

    const payments = (await get('payments', { mid, limit: '100' })).body.items as { payment_id: string }[];
    const details = await Promise.all(payments.map(({ payment_id }) => shop.inspect(payment_id)));
    const calls = details.flatMap(({ provider_calls }) =>
      provider_calls.filter(({ verb }: { verb: string }) => verb !== 'notification'),
    );
    const callbacks = details.flatMap((payment) => payment.callbacks);

    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await foldProjections(shop.gateway);
      const { status, body } = await get('overview', { mid });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body).toMatchObject({ bucket: 'hour', complete: true });
      expect(body.series.length).toBeGreaterThanOrEqual(24);
      expect(body.totals).toEqual({
        payments: 9,
        settled: 5,
        declined: 2,
        success_rate: 0.7143,
        volume: { JPY: '500.00', USD: '70.00' },
        amounts: [
          {
            currency: 'JPY',
            captured: '500.00',
            refunded: '0.00',
            charged_back: '0.00',
            paid_out: '0.00',
            net: '500.00',
          },
          {
            currency: 'USD',
            captured: '70.00',
            refunded: '0.00',
            charged_back: '10.00',
            paid_out: '0.00',
            net: '60.00',
          },
        ],
      });
      for (const figure of ['payments', 'settled', 'declined'] as const) {
        const sum = body.series.reduce(
          (total: number, point: Record<string, number>) => total + (point[figure] ?? 0),
          0,
        );
        expect(sum, figure).toBe(body.totals[figure]);
      }
      expect(body.by_mid).toMatchObject([{ mid, payments: 9, volume: body.totals.volume }]);
      expect(body.by_brand).toEqual([
        { brand: 'pin-a', payments: 5, settled: 4, declined: 0, success_rate: 1, volume: { USD: '70.00' } },
        {
          brand: 'vcard',
          payments: 4,
          settled: 1,
          declined: 2,
          success_rate: 0.3333,
          volume: { JPY: '500.00', USD: '0.00' },
        },
      ]);
      expect(body.by_connection.map(({ connection }: Fields) => connection)).toEqual(['upstream', 'vcard']);
      expect(body.declines).toEqual([{ reason: 'Declined by the test connector.', declined: 2 }]);
      for (const row of body.latency) {
        const own = calls.filter(({ connector }) => connector === row.connection);
        expect(row.calls, row.connection).toBe(own.length);
        expect(row.unanswered).toBe(own.filter(({ outcome }) => outcome === 'no answer').length);
        const sorted = own.map(({ took_ms }) => took_ms as number).sort((a, b) => a - b);
        expect(row.p95_ms).toBeGreaterThanOrEqual(row.p50_ms);
        // Within the interval of the true value.
        expect(row.p50_ms).toBeLessThanOrEqual(Math.max(10, 2.1 * (sorted[Math.floor(sorted.length / 2)] as number)));
      }
      expect(body.latency.map(({ connection }: Fields) => connection)).toEqual(['upstream', 'vcard']);
      expect(body.callbacks).toEqual({
        delivered: callbacks.filter(({ state }) => state === 'delivered').length,
        failed_attempts: 0,
        waiting: 0,
        parked: 0,
        failing_endpoints: 0,
        failing: [],
      });
      expect(body.callbacks.delivered).toBeGreaterThan(5);
      expect(body.needs_attention).toMatchObject({
        payments: { late_success: 0, wrong_amount: 1, unresolved: 0, conflict: 0, unexpected_chargeback: 0 },
        payments_in_doubt: details.filter(({ in_doubt }) => in_doubt).length,
        operations_in_doubt: 0,
        chargebacks: 1,
        parked_callbacks: 0,
      });
      expect(body.needs_attention.payments_in_doubt).toBeGreaterThan(0);
    }
  });

  test('endpoints that fail, and parked callbacks', async () => {
    const parked = await shop.newMerchant();
    await shop.sale({}, parked);
    const { body: one } = await get('overview', { mid: parked.mid });
    expect(one.callbacks).toMatchObject({ delivered: 0, waiting: 0, parked: 1, failing: [] });
    expect(one.needs_attention.parked_callbacks).toBe(1);

    const failing = await shop.newMerchant({ callback_url: 'http://127.0.0.1:9/hook?key=credential' });
    await shop.sale({}, failing);
    await shop.sale({ callback_url: '' }, failing);
    await shop.gateway.deliverer.drain();
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await foldProjections(shop.gateway);
      const { body } = await get('overview', { mid: failing.mid });
      expect(body.callbacks).toMatchObject({ delivered: 0, failed_attempts: 2, waiting: 2, failing_endpoints: 1 });
      expect(body.callbacks.failing).toEqual([
        { mid: failing.mid, origin: null, waiting: 2, oldest_at: expect.any(String) },
      ]);
      expect(JSON.stringify(body)).not.toContain('credential');
    }
  });

  test('a longer range has one point per day, with the same totals', async () => {
    const now = Date.now();
    const to = date(now + DAY * 1000).slice(0, 10);
    const { body } = await get('overview', { from: date(now - 30 * DAY * 1000).slice(0, 10), to });
    expect(body.bucket).toBe('day');
    expect(body.series).toHaveLength(31);
    expect(body.series.every((point: Fields) => point.at?.endsWith(' 00:00:00'))).toBe(true);
    const { body: hourly } = await get('overview', { from: date(now - 2 * DAY * 1000).slice(0, 10), to });
    expect(hourly.bucket).toBe('hour');
    expect(hourly.series).toHaveLength(72);
    expect(hourly.totals).toEqual(body.totals);
    expect(hourly.by_brand).toEqual(body.by_brand);
  });
});

describe('refusals', () => {
  test.each([
    ['overview', { from: 'yesterday' }, 'from'],
    ['overview', { mid: '1' }, 'mid'],
    ['overview', { group_by: 'day' }, 'group_by'],
    ['overview', { from: '2026-02-02', to: '2026-02-01' }, 'from'],
    ['overview', { from: '2026-02-02', to: '2026-02-02' }, 'from'],
    ['overview', { from: '2024-01-01', to: '2026-02-02' }, 'from'],
    ['reports', { group_by: 'week' }, 'group_by'],
    ['reports', { group_by: 'day,' }, 'group_by'],
    ['reports', { group_by: 'day,day' }, 'group_by'],
    ['reports', { group_by: 'Day' }, 'group_by'],
    ['reports', { from: '2020-01-01' }, 'from'],
    ['reports', { limit: '5' }, 'limit'],
    ['reports.csv', { to: '2026-02-30' }, 'to'],
  ])('%s %j', async (path, query, field) => {
    const { status, body } = await get(path, query as Record<string, string>);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error_code: 100000, error_message: 'Request data is invalid.' });
    expect(body.errors.map(({ error_message }: Fields) => error_message?.split(':')[0])).toEqual([field]);
  });

  test('a range of 400 days is accepted, a minute more is not', async () => {
    const long = (to: string) => get('reports', { from: '2025-01-01', to });
    expect((await long('2026-02-05')).status).toBe(200);
    expect((await long('2026-02-05T00:01')).status).toBe(400);
  });

  test.each(['overview', 'reports', 'reports.csv'])('%s without a token: 401', async (path) => {
    expect((await shop.admin('GET', `/${path}`, undefined, 'a wrong token')).status).toBe(401);
    expect((await shop.admin('GET', `/${path}`, undefined, '')).status).toBe(401);
  });

  test('an unknown account has no figures', async () => {
    const mid = '01a1dd06-691f-7000-87fc-b0749d0543ed';
    expect((await get('reports', { mid })).body).toMatchObject({ items: [], totals: [] });
    expect((await get('overview', { mid })).body.totals).toMatchObject({ payments: 0, success_rate: null });
  });
});
