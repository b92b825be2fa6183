/** Migrates a database to the newest schema by running the numbered SQL files that it has not run yet. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { StartupError } from '../lib/startup-error.ts';
import { BoundedClient } from './bounded-client.ts';
import type { Connection } from './database.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
/** An advisory lock, so that one process at a time migrates. The number is arbitrary, but unique in this code base. */
const LOCK = 7_402_201;

interface Migration {
  name: string;
  sql: string;
  digest: string;
}

async function migrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, sql, digest: hash('sha256', sql) };
    }),
  );
}

async function withPool<Result>(connection: Connection, work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const pool = new pg.Pool({ ...connection, Client: BoundedClient, max: 1, connectionTimeoutMillis: 5000 });
  return work(pool).finally(() => pool.end());
}

/** Migrates the database at this address. */
export const migrateAt = (connection: Connection): Promise<string[]> => withPool(connection, migrate);

interface AppliedMigration {
  name: string;
  digest: string;
}

/** The files that the database has run; none in a database without a schema. */
export async function appliedMigrations(client: Pick<pg.ClientBase, 'query'>): Promise<AppliedMigration[]> {
  const { rows } = await client.query<{ exists: boolean }>(`select to_regclass('migrations') is not null as exists`);
  if (!rows[0]?.exists) return [];
  return (await client.query<AppliedMigration>('select name, digest from migrations order by name')).rows;
}

/** The names of the files that a migration would run; without a database, all. Refuses what a migration refuses. */
export async function missingMigrations(connection?: Connection): Promise<string[]> {
  const all = await migrations();
  const applied = connection ? await withPool(connection, (pool) => appliedMigrations(pool)) : [];
  return missingOf(all, applied).map(({ name }) => name);
}

function missingOf(all: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const digests = new Map(applied.map(({ name, digest }) => [name, digest]));
  const unknown = [...digests.keys()].filter((name) => !all.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartupError(
      `The database was migrated by a newer Turnpike (it has ${unknown.join(', ')}): start that version or a later one.`,
    );
  }
  const changed = all.find(({ name, digest }) => (digests.get(name) ?? digest) !== digest);
  if (changed) {
    throw new StartupError(
      `The migration ${changed.name} was changed after this database ran it: add a new file instead.`,
    );
  }
  return all.filter(({ name }) => !digests.has(name));
}

/** Runs the missing files, each in its own transaction, and returns their names. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const all = await migrations();
  const ran: string[] = [];
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query('create table if not exists migrations (name text primary key, digest text not null)');
    for (const { name, sql, digest } of missingOf(all, await appliedMigrations(client))) {
      await client.query('begin');
      try {
        await client.query(sql);
        await client.query('insert into migrations (name, digest) values ($1, $2)', [name, digest]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
      ran.push(name);
    }
    return ran;
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined);
    client.release();
  }
}
