/** Callbacks and the attempts to deliver them: claims due ones under a lease, records outcomes, lists and resends. */

import { sql } from 'kysely';
import { FIRST_ID } from '../../lib/crypto/id.ts';
import { batch } from '../../lib/flow/batch.ts';
import { isItemFault } from '../../lib/flow/faults.ts';
import { BLOCKING_ATTEMPTS } from '../../rules/callbacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import { announce } from '../database/changes.ts';
import { columns, compare, iso } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { itemRows } from '../database/item-rows.ts';
import { readProjection } from '../projections/read.ts';
import {
  type CallbackFilter,
  type CallbackKey,
  type CallbackState,
  keyRows,
  midOfPayment,
  type PlacedKey,
  RESEND_PORTION,
  resendOne,
  resendPortion,
  selectKeys,
} from './keys.ts';

import { callbackLog } from './log-projection.ts';

export type { CallbackFilter, CallbackKey, CallbackState } from './keys.ts';

export interface CallbackRow extends CallbackKey {
  type: string;
  body: string;
  isJson: boolean;
  url: string | null;
  endpoint: string;
  state: CallbackState;
  reason: string | null;
  attempts: number;
  /** Attempts since the callback was created or resent: the next one to fail waits for this pause of the schedule. */
  retryIndex: number;
  dueAt: number | null;
  createdAt: number;
  finishedAt: number | null;
}

/** One attempt: the status that was answered, or why there was no answer. */
export interface CallbackAttempt {
  attempt: number;
  at: number;
  status: number | null;
  fault: string | null;
  tookMs: number;
}

/** What a callback becomes by one attempt. */
export interface AttemptOutcome extends Omit<CallbackAttempt, 'attempt'> {
  key: CallbackKey;
  /** When the lease of the attempt expires. If the row has another `due_at`, it was claimed again or resent meanwhile. */
  claimedUntil: number | null;
  state: CallbackState;
  reason: string | null;
  /** When it is sent again, if it waits. */
  dueAt: number | null;
}

/** The callbacks of an account that go to one server share a window and a claim. */
export type EndpointKey = Pick<CallbackRow, 'mid' | 'endpoint'>;

/** An endpoint that may have due callbacks. */
export interface DueEndpoint extends EndpointKey {
  /** How many rows a claim reads beyond `room`: more than none after a claim that found blocked callbacks. */
  lookahead: number;
  /** From which `due_at` on a claim reads rows, so that it passes over index entries of delivered ones; null: all rows. */
  since: number | null;
}

/** An endpoint to claim callbacks for, and how many at most. */
export type ClaimRequest = DueEndpoint & { room: number };

export interface ClaimResult {
  rows: CallbackRow[];
  /** The endpoints that may have more due callbacks. */
  remaining: DueEndpoint[];
}

/** The last row that a sweep over the due callbacks has read. */
export interface SweepPosition extends EndpointKey {
  /** As text: the database keeps microseconds, a number here only milliseconds. */
  dueAt: string;
}

export const SWEEP_START: SweepPosition = {
  dueAt: '-infinity',
  mid: FIRST_ID,
  endpoint: '',
};

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
 * The earliest callback of the payment that blocks this one: one that waits and has failed few times or never. A subquery
 * that no index on the state can serve, so that the planner looks it up by the payment's key for each row. It estimates
 * that almost nothing waits: as a join, or by such an index, it would read all waiting callbacks.
 */
const blocker = (callback: string, column: string): string => `(
  select b.${column} from callbacks b where b.mid = ${callback}.mid and b.payment_id = ${callback}.payment_id
    and b.seq < ${callback}.seq and b.state::text = 'waiting' and b.retry_index < ${BLOCKING_ATTEMPTS} order by b.seq limit 1
)`;

/** No earlier callback of the payment blocks this one. */
export const isNext = (callback: string): string => `${blocker(callback, 'seq')} is null`;

/** How many rows a search reads: the newest ones each time, and the next ones of a sweep. */
const NEWEST_ROWS = 250;
const SWEEP_ROWS = 1000;
/** The lookahead of a claim after one that found blocked callbacks. */
const LOOKAHEAD = 64;
/**
 * A blocked callback is due again when its blocker is, but after this pause at the latest, or after half its age up to a
 * minute. Another process may be delivering the blocker at this moment, so it is never deferred for long.
 */
