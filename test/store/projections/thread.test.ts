/** The thread that folds projections: it adds what a fold in the process adds, reports failures, and starts again. */
import { expect, onTestFinished, test } from 'vitest';
import { ledger } from '../../../src/store/ledger/projection.ts';
import type { Numbers } from '../../../src/store/projections/portions.ts';
import { createFoldingThread } from '../../../src/store/projections/thread.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

const openThread = (connection = shop.connection) => {
  const thread = createFoldingThread(connection);
  onTestFinished(() => thread.close());
  return thread;
};
const settled = async (): Promise<Numbers> => (await shop.gateway.projections.settled()) as Numbers;
const entries = async (paymentId: string | undefined): Promise<number> =>
  (await shop.rows(`select 1 from ledger_entries where payment_id = '${paymentId}'`)).length;

test('it folds a portion, and tells whether there is more', async () => {
  const { body } = await shop.sale();
  const thread = openThread();
  expect(await thread.fold(ledger, await settled())).toEqual({ hasMore: false, isBuilt: false });
  expect(await entries(body.trans_id)).toBe(1);
});

test('a failure is reported, and the next fold is tried', async () => {
  const thread = openThread({ ...shop.connection, database: 'nowhere' });
  for (let attempt = 1; attempt <= 2; attempt++)
    await expect(thread.fold(ledger, await settled())).rejects.toThrow('"nowhere" does not exist');
});

test('what was folded when it ended fails, and is folded by the next one', async () => {
  const { body } = await shop.sale();
  const thread = openThread();
  const fold = thread.fold(ledger, await settled());
  const failed = expect(fold).rejects.toThrow('ended');
  await thread.close();
  await failed;
  expect(await entries(body.trans_id)).toBe(0);
  await thread.fold(ledger, await settled());
  expect(await entries(body.trans_id)).toBe(1);
});
