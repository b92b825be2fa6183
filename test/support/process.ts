/** The installed program in real processes and folders, which are removed afterwards. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, inject, vi } from 'vitest';
import type { EmbeddedDatabase } from '../../src/store/embedded/embedded.ts';
import { compiledIn } from './compiled.ts';
import { query } from './database.ts';
import { ADMIN_TOKEN, type Answer, type Fields, type Merchant, saleFields, sign } from './gateway.ts';
import { sendSignal } from './signals.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'src/cli/main.ts');

export interface ExitResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process that was started here, and what it wrote. */
export interface Program {
  pid: number;
  output(): string;
  complaints(): string;
  signal(name: NodeJS.Signals): void;
  ended: Promise<ExitResult>;
}

/** A gateway that answers. */
export interface RunningGateway extends Program {
  url: string;
  /** The demo account, as far as the program showed one. */
  merchant: Merchant;
  get(path: string): Promise<Answer>;
  post(fields: Fields, headers?: Fields): Promise<Answer>;
  admin(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  sale(fields?: Fields, headers?: Fields): Promise<Answer>;
  status(transId: string): Promise<Answer>;
  /** Stops it as an operator does, and waits. */
  stop(signal?: NodeJS.Signals): Promise<ExitResult>;
}

export interface RunOptions {
  command?: string;
  args?: string[];
  uid?: number;
  gid?: number;
  /** A process group of its own, as a terminal gives to each command. */
  detached?: boolean;
  /** What the program reads from its standard input, which then ends. */
  input?: string;
}

const cleanups: (() => Promise<unknown>)[] = [];

/** Ends what was started since and removes its folders, the last one first. */
export async function clearAway(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** A folder for the data of one installation, which is still to be made. */
export async function newDataDir(): Promise<string> {
  const parent = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'turnpike-start-')));
  await fs.chmod(parent, 0o755);
  const dataDir = join(parent, 'data');
  cleanups.push(async () => {
    await endServer(dataDir);
    await fs.rm(parent, { recursive: true, force: true });
  });
  return dataDir;
}

/** A new and empty database on the server of the tests, as an address. */
export async function newDatabase(): Promise<{ url: string; connection: Socket }> {
  const server = inject('database');
  const database = `start_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${database} template template0 strategy file_copy`);
  cleanups.push(() => query(server, `drop database if exists ${database} with (force)`));
  const connection = { ...server, database };
  return { url: databaseUrl(connection), connection };
}

