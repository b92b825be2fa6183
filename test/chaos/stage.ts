/** What a chaos run acts on: a database, the simulator, HTTP and work processes, and relays between them. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded.ts';
import { freePort } from '../support/free-port.ts';
import { type Program, startProgram } from './program.ts';
import { type Relay, startRelay } from './relay.ts';

const execute = promisify(execFile);
const SKEWED_CLOCK = join(import.meta.dirname, '../support/skewed-clock.ts');
/** Enough for the write-ahead log of a run. */
const DISK_MEGABYTES = 800;

/** The PostgreSQL server, which can be killed and started again. */
export interface Database {
  readonly connection: EmbeddedDatabase['connection'];
  restart(signal: 'SIGKILL' | 'SIGINT'): Promise<void>;
  /** Fills the disk for a while; undefined where no disk of its own could be mounted. */
  fillDisk: ((ms: number) => Promise<void>) | undefined;
}

export interface Stage {
  folder: string;
  /** The address of all HTTP processes. */
  url: string;
  database: Database;
  gateways: Program[];
  /** Starts two HTTP and two work processes of the program in `root`, and returns the addresses of the former. */
  addGateways(prefix: string, root: string): Promise<string[]>;
  /** The environment variables of a gateway process. */
  variables: Record<string, string>;
  simulator: Program;
  relays: { database: Relay; provider: Relay };
  /** How far the clock of each gateway process is wrong from its next start on. */
  skewMs: Map<string, number>;
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** The control API of the simulator. */
  provider<Result>(method: string, path: string, body?: unknown): Promise<Result>;
  close(): Promise<void>;
}

/** A small file system in memory for the database, so that it can become full; only root may mount one. */
async function mountDisk(folder: string): Promise<boolean> {
  await fs.mkdir(folder);
  const options = `size=${DISK_MEGABYTES}m,mode=755`;
  return execute('mount', ['-t', 'tmpfs', '-o', options, 'turnpike-chaos', folder]).then(
    () => true,
    () => false,
  );
}

/** Writes a file until the disk is full. */
async function fill(path: string): Promise<void> {
  const file = await fs.open(path, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}

async function startDatabase(disk: string, isMounted: boolean): Promise<Database & { stop(): Promise<void> }> {
  const folder = join(disk, 'postgres');
  const start = (): Promise<EmbeddedDatabase> =>
    startEmbedded({ folder, settings: { max_wal_size: '256MB', shared_buffers: '128MB' } });
  let server = await start();
  const postmaster = async (): Promise<number> =>
    Number.parseInt(await fs.readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '0'), 10);
  const database = {
    get connection() {
      return server.connection;
    },
    async restart(signal: 'SIGKILL' | 'SIGINT') {
      const pid = await postmaster();
      if (pid > 0) process.kill(pid, signal);
      if (signal === 'SIGINT') await server.stop();
      await pause(200);
      server = await start();
    },
    fillDisk: isMounted
      ? async (ms: number) => {
          const filler = join(disk, 'filler');
          await fill(filler);
          await pause(ms);
          await fs.rm(filler);
          // PostgreSQL stops when it cannot write its log.
          server = await start();
        }
      : undefined,
    stop: () => server.stop(),
  };
  return database;
}

/** `root` is the checkout of the gateway processes. */
export async function setStage(root: string): Promise<Stage> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'turnpike-chaos-')));
  await fs.chmod(folder, 0o755);
  const disk = join(folder, 'disk');
  const isMounted = await mountDisk(disk);
  const database = await startDatabase(disk, isMounted);
  const { connection } = database;
  const simulatorPort = await freePort();
  const relays = {
    database: await startRelay([{ path: join(connection.host, `.s.PGSQL.${connection.port}`) }]),
    provider: await startRelay([{ port: simulatorPort, host: '127.0.0.1' }]),
  };
  const targets: { port: number; host: string }[] = [];
  const front = await startRelay(targets);
  const url = `http://127.0.0.1:${front.port}`;

  const secret = (bytes = 32): string => randomBytes(bytes).toString('base64');
  const access = { key: secret(), notificationSecret: secret() };
  const adminToken = secret();
  const masterKey = secret();
  const simulator = startProgram(
    'simulator',
    'simulator/main.ts',
    () => ({
      SIMULATOR_PORT: String(simulatorPort),
      SIMULATOR_FILE: join(folder, 'provider.db'),
      SIMULATOR_KEY: access.key,
      SIMULATOR_NOTIFICATION_SECRET: access.notificationSecret,
    }),
    folder,
  );
  const skewMs = new Map<string, number>();
  const variables = {
    PUBLIC_URL: url,
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: `postgres://${connection.user}@127.0.0.1:${relays.database.port}/${connection.database}`,
    TURNPIKE_MASTER_KEY: masterKey,
    TURNPIKE_ADMIN_TOKEN: adminToken,
    TURNPIKE_PROVIDER_URL: `http://127.0.0.1:${relays.provider.port}`,
    TURNPIKE_PROVIDER_KEY: access.key,
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: access.notificationSecret,
    LOG_LEVEL: 'warn',
  };
  const startGateway = (name: string, role: 'http' | 'work', port: number, program: string): Program =>
    startProgram(
      name,
      'src/cli/main.ts',
      () => ({
        ...variables,
        PORT: String(port),
        TURNPIKE_ROLE: role,
        NODE_OPTIONS: `--import=${SKEWED_CLOCK}`,
        CLOCK_SKEW_MS: String(skewMs.get(name) ?? 0),
      }),
      folder,
      program,
    );
  const gateways: Program[] = [];
  async function addGateways(prefix: string, program: string): Promise<string[]> {
    const ports = await Promise.all([freePort(), freePort()]);
    gateways.push(
      ...ports.map((port, index) => startGateway(`${prefix}http-${index + 1}`, 'http', port, program)),
      ...[0, 0].map((port, index) => startGateway(`${prefix}work-${index + 1}`, 'work', port, program)),
    );
    targets.push(...ports.map((port) => ({ port, host: '127.0.0.1' })));
    return ports.map((port) => `http://127.0.0.1:${port}`);
  }
  await addGateways('', root);

  const call = async (base: string, token: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each caller knows the body
    return { status: response.status, body: (await response.json()) as any };
  };
  return {
    folder,
    url,
    database,
    gateways,
    addGateways,
    variables,
    simulator,
    relays,
    skewMs,
    admin: (method, path, body) => call(`${url}/admin/api`, adminToken, method, path, body),
    provider: async (method, path, body) =>
      (await call(`http://127.0.0.1:${simulatorPort}/control`, access.key, method, path, body)).body,
    async close() {
      await Promise.all([...gateways, simulator].map((program) => program.close()));
      await Promise.all([front, ...Object.values(relays)].map((relay) => relay.close()));
      await database.stop();
      if (isMounted) await execute('umount', [disk]);
    },
  };
}

/** Waits until the HTTP processes at the address and the database take requests. */
export async function untilReady({ url }: Pick<Stage, 'url'>, seconds = 120): Promise<void> {
  for (let ready = 0, left = seconds * 5; ready < 4; left--) {
    if (left === 0) throw new Error(`The gateway was not ready within ${seconds} s.`);
    const isReady = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    ready = isReady ? ready + 1 : 0;
    await pause(200);
  }
}
