/** Card attempts: each is stored once, and they are counted per session, per source address and per account. */
import { UNWAITED } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import { type PipelinedConnection, run, runUnlessDeadlocked } from '../database/pipelined-connection.ts';
import { createBatching, isolating } from '../payments/batch.ts';

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
  attemptsPerSession: number;
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
  remove(attempt: Pick<CardAttempt, 'mid' | 'orderId' | 'attempt'>): Promise<void>;
  ofSession(session: Pick<CardAttempt, 'mid' | 'orderId' | 'sessionId'>): Promise<number>;
  counts(attempt: CardAttempt, bounds: AttemptLimits): Promise<AttemptCounts>;
}

const ATTEMPT: Column<CardAttempt>[] = [
  ['mid', 'uuid', ({ mid }) => mid],
  ['order_id', 'text', ({ orderId }) => orderId],
  ['attempt', 'int', ({ attempt }) => attempt],
  ['session_id', 'uuid', ({ sessionId }) => sessionId],
  ['source', 'text', ({ source }) => source],
];
const NEW_ATTEMPT: Column<CardAttempt>[] = [...ATTEMPT, ['at', 'timestamptz', ({ at }) => at]];
const INSERTED = namesOf(NEW_ATTEMPT);

interface InsertItem {
  attempt: CardAttempt;
  deleteBefore: number;
}
const ofAttempt = <Item extends { attempt: CardAttempt }>(columns: Column<CardAttempt>[]): Column<Item>[] =>
  columns.map(([name, type, read]) => [name, type, ({ attempt }: Item) => read(attempt)] as Column<Item>);

const INSERT_ITEMS = itemRows<InsertItem>([
  ...ofAttempt<InsertItem>(NEW_ATTEMPT),
  ['delete_before', 'timestamptz', ({ deleteBefore }) => deleteBefore],
]);
/** SQL: a part that deletes the old attempts of the accounts of these items, by their column `delete_before`. */
export const forgetAttempts = (items: string): string => `forgotten_attempts as (
    delete from card_attempts t using (select mid, min(delete_before) as before from ${items} group by mid) d
    where t.mid = d.mid and t.at < d.before
  )`;

/** A card is submitted only after a further commit of its payment. */
const INSERT = `
  with ${UNWAITED}, items as materialized (select * from ${INSERT_ITEMS.rows('i')}), ${forgetAttempts('items')}
  insert into card_attempts (${listed(INSERTED)})
  select ${listed(INSERTED, 'i')} from items i, unwaited
  on conflict do nothing
  returning mid, order_id, attempt`;

export interface CountItem {
  attempt: CardAttempt;
  bounds: AttemptLimits;
}
const COUNTED: Column<CountItem>[] = [
  ...ofAttempt<CountItem>(ATTEMPT),
  ['since', 'timestamptz', ({ bounds }) => bounds.since],
  ['per_session', 'int', ({ bounds }) => bounds.attemptsPerSession],
  ['per_source', 'int', ({ bounds }) => bounds.failuresPerSource],
  ['per_account', 'int', ({ bounds }) => bounds.failuresPerAccount],
  ['among', 'int', ({ bounds }) => bounds.amongAttempts],
];
/**
 * SQL: the payment of an attempt `t`. The offset forces one index lookup per attempt: a plan that was made while the tables
 * were empty would later read all payments of the account.
 */
const PAYMENT_OF = `
  select p.authorised, p.state from payments p
  where p.mid = t.mid and p.order_id = t.order_id and p.attempt = t.attempt offset 0`;

/**
 * SQL: the parts that count the attempts for the rows of `items`. For a source an attempt counts from its start, so that
 * concurrent attempts cannot exceed the limit. For an account only finished attempts count, because a busy shop always
 * has many payers at their banks; they are counted once for all items of the account.
 */
const COUNTS = `accounts as materialized (
  select a.mid, a.per_account, a.among, (
      select ended.at from (
        select t.at, p.authorised from card_attempts t cross join lateral (${PAYMENT_OF}) p
        where t.mid = a.mid and t.at > a.since and (p.authorised > 0 or p.state = 'DECLINED')
        order by t.at desc limit a.among) ended
      where ended.authorised = 0
      order by ended.at desc offset a.per_account - 1 limit 1) as full_since
  from (
    select mid, per_account, among, min(since) as since from items where per_account > 0 group by mid, per_account, among
  ) a
), counted as materialized (
  select i.ordinal,
    (select count(*)::int from card_attempts t
     where t.mid = i.mid and t.order_id = i.order_id and t.attempt <> i.attempt and t.session_id = i.session_id)
      as "attemptsOfSession",
    case when i.per_source > 0 then (
      select t.at from (
        -- Compared as a pair, so that only the index of sources has the time: the plan of an empty table would read all
        -- attempts of the account since then.
        select * from card_attempts t
        where t.mid = i.mid and t.source = i.source and (t.source, t.at) > (i.source, i.since) offset 0
      ) t left join lateral (${PAYMENT_OF}) p on true
      where (t.order_id, t.attempt) <> (i.order_id, i.attempt) and coalesce(p.authorised, 0) = 0
      order by t.at desc offset i.per_source - 1 limit 1) end as "sourceFullSince",
    (select a.full_since from accounts a
     where a.mid = i.mid and a.per_account = i.per_account and a.among = i.among) as "accountFullSince"
  from items i
)`;
const COUNT_ITEMS = itemRows(COUNTED);
const COUNT = `
  with items as materialized (select * from ${COUNT_ITEMS.rows('i', 'ordinal')}), ${COUNTS}
  select "attemptsOfSession", "sourceFullSince", "accountFullSince" from counted order by ordinal`;

/** Counts the attempts for each item. Items that were stored before are counted for each other. */
export const countAttempts = (
  connection: Pick<PipelinedConnection, 'query'>,
  items: CountItem[],
): Promise<AttemptCounts[]> => run<AttemptCounts>(connection, 'count_card_attempts', COUNT, COUNT_ITEMS.values(items));

const keyOf = (mid: string, orderId: string, attempt: number): string => `${mid} ${attempt} ${orderId}`;

const insertAll =
  (connection: PipelinedConnection) =>
  async (items: InsertItem[]): Promise<boolean[]> => {
    const rows = await runUnlessDeadlocked<{ mid: string; order_id: string; attempt: number }>(
      connection,
      'insert_card_attempts',
      INSERT,
      INSERT_ITEMS.values(items),
    );
    const inserted = new Set(rows.map(({ mid, order_id, attempt }) => keyOf(mid, order_id, attempt)));
    // Of two equal items, the first one was inserted.
    return items.map(({ attempt: { mid, orderId, attempt } }) => inserted.delete(keyOf(mid, orderId, attempt)));
  };

export function createCardAttemptStore({ pool, writes, reads, isolated }: Database): CardAttemptStore {
  const batched = createBatching(() => undefined, {});
  const insert = batched(
    'insert_card_attempts',
    insertAll(writes),
    isolating(({ attempt: { mid, orderId, attempt } }) => keyOf(mid, orderId, attempt), insertAll(isolated)),
  );
  const count = batched('count_card_attempts', (items: CountItem[]) => countAttempts(reads, items));
  return {
    insert: (attempt, deleteBefore) => insert({ attempt, deleteBefore }),
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
    counts: (attempt, bounds) => count({ attempt, bounds }),
  };
}
