/** How rows are named and dated in SQL, and how the rows that are due are taken by one worker alone. */

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns of the table with this alias, under the names of our types. */
export const columns = (alias: string, names: readonly string[]): string =>
  names.map((name) => `${alias}.${snake(name)} as "${name}"`).join(', ');

/** The order in which everybody locks rows, so that two processes hardly ever wait for each other. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/**
 * Takes rows that are due by the clock of their account, for as long as a lease lasts. Its parameters: the time now,
 * the lease in milliseconds, the time that the clock furthest ahead shows, and the most rows.
 */
export const claimStatement = (table: string, id: string, names: readonly string[], condition = 'true'): string => `
  update ${table} t set due_at = due.now + $2 * interval '1 ms'
  from (
    select d.mid, d.${id}, $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms' as now
    from ${table} d left join clock_offsets c on c.mid = d.mid
    where d.due_at <= $3::timestamptz
      and d.due_at <= $1::timestamptz + coalesce(c.offset_ms, 0) * interval '1 ms' and ${condition}
    order by d.due_at limit $4 for update of d skip locked
  ) due
  where t.mid = due.mid and t.${id} = due.${id}
  returning ${columns('t', names)}`;
