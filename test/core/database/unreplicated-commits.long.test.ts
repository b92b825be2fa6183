/** A commit whose wait for the synchronous standby was cancelled: the request succeeds when the commit is replicated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../support/database.ts';
import { type PausableServer, startPausableServer } from '../../support/faulty-database.ts';
import { newOrderId, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { lengthenLimits, shortenLimits } from '../../support/limits.ts';

let server: PausableServer;
let shop: TestGateway;
beforeAll(async () => {
  server = await startPausableServer();
  shop = await startTestGateway({ server: server.connection, logLevel: 'error' });
});
afterAll(async () => {
  await requireStandby('');
  await shop.close();
  await server.stop();
});

/** Commits wait for a standby of this name. */
async function requireStandby(name: string): Promise<void> {
  await query(server.connection, `alter system set synchronous_standby_names = '${name}'`);
  await query(server.connection, 'select pg_reload_conf()');
}

/** Cancels the waits for the standby, as an operator may who finds that nothing goes on. */
const cancelWaits = async (): Promise<number> =>
  (await query(server.connection, `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`))
    .rowCount ?? 0;

const waiting = async (): Promise<string> => {
  const sql = `select query from pg_stat_activity where wait_event = 'SyncRep'`;
  return (await query(server.connection, sql)).rows.map((row) => row.query).join();
};

describe('replicated in time', () => {
  lengthenLimits({ lostWriteTimeoutMs: 60_000 });

  test('a cancelled commit is confirmed once it is replicated', async () => {
    expect((await shop.sale()).status).toBe(200);
    await requireStandby('missing');
    const order_id = newOrderId();
    const answer = shop.sale({ order_id });
    await expect.poll(cancelWaits).toBe(1);
    // The lookup of the write waits now; what was released counts as replicated.
    await expect.poll(() => waiting()).toMatch(/for no key update/);
    await requireStandby('');
    expect((await answer).body.status).toBe('SETTLED');
    expect(await shop.rows(`select state from payments where order_id = '${order_id}'`)).toEqual([
      { state: 'SETTLED' },
    ]);
  });
});

describe('not replicated in time', () => {
  shortenLimits({ lostWriteTimeoutMs: 1500, duplicateWaitMs: 1000 });

  test('a cancelled commit that is not replicated in time is answered with 503, and a repeat gets the payment', async () => {
    await requireStandby('missing');
    const order_id = newOrderId();
    const answer = shop.sale({ order_id });
    await expect.poll(cancelWaits).toBe(1);
    expect((await answer).status).toBe(503);
    await requireStandby('');
    const repeat = await shop.sale({ order_id });
    expect(repeat.status).toBe(200);
    const payments = await shop.rows(`select payment_id from payments where order_id = '${order_id}'`);
    expect(payments).toEqual([{ payment_id: repeat.body.trans_id }]);
  });
});
