/** Migrates a large database while an old process takes payments, and measures each migration and the waits of writes. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';
import { startProgram } from '../chaos/program.ts';
import { type Account, clientOf } from '../chaos/shop.ts';
import { untilReady } from '../chaos/stage.ts';
import { freePort } from '../support/free-port.ts';

const execute = promisify(execFile);
const ADMIN_TOKEN = 'a-token-that-is-long-enough-for-the-upgrade';
const SALES_PER_SECOND = 10;
const BEFORE_MS = 20_000;

export interface LargeOptions {
  /** The database: `postgres`, and `description.json` with the master key. It is migrated. */
  folder: string;
  oldRoot: string;
  newRoot: string;
  say: (line: string) => void;
}

interface Sale {
  at: number;
  ms: number;
  error: string | undefined;
}

export interface Measured {
  name: string;
  seconds: number;
  sales: number;
  failed: number;
  longestMs: number;
}

/** Generates a database with the program of the old version; one that exists is used. */
export async function generateDatabase(folder: string, payments: number, oldRoot: string): Promise<void> {
  const description = join(folder, 'description.json');
  if (await fs.stat(description).catch(() => undefined)) return;
  await fs.rm(folder, { recursive: true, force: true });
  await fs.mkdir(folder, { recursive: true });
  const size = { payments, accounts: Math.ceil(payments / 2000), days: 365 };
  const script = `
    import { startEmbedded } from './src/store/embedded/embedded.ts';
    import { migrateAt } from './src/store/database/migrate.ts';
    import { generate } from './bench/generate.ts';
    const settings = { fsync: 'off', full_page_writes: 'off', max_wal_size: '16GB', autovacuum: 'off' };
    const server = await startEmbedded({ folder: ${JSON.stringify(join(folder, 'postgres'))}, settings });
    await migrateAt(server.connection);
    await generate(server.connection, ${JSON.stringify(size)}, (line) => console.error(line));
    await server.stop();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: oldRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if ((await once(child, 'exit'))[0] !== 0) throw new Error('The database could not be generated.');
  await fs.writeFile(description, JSON.stringify({ ...size, masterKey: newMasterKey() }));
}

export async function measureMigrations({ folder, oldRoot, newRoot, say }: LargeOptions): Promise<Measured[]> {
  const { masterKey } = JSON.parse(await fs.readFile(join(folder, 'description.json'), 'utf8'));
  const database = await startEmbedded({ folder: join(folder, 'postgres'), settings: { shared_buffers: '256MB' } });
  const { host, user, database: name } = database.connection;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const variables = {
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`,
    TURNPIKE_ROLE: 'http',
    TURNPIKE_MASTER_KEY: masterKey,
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    // No provider is called: the test brand has its own connector.
    TURNPIKE_PROVIDER_URL: 'http://127.0.0.1:9',
    TURNPIKE_PROVIDER_KEY: 'key-of-no-provider',
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
  };
  const old = startProgram('old', 'src/cli/main.ts', () => variables, folder, { root: oldRoot });
  const client = new pg.Client(database.connection);
  try {
    await untilReady({ url }, 300);
    await client.connect();
    const closing = new AbortController();
    const sales: Sale[] = [];
    const selling = sell(url, await newAccount(url), sales, closing.signal);
    await pause(BEFORE_MS);
    const started = Date.now();
    say('Migrating.');
    const env = { ...variables, PATH: process.env.PATH ?? '' };
    const { stdout, stderr } = await execute(process.execPath, [join(newRoot, 'src/cli/main.ts'), 'migrate'], { env });
    const ended = Date.now();
    say(stderr + stdout);
    await pause(5000);
    closing.abort();
    await selling;
    const windows = [
      { name: 'before', from: started - BEFORE_MS, to: started },
      ...(await migrationTimes(client, started)),
      { name: 'all migrations', from: started, to: ended },
    ];
    return windows.map((window) => measured(window, sales));
  } finally {
    await client.end().catch(() => undefined);
    await old.close();
    await database.stop();
  }
}

interface Window {
  name: string;
  from: number;
  to: number;
}

/** An earlier version does not store when a migration ran; then there are none. */
async function migrationTimes(client: pg.Client, since: number): Promise<Window[]> {
  const { rows } = await client.query<{ name: string; to: number; ms: number }>(
    `select name, ms, "to" from (
       select name, (to_jsonb(m) ->> 'took_ms')::float8 as ms,
         extract(epoch from (to_jsonb(m) ->> 'ran_at')::timestamptz)::float8 * 1000 as "to" from migrations m
     ) m where ms is not null and "to" > $1 order by name`,
    [since],
  );
  return rows.map(({ name, to, ms }) => ({ name, from: to - ms, to }));
}

function measured({ name, from, to }: Window, sales: readonly Sale[]): Measured {
  const during = sales.filter(({ at, ms }) => at <= to && at + ms >= from);
  return {
    name,
    seconds: (to - from) / 1000,
    sales: during.length,
    failed: during.filter(({ error }) => error !== undefined).length,
    longestMs: Math.round(Math.max(0, ...during.map(({ ms }) => ms))),
  };
}

async function newAccount(url: string): Promise<Account> {
  const response = await fetch(`${url}/admin/api/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Upgrade', requests_per_second: 0 }),
  });
  return (await response.json()) as Account;
}

/** Sends sales at a fixed rate, whether earlier ones were answered or not. */
async function sell(url: string, account: Account, sales: Sale[], signal: AbortSignal): Promise<void> {
  const turnpike = clientOf(url, account, { timeoutMs: 120_000, retries: 0 });
  const underWay = new Set<Promise<void>>();
  for (let count = 1; !signal.aborted; count++) {
    const at = Date.now();
    const sale = turnpike.s2s
      .sale({
        ...{ brand: 'vcard', identifier: 'success@example.com', order_id: `upgrade-${at}-${count}` },
        ...{ order_amount: '19.99', order_currency: 'USD', order_description: 'A test order' },
        ...{ payer_ip: '203.0.113.7', return_url: 'https://shop.example/return' },
      })
      .then(
        () => undefined,
        (error) => String(error),
      )
      .then((error) => {
        sales.push({ at, ms: Date.now() - at, error });
        underWay.delete(sale);
      });
    underWay.add(sale);
    await pause(1000 / SALES_PER_SECOND);
  }
  await Promise.all(underWay);
}
