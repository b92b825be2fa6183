/** Schedules, and the subscriptions that they charge: each subscription is its own job. */
import { sql } from 'kysely';
import { LIMITS } from '../rules/limits.ts';
import { moments, plain } from './arrays.ts';
import { claimStatement, columns, iso, isoOrNull } from './columns.ts';
import type { Database } from './database.ts';

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
  /** Occurrences so far, charged or given up, and how often the one that is due now was declined. */
  occurrences: number;
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

/** The place of a schedule in the list. */
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

const CLAIM = claimStatement('subscriptions', 'subscription_id', SUBSCRIPTION_COLUMNS);

const FIND_FOR = `
  select distinct ${columns('s', SCHEDULE_COLUMNS)}
  from unnest($1::uuid[], $2::uuid[]) as i(mid, schedule_id)
  join schedules s on s.mid = i.mid and s.schedule_id = i.schedule_id and s.deleted_at is null`;

const PROCEED = `
  update subscriptions s set state = i.state, occurrences = i.occurrences, declines = i.declines, failed = i.failed,
    anchor_at = i.anchor_at, anchor_day = i.anchor_day, intervals = i.intervals, schedule_version = i.schedule_version, next_at = i.next_at,
    due_at = i.due_at
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::subscription_state[], $6::int[], $7::int[], $8::int[],
    $9::timestamptz[], $10::int[], $11::int[], $12::int[], $13::timestamptz[], $14::timestamptz[]
  ) as i(mid, subscription_id, occurrences_before, declines_before, state, occurrences, declines, failed, anchor_at,
    anchor_day, intervals, schedule_version, next_at, due_at)
  where s.mid = i.mid and s.subscription_id = i.subscription_id
    and s.occurrences = i.occurrences_before and s.declines = i.declines_before`;

export interface ScheduleStore {
  /** False when the account has a schedule of this id already. */
  insert(schedule: Schedule): Promise<boolean>;
  /** A schedule that was deleted is found no more. */
  find(mid: string, scheduleId: string): Promise<Schedule | undefined>;
  /** Puts the next version in place; false when somebody else has. */
  update(schedule: Schedule): Promise<boolean>;
  remove(mid: string, scheduleId: string, at: number): Promise<boolean>;
  /** With those that were deleted, newest first. */
  list(mid: string | undefined, limit: number, before?: ScheduleCursor): Promise<Schedule[]>;
  subscribe(subscription: Subscription): Promise<void>;
  /** Takes back a subscription whose first payment was never made. */
  unsubscribe(subscription: Subscription): Promise<void>;
  subscriptionsOf(schedules: readonly Schedule[]): Promise<Subscription[]>;
  /** The schedules of these subscriptions that were not deleted. */
  findFor(subscriptions: readonly Subscription[]): Promise<Schedule[]>;
  /** Writes how subscriptions go on; one that somebody else has written since stays as it is. */
  proceed(steps: readonly { before: Subscription; after: Subscription }[]): Promise<void>;
  /** Claims subscriptions that are due, for as long as the lease lasts. */
  claimDue(most: number): Promise<Subscription[]>;
}

export function createScheduleStore({ pool, query }: Database): ScheduleStore {
  const dated = <Row extends { createdAt: number }>(row: Row) => ({ ...row, createdAt: iso(row.createdAt) });
  return {
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
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async remove(mid, scheduleId, at) {
      const { numUpdatedRows } = await query
        .updateTable('schedules')
        .set({ deletedAt: iso(at) })
        .where('mid', '=', mid)
        .where('scheduleId', '=', scheduleId)
        .where('deletedAt', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async list(mid, limit, before) {
      let list = query.selectFrom('schedules').select(SCHEDULE_COLUMNS).orderBy('createdAt', 'desc');
      list = list.orderBy('scheduleId', 'desc').orderBy('mid', 'desc').limit(limit);
      if (mid !== undefined) list = list.where('mid', '=', mid);
      if (before !== undefined) {
        list = list.where(
          sql<boolean>`(created_at, schedule_id, mid) < (${iso(before.createdAt)}, ${before.scheduleId}, ${before.mid})`,
        );
      }
      return (await list.execute()) as Schedule[];
    },
    async subscribe(subscription) {
      const { anchorAt, nextAt, dueAt, ...row } = subscription;
      await query
        .insertInto('subscriptions')
        .values({ ...dated(row), anchorAt: iso(anchorAt), nextAt: isoOrNull(nextAt), dueAt: isoOrNull(dueAt) })
        // A schedule repeats a payment once, however often it is attached to it.
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
    async subscriptionsOf(schedules) {
      if (schedules.length === 0) return [];
      const rows = await query
        .selectFrom('subscriptions')
        .select(SUBSCRIPTION_COLUMNS)
        .where('mid', 'in', [...new Set(schedules.map(({ mid }) => mid))])
        .where(
          'scheduleId',
          'in',
          schedules.map(({ scheduleId }) => scheduleId),
        )
        .orderBy('subscriptionId')
        .execute();
      return rows as Subscription[];
    },
    async findFor(subscriptions) {
      const { rows } = await pool.query<Schedule>(FIND_FOR, [
        plain(subscriptions, ({ mid }) => mid),
        plain(subscriptions, ({ scheduleId }) => scheduleId),
      ]);
      return rows;
    },
    async proceed(steps) {
      await pool.query(PROCEED, [
        plain(steps, ({ before }) => before.mid),
        plain(steps, ({ before }) => before.subscriptionId),
        plain(steps, ({ before }) => before.occurrences),
        plain(steps, ({ before }) => before.declines),
        plain(steps, ({ after }) => after.state),
        plain(steps, ({ after }) => after.occurrences),
        plain(steps, ({ after }) => after.declines),
        plain(steps, ({ after }) => after.failed),
        moments(steps, ({ after }) => after.anchorAt),
        plain(steps, ({ after }) => after.anchorDay),
        plain(steps, ({ after }) => after.intervals),
        plain(steps, ({ after }) => after.scheduleVersion),
        moments(steps, ({ after }) => after.nextAt),
        moments(steps, ({ after }) => after.dueAt),
      ]);
    },
    async claimDue(most) {
      const { rows } = await pool.query<Subscription>(CLAIM, [LIMITS.leaseMs, most]);
      return rows;
    },
  };
}
