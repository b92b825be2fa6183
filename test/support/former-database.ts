/** A database as it was before a migration, for tests of upgrades. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { migrateAt } from '../../src/store/database/migrate.ts';
import { readMigrations } from '../../src/store/database/migration-files.ts';
import { query } from './database.ts';

/** Created before the tests of a group, with every migration before this one, and dropped after them. */
export function openDatabaseBefore(migration: string) {
  const database = `test_${randomBytes(6).toString('hex')}`;
  const self = {} as { client: pg.Client; connection: ReturnType<typeof connectionOf> };
  beforeAll(async () => {
    self.connection = connectionOf(database);
    await query(inject('database'), `create database ${database}`);
    await migrateAt(self.connection, { files: (await readMigrations()).filter(({ name }) => name < migration) });
    self.client = new pg.Client(self.connection);
    await self.client.connect();
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
