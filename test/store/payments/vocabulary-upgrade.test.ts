/** The migration that renames tables and columns keeps their rows, and rewrites former names in the history. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { openDatabaseBefore } from '../../support/former-database.ts';

const MIGRATION = '0014_vocabulary.sql';
const { self, insert } = openDatabaseBefore(MIGRATION);

test('rows keep their values under the new names', async () => {
  const key = { mid: randomUUID(), payment_id: randomUUID() };
  const at = '2026-01-31T12:00:00Z';
  const call = (verb: string) => ({ verb, connector: 'upstream', outcome: 'settled', tookMs: 5 });
  const entry = { ...key, to_state: 'PREPARE', actor: 'provider', at };
  await insert('history', { ...entry, seq: 1, event: 'opened' });
  await insert('history', { ...entry, seq: 2, from_state: 'PREPARE', event: 'asked', call: call('query') });
  await insert('history', { ...entry, seq: 3, from_state: 'PREPARE', event: 'noted settled', call: call('news') });
  await insert('callback_tries', { ...key, seq: 2, try: 1, at, status: 200, took_ms: 7 });
  const event = { connector: 'upstream', event_id: 'e', reference: 'r', body: {}, state: 'new' };
  await insert('news', { ...event, tries: 3, received_at: at });
  await insert('receivers', { mid: key.mid, received: 4, answer: 200, answer_until: 0 });

  expect((await migrateAt(self.connection))[0]).toBe(MIGRATION);
  const rows = async (sql: string) => (await self.client.query(sql)).rows;
  expect(await rows(`select event, call from history order by seq`)).toEqual([
    { event: 'opened', call: null },
    { event: 'queried', call: call('query') },
    { event: 'noted settled', call: call('notification') },
  ]);
  expect(await rows('select attempt, status from callback_attempts')).toEqual([{ attempt: 1, status: 200 }]);
  expect(await rows('select event_id, attempts from provider_notifications')).toEqual([{ event_id: 'e', attempts: 3 }]);
  expect(await rows('select received from callback_inboxes')).toEqual([{ received: 4 }]);
});
