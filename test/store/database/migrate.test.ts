/** How migrations run on a database that is in use: locks, statements outside a transaction, interruptions, newer schemas. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { appliedMigrations, differenceOf, migrateAt } from '../../../src/store/database/migrate.ts';
import { REPLACED, readMigration, readMigrations, statementsOf } from '../../../src/store/database/migration-files.ts';
import { query } from '../../support/database.ts';
import { lengthenLimits, shortenLimits } from '../../support/limits.ts';

const database = `test_${randomBytes(6).toString('hex')}`;
const connection = { host: '', port: 0, user: '', database };
let client: pg.Client;
let other: pg.Client;

beforeAll(async () => {
  Object.assign(connection, inject('database'), { database });
  await query(inject('database'), `create database ${database}`);
});
afterAll(() => query(inject('database'), `drop database ${database} with (force)`));
beforeEach(async () => {
  client = new pg.Client(connection);
  other = new pg.Client(connection);
  await Promise.all([client.connect(), other.connect()]);
  await client.query('drop schema public cascade; create schema public');
  await client.query('create table orders (id int primary key, state text, total int)');
  await client.query(`insert into orders select n, 'new', n from generate_series(1, 2500) n`);
});
afterEach(async () => {
  await Promise.all([client.end(), other.end()]);
});

const lines: string[] = [];
const run = (name: string, sql: string) => {
  lines.length = 0;
  return migrateAt(connection, { files: [readMigration(name, sql)], progress: (line) => lines.push(line) });
};
const isValid = async (index: string) =>
  (await client.query('select indisvalid from pg_index where indexrelid = to_regclass($1)', [index])).rows[0]
    ?.indisvalid;

describe('locks', () => {
  shortenLimits({ migrationLockTimeoutMs: 50, migrationPauseMs: 20, migrationPauseMostMs: 40 });
  lengthenLimits({ migrationAttempts: 1000 });

  test.each([
    ['in a transaction', ''],
    ['outside a transaction', '-- outside a transaction\n'],
  ])('a statement %s gives way to writes, and succeeds when the table is free', async (_, header) => {
    await other.query('begin; select from orders for update');
    const migrated = run('0001_note.sql', `${header}alter table orders add column if not exists note text`);
    await expect.poll(() => lines).toContain('0001_note.sql: a table is locked, attempt 3');
    // A write that arrives while the migration waits is not blocked for longer than its timeout.
    await client.query('insert into orders (id) values (-1)');
    await other.query('commit');
    expect(await migrated).toEqual(['0001_note.sql']);
    expect((await client.query('select note from orders limit 1')).rows).toEqual([{ note: null }]);
  });

  describe('that are not free in time', () => {
    shortenLimits({ migrationAttempts: 30 });

    test('it gives up after some attempts, and says what to do', async () => {
      await other.query('begin; select from orders for update');
      await expect(run('0001_note.sql', 'alter table orders add column note text')).rejects.toThrow(
        'The migration 0001_note.sql could not lock its tables in 30 attempts, because long transactions use them: end these (pg_stat_activity lists them), and run `turnpike migrate` again.',
      );
      expect(await appliedMigrations(client)).toEqual([]);
    });
  });

  test('an index is built concurrently while another transaction is open, and waits for its end', async () => {
    await other.query(`begin; update orders set state = 'paid' where id = 1`);
    const sql = '-- outside a transaction\ncreate index concurrently if not exists by_state on orders (state)';
    const migrated = run('0001_index.sql', sql);
    await expect.poll(() => isValid('by_state')).toBe(false);
    await client.query(`update orders set state = 'paid' where id = 2`);
    await other.query('commit');
    expect(await migrated).toEqual(['0001_index.sql']);
    expect(await isValid('by_state')).toBe(true);
  });
});

describe('outside a transaction', () => {
  const FILE = `-- An index that is unique, and a backfill.
-- outside a transaction
create table if not exists notes (id int primary key);
create unique index concurrently if not exists one_total on orders (total);
-- in batches
update orders set state = 'old' where id in (select id from orders where state = 'new' order by id limit 1000);`;

  test('an index that an interrupted run left behind is built again', async () => {
    await client.query('insert into orders (id, total) values (-1, 1)');
    await expect(run('0001_index.sql', FILE)).rejects.toThrow('could not create unique index "one_total"');
    expect(await isValid('one_total')).toBe(false);
    expect(await appliedMigrations(client)).toEqual([]);
    await client.query('delete from orders where id = -1');
    expect(await run('0001_index.sql', FILE)).toEqual(['0001_index.sql']);
    expect(await isValid('one_total')).toBe(true);
  });

  test('a backfill goes on in batches where it was interrupted', async () => {
    await client.query(`update orders set state = 'old' where id <= 500`);
    expect(await run('0001_index.sql', FILE)).toEqual(['0001_index.sql']);
    expect(lines).toEqual(['0001_index.sql: 1000 rows', '0001_index.sql: 2000 rows']);
    expect((await client.query(`select from orders where state = 'new'`)).rowCount).toBe(0);
    expect(await run('0001_index.sql', FILE)).toEqual([]);
  });

  test('the statements of a file end at semicolons outside of texts and comments', () => {
    const sql = `-- a; b
create function f() returns text language sql as $body$ select ';'; $body$; /* ; */ select ';', 'it''s;', "a;b";
-- in batches
delete from orders -- the end
;`;
    expect(statementsOf(sql)).toEqual([
      { text: "create function f() returns text language sql as $body$ select ';'; $body$", isBatch: false },
      { text: `select ';', 'it''s;', "a;b"`, isBatch: false },
      { text: 'delete from orders', isBatch: true },
    ]);
  });
});

describe('a process that waits for another one', () => {
  test('says so, and runs nothing twice', async () => {
    await other.query('begin; lock table orders');
    const slow = run('0001_note.sql', 'alter table orders add column note text');
    const locks = () =>
      client.query(`select from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`);
    await expect.poll(async () => (await locks()).rowCount).toBe(1);
    const said: string[] = [];
    const files = [readMigration('0001_note.sql', 'alter table orders add column note text')];
    const waiting = migrateAt(connection, { files, progress: (line) => said.push(line) });
    await expect.poll(() => said).toEqual(['Another process migrates the database: waiting for it.']);
    await other.query('commit');
    expect([await slow, await waiting]).toEqual([['0001_note.sql'], []]);
  });
});

describe('the schema of another version', () => {
  const own = [readMigration('0001_a.sql', 'select 1'), readMigration('0005_b.sql', 'select 2')];
  const applied = (name: string, needs: string | null = null) => {
    const digest = own.find((file) => file.name === name)?.digest ?? 'x';
    return { name, digest, needs };
  };

  test('an older one lacks files', () => {
    const { missing, newer } = differenceOf(own, [applied('0001_a.sql')]);
    expect([missing.map(({ name }) => name), newer]).toEqual([['0005_b.sql'], []]);
  });

  test.each([
    ['without a requirement', null],
    ['that needs an earlier migration', '0004'],
    ['that needs the newest migration', '0005'],
  ])('a newer one %s is used', (_, needs) => {
    const all = [applied('0001_a.sql'), applied('0005_b.sql'), applied('0006_c.sql', needs)];
    expect(differenceOf(own, all)).toEqual({ missing: [], newer: ['0006_c.sql'] });
  });

  test('a newer one that needs a later migration is refused', () => {
    const all = [applied('0001_a.sql'), applied('0005_b.sql'), applied('0006_c.sql', '0006'), applied('0007_d.sql')];
    expect(() => differenceOf(own, all)).toThrow(
      'The database was migrated by a newer Turnpike, and 0006_c.sql needs a version with migration 0006 or later: start that version.',
    );
  });

  test('the requirement of a file is stored with it', async () => {
    await run('0007_drop.sql', '-- needs 0006\nalter table orders drop column total');
    expect(await appliedMigrations(client)).toEqual([
      { name: '0007_drop.sql', digest: expect.any(String), needs: '0006' },
    ]);
  });

  test('a database from before requirements were stored is read', async () => {
    await client.query('create table migrations (name text primary key, digest text not null)');
    await client.query(`insert into migrations values ('0001_a.sql', 'x')`);
    expect(await appliedMigrations(client)).toEqual([{ name: '0001_a.sql', digest: 'x', needs: null }]);
    await migrateAt(connection, { files: [readMigration('0002_b.sql', 'select 1')] });
    expect(await appliedMigrations(client)).toHaveLength(2);
  });
});

test('a former digest stands for the text that the file has now', async () => {
  const digests = (await readMigrations()).map(({ digest }) => digest);
  expect(digests).toEqual(expect.arrayContaining([...REPLACED.values()]));
});