const BLOCKED_PAUSE_MS = 1000;

/** How long ago the newest rows were due at most. */
const NEWEST = `interval '${LIMITS.dueOverlapMs} ms'`;

/**
 * Finds endpoints with due callbacks and reads a bounded number of rows. The newest rows are the ones just written. A
 * sweep reaches all others, however long the backlog of one endpoint is: it reads the next rows in order of `due_at`,
 * from the position that the previous search reached. With each endpoint comes the first time of its rows that was read.
 * Accounts with a clock of their own, which exist in the sandbox
 * only, have due rows elsewhere in that order, so their endpoints are enumerated by an index skip scan.
 */
const FIND_DUE = `
  with newest as (
    select c.due_at, c.mid, c.endpoint from callbacks c
    where c.due_at <= $1::timestamptz and c.due_at >= $1::timestamptz - ${NEWEST}
    order by c.due_at desc limit ${NEWEST_ROWS}
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
  select e.mid, e.endpoint, nullif(min(e.due_at), '-infinity') as since, null as "dueAt" from (
    select due_at, mid, endpoint from newest union all select due_at, mid, endpoint from swept
    union all select '-infinity', mid, endpoint from moved
  ) e group by e.mid, e.endpoint
  union all
  (select s.mid, s.endpoint, null, s.due_at::text from swept s order by s.due_at desc, s.mid desc, s.endpoint desc
    limit case when (select count(*) from swept) < ${SWEEP_ROWS} then 0 else 1 end)`;

const REQUESTS = itemRows<ClaimRequest>(
  [
    ['mid', 'uuid', ({ mid }) => mid],
    ['endpoint', 'text', ({ endpoint }) => endpoint],
    ['room', 'int', ({ room }) => room],
    ['lookahead', 'int', ({ lookahead }) => lookahead],
    ['since', 'timestamptz', ({ since }) => since],
  ],
  4,
);

/**
 * Claims due callbacks of some endpoints, the oldest first. It reads a bounded number of rows: `room + lookahead` of each
 * endpoint, and `limit` altogether. A blocked callback is deferred, so that it does not hide others: until its blocker is
 * due, but a new one for a second only, because the blocker may be recorded as delivered at this moment by a statement
 * whose snapshot does not contain the new one.
 */
const CLAIM = `
  with examined as materialized (
    select e.place, e.room, e.now, d.* from (
      select i.*, $1::timestamptz + coalesce(o.offset_ms, 0) * interval '1 ms' as now
      from ${REQUESTS.rows('i', 'place')}
      left join clock_offsets o on o.mid = i.mid
      order by i.place
    ) e cross join lateral (
      select c.mid, c.payment_id, c.seq, c.due_at, c.created_at, ${blocker('c', 'due_at')} as blocked_until
      from callbacks c where c.mid = e.mid and c.endpoint = e.endpoint and c.due_at <= e.now
        and c.due_at >= coalesce(e.since, '-infinity')
      order by c.due_at limit e.room + e.lookahead for update of c skip locked
    ) d
    limit $3
  ), ranked as materialized (
    select e.*, row_number() over (partition by e.place, e.blocked_until is null order by e.due_at) as rank
    from examined e
  ), deferred as (
    update callbacks t set is_leased = false, due_at = least(
      case when r.blocked_until > r.now then r.blocked_until end,
      r.now + least(greatest(${BLOCKED_PAUSE_MS} * interval '1 ms', (r.now - r.created_at) / 2), interval '1 minute')
    )
    from ranked r where r.blocked_until is not null
      and t.mid = r.mid and t.payment_id = r.payment_id and t.seq = r.seq
  ), claimed as (
    update callbacks t set is_leased = true, due_at = r.now + $2 * interval '1 ms'
    from ranked r where r.blocked_until is null and r.rank <= r.room
      and t.mid = r.mid and t.payment_id = r.payment_id and t.seq = r.seq
    returning r.place as claimed_place, ${columns('t', COLUMNS)}
  )
  select e.place::int, e.examined, e.blocked, t.* from (
    select place, count(*)::int as examined, count(blocked_until)::int as blocked from examined group by place
  ) e left join claimed t on t.claimed_place = e.place`;

