/** Every migration can run while the previous version serves: the rules, and examples that break and keep each of them. */
import { describe, expect, test } from 'vitest';
import { readMigration, readMigrations } from '../../../src/store/database/migration-files.ts';
import { brokenRules, LARGE_TABLES, MIGRATION_RULES } from '../../support/migration-rules.ts';

/** Written before these rules. */
const EXEMPT = [
  ...['0001_foundation', '0002_outside_world', '0003_operations', '0004_cards', '0005_vault', '0006_callbacks'],
  ...['0007_card_tries', '0008_received', '0009_money_is_never_wrong', '0010_operation_ids', '0011_callback_indexes'],
  ...['0012_card_erasure', '0013_lists', '0014_vocabulary', '0015_operators', '0016_payment_search', '0017_rollups'],
  ...['0018_operators', '0019_operator_credentials'],
].map((name) => `${name}.sql`);

const files = await readMigrations();

test.each(files.filter(({ name }) => !EXEMPT.includes(name)).map((file) => [file.name, file] as const))(
  '%s keeps the rules',
  (_, file) => {
    const broken = brokenRules(file);
    const advice = new Set(broken.map((line) => MIGRATION_RULES[line.split(':')[0] ?? '']?.advice));
    expect(broken, [...advice].join('\n')).toEqual([]);
  },
);

test('the exempt files exist, and each large table is one', () => {
  const sql = files.map((file) => file.sql).join('\n');
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(EXEMPT));
  const isTable = (name: string) =>
    new RegExp(`create table (if not exists )?${name} \\(|rename to ${name};`).test(sql);
  expect(LARGE_TABLES.filter((name) => !isTable(name))).toEqual([]);
});

const OUTSIDE = '-- outside a transaction\n';

/** By rule: files that break it, and files that keep all rules. */
const EXAMPLES: Record<keyof typeof MIGRATION_RULES, { breaks: string[]; keeps: string[] }> = {
  indexes: {
    breaks: [
      'create index i on payments (brand)',
      'CREATE UNIQUE INDEX i\n  ON history (number)',
      `${OUTSIDE}create index if not exists i on payments (brand)`,
      'drop index payments_by_brand',
    ],
    keeps: [
      `${OUTSIDE}create index concurrently if not exists i on payments (brand)`,
      `${OUTSIDE}drop index concurrently if exists i`,
      'create table notes (id int); create index i on notes (id)',
      'create index i on accounts (name)',
    ],
  },
  transaction: {
    breaks: [
      'create index concurrently if not exists i on payments (brand)',
      'alter table payments validate constraint c',
      '-- in batches\nupdate payments set a = 1 where p in (select p from payments where a is null limit 100)',
    ],
    keeps: [`${OUTSIDE}alter table payments validate constraint c`],
  },
  repeatable: {
    breaks: [
      'create table notes (id int)',
      'create index concurrently i on payments (brand)',
      'alter table payments add column if not exists a text, add column b text',
      "alter type operation_verb add value 'x'",
      "create type t as enum ('a')",
      'create function f() returns int language sql as $$ select 1 $$',
      'alter table payments add constraint c check (amount > 0) not valid',
      'insert into notes values (1)',
    ].map((sql) => OUTSIDE + sql),
    keeps: [
      'create table if not exists notes (id int)',
      'alter table payments add column if not exists a text, add column if not exists b text',
      "alter type operation_verb add value if not exists 'x'",
      'create or replace function f() returns int language sql as $$ select 1 $$',
      'alter table payments drop constraint if exists c, add constraint c check (amount > 0) not valid',
      'insert into notes values (1) on conflict do nothing',
    ].map((sql) => OUTSIDE + sql),
  },
  volatileDefaults: {
    breaks: [
      'alter table payments add column a uuid default gen_random_uuid()',
      'alter table payments add column a bigserial',
      'alter table payments add column a text, add column b timestamptz not null default clock_timestamp()',
    ],
    keeps: [
      'alter table payments add column a boolean not null default false',
      'alter table payments add column a timestamptz default now()',
      'alter table accounts add column a uuid default gen_random_uuid()',
      'alter table payments alter column a set default gen_random_uuid()',
    ],
  },
  notNull: {
    breaks: ['alter table payments alter column a set not null'],
    keeps: [
      `${OUTSIDE}alter table payments drop constraint if exists c, add constraint c check (a is not null) not valid;
       alter table payments validate constraint c; alter table payments alter column a set not null`,
    ],
  },
  newColumns: {
    breaks: ['alter table accounts add column a text not null'],
    keeps: ["alter table accounts add column a text not null default ''", 'alter table accounts add column a text'],
  },
  types: {
    breaks: ['alter table accounts alter column name type varchar(10)', 'alter table payments alter a type int'],
    keeps: ['alter table accounts alter column name drop not null'],
  },
  contract: {
    breaks: [
      'alter table payments drop column brand',
      'alter table payments rename column brand to method',
      'alter table payments rename to transactions',
      'drop table receipts',
    ],
    keeps: ['-- needs 0034\nalter table payments drop column brand', '-- needs 0034\ndrop table receipts'],
  },
  constraints: {
    breaks: [
      'alter table payments add constraint c check (amount > 0)',
      'alter table payments add check (amount > 0)',
      'alter table payments add constraint c unique (a)',
      'alter table payments add column a uuid references accounts',
    ],
    keeps: [
      'alter table payments add constraint c check (amount > 0) not valid',
      'alter table payments add constraint c unique using index i',
      'alter table accounts add constraint c check (name is not null)',
    ],
  },
  batches: {
    breaks: [
      'update payments set a = 1',
      `${OUTSIDE}-- in batches\nupdate payments set a = 1 where a is null`,
      'delete from history where at < now()',
      'with old as (select 1) update callbacks set a = 1',
    ],
    keeps: [
      `${OUTSIDE}-- in batches\nupdate payments set a = 1 where p in (select p from payments where a is null limit 100)`,
      'update rollup_progress set totals_before = now()',
    ],
  },
  locks: {
    breaks: ['lock table accounts', 'cluster payments using i', 'vacuum full payments'],
    keeps: ['alter table payments set (fillfactor = 90)'],
  },
};

describe.each(Object.entries(EXAMPLES))('the rule %s', (rule, { breaks, keeps }) => {
  test.each(breaks)('is broken by: %s', (sql) => {
    expect(brokenRules(readMigration('0099_x.sql', sql)).map((line) => line.split(':')[0])).toContain(rule);
  });

  test.each(keeps)('is kept by: %s', (sql) => {
    expect(brokenRules(readMigration('0099_x.sql', sql))).toEqual([]);
  });
});

test('each rule has examples', () => {
  expect(Object.keys(EXAMPLES)).toEqual(Object.keys(MIGRATION_RULES));
});
