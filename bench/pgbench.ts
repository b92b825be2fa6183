/** The yardstick: pgbench, a client in C, writes intent and outcome of a sale as two transactions over three plain tables. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connection, folder, progress, type Row, rows, SECONDS, useWalAgain, wal } from './harness.ts';

const CLIENTS = 16;
/** The PostgreSQL of npm has no pgbench; that of Debian is in the package of the server. */
const PLACES = ['/usr/lib/postgresql/*/bin/pgbench', '/usr/pgsql-*/bin/pgbench'];

const TABLES = `
  drop table if exists yardstick_payments, yardstick_history, yardstick_callbacks;
  create table yardstick_payments (payment_id uuid primary key, order_id text not null unique, state text not null,
    amount bigint not null, currency text not null, details jsonb not null, due_at timestamptz, updated_at timestamptz);
  create table yardstick_history (payment_id uuid, seq int, event text not null, at timestamptz not null,
    primary key (payment_id, seq));
  create table yardstick_callbacks (payment_id uuid, seq int, body text not null, due_at timestamptz,
    primary key (payment_id, seq));`;

const SCRIPT = `
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
`;

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

/** Undefined if pgbench is not installed. */
export async function measurePgbench(): Promise<Row | undefined> {
  const name = `(y) pgbench, ${CLIENTS} clients`;
  const program = await findPgbench();
  if (program === undefined) {
    progress(`${name}: skipped, because pgbench is not installed: apt-get install postgresql`);
    return undefined;
  }
  progress(`${name}: measuring ${SECONDS} s`);
  await wal.query(TABLES);
  await useWalAgain();
  const script = join(folder, 'sale.sql');
  await writeFile(script, SCRIPT);
  const { host, port, user, database } = connection;
  const { stdout } = await run(program, [
    ...['-h', host, '-p', String(port), '-U', user, '-n', '-M', 'prepared', '-f', script],
    ...['-c', String(CLIENTS), '-j', '1', '-T', String(SECONDS), database],
  ]);
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`pgbench printed no rate:\n${stdout}`);
  progress(`${name}: ${Math.round(perSecond)} per second`);
  const row = { name, perSecond };
  rows.push(row);
  return row;
}