const OUTCOMES = itemRows<AttemptOutcome>([
  ['mid', 'uuid', ({ key }) => key.mid],
  ['payment_id', 'uuid', ({ key }) => key.paymentId],
  ['seq', 'int', ({ key }) => key.seq],
  ['state', 'callback_state', ({ state }) => state],
  ['reason', 'text', ({ reason }) => reason],
  ['due_at', 'timestamptz', ({ dueAt }) => dueAt],
  ['at', 'timestamptz', ({ at }) => at],
  ['status', 'int', ({ status }) => status],
  ['fault', 'text', ({ fault }) => fault],
  ['took_ms', 'int', ({ tookMs }) => tookMs],
  ['claimed_until', 'timestamptz', ({ claimedUntil }) => claimedUntil],
]);

/**
 * Records outcomes of attempts. An attempt changes a callback only while its lease holds; if the callback was claimed by
 * another process or resent meanwhile, the attempt is only listed.
 *
 * While a failing callback blocks the later ones of its payment, they are not due before it, so that no claim reads them
 * in vain. When it is finished, or fails for the last time that it blocks them, they are due at once. After that each has
 * its own retry schedule, which attempts of the others do not change. Two cases leave the later callbacks alone: another
 * process has finished the callback, or a later one is claimed itself because an earlier one was resent.
 */
const RECORD = `
  with outcomes as (
    select * from ${OUTCOMES.rows('i')}
  ), recorded as (
    update callbacks c set attempts = c.attempts + 1,
      retry_index = case when c.due_at = i.claimed_until then c.retry_index + 1 else c.retry_index end,
      state = case when c.due_at = i.claimed_until then i.state else c.state end,
      reason = case when c.due_at = i.claimed_until then i.reason else c.reason end,
      due_at = case when c.due_at = i.claimed_until then i.due_at else c.due_at end,
      is_leased = c.is_leased and c.due_at is distinct from i.claimed_until,
      finished_at = case when c.due_at = i.claimed_until and i.state <> 'waiting' then i.at else c.finished_at end
    from outcomes i where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq
    returning c.mid, c.payment_id, c.seq, c.attempts, c.retry_index, c.due_at, c.finished_at, i.at, i.status, i.fault, i.took_ms,
      c.state = i.state and c.due_at is not distinct from i.due_at as is_current
  ), unblocked as (
    update callbacks f set is_leased = false,
      due_at = case when r.due_at is null or r.retry_index = ${BLOCKING_ATTEMPTS} then r.at else greatest(f.due_at, r.due_at) end
    from recorded r
    where f.mid = r.mid and f.payment_id = r.payment_id and f.seq > r.seq
      and r.retry_index <= ${BLOCKING_ATTEMPTS} and (r.due_at is not null or r.finished_at = r.at)
      -- The cast keeps the planner from an index on the state or on due_at, by which it would read all waiting callbacks.
      and f.state::text = 'waiting' and (not f.is_leased or coalesce(f.due_at, r.at) <= r.at)
  ), listed as (
    insert into callback_attempts (mid, payment_id, seq, attempt, at, status, fault, took_ms)
    select mid, payment_id, seq, attempts, at, status, fault, took_ms from recorded
  )
  select payment_id as "paymentId", seq from recorded where is_current`;

const RELEASED = itemRows<CallbackRow & { now: number }>([
  ['mid', 'uuid', ({ mid }) => mid],
  ['payment_id', 'uuid', ({ paymentId }) => paymentId],
  ['seq', 'int', ({ seq }) => seq],
  ['now', 'timestamptz', ({ now }) => now],
  ['claimed_until', 'timestamptz', ({ dueAt }) => dueAt],
]);

const RELEASE = `
  update callbacks c set due_at = i.now, is_leased = false
  from ${RELEASED.rows('i')}
  where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq and c.due_at = i.claimed_until`;

