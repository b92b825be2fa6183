/** Logs that are partitioned by the time in their ids: adds partitions, detaches old ones, reads and drops these. */
import type { Readable } from 'node:stream';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { LIMITS } from '../../rules/limits.ts';
import type { PartitionedTable } from '../../rules/partitions.ts';
import { tryLock } from '../database/advisory-lock.ts';
import { openClient } from '../database/bounded-client.ts';
import { iso } from '../database/columns.ts';
import type { Connection } from '../database/database.ts';
import { PROJECTIONS } from '../projections/all.ts';

/** A partition has the rows with ids from `from`, or any lower ones, up to but without `to`. */
export interface Partition {
  name: string;
  from: string | null;
  to: string;
}

export interface PartitionTools {
  /** In the order of their ranges. */
  list(table: PartitionedTable): Promise<Partition[]>;
  /** Adds an empty partition under this name, or a similar one if it is taken. */
  add(table: PartitionedTable, range: Partition): Promise<void>;
  /** Detaches a partition while others read and write the table. */
  detach(table: PartitionedTable, name: string): Promise<void>;
  /** The partitions that were detached and still exist. */
  detached(table: PartitionedTable): Promise<string[]>;
  /** Whether the projections that read the log contain the rows of this partition. */
  areFolded(table: PartitionedTable, name: string): Promise<boolean>;
  /** Whether a partition has rows, and whether one of them is from this moment or later. */
  contents(name: string, moment: number): Promise<{ isEmpty: boolean; hasRecent: boolean }>;
  /** All rows of a detached partition: one JSON object per line. */
  lines(name: string): Readable;
  /** Drops a detached partition and returns how many rows it had. */
  drop(name: string): Promise<number>;
}

export interface PartitionStore {
  /** Runs the work on a connection of its own; does nothing while another process does the same. */
  exclusively(work: (tools: PartitionTools) => Promise<void>): Promise<void>;
}

const PARTITIONS = `
  select c.relname::text as name, i.inhdetachpending as "isPending",
    substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''([^'']+)''\\)') as "from",
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''\\)') as "to"
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::regclass order by 4`;

const DETACHED = `
  select c.relname::text as name from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not c.relispartition
    and c.relname ~ ('^' || $1 || '_(before|[0-9]{8})(_[0-9]+)?$')
  order by 1`;

const quote = pg.escapeIdentifier;

function toolsOf(client: pg.Client): PartitionTools {
  const names = async (text: string, values: unknown[]): Promise<string[]> =>
    (await client.query<{ name: string }>(text, values)).rows.map(({ name }) => name);

  return {
    async list(table) {
      const { rows } = await client.query<Partition & { isPending: boolean }>(PARTITIONS, [table]);
      for (const { name } of rows.filter(({ isPending }) => isPending)) {
        // The process that detached it was interrupted.
        await client.query(`alter table ${table} detach partition ${quote(name)} finalize`);
      }
      return rows.filter(({ isPending }) => !isPending).map(({ name, from, to }) => ({ name, from, to }));
    },
    async add(table, { name, from, to }) {
      // The partition that this one replaces may still exist.
      const base = name.replace(/_(before|\d{8})_\d+$/, '_$1');
      const taken = new Set(
        await names('select relname::text as name from pg_class where starts_with(relname, $1)', [base]),
      );
      let free = base;
      for (let number = 2; taken.has(free); number++) free = `${base}_${number}`;
      const lower = from === null ? 'minvalue' : pg.escapeLiteral(from);
      // Unlike creating a table as a partition, attaching one does not block readers and writers.
      await client.query(`begin;
        create table ${quote(free)} (like ${table} including all);
        alter table ${table} attach partition ${quote(free)} for values from (${lower}) to (${pg.escapeLiteral(to)});
        commit`);
    },
    async detach(table, name) {
      await client.query(`alter table ${table} detach partition ${quote(name)} concurrently`);
    },
    detached: (table) => names(DETACHED, [table]),
    async areFolded(table, name) {
      const readers = PROJECTIONS.filter(({ logs }) => logs.some((log) => log === table)).map((reader) => reader.name);
      if (readers.length === 0) return true;
      const { rows } = await client.query(
        `select from projections p where p.name = any($1) and (
           p.backfill_before is not null and p.${table}_since is not null
           or exists (select from ${quote(name)} where number > p.${table}_number)
         )`,
        [readers],
      );
      return rows.length === 0;
    },
    async contents(name, moment) {
      const { rows } = await client.query<{ isEmpty: boolean; hasRecent: boolean }>(
        `select not exists (select from ${quote(name)}) as "isEmpty",
           exists (select from ${quote(name)} where at >= $1) as "hasRecent"`,
        [iso(moment)],
      );
      return rows[0] as { isEmpty: boolean; hasRecent: boolean };
    },
    // JSON contains neither of these characters unescaped, so that each line is the text of one object.
    lines(name) {
      const rows = client.query(
        copyTo(`copy (select row_to_json(t) from ${quote(name)} t)
          to stdout (format csv, delimiter e'\\x02', quote e'\\x01', encoding 'UTF8')`),
      );
      // A reader that gave up does not listen any more when the connection is closed.
      rows.on('error', () => undefined);
      return rows;
    },
    async drop(name) {
      const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${quote(name)}`);
      await client.query(`drop table ${quote(name)}`);
      return rows[0]?.count ?? 0;
    },
  };
}

export const createPartitionStore = (connection: Connection): PartitionStore => ({
  async exclusively(work) {
    const client = await openClient({ ...connection, keepAlive: true, application_name: 'turnpike partitions' });
    try {
      await client.query(`set timezone = 'UTC'; set lock_timeout = ${LIMITS.partitionLockTimeoutMs}`);
      if (await tryLock(client, 'partitions')) await work(toolsOf(client));
    } finally {
      await client.end().catch(() => undefined);
    }
  },
});
