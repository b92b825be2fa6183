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
  await setStandby('');
  await shop.close();
  await server.stop();
});

async function setStandby(name: string): Promise<void> {
  await query(server.connection, `alter system set synchronous_standby_names = '${name}'`);
  await query(server.connection, 'select pg_reload_conf()');
}

/** Lets commits wait for a standby that is missing; the server follows some time after it was asked to. */
async function loseStandby(): Promise<void> {
  await setStandby('missing');
  await expect.poll(commitWaits).toBe(true);
}

async function commitWaits(): Promise<boolean> {
  const waits: string[] = [];
  const commit = query(server.connection, `select pg_logical_emit_message(true, 'test', '')`);
  await cancelUntil(commit, waits);
  return waits.some((statement) => statement.includes('pg_logical_emit_message'));
}

/** Cancels what waits until this is settled, and collects the statements. */
async function cancelUntil(done: Promise<unknown>, waits: string[] = []): Promise<void> {
  let isDone = false;
  const settled = done.finally(() => {
    isDone = true;
  });
  while (!isDone) waits.push(await cancelWrites());
  await settled;
}

const LOOKUP = /for no key update/;

/** Cancels the waits of writes for the standby, as an operator may who finds that nothing goes on; says what waits. */
async function cancelWrites(): Promise<string> {
  const { rows } = await query(
    server.connection,
    `select query, query !~ '${LOOKUP.source}' and pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
  );
  return rows.map((row) => row.query).join();
}

describe('replicated in time', () => {
  lengthenLimits({ lostWriteTimeoutMs: 60_000 });

  test('a cancelled commit is confirmed once it is replicated', async () => {
    expect((await shop.sale()).status).toBe(200);
    await loseStandby();
    const order_id = newOrderId();
    const answer = shop.sale({ order_id });
    // Once the write is cancelled, its lookup waits; what was released counts as replicated.
    await expect.poll(cancelWrites).toMatch(LOOKUP);
    await setStandby('');
    expect((await answer).body.status).toBe('SETTLED');
    expect(await shop.rows(`select state from payments where order_id = '${order_id}'`)).toEqual([
      { state: 'SETTLED' },
    ]);
  });
});

describe('not replicated in time', () => {
  shortenLimits({ lostWriteTimeoutMs: 1500, duplicateWaitMs: 1000 });

  test('a cancelled commit that is not replicated in time is answered with 503, and a repeat gets the payment', async () => {
    await loseStandby();
    const order_id = newOrderId();
    const answer = shop.sale({ order_id });
    await cancelUntil(answer);
    expect((await answer).status).toBe(503);
    await setStandby('');
    const repeat = await shop.sale({ order_id });
    expect(repeat.status).toBe(200);
    const payments = await shop.rows(`select payment_id from payments where order_id = '${order_id}'`);
    expect(payments).toEqual([{ payment_id: repeat.body.trans_id }]);
  });
});
