/** The harness of the benchmarks: a database, the provider simulator, servers in child processes, and result rows. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { wireHash } from '../src/lib/crypto/hash.ts';
import { newSecret } from '../src/lib/crypto/id.ts';
import { newMasterKey } from '../src/lib/crypto/seal.ts';
import { migrateAt } from '../src/store/database/migrate.ts';
import { startEmbedded } from '../src/store/embedded/embedded.ts';
import { type LoadResult, load, request } from './load.ts';
import type { ServerMessage, ServerOrder, Usage } from './server.ts';

export const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
/** How long the JIT compilers need until a server has reached its full speed. */
export const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 14);
const PROFILES = process.env.BENCH_PROFILES;
export const CONNECTIONS = 64;
/** More requests per second than any server here can answer. */
const RATE_MOST = 20_000;

export interface Row {
  name: string;
  perSecond: number;
  p50?: number;
  p99?: number;
  /** Requests per second of CPU time of the server process. */
  perCore?: number;
  memory?: { before: number; after: number };
  walBytes?: number;
}

export const rows: Row[] = [];
export const progress = (text: string): void => void process.stderr.write(`${text}\n`);

/** The files of the WAL that the database begins with. */
const WAL_FILES = 128;

export const folder = await mkdtemp(join(tmpdir(), 'turnpike-bench-'));
const database = await startEmbedded({
  folder: join(folder, 'postgres'),
  settings: { min_wal_size: `${WAL_FILES * 16}MB` },
});
export const { connection } = database;
await migrateAt(connection);
/** A connection to read tables and the WAL position. */
export const wal = new pg.Client(connection);
await wal.connect();
// Commits use the files again, as in a database that has run for some time. For a new one they wait until it is filled
// with zeros, 20 to 40 ms, and that would decide the p99.
for (let file = 0; file < WAL_FILES; file++) {
  await wal.query(`select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()`);
}
await wal.query('checkpoint');
const walPosition = async (): Promise<number> => {
  const { rows } = await wal.query<{ bytes: string }>(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`);
  return Number(rows[0]?.bytes);
};

/** Starts the provider simulator as a child process, as the sandbox does. */
async function startSimulatorProcess() {
  const access = { key: newSecret(), notificationSecret: Buffer.from(newSecret(32), 'hex').toString('base64') };
  const child = fork(join(import.meta.dirname, '../simulator/main.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      SIMULATOR_PORT: '0',
      SIMULATOR_FILE: join(folder, 'sandbox.db'),
      SIMULATOR_KEY: access.key,
      SIMULATOR_NOTIFICATION_SECRET: access.notificationSecret,
    },
  });
  const { url } = (await once(child, 'message'))[0] as { url: string };
  return { child, provider: { url, ...access } };
}
export const simulator = await startSimulatorProcess();

export const masterKey = newMasterKey();
export const adminToken = newSecret(24);

export interface Server {
  url: URL | undefined;
  child: ChildProcess;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/** The flags of Node with which `npm start` runs the gateway of a checkout. */
async function startFlags(program: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(dirname(program), '../package.json'), 'utf8'));
  return (scripts.start as string).split(' ').filter((word) => word.startsWith('--'));
}

/**
 * `own` is a database other than that of the harness, and its key; `walletRoots` is a folder with further roots.
 * `program` is the `server.ts` of another checkout.
 */
export async function startServer(
  kind: ServerOrder['kind'],
  answer: ServerOrder['answer'] = {},
  own: Partial<Pick<ServerOrder, 'connection' | 'masterKey' | 'walletRoots'>> = {},
  program = join(import.meta.dirname, 'server.ts'),
): Promise<Server> {
  const child = fork(program, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [
      ...(await startFlags(program)),
      // Writes a CPU profile of every server.
      ...(PROFILES === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(PROFILES, kind)}`]),
    ],
  });
  const call = async <Reply>(request: unknown): Promise<Reply> => {
    child.send(request as ServerOrder);
    return (await once(child, 'message'))[0] as Reply;
  };
  const order: ServerOrder = { kind, connection, masterKey, ...own, adminToken, answer, provider: simulator.provider };
  const { url } = await call<Extract<ServerMessage, { url: string }>>(order);
  return {
    url: url === '' ? undefined : new URL(url),
    child,
    usage: () => call({ request: 'usage' }),
    async stop() {
      // Ctrl-C in a terminal has ended it already.
      if (!child.connected) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

export interface Merchant {
  mid: string;
  client_key: string;
  merchant_key: string;
  password: string;
}

export async function newMerchant(url: URL, settings: object = {}): Promise<Merchant> {
  const response = await fetch(new URL('/admin/api/accounts', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', requests_per_second: 0, ...settings }),
  });
  return (await response.json()) as Merchant;
}

let orders = 0;
export const newOrder = (): string => `bench-${++orders}`;
export function saleForm(
  { client_key, password }: Pick<Merchant, 'client_key' | 'password'>,
  order = newOrder(),
): string {
  const hash = wireHash(['success@example.com', order, '19.99', 'USD'], password);
  return `action=SALE&client_key=${client_key}&brand=vcard&identifier=success%40example.com&order_id=${order}&order_amount=19.99&order_currency=USD&order_description=A+payment+of+the+benchmark&payer_ip=203.0.113.7&return_url=https%3A%2F%2Fshop.example%2Freturn&hash=${hash}`;
}

export const makeRequests = (
  seconds: number,
  form: () => string,
  most = Number.POSITIVE_INFINITY,
  write = (content: string): Buffer => request('/post', content),
): Buffer[] => Array.from({ length: Math.min(seconds * RATE_MOST, most) }, () => write(form()));

/** How long pages are written to the WAL as a whole, because they change for the first time after a checkpoint. */
const AFTER_CHECKPOINT_SECONDS = 3;

/** Has PostgreSQL use the files of the WAL again, as one that has run for a while does: a new file delays commits. */
export const useWalAgain = (): Promise<unknown> => wal.query('checkpoint');

/** Measures a server after a warm-up. */
export async function measure(
  name: string,
  server: Server,
  form: () => string,
  {
    connections = CONNECTIONS,
    countsWal = false,
    warmUp = WARM_UP_SECONDS,
    requests = Number.POSITIVE_INFINITY,
    perSecond = Number.POSITIVE_INFINITY,
    write = (content: string): Buffer => request('/post', content),
  } = {},
): Promise<Row> {
  const { hostname: host, port } = server.url as URL;
  const run = (seconds: number): Promise<LoadResult> =>
    load({
      host,
      port: Number(port),
      connections,
      seconds,
      perSecond,
      requests: makeRequests(seconds, form, requests, write),
    });
  progress(`${name}: warming up ${warmUp} s`);
  if (warmUp > 0) {
    await run(warmUp);
    await useWalAgain();
    await run(AFTER_CHECKPOINT_SECONDS);
  }
  progress(`${name}: measuring ${SECONDS} s`);
  const before = await server.usage();
  const walBefore = await walPosition();
  const result = await run(SECONDS);
  const after = await server.usage();
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} responses were not 200.`);
  const row: Row = {
    name,
    perSecond: result.perSecond,
    p50: result.p50,
    p99: result.p99,
    perCore: result.answered / (after.cpuSeconds - before.cpuSeconds),
    memory: { before: before.memory, after: after.memory },
    ...(countsWal ? { walBytes: ((await walPosition()) - walBefore) / result.answered } : {}),
  };
  rows.push(row);
  progress(`${name}: ${Math.round(row.perSecond)} per second`);
  return row;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number;

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] as number;

export interface Measured {
  server: Server;
  merchant: Merchant;
}

export async function startGateway(kind: 'gateway' | 'single' | 'brands'): Promise<Measured> {
  const server = await startServer(kind);
  return { server, merchant: await newMerchant(server.url as URL) };
}

const steps: (() => unknown)[] = [];

/** Adds a step to `clearUp`; the last one added runs first. */
export const onClearUp = (step: () => unknown): void => void steps.push(step);

/** Stops everything that the benchmarks have started. */
export async function clearUp(): Promise<void> {
  for (const step of steps.splice(0).toReversed()) await step();
  if (simulator.child.connected) simulator.child.disconnect();
  await wal.end();
  await database.stop();
  await rm(folder, { recursive: true });
}
