/** The totals of the ledger: the same sums as of the entries at any moment, also after an upgrade and a rebuild. */
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { maintainLogPartitions } from '../../../src/core/installation/log-partitions.ts';
import { foldProjections, rebuildProjection } from '../../../src/core/projections/projections.ts';
import { firstIdAt, newId, timeOfId } from '../../../src/lib/crypto/id.ts';
import { composeEntry, type LedgerEntry } from '../../../src/rules/ledger.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { addEntries } from '../../../src/store/ledger/entries.ts';
import { openShop } from '../../support/gateway.ts';
import { waitingLocksOf } from '../../support/held-rows.ts';

const shop = openShop();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST = Date.parse('2024-01-31T22:59:59.999Z');

/** Entries on both sides of the borders of hours, days, months and a year, and between them. */
const TIMES = [
  ...['2024-01-31T22:59:59.999Z', '2024-01-31T23:00:00.000Z', '2024-01-31T23:59:59.999Z', '2024-02-01T00:00:00.000Z'],
  ...['2024-02-28T12:00:00.000Z', '2024-02-29T00:00:00.000Z', '2024-02-29T13:07:08.009Z', '2024-02-29T13:59:59.999Z'],
  ...['2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.001Z', '2025-06-15T08:30:00.000Z'],
].map((time) => Date.parse(time));

let entries: LedgerEntry[];
const numbersOf = (rows: readonly { account: string; currency: string; debit: bigint; credit: bigint }[]) =>
  rows.map(({ account, currency, debit, credit }) => `${account} ${currency} ${debit} ${credit}`);

/** What the entries until a moment give, added one by one. */
function sumsUntil(at: number): string[] {
  const sums = new Map<string, { account: string; currency: string; debit: bigint; credit: bigint }>();
  for (const { currency, postedAt, postings } of entries) {
    if (postedAt > at) continue;
    for (const { account, amount } of postings) {
      const sum = sums.get(`${account} ${currency}`) ?? { account, currency, debit: 0n, credit: 0n };
      if (amount > 0n) sum.debit += amount;
      else sum.credit -= amount;
      sums.set(`${account} ${currency}`, sum);
    }
  }
  return numbersOf([...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum));
}

const add = async (added: readonly LedgerEntry[]): Promise<void> => {
  const client = new pg.Client(shop.connection);
  await client.connect();
  await addEntries(client, added).finally(() => client.end());
};
const trial = async (at?: number): Promise<string[]> => numbersOf((await shop.gateway.ledger.trialBalance(at)).rows);
const violations = async (): Promise<string[]> => (await verifyAt(shop.connection)).violations;

beforeAll(async () => {
  const mids = [shop.merchant.mid, (await shop.newMerchant()).mid];
  entries = TIMES.flatMap((postedAt, index) =>
    ['EUR', 'JPY'].map((currency, place) => {
      const amount = BigInt(10 ** place * (index + 1)) * (index % 3 === 0 ? -1n : 1n);
      const mid = mids[(index + place) % 2] as string;
      return composeEntry({ sourceId: newId(), category: 'adjustment', mid, currency, postedAt }, { amount });
    }),
  );
  // In another order than that of their times, and some of them twice.
  await add(entries.toReversed());
  await add(entries.slice(0, 5));
});

describe.each(['from the beginning', 'after an upgrade', 'after a rebuild'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'after an upgrade') {
      await shop.rows(`drop trigger totals_are_added on ledger_sums; drop trigger totals_are_changed on ledger_sums;
        drop trigger totals_are_reset on ledger_sums; drop table ledger_totals;
        drop function add_ledger_totals, change_ledger_totals, reset_ledger_totals;
        delete from migrations where name in ('0124_ledger_totals.sql', '0133_ledger_totals_of_sums.sql')`);
      await migrateAt(shop.connection);
    } else if (when === 'after a rebuild') {
      await rebuildProjection(shop.gateway, 'ledger');
      await foldProjections(shop.gateway);
    }
  });

  test('the trial balance at any moment is the sum of the entries until then', async () => {
    const moments = TIMES.flatMap((time) => [time - HOUR_MS, time - 1, time, time + 1, time + 31 * DAY_MS]);
    for (const moment of [FIRST - 1, ...moments]) {
      expect(await trial(moment), new Date(moment).toISOString()).toEqual(sumsUntil(moment));
    }
    expect(await trial()).toEqual(sumsUntil(Number.POSITIVE_INFINITY));
  });

  test('verify finds nothing, and names a total that is wrong, missing or too many', async () => {
    expect(await violations()).toEqual([]);
    const account = `merchant:${shop.merchant.mid}:balance`;
    const total = `account = '${account}' and grain = 'day' and currency = 'EUR' and starts_at = '2024-02-29Z'`;
    const kept = await shop.rows(`delete from ledger_totals where ${total} returning debit::text, credit::text`);
    const wrong = [
      expect.stringMatching(`^The total of a ledger account differs from the entries: ${account} day EUR 2024-02-29`),
    ];
    expect(await violations()).toEqual(wrong);
    await shop.rows(
      `insert into ledger_totals values ('${account}', 'day', 'EUR', '2024-02-29Z', ${kept[0]?.debit} + 1, ${kept[0]?.credit})`,
    );
    expect(await violations()).toEqual(wrong);
    await shop.rows(`update ledger_totals set debit = debit - 1 where ${total}`);
    expect(await violations()).toEqual([]);
  });
});

