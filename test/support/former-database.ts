/** A database as it was before a migration, for tests of upgrades. */
import { hash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { query } from './database.ts';

const FOLDER = new URL('../../src/store/migrations/', import.meta.url);

/** Created before the tests of a group, with every migration before this one, and dropped after them. */
export function openDatabaseBefore(migration: string) {
  const database = `test_${randomBytes(6).toString('hex')}`;
  const self = {} as { client: pg.Client; connection: ReturnType<typeof connectionOf> };
  beforeAll(async () => {
    self.connection = connectionOf(database);
    await query(inject('database'), `create database ${database}`);
    self.client = new pg.Client(self.connection);
    await self.client.connect();
    await self.client.query('create table migrations (name text primary key, digest text not null)');
    for (const name of (await readdir(FOLDER)).sort().filter((name) => name < migration)) {
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      await self.client.query(`begin; ${sql}; commit`);
      await self.client.query('insert into migrations values ($1, $2)', [name, hash('sha256', sql)]);
    }
  });
  afterAll(async () => {
    await self.client.end();
    await query(inject('database'), `drop database ${database} with (force)`);
  });
  return {
    self,
    /** Inserts a row by the names of its columns. */
    insert: (table: string, row: object) =>
      self.client.query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [row]),
  };
}

const connectionOf = (database: string) => ({ ...inject('database'), database });
