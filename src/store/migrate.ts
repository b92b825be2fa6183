/** Brings a database to the newest schema by running the numbered SQL files that it has not seen. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { StartupError } from '../lib/startup-error.ts';
import type { Connection } from './database.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
/** Any number will do as long as nothing else of ours locks it: migrations run one process at a time. */
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

/** Brings the database at this address up to date. */
export async function migrateAt(connection: Connection): Promise<string[]> {
  const pool = new pg.Pool({ ...connection, max: 1, connectionTimeoutMillis: 5000 });
  try {
    return await migrate(pool);
  } finally {
    await pool.end();
  }
}

/** Runs what is missing, each file in a transaction of its own, and returns the names of the files it ran. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const all = await migrations();
  const ran: string[] = [];
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query('create table if not exists migrations (name text primary key, digest text not null)');
    const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from migrations');
    const seen = new Map(rows.map((row) => [row.name, row.digest]));
    const strangers = [...seen.keys()].filter((name) => !all.some((migration) => migration.name === name));
    if (strangers.length > 0) {
      throw new StartupError(
        `The database was migrated by a newer Turnpike (it has ${strangers.join(', ')}): start that version or a later one.`,
      );
    }
    for (const { name, sql, digest } of all) {
      const before = seen.get(name);
      if (before === digest) continue;
      if (before !== undefined) {
        throw new StartupError(`The migration ${name} was changed after this database ran it: add a new file instead.`);
      }
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
