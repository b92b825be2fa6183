/** A payment whose row is locked by another session delays no other payment. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, openShop, type TestGateway } from '../../support/gateway.ts';
import { lengthenLimits } from '../../support/limits.ts';
import { operationFields, refused, statusAndBody } from '../../support/operations.ts';

let session: pg.Client;
afterEach(() => session.end());

/** A gateway, and another session that locks rows of its payments. */
function openLockedShop() {
  const shop: TestGateway = openShop();
  beforeEach(async () => {
    session = new pg.Client(shop.connection);
    await session.connect();
  });
  return {
    shop,
    authorise: async (): Promise<string> => (await shop.sale({ auth: 'Y' })).body.trans_id,
    capture: (transId: string): Promise<Answer> => shop.post(operationFields(shop.merchant, 'CAPTURE', transId)),
    async lock(transId: string): Promise<void> {
      await session.query('begin');
      await session.query('select from payments where payment_id = $1 for update', [transId]);
    },
  };
}

describe('while operations wait for the lock', () => {
  lengthenLimits({
    ...{ isolatedLockTimeoutMs: 40_000, hotStatementTimeoutMs: 45_000 },
    ...{ openingWaitMs: 45_000, batchWaitTimeoutMs: 45_000 },
  });
  const { shop, authorise, capture, lock } = openLockedShop();

  test('answers requests for other payments, and those for the locked one when the lock is released', async () => {
    const [locked, ...others] = (await Promise.all(Array.from({ length: 6 }, authorise))) as [string, ...string[]];
    await lock(locked);
    let answered = 0;
    const waiting: Promise<Answer>[] = [];
    const captureLocked = () => waiting.push(capture(locked).finally(() => answered++));
    captureLocked();
    for (const other of others) {
      // Further requests for the locked payment wait with the first one.
      captureLocked();
      const answers = await Promise.all([capture(other), shop.sale(), shop.sale(), shop.status(other)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
    expect(answered).toBe(0);
    await session.query('rollback');
    // Any of those that wait may be the first to get the lock.
    const answers = (await Promise.all(waiting.map(statusAndBody))).toSorted((a, b) => a.status - b.status);
    expect(answers).toEqual([
      { status: 200, body: expect.objectContaining({ status: 'SETTLED' }) },
      ...others.map(() => refused('captureNotPending')),
    ]);
    expect(await shop.events(locked)).toEqual(['opened', 'authorised', 'requested capture', 'captured']);
  });
});

describe('while a row stays locked', () => {
  const { shop, authorise, capture, lock } = openLockedShop();

  test('refuses an operation on it with 503, and a repeat succeeds afterwards', async () => {
    const locked = await authorise();
    await lock(locked);
    const refusal = await capture(locked);
    expect(refusal).toMatchObject({ status: 503, body: { result: 'ERROR' } });
    expect((await shop.sale()).status).toBe(200);
    await session.query('rollback');
    expect(await capture(locked)).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
  });

  test('the sandbox clock advances by exactly what was asked, while the row is due', async () => {
    const locked = await authorise();
    await shop.rows(`update payments set due_at = now() - interval '1 minute' where payment_id = '${locked}'`);
    await lock(locked);
    const offsets: number[] = [];
    for (const advance_seconds of [0, 0.002, 0]) {
      offsets.push((await shop.admin('POST', '/clock', { advance_seconds })).body.offset_seconds);
    }
    expect(offsets).toEqual([0, 0.002, 0.002]);
    await session.query('rollback');
  });
});
