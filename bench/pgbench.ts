/** The yardsticks: pgbench, a client in C, writes intent and outcome of a sale as two transactions over three tables. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connection, folder, progress, type Row, rows, SECONDS, useWalAgain, wal } from './harness.ts';

const CLIENTS = 16;
/** The PostgreSQL of npm has no pgbench; that of Debian is in the package of the server. */
const PLACES = ['/usr/lib/postgresql/*/bin/pgbench', '/usr/pgsql-*/bin/pgbench'];

/** A load of pgbench: how its rows and ratios are named, its tables, and one payment as a script. */
interface Yardstick {
  name: string;
  ratio: string;
  tables: string;
  script: string;
}

/** Two transactions of plain statements over three small tables. */
const PLAIN: Yardstick = {
  name: `(y) pgbench, ${CLIENTS} clients`,
  ratio: 'pgbench, d / y',
  tables: `
  drop table if exists yardstick_payments, yardstick_history, yardstick_callbacks;
  create table yardstick_payments (payment_id uuid primary key, order_id text not null unique, state text not null,
    amount bigint not null, currency text not null, details jsonb not null, due_at timestamptz, updated_at timestamptz);
  create table yardstick_history (payment_id uuid, seq int, event text not null, at timestamptz not null,
    primary key (payment_id, seq));
  create table yardstick_callbacks (payment_id uuid, seq int, body text not null, due_at timestamptz,
    primary key (payment_id, seq));`,
  script: `
begin;
insert into yardstick_payments values (gen_random_uuid(), gen_random_uuid()::text, 'PREPARE', 1999, 'USD',
  '{"description": "A payment of the benchmark", "payer": {"ip": "203.0.113.7"}}', now() + interval '1 minute', now())
  returning payment_id \\gset
insert into yardstick_history values (:payment_id, 1, 'opened', now());
commit;
begin;
update yardstick_payments set state = 'SETTLED', due_at = null, updated_at = now()
  where payment_id = :payment_id and state = 'PREPARE';
insert into yardstick_history values (:payment_id, 2, 'settled', now());
insert into yardstick_callbacks values (:payment_id, 2, repeat('order_id=bench&status=SETTLED&', 12), now());
commit;
`,
};

const MID = '00000000-0000-7000-8000-000000000001';

/**
 * One statement per transaction, over tables with the columns of ours and the indexes that a sale needs. Some earlier
 * payments have statistics: for an empty table PostgreSQL would plan to find a payment by its account alone.
 */
