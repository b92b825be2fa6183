/** A payment whose row is locked by another session delays no other payment. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, openShop } from '../../support/gateway.ts';
import { operationFields } from '../../support/operations.ts';

const shop = openShop();

let session: pg.Client;
beforeEach(async () => {
  session = new pg.Client(shop.connection);
  await session.connect();
});
afterEach(() => session.end());

const authorise = async (): Promise<string> => (await shop.sale({ auth: 'Y' })).body.trans_id;
const capture = (transId: string): Promise<Answer> => shop.post(operationFields(shop.merchant, 'CAPTURE', transId));
const lock = async (transId: string): Promise<void> => {
  await session.query('begin');
  await session.query('select from payments where payment_id = $1 for update', [transId]);
};

test('answers requests for other payments while a row is locked, and its own when the lock is released', async () => {
  const [locked, ...others] = await Promise.all(Array.from({ length: 6 }, authorise));
  await lock(locked as string);
  let isWaiting = true;
  const waiting = capture(locked as string).finally(() => {
    isWaiting = false;
  });
  for (let round = 0; round < 5; round++) {
    const other = others[round] as string;
    // A second request for the locked payment waits with the first one.
    void capture(locked as string);
    const answers = await Promise.all([capture(other), shop.sale(), shop.sale(), shop.status(other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await pause(50);
  }
  expect(isWaiting).toBe(true);
  await session.query('rollback');
  expect(await waiting).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
  expect(await shop.events(locked as string)).toEqual(['opened', 'authorised', 'requested capture', 'captured']);
});

test('refuses an operation on a row that stays locked with 503, and a repeat succeeds afterwards', async () => {
  const locked = await authorise();
  await lock(locked);
  const refused = await capture(locked);
  expect(refused).toMatchObject({ status: 503, body: { result: 'ERROR' } });
  expect((await shop.sale()).status).toBe(200);
  await session.query('rollback');
  expect(await capture(locked)).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
});

test('the sandbox clock advances by exactly what was asked, while a locked row is due', async () => {
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