export interface CallbackStore {
  /** Finds endpoints that may have due callbacks; `sweep` is the position that the sweep reached, if it is not complete. */
  findDue(
    now: number,
    sweep: SweepPosition | undefined,
  ): Promise<{ found: DueEndpoint[]; sweep: SweepPosition | undefined }>;
  /** Claims due callbacks of these endpoints under a lease. */
  claimDue(now: number, requests: readonly ClaimRequest[], limit: number): Promise<ClaimResult>;
  /** Ends the lease of claimed callbacks that were not sent. */
  release(callbacks: readonly CallbackRow[], now: (mid: string) => number): Promise<void>;
  /** Records an attempt; false when it lost its lease and changed nothing but the list of attempts. */
  record(outcome: AttemptOutcome): Promise<boolean>;
  /** All callbacks of a payment in order of `seq`, each with its attempts. */
  of(key: Omit<CallbackKey, 'seq'>): Promise<(CallbackRow & { log: CallbackAttempt[] })[]>;
  /** Newest first, of all accounts or of those in `mids`; `before` is the last callback of the previous page. */
  list(
    filter: CallbackFilter & { mids?: readonly string[] | null },
    limit: number,
    before?: Omit<CallbackKey, 'mid'>,
  ): Promise<CallbackRow[]>;
  /** False while the log is being built after an upgrade: older callbacks are missing in lists and portions. */
  isLogComplete(): Promise<boolean>;
  /** Notifies the processes that deliver that callbacks are due. */
  announce(): Promise<void>;
  /** The number of callbacks that can be resent, up to a limit. */
  count(filter: CallbackFilter & { mid: string }, most: number): Promise<number>;
  /** Makes callbacks of an account whose bodies are not erased due now, with a new retry schedule, in portions; returns how many. */
  resend(
    filter: CallbackFilter & { mid: string; seq?: number | undefined },
    now: (mid: string) => number,
    afterPortion?: () => void,
  ): Promise<number>;
}

