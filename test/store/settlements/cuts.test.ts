/** What a cut reads: the new entries of a balance, however many months were settled before. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database/database.ts';
import { cutTogether } from '../../../src/store/settlements/cuts.ts';
import { postAdjustments } from '../../support/adjustments.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

test('a cut reads the entries of the month that is not settled, and the sums of each month once', async () => {
  const { mid } = await shop.newMerchant();
  const owner = { mid, currency: 'USD' };
  const days = Array.from({ length: 1_000 }, (_, index) => index + 40);
  await postAdjustments(shop, owner, days, 100n);
  const { body } = await shop.admin('POST', '/settlements', owner);
  expect(body).toMatchObject({ lines: [{ category: 'adjustment', count: days.length }] });
  const yesterday = Array.from({ length: 20 }, () => 1);
  await postAdjustments(shop, owner, yesterday, 100n);

  const database = openDatabase(shop.connection, () => undefined);
  const transaction = await database.query.startTransaction().execute();
  try {
    const lines: unknown[] = [];
    await cutTogether(transaction, [owner], 0n, {
      until: () => shop.gateway.clock.now(mid),
      compose: (_owner, _facts, _until, sums) => {
        lines.push(...sums.lines);
        return undefined;
      },
    });
    expect(lines).toMatchObject([{ category: 'adjustment', count: 20, amount: 2_000n }]);
    const { rows } = await sql<{ table: string; rows: number }>`
      select case when relname like 'ledger_entries%' then 'ledger_entries' else relname end as table,
        sum(seq_tup_read + idx_tup_fetch)::int as rows
      from pg_stat_xact_user_tables where relname ~ '^(ledger_entries|ledger_totals|settlement_totals)' group by 1`.execute(
      transaction,
    );
    const read = Object.fromEntries(rows.map((row) => [row.table, row.rows]));
    expect(read.ledger_entries).toBeLessThanOrEqual(60);
    expect(read.settlement_totals).toBeLessThanOrEqual(60);
  } finally {
    await transaction.rollback().execute();
    await database.close();
  }
});
