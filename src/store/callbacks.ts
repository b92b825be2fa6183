/** Callbacks and the tries to deliver them: taken when they are due, in order for each payment, and listed. */
import { sql } from 'kysely';
import { batch } from '../lib/batch.ts';
import { isItemFault } from '../lib/faults.ts';
import { BLOCKING_ATTEMPTS } from '../rules/callbacks.ts';
import { LIMITS } from '../rules/limits.ts';
import {
  type CallbackFilter,
  type CallbackKey,
  type CallbackState,
  keys,
  ownerOf,
  type PortionRow,
  RESEND_PORTION,
  resendOne,
  resendPortion,
} from './callback-keys.ts';
import { announce } from './changes.ts';
import { columns, compare, iso } from './columns.ts';
import type { Database } from './database.ts';
import { unnestTable } from './unnest.ts';

export type { CallbackFilter, CallbackKey, CallbackState } from './callback-keys.ts';

export interface CallbackRow extends CallbackKey {
  type: string;
  body: string;
  isJson: boolean;
  url: string | null;
  endpoint: string;
  state: CallbackState;
  reason: string | null;
  attempts: number;
  retryIndex: number;
  dueAt: number | null;
  createdAt: number;
  finishedAt: number | null;
}

/** One try: what was answered, or why nothing was. */
export interface CallbackAttempt {
  attempt: number;
  at: number;
  status: number | null;
  fault: string | null;
  tookMs: number;
}

/** What became of a callback by one try. */
export interface Told extends Omit<CallbackAttempt, 'attempt'> {
  key: CallbackKey;
  /** Until when it was taken: whoever took it after that, or sent it anew, decides in our place. */
  takenUntil: number | null;
  state: CallbackState;
  reason: string | null;
  /** When it is sent again, if it waits. */
  dueAt: number | null;
}

/** Whose callbacks are delivered together. */
export type EndpointKey = Pick<CallbackRow, 'mid' | 'endpoint'>;

/** An endpoint that may have callbacks that are due. */
export interface DueEndpoint extends EndpointKey {
  /** How many are looked at beyond those that are taken: more than none after a look that found some held back. */
  ahead: number;
}

/** An endpoint for which callbacks are taken, and how many at most. */
export type WantedEndpoint = DueEndpoint & { room: number };

export interface Claimed {
  rows: CallbackRow[];
  /** The endpoints that may have more. */
  left: DueEndpoint[];
}

/** How far a sweep over what is due has come. */
export interface DuePlace extends EndpointKey {
  /** As text: the database knows it more exactly than we do. */
  dueAt: string;
}

/** Where a sweep begins. */
export const SWEEP_START: DuePlace = { dueAt: '-infinity', mid: '00000000-0000-0000-0000-000000000000', endpoint: '' };

const COLUMNS = [
  'mid',
  'paymentId',
  'seq',
  'type',
  'body',
  'isJson',
  'url',
  'endpoint',
  'state',
  'reason',
  'attempts',
  'retryIndex',
  'dueAt',
  'createdAt',
  'finishedAt',
] as const satisfies (keyof CallbackRow)[];

/**
 * The earliest callback of the payment that holds this one back: one that waits does so through its first tries.
 * Written so that it is looked up for each row by the key of its payment: as a join, or by an index that has the state,
 * the planner, who thinks that nothing ever waits, would read everything that does.
 */
const holder = (callback: string, column: string): string => `(
  select b.${column} from callbacks b where b.mid = ${callback}.mid and b.payment_id = ${callback}.payment_id
    and b.seq < ${callback}.seq and b.state::text = 'waiting' and b.retry_index < ${BLOCKING_ATTEMPTS} order by b.seq limit 1
)`;

/** No earlier callback of the payment holds this one back. */
export const isNext = (callback: string): string => `${holder(callback, 'seq')} is null`;

