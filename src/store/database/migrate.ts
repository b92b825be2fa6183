/** Migrates a database to the newest schema by running the numbered SQL files that it has not run yet. */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { isDeadlock, isLockTimeout } from '../../lib/flow/faults.ts';
import { StartupError } from '../../lib/flow/startup-error.ts';
import { LIMITS } from '../../rules/limits.ts';
import { tryLock } from './advisory-lock.ts';
import { withClient } from './bounded-client.ts';
import type { Connection } from './database.ts';
import { type Migration, presentDigest, readMigrations, type Statement, statementsOf } from './migration-files.ts';

/** Gets a line about what takes long. */
export type Progress = (line: string) => void;

export interface MigrateOptions {
  progress?: Progress;
  /** The files to run; all unless given. */
  files?: readonly Migration[];
}

const withMigrator = <Result>(connection: Connection, work: (client: pg.Client) => Promise<Result>): Promise<Result> =>
  withClient({ ...connection, application_name: 'turnpike migrate' }, work);

export interface AppliedMigration {
  name: string;
  digest: string;
  needs: string | null;
}

/** The files that the database has run; none in a database without a schema. */
export async function appliedMigrations(client: Pick<pg.ClientBase, 'query'>): Promise<AppliedMigration[]> {
  const { rows } = await client.query<{ exists: boolean }>(`select to_regclass('migrations') is not null as exists`);
  if (!rows[0]?.exists) return [];
  // Earlier versions made the table without `needs`.
  const applied = await client.query<AppliedMigration>(
    `select name, digest, to_jsonb(m) ->> 'needs' as needs from migrations m order by name`,
  );
  return applied.rows.map((row) => ({ ...row, digest: presentDigest(row.digest) }));
}

export interface SchemaDifference {
  /** The files that the database has not run. */
  missing: Migration[];
  /** The files of a newer version, which this version can use the schema of. */
  newer: string[];
}

/** Compares the schema with the files of this version; without a database, all are missing. Refuses what it cannot use. */
export async function compareSchema(connection?: Connection): Promise<SchemaDifference> {
  const applied = connection ? await withMigrator(connection, appliedMigrations) : [];
  return differenceOf(await readMigrations(), applied);
}

export function differenceOf(files: readonly Migration[], applied: readonly AppliedMigration[]): SchemaDifference {
  const byName = new Map(files.map((file) => [file.name, file]));
  const newest = files.at(-1)?.name ?? '';
  const newer = applied.filter(({ name }) => !byName.has(name));
  const breaking = newer.findLast(({ needs }) => needs !== null && needs > newest);
  if (breaking) {
    throw new StartupError(
      `The database was migrated by a newer Turnpike, and ${breaking.name} needs a version with migration ${breaking.needs} or later: start that version.`,
    );
  }
  const changed = applied.find(({ name, digest }) => (byName.get(name)?.digest ?? digest) !== digest);
  if (changed) {
    throw new StartupError(
      `The migration ${changed.name} was changed after this database ran it: add a new file instead.`,
    );
  }
  const names = new Set(applied.map(({ name }) => name));
  return { missing: files.filter(({ name }) => !names.has(name)), newer: newer.map(({ name }) => name) };
}

const TABLE = `
  create table if not exists migrations (name text primary key, digest text not null);
  alter table migrations
    add column if not exists needs text,
    add column if not exists ran_at timestamptz,
    add column if not exists took_ms integer`;

/** Migrates the database at this address; returns the names of the files that ran. */
export async function migrateAt(connection: Connection, options: MigrateOptions = {}): Promise<string[]> {
  const { progress = () => undefined, files = await readMigrations() } = options;
  return withMigrator(connection, async (client) => {
    const missing = async () => differenceOf(files, await appliedMigrations(client)).missing;
    // A database that needs nothing is not locked, so that a process can start while a newer version migrates.
    if ((await missing()).length === 0) return [];
    await lock(client, progress);
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
    const toRun = await missing();
    if (toRun.length > 0) await client.query(TABLE);
    for (const file of toRun) {
      const started = performance.now();
      const took = (): number => Math.round(performance.now() - started);
      const step: Step = { connection, client, name: file.name, progress };
      await (file.isTransaction ? runAsTransaction(step, file, took) : runOneByOne(step, file, took));
      if (took() >= LIMITS.migrationProgressMs) progress(`${file.name}: done in ${(took() / 1000).toFixed(1)} s`);
    }
    return toRun.map(({ name }) => name);
  });
}

