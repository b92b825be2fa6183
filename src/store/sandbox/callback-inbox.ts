/** What arrived at the sandbox's own receivers: numbered for each account, the newest ones kept. */
import { iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

export interface InboxCallback {
  /** Counts up for each account, in the order of arrival. */
  number: number;
  headers: Record<string, unknown>;
  body: Buffer;
  isHashValid: boolean;
  isSignatureValid: boolean;
  /** The status that it was answered with. */
  answer: number;
  receivedAt: number;
}

export interface CallbackInboxStore {
  /** Keeps a callback as the newest of its account, forgets all but some of them, and says what to answer. */
  keep(mid: string, received: Omit<InboxCallback, 'number' | 'answer'>, most: number): Promise<number>;
  /** Those after a number, oldest first. */
  list(mid: string, after: number, limit: number): Promise<InboxCallback[]>;
  /** The number of the newest one that ever arrived. */
  last(mid: string): Promise<number>;
  /** The next ones are answered with this status. */
  setAnswer(mid: string, answer: number, count: number): Promise<void>;
  /** Forgets everything but the count; returns how many were there. */
  clear(mid: string): Promise<number>;
}

// The row of the inbox stays locked until the statement ends, so that numbers become visible in order.
const KEEP = `
  with counted as (
    insert into callback_inboxes as r (mid, received) values ($1, 1)
    on conflict (mid) do update set received = r.received + 1
    returning r.received as number, case when r.received <= r.answer_until then r.answer else 200 end as answer
  ), forgotten as (
    delete from callback_inbox_entries c using counted where c.mid = $1 and c.number <= counted.number - $7
  )
  insert into callback_inbox_entries
    (mid, number, headers, body, is_hash_valid, is_signature_valid, received_at, answer)
  select $1, number, $2, $3, $4, $5, $6, answer from counted
  returning answer`;

const COLUMNS = ['number', 'headers', 'body', 'isHashValid', 'isSignatureValid', 'answer', 'receivedAt'] as const;

export function createCallbackInboxStore({ pool, query }: Database): CallbackInboxStore {
  return {
    async keep(mid, { headers, body, isHashValid, isSignatureValid, receivedAt }, most) {
      const values = [mid, JSON.stringify(headers), body, isHashValid, isSignatureValid, iso(receivedAt), most];
      const { rows } = await pool.query<{ answer: number }>(KEEP, values);
      return rows[0]?.answer as number;
    },
    async list(mid, after, limit) {
      const rows = await query
        .selectFrom('callbackInboxEntries')
        .select(COLUMNS)
        .where('mid', '=', mid)
        .where('number', '>', after)
        .orderBy('number')
        .limit(limit)
        .execute();
      return rows as InboxCallback[];
    },
    async last(mid) {
      const row = await query
        .selectFrom('callbackInboxes')
        .select('received')
        .where('mid', '=', mid)
        .executeTakeFirst();
      return row?.received ?? 0;
    },
    async setAnswer(mid, answer, count) {
      await pool.query(
        `insert into callback_inboxes as r (mid, answer, answer_until) values ($1, $2, $3)
         on conflict (mid) do update set answer = excluded.answer, answer_until = r.received + excluded.answer_until`,
        [mid, answer, count],
      );
    },
    async clear(mid) {
      await query.updateTable('callbackInboxes').set({ answerUntil: 0 }).where('mid', '=', mid).execute();
      const { numDeletedRows } = await query
        .deleteFrom('callbackInboxEntries')
        .where('mid', '=', mid)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