export function createCallbackStore({ deliveries, pool, query }: Database): CallbackStore {
  /** The place of a callback in the order of lists. */
  const placeOf = async ({ paymentId, seq }: Omit<CallbackKey, 'mid'>): Promise<PlacedKey | undefined> => {
    const { rows } = await sql<PlacedKey>`
      select c.mid, c.payment_id as "paymentId", c.seq, c.created_at::text as "createdAt" from callbacks c
      where c.mid = ${midOfPayment(paymentId)} and c.payment_id = ${paymentId} and c.seq = ${seq}`.execute(query);
    return rows[0];
  };

  /**
   * As `record`, but undefined when the outcome was not written: one statement updates a row only once, so of several
   * outcomes of one callback it takes the first.
   */
  const recordBatch = batch<AttemptOutcome, boolean | undefined>(
    async (items) => {
      const firsts = new Map(items.toReversed().map((item) => [keyText(item.key), item]));
      // All processes lock rows in the same order, which avoids deadlocks.
      const outcomes = [...firsts].toSorted(([a], [b]) => compare(a, b)).map(([, item]) => item);
      const { rows } = await deliveries.query<Omit<CallbackKey, 'mid'>>({
        name: 'record_callbacks',
        text: RECORD,
        values: OUTCOMES.values(outcomes),
      });
      const current = new Set(rows.map(({ paymentId, seq }) => `${paymentId} ${seq}`));
      return items.map((item) => {
        const { paymentId, seq } = item.key;
        return firsts.get(keyText(item.key)) === item ? current.has(`${paymentId} ${seq}`) : undefined;
      });
    },
    { maxItems: LIMITS.batchItems, maxInFlight: 1, maxWaiting: LIMITS.batchWaiting, isItemFault },
  );

  return {
    async findDue(now, sweep) {
      const { dueAt, mid, endpoint } = sweep ?? SWEEP_START;
      const { rows } = await deliveries.query<Omit<DueEndpoint, 'lookahead'> & { dueAt: string | null }>({
        name: 'find_due_callbacks',
        text: FIND_DUE,
        values: [iso(now), dueAt, mid, endpoint, sweep ? SWEEP_ROWS : 0],
      });
      // The database keeps microseconds.
      const found = rows
        .filter((row) => row.dueAt === null)
        .map(({ mid, endpoint, since }) => ({ mid, endpoint, since: since && since - 1, lookahead: 0 }));
      const reached = rows.find((row) => row.dueAt !== null);
      return {
        found,
        sweep: reached && { mid: reached.mid, endpoint: reached.endpoint, dueAt: reached.dueAt as string },
      };
    },
    async claimDue(now, requests, limit) {
      const { rows } = await deliveries.query<CallbackRow & { place: number; examined: number; blocked: number }>({
        name: 'claim_callbacks',
        text: CLAIM,
        values: [iso(now), LIMITS.leaseMs, limit, ...REQUESTS.values(requests)],
      });
      const byPlace = Map.groupBy(rows, ({ place }) => place);
      const examined = [...byPlace.values()].reduce((sum, [one]) => sum + (one?.examined ?? 0), 0);
      // A statement that reached its limit may have read only a part of the last endpoint, and nothing of those after it.
      const complete = examined < limit ? requests.length : Math.max(...byPlace.keys()) - 1;
      const remaining = requests.flatMap(({ mid, endpoint, since, room, lookahead }, index) => {
        const [one] = byPlace.get(index + 1) ?? [];
        const isExhausted = index < complete && (one?.examined ?? 0) < room + lookahead;
        return isExhausted ? [] : [{ mid, endpoint, since, lookahead: one?.blocked ? LOOKAHEAD : 0 }];
      });
      return { rows: rows.filter(({ paymentId }) => paymentId !== null), remaining };
    },
    async release(claimed, now) {
      const callbacks = claimed.toSorted((a, b) => compare(keyText(a), keyText(b)));
      const values = RELEASED.values(callbacks.map((callback) => ({ ...callback, now: now(callback.mid) })));
      await deliveries.query({ name: 'release_callbacks', text: RELEASE, values });
    },
    async record(outcome) {
      // The loop ends: each statement writes the first of several outcomes of one callback.
      for (;;) {
        const isCurrent = await recordBatch(outcome);
        if (isCurrent !== undefined) return isCurrent;
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
      return rows.map((row) => ({
        ...row,
        log: (logs.get(row.seq) ?? []).map(({ seq: _seq, ...attempt }) => attempt),
      }));
    },
    async list(filter, limit, before) {
      const after = before && (await placeOf(before));
      if (before && !after) return [];
      const keys = await selectKeys({ pool }, filter, 'desc', limit, after);
      const { rows } = await sql<CallbackRow>`select ${sql.raw(columns('c', COLUMNS))}
        from (${keyRows(keys)}) k join callbacks c using (mid, payment_id, seq) order by k.ordinal`.execute(query);
      return rows;
    },
    isLogComplete: () => readProjection({ pool }, callbackLog, async ({ isComplete }) => isComplete),
    announce: () => announce(query, 'callbacks'),
    async count(filter, most) {
      return (await selectKeys({ pool }, { ...filter, hasBody: true }, 'asc', most)).length;
    },
    async resend(filter, now, afterPortion = () => undefined) {
      // Callbacks created from now on are not resent; otherwise the loop might never end.
      const to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, now(filter.mid) + 1);
      let resent = 0;
      for (let last: PlacedKey | undefined, isDone = false; !isDone; ) {
        const keys: PlacedKey[] = await selectKeys(
          { pool },
          { ...filter, to, hasBody: true },
          'asc',
          RESEND_PORTION,
          last,
        );
        const { rows } = await resendPortion(keyRows(keys), now(filter.mid)).execute(query);
        for (const row of rows.filter(({ isResent }) => !isResent)) {
          // Another statement holds its lock. Waiting for one row at a time cannot deadlock, because no other lock is held.
          await resendOne(row, now(filter.mid)).execute(query);
        }
        resent += rows.length;
        last = keys.at(-1);
        isDone = keys.length < RESEND_PORTION;
        afterPortion();
      }
      return resent;
    },
  };
}

const keyText = ({ mid, paymentId, seq }: CallbackKey): string => `${mid} ${paymentId} ${seq}`;
