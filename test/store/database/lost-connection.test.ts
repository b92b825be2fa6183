/** A lost connection fails the statement of `verify` or `rotate-keys` that uses it, and does not end the process. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { openRotationStore } from '../../../src/store/installation/rotation.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

const WAITS = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test.each<[string, () => Promise<unknown>]>([
  ['verify', () => verifyAt(shop.connection)],
  [
    'rotate-keys',
    async () => {
      const store = openRotationStore(shop.connection);
      await store.countAgedCards().finally(() => store.close());
    },
  ],
])('%s', async (_, work) => {
  const holder = new pg.Client(shop.connection);
  await holder.connect();
  try {
    await holder.query('begin; lock table payments, cards');
    const result = work().then(
      () => 'no error',
      (error: Error) => error.message,
    );
    await expect.poll(() => shop.rows(`select ${WAITS}`)).toHaveLength(1);
    await shop.rows(`select pg_terminate_backend(pid) ${WAITS}`);
    expect(await result).toBe('terminating connection due to administrator command');
  } finally {
    await holder.end();
  }
});