/** How many callbacks a search looks at: the newest every time, and the next ones of a sweep. */
const NEWEST = 250;
const SWEPT = 1000;
/** How many callbacks are looked at beyond those that are taken, where some were held back. */
const AHEAD = 64;
/**
 * A callback that is held back is looked at again after this pause, or half its age up to a minute, if its holder is not
 * due before. A holder may be done in another process at this very moment, so it is never put off for long.
 */
const HELD_PAUSE_MS = 1000;

/**
 * Finds endpoints that have something due, by a bounded number of rows. The newest rows are those that were just
 * written. A sweep comes to all others, however long the backlog of one endpoint is: it looks at the next rows in order
 * of `due_at`, beyond the place that the search before it has come to. Accounts with a clock of their own, which exist
 * in the sandbox only, have rows that are due and stand elsewhere in that order: their endpoints are walked through.
 */
const FIND_DUE = `
  with newest as (
    select c.mid, c.endpoint from callbacks c where c.due_at <= $1::timestamptz order by c.due_at desc limit ${NEWEST}
  ), swept as materialized (
    select c.due_at, c.mid, c.endpoint from callbacks c
    where c.due_at <= $1::timestamptz and (c.due_at, c.mid, c.endpoint) > ($2::timestamptz, $3::uuid, $4::text)
    order by c.due_at, c.mid, c.endpoint limit $5
  ), moved as (
    select o.mid, w.endpoint from clock_offsets o cross join lateral (
      with recursive walk as (
        (select c.endpoint from callbacks c where c.mid = o.mid and c.due_at is not null order by c.endpoint limit 1)
        union all
        select (
          select c.endpoint from callbacks c where c.mid = o.mid and c.due_at is not null and c.endpoint > w.endpoint
          order by c.endpoint limit 1
        ) from walk w where w.endpoint is not null
      )
      select walk.endpoint from walk
    ) w
    where (
      select c.seq from callbacks c where c.mid = o.mid and c.endpoint = w.endpoint
        and c.due_at <= $1::timestamptz + o.offset_ms * interval '1 ms' limit 1
    ) is not null
  )
  select e.mid, e.endpoint, null as "dueAt" from (
    select mid, endpoint from newest union select mid, endpoint from swept union select mid, endpoint from moved
  ) e
  union all
  (select s.mid, s.endpoint, s.due_at::text from swept s order by s.due_at desc, s.mid desc, s.endpoint desc
    limit case when (select count(*) from swept) < ${SWEPT} then 0 else 1 end)`;

const WANTED = unnestTable<WantedEndpoint>(
  [
    ['mid', 'uuid', 'plain', ({ mid }) => mid],
    ['endpoint', 'text', 'texts', ({ endpoint }) => endpoint],
    ['room', 'int', 'plain', ({ room }) => room],
    ['ahead', 'int', 'plain', ({ ahead }) => ahead],
  ],
  4,
);

/**
 * Takes what is due for some endpoints, the oldest first, and looks at a bounded number of rows: at `room + ahead` of each
 * endpoint, and at `most` altogether. What an earlier callback of its payment holds back is put off, so that it does not
 * hide others: until its holder is due, but a fresh one for a second only, because its holder may be done at this moment,
 * and the statement that says so may not have seen it. Its parameters: the time, the lease in milliseconds, the most rows
 * to look at, and the endpoints.
 */
