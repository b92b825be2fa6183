/** Values stored once per installation, the sandbox clock, and announcements to all processes. */
import { sql } from 'kysely';
import type { ClockReading } from '../../lib/time/clock.ts';
import { isNext } from '../callbacks/callbacks.ts';
import { announce } from '../database/changes.ts';
import { CLOCK } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { WriteProbe } from '../database/write-probe.ts';
import { NOTHING_IS_HELD } from './restores.ts';

export interface ClockOffsets {
  global: number;
  accounts: Map<string, number>;
}

export interface DatabaseFacts {
  version: string;
  sizeBytes: number;
  migration: string;
}

export interface InstallationStore {
  read(name: string): Promise<Buffer | undefined>;
  /** Stores the value unless there is one already; returns the stored value. */
  writeOnce(name: string, value: Buffer): Promise<Buffer>;
  write(name: string, value: Buffer): Promise<void>;
  clockOffsets(): Promise<ClockOffsets>;
  /** Reads the database's own clock. */
  readClock(): Promise<ClockReading>;
  moveClock(mid: string | undefined, byMs: number): Promise<void>;
  /** The milliseconds until the next due row by the global clock, or by an account's clock; undefined without one. */
  nextDue(mid: string | undefined): Promise<number | undefined>;
  /** Notifies every process that faults of the provider simulator were configured. */
  announceFaults(): Promise<void>;
  /** Sends the sealed result of a 3DS challenge to the process of this name. */
  announceResult(holder: string, sealed: string): Promise<void>;
  /** The database server, the size of the database in bytes, and the last migration. */
  describeDatabase(): Promise<DatabaseFacts>;
  /** Fails when payments cannot be written at the moment. */
  proveWritable(): Promise<void>;
}

/** With the global clock, the rows of an account are due earlier by the account's offset. */
const NEXT_DUE = `
  with ${CLOCK}
  select ceil(extract(epoch from min(due_at)
    - (select now + coalesce((select offset_ms from clock_offsets where mid = $1), 0) * interval '1 ms' from clock)) * 1000
  )::text as ms from (
    select d.due_at - coalesce(c.offset_ms, 0) * interval '1 ms' as due_at
    from (
      select mid, due_at from payments where due_at is not null and busy is null
      union all select mid, due_at from operations where due_at is not null
      union all select mid, due_at from subscriptions where due_at is not null and ${NOTHING_IS_HELD}
      union all select mid, due_at from callbacks c where due_at is not null and ${isNext('c')}
      union all select mid, due_at from reserve_slices where due_at is not null
      union all select mid, due_at from settlement_cycles where due_at is not null
      union all select mid, invoice_due_at from settlements where invoice_due_at is not null
      union all select mid, due_at from settlement_messages where due_at is not null
      union all select null, due_at from provider_notifications where due_at is not null
    ) d
    left join clock_offsets c on c.mid = d.mid and $1::uuid is null
    where $1::uuid is null or d.mid = $1::uuid
  ) due`;

export function createInstallationStore(
  { query, pool }: Database,
  probe: Pick<WriteProbe, 'prove'>,
): InstallationStore {
  const read = async (name: string) =>
    (await query.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst())?.value;
  const write = async (name: string, value: Buffer) => {
    await query
      .insertInto('installation')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  };
  return {
    read,
    write,
    async writeOnce(name, value) {
      await query
        .insertInto('installation')
        .values({ name, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return (await read(name)) as Buffer;
    },
    async clockOffsets() {
      const rows = await query.selectFrom('clockOffsets').selectAll().execute();
      const offsets: ClockOffsets = { global: 0, accounts: new Map() };
      for (const { mid, offsetMs } of rows) {
        if (mid === null) offsets.global = Number(offsetMs);
        else offsets.accounts.set(mid, Number(offsetMs));
      }
      return offsets;
    },
    async readClock() {
      const before = performance.now();
      const { rows } = await pool.query<{ at: number }>(
        'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at',
      );
      return { at: rows[0]?.at as number, before, after: performance.now() };
    },
    async nextDue(mid) {
      const { rows } = await pool.query<{ ms: string | null }>(NEXT_DUE, [mid ?? null]);
      const ms = rows[0]?.ms;
      return ms === null || ms === undefined ? undefined : Number(ms);
    },
    announceFaults: () => announce(query, 'faults'),
    announceResult: (holder, sealed) => announce(query, `3ds ${holder} ${sealed}`),
    async moveClock(mid, byMs) {
      await query.transaction().execute(async (transaction) => {
        await sql`insert into clock_offsets (mid, offset_ms) values (${mid ?? null}, ${byMs})
          on conflict (mid) do update set offset_ms = clock_offsets.offset_ms + excluded.offset_ms`.execute(
          transaction,
        );
        await announce(transaction, 'clock');
      });
    },
    async describeDatabase() {
      const { rows } = await pool.query<DatabaseFacts>(
        `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as "sizeBytes",
           (select max(name) from migrations) as migration`,
      );
      return rows[0] as DatabaseFacts;
    },
    proveWritable: () => probe.prove(),
  };
}