test('a rebuild counts an entry once that another transaction is adding', async () => {
  const { mid } = await shop.newMerchant();
  const [before, during] = ['2026-05-04T10:00:00Z', '2026-05-04T11:00:00Z'].map((time) =>
    composeEntry(
      { sourceId: newId(), category: 'adjustment', mid, currency: 'EUR', postedAt: Date.parse(time) },
      { amount: 7n },
    ),
  ) as [LedgerEntry, LedgerEntry];
  await add([before]);
  const writer = new pg.Client(shop.connection);
  await writer.connect();
  try {
    await writer.query('begin');
    await addEntries(writer, [during]);
    const rebuilt = rebuildProjection(shop.gateway, 'ledger');
    await expect.poll(async () => (await shop.rows(waitingLocksOf()))[0]?.locks).toBe(1);
    await writer.query('commit');
    await rebuilt;
  } finally {
    await writer.end();
  }
  await foldProjections(shop.gateway);
  const sums = await shop.rows(
    `select credit::int from ledger_sums where account = 'merchant:${mid}:balance' order by hour`,
  );
  expect(sums).toEqual([{ credit: 7 }, { credit: 7 }]);
  expect(await violations()).toEqual([]);
});

test('the balance of an account has what becomes available later by its day', async () => {
  const { mid } = await shop.newMerchant();
  const entry = (postedAt: string, availableOn: string, amount: bigint): LedgerEntry =>
    composeEntry(
      {
        ...{ sourceId: newId(), category: 'adjustment', mid, currency: 'EUR', postedAt: Date.parse(postedAt) },
        availableOn,
      },
      { amount },
    );
  const of = async (today: string): Promise<string[]> => {
    const { rows } = await shop.gateway.ledger.balances(mid, today);
    return rows.map(({ availableOn, amount }) => `${availableOn} ${-amount}`).sort();
  };
  expect(await of('2026-03-01')).toEqual([]);
  await add([
    entry('2026-02-01T10:00:00Z', '2026-02-01', 100n),
    entry('2026-02-27T10:00:00Z', '2026-03-02', 20n),
    entry('2026-02-28T23:00:00Z', '2026-03-02', 3n),
    entry('2026-03-01T00:00:00Z', '2026-03-08', -4n),
  ]);
  expect(await of('2026-03-01')).toEqual(['2026-03-01 100', '2026-03-02 23', '2026-03-08 -4']);
  expect(await of('2026-03-02')).toEqual(['2026-03-02 123', '2026-03-08 -4']);
  expect(await of('2026-03-09')).toEqual(['2026-03-09 119']);
});

test('entries are in a partition for each month, and those of a source are read from one of them', async () => {
  const now = Date.now();
  const clock = { ...shop.gateway.clock, real: () => now + 160 * DAY_MS };
  await maintainLogPartitions({ ...shop.gateway, clock });
  const { mid } = await shop.newMerchant();
  const made = [75, 110, 145].map((days) =>
    composeEntry(
      { sourceId: firstIdAt(now + days * DAY_MS), category: 'adjustment', mid, currency: 'EUR', postedAt: now },
      { amount: 5n },
    ),
  );
  await add(made);
  expect(await violations()).toEqual([]);
  for (const { sourceId } of made) {
    const found = await shop.rows(
      `select tableoid::regclass::text as partition from ledger_entries where source_id = '${sourceId}'`,
    );
    const month = new Date(timeOfId(sourceId)).toISOString();
    const partition = `ledger_entries_${month.slice(0, 7).replace('-', '')}01`;
    expect(found).toEqual([{ partition }]);
    const plan = await shop.rows(
      `explain (costs off) select from ledger_entries where source_id = any(array['${sourceId}'::uuid])`,
    );
    const read = JSON.stringify(plan).match(/ on (ledger_entries_\w+)/g);
    expect(read).toEqual([` on ${partition}`]);
  }
});
