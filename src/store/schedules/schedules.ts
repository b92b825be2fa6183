/** Schedules and their subscriptions; a subscription row is also the job that charges it. */
import { sql } from 'kysely';
import { LAST_ID } from '../../lib/crypto/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { CLOCK, claimStatement, columns, iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { assigned, type Column, itemRows, namesOf } from '../database/item-rows.ts';
import { NOTHING_IS_HELD } from '../installation/restores.ts';
import { createRefusalStore, type RefusalStore } from './refusals.ts';

export interface Schedule {
  mid: string;
  scheduleId: string;
  name: string;
  intervalLength: number;
  intervalUnit: 'day' | 'week' | 'month';
  paymentsCount: number;
  dayOfMonth: number | null;
  delays: number;
  version: number;
  deletedAt: number | null;
  createdAt: number;
}

export interface Subscription {
  mid: string;
  subscriptionId: string;
  scheduleId: string;
  firstPaymentId: string;
  state: 'active' | 'finished' | 'ended';
  /** Why it ended early, if not by request: `card_removed` or `card_refused`. */
  reason: string | null;
  /** Occurrences so far, charged or failed. */
  occurrences: number;
  /** How often the current occurrence was declined. */
  declines: number;
  failed: number;
  anchorAt: number;
  anchorDay: number;
  intervals: number;
  scheduleVersion: number;
  nextAt: number | null;
  dueAt: number | null;
  createdAt: number;
}

/** A schedule with the number of its subscriptions in each state, and the subscriptions that are charged next. */
export interface ListedSchedule {
  schedule: Schedule;
  counts: Record<Subscription['state'], number>;
  next: ListedSubscription[];
}

export type ListedSubscription = Pick<Subscription, (typeof LISTED_COLUMNS)[number]>;

/** The position of a schedule in the list. */
export type ScheduleCursor = Pick<Schedule, 'createdAt' | 'scheduleId' | 'mid'>;

export type ScheduleTerms = Pick<
  Schedule,
  'name' | 'intervalLength' | 'intervalUnit' | 'paymentsCount' | 'dayOfMonth' | 'delays'
>;

const SCHEDULE_COLUMNS = [
  'mid',
  'scheduleId',
  'name',
  'intervalLength',
  'intervalUnit',
  'paymentsCount',
  'dayOfMonth',
  'delays',
  'version',
  'deletedAt',
  'createdAt',
] as const satisfies (keyof Schedule)[];

const SUBSCRIPTION_COLUMNS = [
  'mid',
  'subscriptionId',
  'scheduleId',
  'firstPaymentId',
  'state',
  'reason',
  'occurrences',
  'declines',
  'failed',
  'anchorAt',
  'anchorDay',
  'intervals',
  'scheduleVersion',
  'nextAt',
  'dueAt',
  'createdAt',
] as const satisfies (keyof Subscription)[];

/** The columns of a subscription in the list of schedules. */
const LISTED_COLUMNS = [
  'subscriptionId',
  'firstPaymentId',
  'state',
  'reason',
  'occurrences',
  'declines',
  'failed',
  'nextAt',
] as const satisfies (keyof Subscription)[];

// After a restore nothing is charged before the release, whatever a process believes.
const CLAIM = claimStatement('subscriptions', 'subscription_id', SUBSCRIPTION_COLUMNS, NOTHING_IS_HELD);

const LIST_DUE = `
  with ${CLOCK}
  select (count(*) over ())::int as due, ${columns('d', SUBSCRIPTION_COLUMNS)}
  from subscriptions d left join clock_offsets c on c.mid = d.mid
  where d.due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms'
  order by d.due_at limit $1`;

const DUE_UNTIL = `
  select ${columns('s', SUBSCRIPTION_COLUMNS)} from subscriptions s
  where s.mid = $1 and s.schedule_id = $2 and s.state = 'active' and s.due_at <= $3`;

const SCHEDULE_KEYS = itemRows<Pick<Subscription, 'mid' | 'scheduleId'>>([
  ['mid', 'uuid', ({ mid }) => mid],
  ['schedule_id', 'uuid', ({ scheduleId }) => scheduleId],
]);

const FIND_FOR = `
  select distinct ${columns('s', SCHEDULE_COLUMNS)}
  from ${SCHEDULE_KEYS.rows('i')}
  join schedules s on s.mid = i.mid and s.schedule_id = i.schedule_id and s.deleted_at is null`;

/** The list follows an index: by time, or by account and time. */
const LIST_ORDERS = {
  all: ['s.created_at', 's.schedule_id', 's.mid'],
  ofAccounts: ['s.created_at', 's.schedule_id', 's.mid'],
  ofAccount: ['s.mid', 's.created_at', 's.schedule_id'],
  one: ['s.schedule_id'],
};