/** A database behind a socket, and its address. */
export type Socket = EmbeddedDatabase['connection'];
export const databaseUrl = ({ host, user, database }: Socket): string =>
  `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;

/** Spares a start the provider simulator, where no payment needs a provider. */
export const NO_SIMULATOR: Fields = {
  TURNPIKE_PROVIDER_URL: 'http://127.0.0.1:9',
  TURNPIKE_PROVIDER_KEY: 'key-of-no-provider',
  TURNPIKE_PROVIDER_NOTIFICATION_SECRET: Buffer.alloc(32, 7).toString('base64'),
};

/** Starts the program with these variables and no others. */
export function run(
  variables: Fields,
  { command = process.execPath, args = [MAIN, 'serve'], input, ...options }: RunOptions = {},
) {
  const surroundings = Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...compiledIn(ROOT), ...surroundings, ...variables },
    stdio: 'pipe',
    ...options,
  });
  if (input !== undefined) child.stdin.end(input);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = new Promise<ExitResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // What npm started would outlive it.
    for (const pid of [...childrenOf(child.pid as number), child.pid as number]) sendSignal(pid, 'SIGKILL');
    await ended;
  });
  const pid = child.pid ?? 0;
  const program: Program = {
    pid,
    output: () => written.stdout,
    complaints: () => written.stderr,
    signal: (name) => void child.kill(name),
    ended,
  };
  return { ...program, onOutput: (listener: () => void) => void child.stdout.on('data', listener) };
}

/** Starts a command of the program beside the gateway. */
export const runCommand = (variables: Fields, ...args: string[]) => run(variables, { args: [MAIN, ...args] });

/** Starts a gateway on a free port and waits until it takes requests. */
export async function startGateway(variables: Fields, options: RunOptions = {}): Promise<RunningGateway> {
  const program = run({ PORT: '0', ...variables }, options);
  // The banner comes after the log line, and ends with an empty line below the curl line.
  const hasBanner = variables.TURNPIKE_ENV !== 'production' && variables.TURNPIKE_ROLE !== 'work';
  const started = (): boolean =>
    /"msg":"started"/.test(program.output()) && (!hasBanner || /^curl .*'\n\n/m.test(program.output()));
  await new Promise<void>((resolve, reject) => {
    program.onOutput(() => started() && resolve());
    program.ended.then(
      (ending) =>
        reject(new Error(`It ended: ${JSON.stringify(ending)}\n${program.output()}\n${program.complaints()}`)),
      reject,
    );
  });
  return { ...program, ...conversation(program) };
}

function conversation({ output, signal, ended }: Program): Omit<RunningGateway, keyof Program> {
  const port = /Server listening at \S+:(\d+)"/.exec(output())?.[1];
  const url = port ? `http://127.0.0.1:${port}` : (/"url":"([^"]+)"/.exec(output())?.[1] ?? '');
  const shown = (name: string): string => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(output())?.[1] ?? '';
  const merchant: Merchant = {
    mid: shown('mid'),
    client_key: shown('client_key'),
    merchant_key: shown('merchant_key'),
    password: shown('password'),
  };
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(90_000), ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
  };
  const post = (fields: Fields, headers: Fields = {}) =>
    send('/post', { method: 'POST', body: new URLSearchParams(fields), headers });
  return {
    url,
    merchant,
    get: (path) => send(path),
    post,
    admin: (method, path, body, token = ADMIN_TOKEN) =>
      send(`/admin/api${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    sale: (fields, headers) => post(saleFields(merchant, fields), headers),
    status: (transId) =>
      post({
        action: 'GET_TRANS_STATUS',
        client_key: merchant.client_key,
        trans_id: transId,
        hash: sign(merchant.password, transId),
      }),
    stop(name = 'SIGTERM') {
      signal(name);
      return ended;
    },
  };
}

/** The processes of this machine by number: the parent of each. Those that ended and wait to be noticed do not count. */
function processes(): Map<number, number> {
  const found = new Map<number, number>();
  const note = (pid: string | undefined, parent: string | undefined, state: string | undefined): void => {
    if (pid && parent && state && !/^[ZX]/.test(state)) found.set(Number(pid), Number(parent));
  };
  if (process.platform === 'linux') {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const [state, parent] = readOr(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
      note(pid, parent, state);
    }
  } else {
    for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' }).split('\n')) {
      const [pid, parent, state] = line.trim().split(/\s+/);
      note(pid, parent, state);
    }
  }
  return found;
}

export const isRunning = (pid: number): boolean => processes().has(pid);

export const childrenOf = (parent: number): number[] =>
  [...processes()].filter(([, candidate]) => candidate === parent).map(([pid]) => pid);

/** The HTTP processes of a gateway; the provider simulator is a child of its own kind. */
export const workersOf = (parent: number): number[] =>
  childrenOf(parent).filter((pid) => !commandOf(pid).includes('simulator/main.ts'));

const commandOf = (pid: number): string =>
  process.platform === 'linux'
    ? readOr(`/proc/${pid}/cmdline`)
    : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });

function readOr(file: string, otherwise = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

/** Where the server of a data folder keeps its files, and says who it is. */
export const serverFolder = (dataDir: string): string => join(dataDir, 'postgres');
export const pidFile = (dataDir: string): string => join(serverFolder(dataDir), 'postmaster.pid');
export const serverPid = (dataDir: string): number => Number.parseInt(readOr(pidFile(dataDir), '0'), 10);
export const serverSocket = (dataDir: string): Socket => ({
  host: readOr(pidFile(dataDir)).split('\n')[4] ?? '',
  port: 5432,
  user: 'turnpike',
  database: 'turnpike',
});

/** Ends a database server that a test left behind; the number alone may have passed to another process. */
async function endServer(dataDir: string): Promise<void> {
  const pid = serverPid(dataDir);
  if (!pid || !isRunning(pid)) return;
  const command =
    process.platform === 'linux'
      ? readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
      : execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  if (!command.includes(serverFolder(dataDir))) return;
  sendSignal(pid, 'SIGQUIT');
  await eventually(() => expect(isRunning(pid)).toBe(false));
}

/** Waits for something that comes by itself. */
export const eventually = <Result>(look: () => Result | Promise<Result>, timeout = 60_000): Promise<Result> =>
  vi.waitFor(look, { timeout, interval: 25 });

export const exists = (path: string): Promise<boolean> =>
  fs.stat(path).then(
    () => true,
    () => false,
  );

/** Holds a lock that every transition of a payment waits for, so that no payment gets its outcome. */
export async function holdOutcomes(connection: Socket) {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`
    create function wait_for_test() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
    create trigger wait_for_test before update on payments for each row execute function wait_for_test();
    select pg_advisory_lock(1)`);
  const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  const waiting = async () => (await client.query(WAITING)).rowCount as number;
  return {
    waiting,
    unfinished: async () =>
      Number((await client.query(`select count(*) from payments where state = 'PREPARE'`)).rows[0].count),
    /** Undoes the statements that wait. */
    async abandon() {
      await client.query(`select pg_terminate_backend(pid) from (${WAITING}) as waiting`);
      await eventually(async () => expect(await waiting()).toBe(0));
    },
    release: () => client.end().catch(() => undefined),
  };
}

/** Starts the gateway in vain and returns the one sentence it says. */
export async function refusal(variables: Fields, code = 1): Promise<string> {
  const program = run({ PORT: '0', ...variables });
  expect(await program.ended).toEqual({ code, signal: null });
  expect(program.complaints()).toMatch(/^turnpike: [^\n]+\.\n$/);
  return program.complaints().slice('turnpike: '.length).trim();
}

/** That a server has ended and left no lock behind. */
export async function expectNoServer(dataDir: string, pid: number): Promise<void> {
  expect(await exists(pidFile(dataDir))).toBe(false);
  expect(isRunning(pid)).toBe(false);
}