/**
 * Waits for the advisory lock by trying. A statement that waits for it has a snapshot, and the process that has the lock
 * would wait for the end of that statement while it builds an index concurrently.
 */
async function lock(client: pg.ClientBase, progress: Progress): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if (await tryLock(client, 'migration')) return;
    if (attempt === 1) progress('Another process migrates the database: waiting for it.');
    await pause(LIMITS.migrationWaitMs);
  }
}

interface Step {
  connection: Connection;
  client: pg.ClientBase;
  name: string;
  progress: Progress;
}

const record = ({ client }: Step, { name, digest, needs }: Migration, tookMs: number): Promise<unknown> =>
  client.query(
    'insert into migrations (name, digest, needs, ran_at, took_ms) values ($1, $2, $3, clock_timestamp(), $4)',
    [name, digest, needs, tookMs],
  );

const lockTimeout = ({ client }: Step, ms: number): Promise<unknown> => client.query(`set lock_timeout = ${ms}`);

async function runAsTransaction(step: Step, file: Migration, took: () => number): Promise<void> {
  const { client } = step;
  await lockTimeout(step, LIMITS.migrationLockTimeoutMs);
  await whileLocked(step, async () => {
    await client.query('begin');
    try {
      await client.query(file.sql);
      await record(step, file, took());
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  });
}

/** An interrupted file runs again from its first statement, so each statement can be repeated. */
async function runOneByOne(step: Step, file: Migration, took: () => number): Promise<void> {
  for (const statement of statementsOf(file.sql)) {
    // Other transactions do not queue behind these statements, and they wait for all transactions that are open.
    const isGentle = /\bconcurrently\b|\bvalidate constraint\b/i.test(statement.text);
    await lockTimeout(step, isGentle ? 0 : LIMITS.migrationLockTimeoutMs);
    await whileLocked(step, () => runStatement(step, statement));
  }
  await record(step, file, took());
}

async function runStatement(step: Step, { text, isBatch }: Statement): Promise<void> {
  const { client, name, progress } = step;
  const index = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i.exec(text)?.[1];
  if (index !== undefined) {
    await dropInvalid(client, index);
    return withBuildProgress(step, index, () => client.query(text));
  }
  for (let rows = 0; ; ) {
    const { rowCount } = await client.query(text);
    if (!isBatch || !rowCount) return;
    rows += rowCount;
    progress(`${name}: ${rows} rows`);
  }
}

/** A build that was interrupted leaves an index that is written, but never read. */
async function dropInvalid(client: pg.ClientBase, index: string): Promise<void> {
  const { rowCount } = await client.query(
    'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [index],
  );
  if (rowCount) await client.query(`drop index concurrently ${index}`);
}

async function withBuildProgress(step: Step, index: string, build: () => Promise<unknown>): Promise<void> {
  const { connection, client, name, progress } = step;
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const read = (watcher: pg.Client) =>
    watcher.query<{ phase: string; share: number | null }>(
      `select phase, round(100.0 * blocks_done / nullif(blocks_total, 0))::int as share
       from pg_stat_progress_create_index where pid = $1`,
      [rows[0]?.pid],
    );
  const report = async (): Promise<void> => {
    const { phase, share } = (await withMigrator(connection, read)).rows[0] ?? {};
    if (phase) progress(`${name}: ${index}, ${phase}${share == null ? '' : `, ${share} %`}`);
  };
  const timer = setInterval(() => void report().catch(() => undefined), LIMITS.migrationProgressMs);
  await build().finally(() => clearInterval(timer));
}

/** Repeats the work when a lock is not to be had, with growing pauses in which those that wait behind it go on. */
async function whileLocked({ name, progress }: Step, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isLockTimeout(error) && !isDeadlock(error)) throw error;
    }
    if (attempt === LIMITS.migrationAttempts) {
      throw new StartupError(
        `The migration ${name} could not lock its tables in ${attempt} attempts, because long transactions use them: end these (pg_stat_activity lists them), and run \`turnpike migrate\` again.`,
      );
    }
    progress(`${name}: a table is locked, attempt ${attempt}`);
    await pause(Math.min(LIMITS.migrationPauseMs * 2 ** (attempt - 1), LIMITS.migrationPauseMostMs));
  }
}