const BEFORE_CURSOR = '(s.created_at, s.schedule_id, s.mid) < ($3::timestamptz, $4::uuid, $5::uuid)';

const LIST_CONDITIONS: Readonly<Record<keyof typeof LIST_ORDERS, string>> = {
  all: BEFORE_CURSOR,
  ofAccounts: `${BEFORE_CURSOR} and s.mid = any($6::uuid[])`,
  ofAccount: `(s.mid, s.created_at, s.schedule_id) < ($5::uuid, $3::timestamptz, $4::uuid)
    and (s.mid, s.created_at) >= ($5::uuid, timestamptz '-infinity')`,
  one: 's.mid = $5::uuid and s.schedule_id = $4::uuid and s.created_at < $3::timestamptz',
};

/**
 * A page of schedules: one row per subscription that is charged next, or one row for a schedule without subscriptions.
 * Its parameters: the maximum number of schedules, the maximum number of subscriptions of each, and the cursor as time,
 * schedule and account; and the accounts, if they are several. It uses ranges over index columns instead of equalities, in the order of the index, because the
 * planner's statistics do not fit every schedule: with equalities it may choose a plan that reads far more rows.
 */
export const listStatement = (kind: keyof typeof LIST_ORDERS): string => `
  select s.*, c.*, ${columns('b', LISTED_COLUMNS)}
  from (
    select ${columns('s', SCHEDULE_COLUMNS)} from schedules s
    where ${LIST_CONDITIONS[kind]}
    order by ${LIST_ORDERS[kind].map((column) => `${column} desc`).join(', ')} limit $1
  ) s
  cross join lateral (
    select count(*) filter (where state = 'active')::int as active,
      count(*) filter (where state = 'finished')::int as finished, count(*) filter (where state = 'ended')::int as ended
    from (
      select state from subscriptions
      where (mid, schedule_id) >= (s.mid, s."scheduleId") and (mid, schedule_id) <= (s.mid, s."scheduleId")
      order by mid, schedule_id, subscription_id offset 0
    ) states
  ) c
  left join lateral (
    select * from subscriptions where mid = s.mid and schedule_id = s."scheduleId"
    order by next_at, subscription_id limit $2
  ) b on true
  order by s."createdAt" desc, s."scheduleId" desc, s.mid desc, b.next_at, b.subscription_id`;

/** Two accounts may use the same schedule id; without an account, the list has the subscriptions of both. */
export const subscriptionsStatement = (condition: string): string => `
  select b.* from schedules s
  cross join lateral (
    select ${columns('b', SUBSCRIPTION_COLUMNS)} from subscriptions b
    where b.mid = s.mid and b.schedule_id = s.schedule_id and b.subscription_id < $2
    order by b.subscription_id desc limit $3
  ) b
  where s.schedule_id = $1 and ${condition}
  order by b."subscriptionId" desc limit $3`;

/** A subscription before and after a charge. */
export interface SubscriptionStep {
  before: Subscription;
  after: Subscription;
}

/** The columns of a subscription that a charge changes. */
const CHANGED: Column<SubscriptionStep>[] = [
  ['state', 'subscription_state', ({ after }) => after.state],
  ['reason', 'text', ({ after }) => after.reason],
  ['occurrences', 'int', ({ after }) => after.occurrences],
  ['declines', 'int', ({ after }) => after.declines],
  ['failed', 'int', ({ after }) => after.failed],
  ['anchor_at', 'timestamptz', ({ after }) => after.anchorAt],
  ['anchor_day', 'int', ({ after }) => after.anchorDay],
  ['intervals', 'int', ({ after }) => after.intervals],
  ['schedule_version', 'int', ({ after }) => after.scheduleVersion],
  ['next_at', 'timestamptz', ({ after }) => after.nextAt],
  ['due_at', 'timestamptz', ({ after }) => after.dueAt],
];

const STEPS = itemRows<SubscriptionStep>([
  ['mid', 'uuid', ({ before }) => before.mid],
  ['subscription_id', 'uuid', ({ before }) => before.subscriptionId],
  ['occurrences_before', 'int', ({ before }) => before.occurrences],
  ['declines_before', 'int', ({ before }) => before.declines],
  ...CHANGED,
]);

const PROCEED = `
  update subscriptions s set ${assigned(namesOf(CHANGED), 'i')}
  from ${STEPS.rows('i')}
  where s.mid = i.mid and s.subscription_id = i.subscription_id
    and s.occurrences = i.occurrences_before and s.declines = i.declines_before and s.state = 'active'`;

