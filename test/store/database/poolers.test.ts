/** Poolers between the gateway and PostgreSQL: sessions of its own are required. */
import { afterEach, describe, expect, inject, test } from 'vitest';
import { checkDatabase, openDatabase } from '../../../src/store/database/database.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../../support/pgbouncer.ts';

const SKIPPED = hasPgBouncer ? '' : ' (skipped: install the package pgbouncer to run this)';

const check = async (connection: PgBouncer['connection']): Promise<void> => {
  const database = openDatabase(connection, () => undefined);
  await checkDatabase(database).finally(() => database.close());
};

test('a direct connection is accepted, also when several are made at once', async () => {
  await Promise.all(Array.from({ length: 4 }, () => check(inject('database'))));
});

describe.skipIf(!hasPgBouncer)(`PgBouncer${SKIPPED}`, () => {
  let pgbouncer: PgBouncer;
  afterEach(() => pgbouncer.stop());

  test.each(['transaction', 'statement'] as const)('pool_mode = %s is refused with a sentence', async (mode) => {
    pgbouncer = await startPgBouncer(inject('database'), mode);
    await expect(check(pgbouncer.connection)).rejects.toThrow(/set pool_mode = session .* in PgBouncer/);
    // The sessions that the first check used are there now, and idle.
    await expect(check(pgbouncer.connection)).rejects.toThrow(/set pool_mode = session .* in PgBouncer/);
  });

  test('pool_mode = session works, with the settings of each session and with LISTEN', async () => {
    pgbouncer = await startPgBouncer(inject('database'), 'session');
    await check(pgbouncer.connection);
    const { host, port } = pgbouncer.connection;
    const shop = await startTestGateway({ through: { host, port }, logLevel: 'error' });
    try {
      const { body } = await shop.sale();
      expect(body.status).toBe('SETTLED');
      expect((await shop.status(body.trans_id)).body.status).toBe('SETTLED');
      // The account is cached; the change reaches the process as a notification.
      await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { suspended: true });
      expect((await shop.sale()).status).not.toBe(200);
    } finally {
      await shop.close();
    }
    const database = openDatabase(pgbouncer.connection, () => undefined);
    const setting = (name: string) => ({ name, text: `select current_setting('${name}') as value`, values: [] });
    expect((await database.reads.query(setting('enable_seqscan'))).rows).toEqual([{ value: 'off' }]);
    expect((await database.pool.query(setting('timezone').text)).rows).toEqual([{ value: 'UTC' }]);
    await database.close();
  });
});
