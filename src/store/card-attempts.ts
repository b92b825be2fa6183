/** The tries of cards: each written down once, and counted per session, per source and per account. */
import { iso } from './columns.ts';
import type { Database } from './database.ts';

/** An attempt of an order to which somebody brought a card. */
export interface CardAttempt {
  mid: string;
  orderId: string;
  attempt: number;
  sessionId: string;
  /** The digest of where it came from. */
  source: string;
  at: number;
}

/** How many tries are too many: 0 for no limit. */
export interface AttemptLimits {
  /** Failures count when they are newer than this. */
  since: number;
  failuresPerSource: number;
  failuresPerAccount: number;
  /** Of this many of the newest tries of the account. */
  amongAttempts: number;
}

/** How things stand before a try, that try itself left out. */
export interface AttemptCounts {
  attemptsOfSession: number;
  /** When that failure was since which there are too many; nothing when there are not. */
  sourceFullSince: number | null;
  accountFullSince: number | null;
}

export interface CardAttemptStore {
  /** Writes a try down, and forgets those of the account before some time; false when it is there already. */
  insert(attempt: CardAttempt, forgetBefore: number): Promise<boolean>;
  remove(attempt: CardAttempt): Promise<void>;
  ofSession(session: Pick<CardAttempt, 'mid' | 'orderId' | 'sessionId'>): Promise<number>;
  counts(attempt: CardAttempt, bounds: AttemptLimits): Promise<AttemptCounts>;
}

export function createCardAttemptStore({ pool }: Database): CardAttemptStore {
  return {
    async insert({ mid, orderId, attempt, sessionId, source, at }, forgetBefore) {
      const { rowCount } = await pool.query(
        `with forgotten as (delete from card_attempts where mid = $1 and at < $7)
         insert into card_attempts (mid, order_id, attempt, session_id, source, at) values ($1, $2, $3, $4, $5, $6)
         on conflict do nothing`,
        [mid, orderId, attempt, sessionId, source, iso(at), iso(forgetBefore)],
      );
      return rowCount === 1;
    },
    async remove({ mid, orderId, attempt }) {
      await pool.query('delete from card_attempts where mid = $1 and order_id = $2 and attempt = $3', [
        mid,
        orderId,
        attempt,
      ]);
    },
    async ofSession({ mid, orderId, sessionId }) {
      const { rows } = await pool.query<{ attempts: number }>(
        'select count(*)::int as attempts from card_attempts where mid = $1 and order_id = $2 and session_id = $3',
        [mid, orderId, sessionId],
      );
      return rows[0]?.attempts ?? 0;
    },
    async counts({ mid, orderId, attempt, sessionId, source }, bounds) {
      const { rows } = await pool.query<AttemptCounts>(
        // From one source a try counts from its beginning, so that many at once are not all let through. Of an account
        // only what has come to an end counts, because many payers of a busy shop are at their banks at any time.
        `select
           (select count(*)::int from card_attempts t
            where t.mid = $1 and t.order_id = $2 and t.attempt <> $3 and t.session_id = $4) as "attemptsOfSession",
           case when $7::int > 0 then (
             select t.at from card_attempts t left join payments p using (mid, order_id, attempt)
             where t.mid = $1 and t.source = $5 and t.at > $6 and (t.order_id, t.attempt) <> ($2, $3)
               and coalesce(p.authorised, 0) = 0
             order by t.at desc offset $7 - 1 limit 1) end as "sourceFullSince",
           case when $8::int > 0 then (
             select ended.at from (
               select t.at, p.authorised from card_attempts t join payments p using (mid, order_id, attempt)
               where t.mid = $1 and t.at > $6 and (p.authorised > 0 or p.state = 'DECLINED')
               order by t.at desc limit $9) ended
             where ended.authorised = 0
             order by ended.at desc offset $8 - 1 limit 1) end as "accountFullSince"`,
        [
          mid,
          orderId,
          attempt,
          sessionId,
          source,
          iso(bounds.since),
          bounds.failuresPerSource,
          bounds.failuresPerAccount,
          bounds.amongAttempts,
        ],
      );
      return rows[0] as AttemptCounts;
    },
  };
}
