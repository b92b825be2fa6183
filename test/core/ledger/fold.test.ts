/** A ledger that is read for a decision contains what was being written when the read began. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { withCompleteLedger } from '../../../src/core/ledger/fold.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

test('a row of the history that is being written is read, also if it has no number yet', async () => {
  await shop.sale();
  const writer = new pg.Client(shop.connection);
  await writer.connect();
  try {
    // As a statement that waits for the row of its payment.
    await writer.query('begin; lock table history in row exclusive mode');
    const reading = withCompleteLedger(shop.gateway, async (historyNumber) => historyNumber);
    expect(await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 100, 'waiting'))])).toBe(
      'waiting',
    );
    const { rows } = await writer.query<{ number: string }>("select nextval('history_number') as number");
    await writer.query('commit');
    expect(await reading).toBe(BigInt(rows[0]?.number ?? 0));
  } finally {
    await writer.end();
  }
});