export interface ScheduleStore extends RefusalStore {
  /** False when the account already has a schedule with this id. */
  insert(schedule: Schedule): Promise<boolean>;
  /** Deleted schedules are not found. */
  find(mid: string, scheduleId: string): Promise<Schedule | undefined>;
  /** Stores the next version; false when another request has stored it first. */
  update(schedule: Schedule): Promise<boolean>;
  /** Deletes a schedule, with an audit entry if an operator does; false if there is none, or it was deleted before. */
  remove(mid: string, scheduleId: string, at: number, audit?: (name: string) => AuditEntry): Promise<boolean>;
  /** Including deleted ones, newest first. */
  list(
    mid: string | undefined,
    mids: readonly string[] | null,
    limit: number,
    before?: ScheduleCursor,
  ): Promise<ListedSchedule[]>;
  /** One schedule of an account, also a deleted one. */
  listOne(mid: string, scheduleId: string): Promise<ListedSchedule | undefined>;
  /** Whether this account, or any account, has or had a schedule with this id. */
  isKnown(scheduleId: string, mid: string | undefined, mids: readonly string[] | null): Promise<boolean>;
  /** The subscriptions of a schedule of this account, or of any account, newest first. */
  listSubscriptions(
    scheduleId: string,
    mid: string | undefined,
    mids: readonly string[] | null,
    limit: number,
    before?: string,
  ): Promise<Subscription[]>;
  /** Whether this payment is the first of a subscription to the schedule. */
  hasSubscription(mid: string, scheduleId: string, firstPaymentId: string): Promise<boolean>;
  /** Whether a subscription is active, and its schedule was not deleted. */
  isActive(mid: string, subscriptionId: string): Promise<boolean>;
  /** The active subscriptions of a schedule that are due until this moment; one that is claimed is due when its lease ends. */
  dueUntil(mid: string, scheduleId: string, at: number): Promise<Subscription[]>;
  subscribe(subscription: Subscription): Promise<void>;
  /** Deletes a subscription whose first payment was never made. */
  unsubscribe(subscription: Subscription): Promise<void>;
  /** Ends an active subscription: nothing more is charged. Returns false if it is not active. */
  end(subscription: Pick<Subscription, 'mid' | 'scheduleId' | 'subscriptionId'>, audit: AuditEntry): Promise<boolean>;
  /** The schedules of these subscriptions, without deleted ones. */
  findFor(subscriptions: readonly Subscription[]): Promise<Schedule[]>;
  /** Updates subscriptions after a charge; one that has changed since it was read is not updated. */
  proceed(steps: readonly SubscriptionStep[]): Promise<void>;
  /** How many subscriptions are due, and the first of them; claims nothing. */
  listDue(most: number): Promise<{ due: number; subscriptions: Subscription[] }>;
  /** Claims subscriptions that are due, with a lease; none while a restore is held. */
  claimDue(most: number): Promise<Subscription[]>;
}

