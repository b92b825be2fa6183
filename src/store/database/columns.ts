/** Shared parts of SQL: column names, timestamps, and the statements that claim due rows. */
import { sql } from 'kysely';

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A column list for the table with this alias, with camel-case names. */
export const columns = (alias: string, names: readonly string[]): string =>
  names.map((name) => `${alias}.${snake(name)} as "${name}"`).join(', ');

/** The order in which all processes lock rows, so that deadlocks are rare. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/**
 * SQL: a statement that reads from this returns before its commit is on disk. Commits reach the disk in their order, so
 * that a later one of the same payment makes the row durable. A crash of the database may lose it until then.
 */
export const UNWAITED = `unwaited as materialized (select set_config('synchronous_commit', 'off', true))`;

/** The gateway's time by the database's clock, and the largest offset of an account's sandbox clock. */
export const CLOCK = `
  clock as materialized (
    select date_trunc('milliseconds', statement_timestamp())
        + coalesce(max(offset_ms) filter (where mid is null), 0) * interval '1 ms' as now,
      coalesce(max(offset_ms) filter (where mid is not null), 0) * interval '1 ms' as furthest
    from clock_offsets
  )`;

/** SQL: the time of the account in this column, from the gateway's time without the offsets of accounts. */
export const accountTime = (now: number, mid: string) =>
  sql`(${iso(now)}::timestamptz
    + coalesce((select offset_ms from clock_offsets where clock_offsets.mid = ${sql.ref(mid)}), 0) * interval '1 ms')`;

/**
 * Leaves out rows `d` that were due longer ago than this parameter says, in milliseconds; null means none. The index of
 * due rows keeps the entries of rows that are no longer due until the table is vacuumed, and this passes over them.
 */
export const dueSince = (parameter: string): string =>
  `d.due_at >= coalesce((select now from clock) - ${parameter}::float8 * interval '1 ms', '-infinity')`;

/**
 * Claims rows that are due by the clock of their account, with a lease; the database's clock decides. Its parameters:
 * the lease in milliseconds, the maximum number of rows, and from $3 on those of the condition.
 */
export const claimStatement = (table: string, id: string, names: readonly string[], condition = 'true'): string => `
  with ${CLOCK}, due as materialized (
    select d.mid, d.${id}, (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms' as now
    from ${table} d left join clock_offsets c on c.mid = d.mid
    where d.due_at <= (select now + furthest from clock)
      and d.due_at <= (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms' and ${condition}
    order by d.due_at limit $2 for update of d skip locked
  )
  update ${table} t set due_at = due.now + $1 * interval '1 ms' from due
  where t.mid = due.mid and t.${id} = due.${id}
  returning ${columns('t', names)}`;

/**
 * Brings forward the queries for open rows of a connector that responds again, spaced by a pause. Its parameters: the
 * connector, the pause between two rows in milliseconds, the maximum number of rows, and the lease: rows that are
 * claimed, or due before a lease would end, are not changed. The condition may use the row `d` and its account's time
 * `at.now`.
 */
export const hastenStatement = (table: string, id: string, condition: string): string => `
  with ${CLOCK}, backlog as materialized (
    select mid, ${id}, now + row_number() over () * $2 * interval '1 ms' as due_at from (
      select d.mid, d.${id}, at.now
      from ${table} d left join clock_offsets c on c.mid = d.mid
      cross join lateral (select (select now from clock) + coalesce(c.offset_ms, 0) * interval '1 ms' as now) at
      where d.connector = $1 and d.due_at > at.now + $4 * interval '1 ms' and d.query_count > 0 and ${condition}
      order by d.due_at limit $3 for update of d skip locked
    ) soonest
  )
  -- The early query is an additional one: it does not use up an interval of the schedule.
  update ${table} t set due_at = b.due_at, query_count = t.query_count - 1 from backlog b
  where t.mid = b.mid and t.${id} = b.${id} and t.due_at > b.due_at`;

/** The connectors with due rows in a table, found by a skip scan over the index of due rows. */
export const dueConnectors = (table: string): string => `
  with recursive found as (
    (select connector from ${table} where due_at is not null order by connector limit 1)
    union all
    select (
      select t.connector from ${table} t
      where t.due_at is not null and t.connector > found.connector order by t.connector limit 1
    ) from found where found.connector is not null
  )
  select connector from found where connector is not null`;
