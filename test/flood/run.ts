/** One flood run: hostile clients at real gateway processes, whose memory and responsiveness are measured meanwhile. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';
import { type Program, ROOT, startProgram } from '../chaos/program.ts';
import { untilReady } from '../chaos/stage.ts';
import { freePort } from '../support/free-port.ts';
import { type FloodOptions, flood } from './clients.ts';

const execute = promisify(execFile);

export interface Site {
  /** The ports of the gateway processes, which share a database. */
  ports: number[];
  /** The processes that answer requests, and their supervisor if there is one. */
  pids(): Promise<number[]>;
  /** The bytes by which the old generations of the processes have grown since their start. */
  oldGrowth(): Promise<number>;
  /** The stack traces of processes that ended. */
  crashes(): string[];
  close(): Promise<void>;
}

export interface SiteOptions {
  /** The checkout of the program. */
  root?: string;
  /** How many installations share the database, and how many workers each one has. */
  processes?: number;
  workers?: number;
}

/** Starts gateways on a database of their own. */
export async function openSite({ root = ROOT, processes = 1, workers = 1 }: SiteOptions): Promise<Site> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'turnpike-flood-')));
  await fs.chmod(folder, 0o755);
  const database = await startEmbedded({ folder: join(folder, 'postgres') });
  const { host, user, database: name } = database.connection;
  const secret = (): string => randomBytes(32).toString('base64');
  const variables = {
    DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`,
    TURNPIKE_MASTER_KEY: secret(),
    TURNPIKE_ADMIN_TOKEN: secret(),
    TURNPIKE_PROVIDER_URL: 'http://127.0.0.1:9',
    TURNPIKE_PROVIDER_KEY: secret(),
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: secret(),
    TURNPIKE_WORKERS: String(workers),
  };
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const programs: Program[] = [];
  for (const port of ports) {
    const own = { ...variables, PORT: String(port), DATA_DIR: join(folder, `data-${port}`) };
    const flags = ['--import', join(import.meta.dirname, 'old-generation.ts')];
    programs.push(startProgram(`gateway-${port}`, 'src/cli/main.ts', () => own, folder, { root, flags }));
    await untilReady({ url: `http://127.0.0.1:${port}` });
  }
  return {
    ports,
    async pids() {
      const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=']);
      const all = stdout
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
      const own = programs.map(({ pid = 0 }) => pid);
      return [...own, ...all.filter(([, parent]) => own.includes(parent)).map(([pid]) => pid)];
    },
    async oldGrowth() {
      const grown = await Promise.all(programs.map((program) => program.ask('old')));
      return (grown as number[]).reduce((sum, bytes) => sum + bytes, 0);
    },
    crashes: () => programs.flatMap((program) => program.crashes),
    async close() {
      await Promise.all(programs.map((program) => program.close()));
      await database.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

/** The resident memory of processes, in bytes. */
async function memoryOf(pids: readonly number[]): Promise<number> {
  const { stdout } = await execute('ps', ['-o', 'rss=', '-p', pids.join(',')]);
  return stdout.split('\n').reduce((sum, line) => sum + Number(line) * 1024, 0);
}

export interface Measured {
  before: number;
  /** The most memory at any time of the flood. */
  most: number;
  /** The bytes by which the old generation grew. */
  oldGrowth: number;
  /** The longest time of a health check that began during the flood, in milliseconds, and the number of checks. */
  healthMs: number;
  checks: number;
  /** The median of the requests of the flood that were answered while a check waited. */
  answeredBefore: number;
  sent: number;
  answered: number;
  seconds: number;
}

/** Floods one port, and measures all processes of the site. */
export async function measureFlood(site: Site, options: Omit<FloodOptions, 'port'>): Promise<Measured> {
  const pids = await site.pids();
  const [port = 0] = site.ports;
  const before = await memoryOf(pids);
  const oldBefore = await site.oldGrowth();
  let most = before;
  let healthMs = 0;
  const answeredBefore: number[] = [];
  let isOver = false;
  const started = performance.now();
  const { sent, answered, done } = await flood({ ...options, port });
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await memoryOf(pids));
      await pause(200);
    }
  })();
  // In a thread of its own, because this one is busy with the flood.
  const checker = new Worker(new URL('./health.ts', import.meta.url), { workerData: port });
  let atBegin = 0;
  checker.on('message', (millis: number | 'begun') => {
    if (millis === 'begun') {
      atBegin = answered();
      return;
    }
    answeredBefore.push(answered() - atBegin);
    healthMs = Math.max(healthMs, millis);
  });
  await done;
  isOver = true;
  const seconds = (performance.now() - started) / 1000;
  await watching;
  checker.postMessage('stop');
  await once(checker, 'exit');
  const oldGrowth = (await site.oldGrowth()) - oldBefore;
  return {
    ...{ before, most, oldGrowth, healthMs, sent, answered: answered(), seconds },
    checks: answeredBefore.length,
    // A single check may be late because its thread, not the gateway, waits for a core.
    answeredBefore: answeredBefore.toSorted((a, b) => a - b)[Math.floor(answeredBefore.length / 2)] ?? 0,
  };
}
