/** The migration that makes wallet tokens unique over all accounts, in a database where some paid in two. */
import { expect, test } from 'vitest';
import { newId } from '../../../src/lib/crypto/id.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { openDatabaseBefore } from '../../support/former-database.ts';

const { self, insert } = openDatabaseBefore('0039');

const use = (mid: string, replay_key: string) =>
  insert('wallet_tokens', { mid, replay_key, payment_id: newId(), forget_at: '2100-01-01' });
/** As the previous version inserts it. */
const useByPrevious = (mid: string, replayKey: string) =>
  self.client.query(
    `insert into wallet_tokens (mid, replay_key, payment_id, forget_at) values ($1, $2, $3, '2100-01-01')`,
    [mid, replayKey, newId()],
  );

test('used tokens stay used, in all accounts, and the previous version cannot use one in another account', async () => {
  const [one, other, third] = [newId(), newId(), newId()];
  for (const mid of [one, other]) await use(mid, 'wallet-a in two accounts');
  await use(one, 'wallet-a in one account');
  expect(await migrateAt(self.connection)).toContain('0039_wallet_tokens_once.sql');
  const { rows } = await self.client.query(
    'select replay_key, count(*)::int, count(is_first)::int as marked from wallet_tokens group by 1 order by 1',
  );
  expect(rows).toEqual([
    { replay_key: 'wallet-a in one account', count: 1, marked: 1 },
    { replay_key: 'wallet-a in two accounts', count: 2, marked: 1 },
  ]);
  const once = { constraint: 'wallet_tokens_once' };
  await expect(useByPrevious(third, 'wallet-a in one account')).rejects.toMatchObject(once);
  await expect(useByPrevious(third, 'wallet-a in two accounts')).rejects.toMatchObject(once);
  await expect(useByPrevious(one, 'wallet-a in one account')).rejects.toMatchObject({ constraint: /^wallet_tokens_/ });
  await useByPrevious(one, 'wallet-a another');
  await expect(useByPrevious(other, 'wallet-a another')).rejects.toMatchObject(once);
});