const CLAIM = `
  with looked as materialized (
    select e.place, e.room, e.now, d.* from (
      select i.*, $1::timestamptz + coalesce(o.offset_ms, 0) * interval '1 ms' as now
      from ${WANTED.rows('i', 'place')}
      left join clock_offsets o on o.mid = i.mid
      order by i.place
    ) e cross join lateral (
      select c.mid, c.payment_id, c.seq, c.due_at, c.created_at, ${holder('c', 'due_at')} as held_until
      from callbacks c where c.mid = e.mid and c.endpoint = e.endpoint and c.due_at <= e.now
      order by c.due_at limit e.room + e.ahead for update of c skip locked
    ) d
    limit $3
  ), ranked as materialized (
    select l.*, row_number() over (partition by l.place, l.held_until is null order by l.due_at) as turn from looked l
  ), deferred as (
    update callbacks t set is_leased = false, due_at = least(
      case when r.held_until > r.now then r.held_until end,
      r.now + least(greatest(${HELD_PAUSE_MS} * interval '1 ms', (r.now - r.created_at) / 2), interval '1 minute')
    )
    from ranked r where r.held_until is not null
      and t.mid = r.mid and t.payment_id = r.payment_id and t.seq = r.seq
  ), taken as (
    update callbacks t set is_leased = true, due_at = r.now + $2 * interval '1 ms'
    from ranked r where r.held_until is null and r.turn <= r.room
      and t.mid = r.mid and t.payment_id = r.payment_id and t.seq = r.seq
    returning r.place as taken_place, ${columns('t', COLUMNS)}
  )
  select l.place::int, l.looked, l.held, t.* from (
    select place, count(*)::int as looked, count(held_until)::int as held from looked group by place
  ) l left join taken t on t.taken_place = l.place`;

const TRIED = unnestTable<Told>([
  ['mid', 'uuid', 'plain', ({ key }) => key.mid],
  ['payment_id', 'uuid', 'plain', ({ key }) => key.paymentId],
  ['seq', 'int', 'plain', ({ key }) => key.seq],
  ['state', 'callback_state', 'plain', ({ state }) => state],
  ['reason', 'text', 'texts', ({ reason }) => reason],
  ['due_at', 'timestamptz', 'moments', ({ dueAt }) => dueAt],
  ['at', 'timestamptz', 'moments', ({ at }) => at],
  ['status', 'int', 'plain', ({ status }) => status],
  ['fault', 'text', 'texts', ({ fault }) => fault],
  ['took_ms', 'int', 'plain', ({ tookMs }) => tookMs],
  ['taken_until', 'timestamptz', 'moments', ({ takenUntil }) => takenUntil],
]);

/**
 * A try changes a callback only as long as it is ours; when another process has taken it meanwhile, or somebody asked for
 * it anew, it is listed and no more. Later callbacks of the payment are not due before it while it holds them back, so that no
 * claim looks at them in vain, and are due at once when it is done or fails for the last time that it holds them; after
 * that they have their own ladders, and its tries leave them alone. A callback that another process finished is not our
 * concern, and one that is on its way itself, because an earlier one was resent, is left to its lease.
 */
const RECORD = `
  with told as (
    select * from ${TRIED.rows('i')}
  ), recorded as (
    update callbacks c set attempts = c.attempts + 1,
      retry_index = case when c.due_at = i.taken_until then c.retry_index + 1 else c.retry_index end,
      state = case when c.due_at = i.taken_until then i.state else c.state end,
      reason = case when c.due_at = i.taken_until then i.reason else c.reason end,
      due_at = case when c.due_at = i.taken_until then i.due_at else c.due_at end,
      is_leased = c.is_leased and c.due_at is distinct from i.taken_until,
      finished_at = case when c.due_at = i.taken_until and i.state <> 'waiting' then i.at else c.finished_at end
    from told i where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq
    returning c.mid, c.payment_id, c.seq, c.attempts, c.retry_index, c.due_at, c.finished_at, i.at, i.status, i.fault, i.took_ms,
      c.state = i.state and c.due_at is not distinct from i.due_at as counts
  ), followed as (
    update callbacks f set is_leased = false,
      due_at = case when r.due_at is null or r.retry_index = ${BLOCKING_ATTEMPTS} then r.at else greatest(f.due_at, r.due_at) end
    from recorded r
    where f.mid = r.mid and f.payment_id = r.payment_id and f.seq > r.seq
      and r.retry_index <= ${BLOCKING_ATTEMPTS} and (r.due_at is not null or r.finished_at = r.at)
      -- Written so that no index of states or of what is due is of use: the planner would read everything that waits.
      and f.state::text = 'waiting' and (not f.is_leased or coalesce(f.due_at, r.at) <= r.at)
  ), listed as (
    insert into callback_attempts (mid, payment_id, seq, attempt, at, status, fault, took_ms)
    select mid, payment_id, seq, attempts, at, status, fault, took_ms from recorded
  )
  select payment_id as "paymentId", seq from recorded where counts`;