export function createScheduleStore({ pool, query }: Database): ScheduleStore {
  const dated = <Row extends { createdAt: number }>(row: Row) => ({ ...row, createdAt: iso(row.createdAt) });
  return {
    ...createRefusalStore({ pool, query }),
    async insert(schedule) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('schedules')
        .values({ ...dated(schedule), deletedAt: isoOrNull(schedule.deletedAt) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },
    async find(mid, scheduleId) {
      const row = await query
        .selectFrom('schedules')
        .select(SCHEDULE_COLUMNS)
        .where('mid', '=', mid)
        .where('scheduleId', '=', scheduleId)
        .where('deletedAt', 'is', null)
        .executeTakeFirst();
      return row as Schedule | undefined;
    },
    async update({ mid, scheduleId, name, intervalLength, intervalUnit, paymentsCount, dayOfMonth, delays, version }) {
      const { numUpdatedRows } = await query
        .updateTable('schedules')
        .set({ name, intervalLength, intervalUnit, paymentsCount, dayOfMonth, delays, version })
        .where('mid', '=', mid)
        .where('scheduleId', '=', scheduleId)
        .where('version', '=', version - 1)
        .where('deletedAt', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    remove: (mid, scheduleId, at, audit) =>
      query.transaction().execute(async (transaction) => {
        const removed = await transaction
          .updateTable('schedules')
          .set({ deletedAt: iso(at) })
          .where('mid', '=', mid)
          .where('scheduleId', '=', scheduleId)
          .where('deletedAt', 'is', null)
          .returning('name')
          .executeTakeFirst();
        if (removed && audit) await appendAudit(transaction, audit(removed.name));
        return removed !== undefined;
      }),
    async list(mid, mids, limit, before) {
      const kind = mid !== undefined ? 'ofAccount' : mids !== null ? 'ofAccounts' : 'all';
      const { rows } = await pool.query<ListRow>(listStatement(kind), [
        limit,
        LIMITS.listedSubscriptionsMost,
        before ? iso(before.createdAt) : 'infinity',
        before?.scheduleId ?? LAST_ID,
        mid ?? before?.mid ?? LAST_ID,
        ...(kind === 'ofAccounts' ? [mids] : []),
      ]);
      return bySchedule(rows);
    },
    async listOne(mid, scheduleId) {
      const parameters = [1, LIMITS.listedSubscriptionsMost, 'infinity', scheduleId, mid];
      return bySchedule((await pool.query<ListRow>(listStatement('one'), parameters)).rows)[0];
    },
    async isKnown(scheduleId, mid, mids) {
      let known = query.selectFrom('schedules').select('mid').where('scheduleId', '=', scheduleId).limit(1);
      if (mid !== undefined) known = known.where('mid', '=', mid);
      if (mids !== null) known = known.where(sql<boolean>`mid = any(${[...mids]}::uuid[])`);
      return (await known.executeTakeFirst()) !== undefined;
    },
    async listSubscriptions(scheduleId, mid, mids, limit, before = LAST_ID) {
      const accounts = mid === undefined ? mids : [mid];
      const { rows } = await pool.query<Subscription>(
        subscriptionsStatement(accounts === null ? 'true' : 's.mid = any($4::uuid[])'),
        [scheduleId, before, limit, ...(accounts === null ? [] : [accounts])],
      );
      return rows;
    },
    async hasSubscription(mid, scheduleId, firstPaymentId) {
      const found = await query
        .selectFrom('subscriptions')
        .select('subscriptionId')
        .where('mid', '=', mid)
        .where('scheduleId', '=', scheduleId)
        .where('firstPaymentId', '=', firstPaymentId)
        .executeTakeFirst();
      return found !== undefined;
    },
    async isActive(mid, subscriptionId) {
      const found = await query
        .selectFrom('subscriptions as b')
        .innerJoin('schedules as s', (join) =>
          join.onRef('s.mid', '=', 'b.mid').onRef('s.scheduleId', '=', 'b.scheduleId'),
        )
        .select('b.subscriptionId')
        .where('b.mid', '=', mid)
        .where('b.subscriptionId', '=', subscriptionId)
        .where('b.state', '=', 'active')
        .where('s.deletedAt', 'is', null)
        .executeTakeFirst();
      return found !== undefined;
    },
    async dueUntil(mid, scheduleId, at) {
      return (await pool.query<Subscription>(DUE_UNTIL, [mid, scheduleId, iso(at)])).rows;
    },
    async subscribe(subscription) {
      const { anchorAt, nextAt, dueAt, ...row } = subscription;
      await query
        .insertInto('subscriptions')
        .values({ ...dated(row), anchorAt: iso(anchorAt), nextAt: isoOrNull(nextAt), dueAt: isoOrNull(dueAt) })
        // A first payment has at most one subscription per schedule.
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async unsubscribe({ mid, subscriptionId }) {
      await query
        .deleteFrom('subscriptions')
        .where('mid', '=', mid)
        .where('subscriptionId', '=', subscriptionId)
        .execute();
    },
    end: ({ mid, scheduleId, subscriptionId }, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('subscriptions')
          .set({ state: 'ended', nextAt: null, dueAt: null })
          .where('mid', '=', mid)
          .where('scheduleId', '=', scheduleId)
          .where('subscriptionId', '=', subscriptionId)
          .where('state', '=', 'active')
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async findFor(subscriptions) {
      const { rows } = await pool.query<Schedule>(FIND_FOR, SCHEDULE_KEYS.values(subscriptions));
      return rows;
    },
    async proceed(steps) {
      await pool.query(PROCEED, STEPS.values(steps));
    },
    async listDue(most) {
      const { rows } = await pool.query<{ due: number } & Subscription>(LIST_DUE, [most]);
      return { due: rows[0]?.due ?? 0, subscriptions: rows };
    },
    async claimDue(most) {
      const { rows } = await pool.query<Subscription>(CLAIM, [LIMITS.leaseMs, most]);
      return rows;
    },
  };
}

type ListRow = Schedule &
  ListedSchedule['counts'] & { [Name in keyof ListedSubscription]: ListedSubscription[Name] | null };

/** Groups the rows by schedule; the rows of one schedule are adjacent. */
function bySchedule(rows: readonly ListRow[]): ListedSchedule[] {
  const listed: ListedSchedule[] = [];
  for (const row of rows) {
    const { active, finished, ended, subscriptionId, firstPaymentId, state, reason } = row;
    const { occurrences, declines, failed, nextAt } = row;
    const last = listed.at(-1);
    const isSame = last?.schedule.mid === row.mid && last.schedule.scheduleId === row.scheduleId;
    const entry = last && isSame ? last : { schedule: row, counts: { active, finished, ended }, next: [] };
    if (entry !== last) listed.push(entry);
    if (subscriptionId === null) continue;
    entry.next.push({
      subscriptionId,
      firstPaymentId,
      state,
      reason,
      occurrences,
      declines,
      failed,
      nextAt,
    } as ListedSubscription);
  }
  return listed;
}
