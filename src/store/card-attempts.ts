/** Card attempts: each is stored once, and they are counted per session, per source address and per account. */
import { iso, UNWAITED } from './columns.ts';
import type { Database } from './database.ts';

/** An attempt of an order for which a payer entered a card. */
export interface CardAttempt {
  mid: string;
  orderId: string;
  attempt: number;
  sessionId: string;
  /** The digest of the payer's network address. */
  source: string;
  at: number;
}

/** The limits of card attempts; 0 means no limit. */
export interface AttemptLimits {
  /** Only failures after this time count. */
  since: number;
  failuresPerSource: number;
  failuresPerAccount: number;
  /** The failures of an account are counted among this many of its latest attempts. */
  amongAttempts: number;
}

/** The counts for an attempt, without the attempt itself. */
export interface AttemptCounts {
  attemptsOfSession: number;
  /** The time of the oldest failure that counts towards a reached limit; null when the limit is not reached. */
  sourceFullSince: number | null;
  accountFullSince: number | null;
}

export interface CardAttemptStore {
  /** Stores an attempt and deletes older ones of the account; false when it is stored already. */
  insert(attempt: CardAttempt, deleteBefore: number): Promise<boolean>;
  remove(attempt: CardAttempt): Promise<void>;
  ofSession(session: Pick<CardAttempt, 'mid' | 'orderId' | 'sessionId'>): Promise<number>;
  counts(attempt: CardAttempt, bounds: AttemptLimits): Promise<AttemptCounts>;
}

export function createCardAttemptStore({ pool }: Database): CardAttemptStore {
  return {
    async insert({ mid, orderId, attempt, sessionId, source, at }, deleteBefore) {
      const { rowCount } = await pool.query(
        // The card is submitted only after a further commit of its payment.
        `with ${UNWAITED}, deleted as (delete from card_attempts where mid = $1 and at < $7)
         insert into card_attempts (mid, order_id, attempt, session_id, source, at)
         select $1::uuid, $2::text, $3::int, $4::uuid, $5::text, $6::timestamptz from unwaited
         on conflict do nothing`,
        [mid, orderId, attempt, sessionId, source, iso(at), iso(deleteBefore)],
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
        // For a source an attempt counts from its start, so that concurrent attempts cannot exceed the limit. For an
        // account only finished attempts count, because a busy shop always has many payers at their banks.
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
