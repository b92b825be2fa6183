/** Callbacks and the tries to deliver them: taken when they are due, in order for each payment, and listed. */
import { type RawBuilder, sql } from 'kysely';
import { batch } from '../lib/batch.ts';
import { isItemFault } from '../lib/faults.ts';
import { CALLBACK_STATES, HOLDING_TRIES } from '../rules/callbacks.ts';
import { LIMITS } from '../rules/limits.ts';
import { moments, plain, texts } from './arrays.ts';
import { announce } from './changes.ts';
import { columns, compare, iso } from './columns.ts';
import type { Database } from './database.ts';

export type CallbackState = (typeof CALLBACK_STATES)[number];

export interface CallbackKey {
  mid: string;
  paymentId: string;
  seq: number;
}

export interface CallbackRow extends CallbackKey {
  type: string;
  body: string;
  isJson: boolean;
  url: string | null;
  endpoint: string;
  state: CallbackState;
  reason: string | null;
  tries: number;
  rung: number;
  dueAt: number | null;
  createdAt: number;
  finishedAt: number | null;
}

/** One try: what was answered, or why nothing was. */
export interface CallbackTry {
  try: number;
  at: number;
  status: number | null;
  fault: string | null;
  tookMs: number;
}

/** What became of a callback by one try. */
export interface Told extends Omit<CallbackTry, 'try'> {
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

/** How many callbacks are taken, and for whom. */
export interface Claim {
  /** For each endpoint, and for some of them another number. */
  usualRoom: number;
  rooms: readonly (EndpointKey & { room: number })[];
  /** All in all; the walk begins behind an endpoint, so that those at the end have their turn, too. */
  most: number;
  after: EndpointKey | undefined;
}

const THE_FIRST: EndpointKey = { mid: '00000000-0000-0000-0000-000000000000', endpoint: '' };

export interface CallbackFilter {
  mid?: string | undefined;
  paymentId?: string | undefined;
  state?: CallbackState | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

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
  'tries',
  'rung',
  'dueAt',
  'createdAt',
  'finishedAt',
] as const satisfies (keyof CallbackRow)[];

/**
 * No earlier callback of the payment holds this one back: an earlier one that waits does so through its first tries.
 * Written so that it is looked up for each row: as a join the planner, who thinks that nothing ever waits, would read
 * everything that does.
 */
export const isNext = (callback: string): string => `(
  select b.seq from callbacks b where b.mid = ${callback}.mid and b.payment_id = ${callback}.payment_id
    and b.seq < ${callback}.seq and b.state = 'waiting' and b.rung < ${HOLDING_TRIES} limit 1
) is null`;

/**
 * Walks from endpoint to endpoint through the index and takes a few of each, so that a long backlog of one does not
 * hide the others. What is later in a payment is not taken while something earlier of it holds it back.
 */
const CLAIM = `
  with recursive endpoints as (
    (select c.mid, c.endpoint from callbacks c
      where c.due_at is not null and (c.mid, c.endpoint) > ($5::uuid, $6::text) order by c.mid, c.endpoint limit 1)
    union all
    select next.mid, next.endpoint from endpoints e cross join lateral (
      select c.mid, c.endpoint from callbacks c
      where c.due_at is not null and (c.mid, c.endpoint) > (e.mid, e.endpoint) order by c.mid, c.endpoint limit 1
    ) next
  ), taken as materialized (
    select due.* from endpoints e
    left join clock_offsets o on o.mid = e.mid
    cross join lateral (
      select d.mid, d.payment_id, d.seq, $1::timestamptz + coalesce(o.offset_ms, 0) * interval '1 ms' as now
      from callbacks d
      where d.mid = e.mid and d.endpoint = e.endpoint
        and d.due_at <= $1::timestamptz + coalesce(o.offset_ms, 0) * interval '1 ms'
        and ${isNext('d')}
      order by d.due_at limit coalesce(($4::jsonb ->> (e.mid || ' ' || e.endpoint))::int, $3)
      for update of d skip locked
    ) due
    limit $7
  )
  update callbacks t set due_at = taken.now + $2 * interval '1 ms' from taken
  where t.mid = taken.mid and t.payment_id = taken.payment_id and t.seq = taken.seq
  returning ${columns('t', COLUMNS)}`;

/**
 * A try changes a callback only as long as it is ours; when another process has taken it meanwhile, or somebody asked for
 * it anew, it is listed and no more. Later callbacks of the payment are not due before it while it holds them back, so that no
 * claim looks at them in vain, and are due at once when it is done or fails for the last time that it holds them; after
 * that they have their own ladders, and its tries leave them alone. A callback that another process finished is not our
 * concern, and one that may be on its way itself, because an earlier one was resent, is left to its lease.
 */
const RECORD = `
  with told as (
    select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::callback_state[], $5::text[], $6::timestamptz[],
      $7::timestamptz[], $8::int[], $9::text[], $10::int[], $11::timestamptz[]
    ) as i(mid, payment_id, seq, state, reason, due_at, at, status, fault, took_ms, taken_until)
  ), recorded as (
    update callbacks c set tries = c.tries + 1,
      rung = case when c.due_at = i.taken_until then c.rung + 1 else c.rung end,
      state = case when c.due_at = i.taken_until then i.state else c.state end,
      reason = case when c.due_at = i.taken_until then i.reason else c.reason end,
      due_at = case when c.due_at = i.taken_until then i.due_at else c.due_at end,
      finished_at = case when c.due_at = i.taken_until and i.state <> 'waiting' then i.at else c.finished_at end
    from told i where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq
    returning c.mid, c.payment_id, c.seq, c.tries, c.rung, c.due_at, c.finished_at, i.at, i.status, i.fault, i.took_ms,
      c.state = i.state and c.due_at is not distinct from i.due_at as counts
  ), followed as (
    update callbacks f set
      due_at = case when r.due_at is null or r.rung = ${HOLDING_TRIES} then r.at else greatest(f.due_at, r.due_at) end
    from recorded r
    where f.mid = r.mid and f.payment_id = r.payment_id and f.seq > r.seq and f.state = 'waiting'
      and r.rung <= ${HOLDING_TRIES} and (r.due_at is not null or r.finished_at = r.at)
      -- Written so that the index of what is due is of no use: the planner would read everything that waits.
      and (coalesce(f.due_at, r.at) <= r.at or coalesce(f.due_at, r.at) > r.at + $12 * interval '1 ms')
  ), listed as (
    insert into callback_tries (mid, payment_id, seq, try, at, status, fault, took_ms)
    select mid, payment_id, seq, tries, at, status, fault, took_ms from recorded
  )
  select payment_id as "paymentId", seq from recorded where counts`;

export interface CallbackStore {
  /** Takes callbacks that are due, for as long as the lease lasts. */
  claimDue(now: number, claim: Claim): Promise<CallbackRow[]>;
  /** Gives back what was taken and not sent. */
  giveBack(callbacks: readonly CallbackRow[], now: (mid: string) => number): Promise<void>;
  /** Writes what became of a callback by one try. */
  record(told: Told): Promise<boolean>;
  /** All callbacks of a payment, in their order, each with its tries. */
  of(key: Omit<CallbackKey, 'seq'>): Promise<(CallbackRow & { log: CallbackTry[] })[]>;
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
        values: [
          plain(told, ({ key }) => key.mid),
          plain(told, ({ key }) => key.paymentId),
          plain(told, ({ key }) => key.seq),
          plain(told, ({ state }) => state),
          texts(told, ({ reason }) => reason),
          moments(told, ({ dueAt }) => dueAt),
          moments(told, ({ at }) => at),
          plain(told, ({ status }) => status),
          texts(told, ({ fault }) => fault),
          plain(told, ({ tookMs }) => tookMs),
          moments(told, ({ takenUntil }) => takenUntil),
          LIMITS.leaseMs,
        ],
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
    async claimDue(now, { usualRoom, rooms, most, after = THE_FIRST }) {
      const { rows } = await deliveries.query<CallbackRow>({
        name: 'claim_callbacks',
        text: CLAIM,
        values: [
          iso(now),
          LIMITS.leaseMs,
          usualRoom,
          JSON.stringify(Object.fromEntries(rooms.map(({ mid, endpoint, room }) => [`${mid} ${endpoint}`, room]))),
          after.mid,
          after.endpoint,
          most,
        ],
      });
      return rows;
    },
    async giveBack(taken, now) {
      const callbacks = taken.toSorted((a, b) => compare(textOf(a), textOf(b)));
      await deliveries.query({
        name: 'give_back_callbacks',
        text: `update callbacks c set due_at = i.now
          from unnest($1::uuid[], $2::uuid[], $3::int[], $4::timestamptz[], $5::timestamptz[])
            as i(mid, payment_id, seq, now, taken_until)
          where c.mid = i.mid and c.payment_id = i.payment_id and c.seq = i.seq and c.due_at = i.taken_until`,
        values: [
          plain(callbacks, ({ mid }) => mid),
          plain(callbacks, ({ paymentId }) => paymentId),
          plain(callbacks, ({ seq }) => seq),
          moments(callbacks, ({ mid }) => now(mid)),
          moments(callbacks, ({ dueAt }) => dueAt),
        ],
      });
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
      const tries = await query
        .selectFrom('callbackTries')
        .select(['seq', 'try', 'at', 'status', 'fault', 'tookMs'])
        .where('mid', '=', mid)
        .where('paymentId', '=', paymentId)
        .orderBy('seq')
        .orderBy('try')
        .execute();
      const logs = Map.groupBy(tries, ({ seq }) => seq);
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

/** The most callbacks that one statement resends. */
const RESEND_PORTION = 1000;

interface PortionRow extends Omit<CallbackKey, 'mid'> {
  /** As text: the database knows it more exactly than we do. */
  createdAt: string;
  isResent: boolean;
}

/** The account of a payment that is known by its id alone. */
const ownerOf = (paymentId: string) => sql`(select p.mid from payments p where p.payment_id = ${paymentId} limit 1)`;

/**
 * The keys of callbacks in the order of their creation, beyond the key that `from` selects, if any. The indexes lead
 * through one state at a time, so each is read apart, as far as the limit at most, and then they are merged.
 */
function keys(
  filter: CallbackFilter & { seq?: number | undefined },
  order: 'asc' | 'desc',
  limit: number,
  from: RawBuilder<unknown> | undefined,
): RawBuilder<unknown> {
  const { mid, paymentId, seq, state } = filter;
  const inOrder = sql.raw(['created_at', 'payment_id', 'seq'].map((name) => `${name} ${order}`).join(', '));
  const beyond = sql.raw(order === 'asc' ? '>' : '<');
  const conditions = [
    ...(mid === undefined ? [] : [sql`c.mid = ${mid}`]),
    ...(paymentId === undefined ? [] : [sql`c.payment_id = ${paymentId}`, sql`c.mid = ${ownerOf(paymentId)}`]),
    ...(seq === undefined ? [] : [sql`c.seq = ${seq}`]),
    ...(filter.from === undefined ? [] : [sql`c.created_at >= ${iso(filter.from)}`]),
    ...(filter.to === undefined ? [] : [sql`c.created_at < ${iso(filter.to)}`]),
    ...(from === undefined
      ? []
      : [
          // The first line is for the index, which has the time only.
          sql`c.created_at ${beyond}= (select f.created_at from start f)`,
          sql`(c.created_at, c.payment_id, c.seq) ${beyond} (select f.created_at, f.payment_id, f.seq from start f)`,
        ]),
  ];
  const ofState = (one: CallbackState) => sql`(
    select c.mid, c.payment_id, c.seq, c.created_at from callbacks c
    where ${sql.join([sql`c.state = ${one}`, ...conditions], sql` and `)} order by ${inOrder} limit ${limit}
  )`;
  const states = state === undefined ? CALLBACK_STATES : [state];
  const start = from === undefined ? sql`` : sql`with start (created_at, payment_id, seq) as (${from})`;
  return sql`${start} select * from (${sql.join(states.map(ofState), sql` union all `)}) k
    order by ${inOrder} limit ${limit}`;
}

const anew = (now: number) => sql`state = 'waiting', reason = null, rung = 0, due_at = ${iso(now)}, finished_at = null`;

/** Resends callbacks that no other statement has locked, and says of each whether it was. It never waits for a lock. */
const resendPortion = (portion: RawBuilder<unknown>, now: number) => sql<PortionRow>`
  with portion as materialized (${portion}),
  free as materialized (
    select c.mid, c.payment_id, c.seq from portion p join callbacks c using (mid, payment_id, seq)
    for update of c skip locked
  ), resent as (
    update callbacks t set ${anew(now)} from free f
    where t.mid = f.mid and t.payment_id = f.payment_id and t.seq = f.seq
    returning t.mid, t.payment_id, t.seq
  )
  select p.payment_id as "paymentId", p.seq, p.created_at::text as "createdAt", r.seq is not null as "isResent"
  from portion p left join resent r using (mid, payment_id, seq)
  order by p.created_at, p.payment_id, p.seq`;

const resendOne = ({ mid, paymentId, seq }: CallbackKey, now: number) => sql`
  update callbacks set ${anew(now)} where mid = ${mid} and payment_id = ${paymentId} and seq = ${seq}`;

const textOf = ({ mid, paymentId, seq }: CallbackKey): string => `${mid} ${paymentId} ${seq}`;