const STATEMENTS: Yardstick = {
  name: `(z) pgbench, one statement per transaction`,
  ratio: 'pgbench with one statement per transaction, d / z',
  tables: `
  drop table if exists strict_payments, strict_history, strict_callbacks;
  create table strict_payments (
    mid uuid not null, payment_id uuid not null, order_id text not null, attempt int not null, protocol text not null,
    brand text not null, connector text not null, route_reason text, state text not null, history_length int not null,
    amount_text text not null, currency text not null, amount bigint not null, authorised bigint not null default 0,
    captured bigint not null default 0, refunded bigint not null default 0, reserved bigint not null default 0,
    in_doubt boolean not null default false, due_at timestamptz, query_count int not null default 0,
    is_authorisation boolean not null, is_recurring_init boolean not null, fingerprint text not null,
    descriptor text not null, decline_reason text, recurring_token text, schedule_id uuid, provider_reference text,
    provider_data jsonb, details jsonb not null, next_step jsonb, attention text, busy text, payer_until timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null,
    primary key (mid, payment_id), unique (mid, order_id, attempt));
  create index on strict_payments (due_at) where due_at is not null;
  create table strict_history (
    mid uuid not null, payment_id uuid not null, seq int not null, event text not null, from_state text,
    to_state text not null, actor text not null, actor_name text, note text, call jsonb, at timestamptz not null,
    number bigint, amount bigint, primary key (mid, payment_id, seq));
  create table strict_callbacks (
    mid uuid not null, payment_id uuid not null, seq int not null, type text not null, body text not null,
    is_json boolean not null, url text, endpoint text not null, state text not null, reason text,
    attempts int not null default 0, retry_index int not null default 0, due_at timestamptz,
    created_at timestamptz not null, finished_at timestamptz, is_leased boolean not null default false,
    primary key (mid, payment_id, seq));
  create index on strict_callbacks (due_at) where due_at is not null;
  insert into strict_payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, is_authorisation, is_recurring_init, fingerprint, descriptor, details, created_at,
    updated_at)
  select '${MID}', uuidv7(), 'earlier-' || n, 1, 's2s', 'vcard', 'vcard', 'SETTLED', 2, '19.99', 'USD', 1999, false, false, '',
    '', '{}', now(), now() from generate_series(1, 10000) n;
  analyze strict_payments;`,
  // Ids are in the order of time, and orders count up, as in the sales of this benchmark.
  script: `
\\set number :number + 1
with opened as (
  insert into strict_payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
    amount_text, currency, amount, due_at, is_authorisation, is_recurring_init, fingerprint, descriptor, details,
    created_at, updated_at)
  values ('${MID}', uuidv7(), 'bench-' || :client_id::text || '-' || :number::text, 1, 's2s', 'vcard', 'vcard',
    'PREPARE', 1, '19.99', 'USD', 1999, now() + interval '1 minute', false, false,
    '0123456789abcdef0123456789abcdef', 'Bench',
    '{"description": "A payment of the benchmark", "returnUrl": "https://shop.example/return", "identifier": "success@example.com", "payer": {"ip": "203.0.113.7"}}',
    now(), now())
  returning mid, payment_id, created_at
), inserted_history as (
  insert into strict_history (mid, payment_id, seq, event, to_state, actor, at)
  select mid, payment_id, 1, 'opened', 'PREPARE', 'merchant', created_at from opened
)
select payment_id from opened \\gset
with updated as (
  update strict_payments set state = 'SETTLED', history_length = 2, authorised = 1999, captured = 1999, due_at = null,
    updated_at = now()
  where mid = '${MID}' and payment_id = :payment_id and state = 'PREPARE' and history_length = 1
  returning mid, payment_id, updated_at
), inserted_history as (
  insert into strict_history (mid, payment_id, seq, event, from_state, to_state, actor, call, at, amount)
  select mid, payment_id, 2, 'settled', 'PREPARE', 'SETTLED', 'provider',
    '{"verb": "submit", "tookMs": 0, "outcome": "settled", "connector": "vcard"}', updated_at, 1999 from updated
), inserted_callbacks as (
  insert into strict_callbacks (mid, payment_id, seq, type, body, is_json, endpoint, state, reason, created_at,
    finished_at)
  select mid, payment_id, 2, 'sale', repeat('order_id=bench&status=SETTLED&', 12), false, '', 'parked',
    'No callback_url is set.', updated_at, updated_at from updated
)
select count(*) from updated;
`,
};

const run = promisify(execFile);

async function findPgbench(): Promise<string | undefined> {
  for (const program of ['pgbench', ...globSync(PLACES)]) {
    const isFound = await run(program, ['--version']).then(
      () => true,
      () => false,
    );
    if (isFound) return program;
  }
  return undefined;
}

async function measureYardstick(program: string, { name, tables, script }: Yardstick): Promise<Row> {
  progress(`${name}: measuring ${SECONDS} s`);
  await wal.query(tables);
  await useWalAgain();
  const file = join(folder, 'sale.sql');
  await writeFile(file, script);
  const { host, port, user, database } = connection;
  const { stdout } = await run(program, [
    ...['-h', host, '-p', String(port), '-U', user, '-n', '-M', 'prepared', '-D', 'number=0', '-f', file],
    ...['-c', String(CLIENTS), '-j', '1', '-T', String(SECONDS), database],
  ]);
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`pgbench printed no rate:\n${stdout}`);
  progress(`${name}: ${Math.round(perSecond)} per second`);
  const row = { name, perSecond };
  rows.push(row);
  return row;
}

/** The rows of the yardsticks by the names of their ratios; none if pgbench is not installed. */
export async function measurePgbench(): Promise<[ratio: string, row: Row][]> {
  const program = await findPgbench();
  if (program === undefined) {
    progress('(y) pgbench: skipped, because pgbench is not installed: apt-get install postgresql');
    return [];
  }
  const measured: [string, Row][] = [];
  for (const yardstick of [PLAIN, STATEMENTS]) {
    measured.push([yardstick.ratio, await measureYardstick(program, yardstick)]);
  }
  return measured;
}