const UNSENT = unnestTable<CallbackRow & { now: number }>([
  ['mid', 'uuid', 'plain', ({ mid }) => mid],
  ['payment_id', 'uuid', 'plain', ({ paymentId }) => paymentId],
  ['seq', 'int', 'plain', ({ seq }) => seq],
  ['now', 'timestamptz', 'moments', ({ now }) => now],
  ['taken_until', 'timestamptz', 'moments', ({ dueAt }) => dueAt],
]);

const GIVE_BACK = `
  update callbacks c set due_at = i.now, is_leased = false
  from ${UNSENT.rows('i')}
  where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq and c.due_at = i.taken_until`;

export interface CallbackStore {
  /** Finds endpoints that may have something due, and how far the sweep has come if there is more to sweep. */
  findDue(now: number, sweep: DuePlace | undefined): Promise<{ found: DueEndpoint[]; sweep: DuePlace | undefined }>;
  /** Takes callbacks that are due for these endpoints, for as long as the lease lasts. */
  claimDue(now: number, wanted: readonly WantedEndpoint[], most: number): Promise<Claimed>;
  /** Gives back what was taken and not sent. */
  giveBack(callbacks: readonly CallbackRow[], now: (mid: string) => number): Promise<void>;
  /** Writes what became of a callback by one try. */
  record(told: Told): Promise<boolean>;
  /** All callbacks of a payment, in their order, each with its tries. */
  of(key: Omit<CallbackKey, 'seq'>): Promise<(CallbackRow & { log: CallbackAttempt[] })[]>;
  /** Newest first; `before` is the last one of the page before. */
  list(filter: CallbackFilter, limit: number, before?: Omit<CallbackKey, 'mid'>): Promise<CallbackRow[]>;
  /** Tells the processes that deliver that there is something to deliver. */
  announce(): Promise<void>;
  /** Lets callbacks of an account be sent again from the beginning of the ladder, now, in portions; returns how many. */
  resend(
    filter: CallbackFilter & { mid: string; seq?: number | undefined },
    now: (mid: string) => number,
    afterPortion?: () => void,
  ): Promise<number>;
}

export function createCallbackStore({ deliveries, query }: Database): CallbackStore {
  /** Whether it counts; nothing when it was not written: two tries of one callback would be one update. */
  const recordOnce = batch<Told, boolean | undefined>(
    async (items) => {
      const firsts = new Map(items.toReversed().map((item) => [textOf(item.key), item]));
      // The order keeps processes from waiting for each other.
      const told = [...firsts].toSorted(([a], [b]) => compare(a, b)).map(([, item]) => item);
      const { rows } = await deliveries.query<Omit<CallbackKey, 'mid'>>({
        name: 'record_callbacks',
        text: RECORD,
        values: TRIED.values(told),
      });
      const counted = new Set(rows.map(({ paymentId, seq }) => `${paymentId} ${seq}`));
      return items.map((item) => {
        const { paymentId, seq } = item.key;
        return firsts.get(textOf(item.key)) === item ? counted.has(`${paymentId} ${seq}`) : undefined;
      });
    },
    { maxItems: LIMITS.batchItems, maxInFlight: 1, maxWaiting: LIMITS.batchWaiting, isItemFault },
  );

  return {
    async findDue(now, sweep) {
      const { dueAt, mid, endpoint } = sweep ?? SWEEP_START;
      const { rows } = await deliveries.query<EndpointKey & { dueAt: string | null }>({
        name: 'find_due_callbacks',
        text: FIND_DUE,
        values: [iso(now), dueAt, mid, endpoint, sweep ? SWEPT : 0],
      });
      const found = rows.filter((row) => row.dueAt === null).map((row) => ({ ...row, ahead: 0 }));
      return { found, sweep: rows.find((row): row is DuePlace => row.dueAt !== null) };
    },
    async claimDue(now, wanted, most) {
      const { rows } = await deliveries.query<CallbackRow & { place: number; looked: number; held: number }>({
        name: 'claim_callbacks',
        text: CLAIM,
        values: [iso(now), LIMITS.leaseMs, most, ...WANTED.values(wanted)],
      });
      const byPlace = Map.groupBy(rows, ({ place }) => place);
      const looked = [...byPlace.values()].reduce((sum, [one]) => sum + (one?.looked ?? 0), 0);
      // Where the statement came to its limit, nothing is known of that endpoint and those after it.
      const reached = looked < most ? wanted.length : Math.max(...byPlace.keys()) - 1;
      const left = wanted.flatMap(({ mid, endpoint, room, ahead }, index) => {
        const [one] = byPlace.get(index + 1) ?? [];
        const isDone = index < reached && (one?.looked ?? 0) < room + ahead;
        return isDone ? [] : [{ mid, endpoint, ahead: one?.held ? AHEAD : 0 }];
      });
      return { rows: rows.filter(({ paymentId }) => paymentId !== null), left };
    },
    async giveBack(taken, now) {
      const callbacks = taken.toSorted((a, b) => compare(textOf(a), textOf(b)));
      const values = UNSENT.values(callbacks.map((callback) => ({ ...callback, now: now(callback.mid) })));
      await deliveries.query({ name: 'give_back_callbacks', text: GIVE_BACK, values });
    },
    async record(told) {
      // It ends: of the tries of one callback that wait together the first is written each time.
      for (;;) {
        const counts = await recordOnce(told);
        if (counts !== undefined) return counts;
      }
    },
    async of({ mid, paymentId }) {
      const rows = (await query
        .selectFrom('callbacks')
        .select(COLUMNS)
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('seq')
        .execute()) as CallbackRow[];
      const attempts = await query
        .selectFrom('callbackAttempts')
        .select(['seq', 'attempt', 'at', 'status', 'fault', 'tookMs'])
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('seq')
        .orderBy('attempt')
        .execute();
      const logs = Map.groupBy(attempts, ({ seq }) => seq);
      return rows.map((row) => ({ ...row, log: (logs.get(row.seq) ?? []).map(({ seq: _seq, ...one }) => one) }));
    },
    async list(filter, limit, before) {
      const from =
        before &&
        sql`select c.created_at, c.payment_id, c.seq from callbacks c
        where c.mid = ${ownerOf(before.paymentId)} and c.payment_id = ${before.paymentId} and c.seq = ${before.seq}`;
      const { rows } = await sql<CallbackRow>`select ${sql.raw(columns('c', COLUMNS))}
        from (${keys(filter, 'desc', limit, from)}) k join callbacks c using (mid, payment_id, seq)
        order by k.created_at desc, k.payment_id desc, k.seq desc`.execute(query);
      return rows;
    },
    announce: () => announce(query, 'callbacks'),
    async resend(filter, now, afterPortion = () => undefined) {
      // A callback that is made from now on is not resent, so that the walk comes to an end.
      const to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, now(filter.mid) + 1);
      let resent = 0;
      for (let last: PortionRow | undefined, isDone = false; !isDone; ) {
        const from = last && sql`select ${last.createdAt}::timestamptz, ${last.paymentId}::uuid, ${last.seq}::int`;
        const portion = keys({ ...filter, to }, 'asc', RESEND_PORTION, from);
        const { rows } = await resendPortion(portion, now(filter.mid)).execute(query);
        for (const row of rows.filter(({ isResent }) => !isResent)) {
          // It was locked. Alone it can be waited for: a statement that holds no other lock takes part in no deadlock.
          await resendOne({ ...row, mid: filter.mid }, now(filter.mid)).execute(query);
        }
        resent += rows.length;
        last = rows.at(-1);
        isDone = rows.length < RESEND_PORTION;
        afterPortion();
      }
      return resent;
    },
  };
}

const textOf = ({ mid, paymentId, seq }: CallbackKey): string => `${mid} ${paymentId} ${seq}`;
