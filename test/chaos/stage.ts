/** What a chaos run acts on: a database, the simulator, HTTP and work processes, and a relay to the simulator. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddedDatabase } from '../../src/store/embedded/embedded.ts';
import { freePort } from '../support/free-port.ts';
import { type Program, ROOT, startProgram } from './program.ts';
import { type Relay, startRelay } from './relay.ts';

/** How often a call of the run itself is repeated at most. */
const REPEATS_MOST = 120;

const SKEWED_CLOCK = join(import.meta.dirname, '../support/skewed-clock.ts');

/** The database of a run. */
export interface StageDatabase {
  readonly connection: EmbeddedDatabase['connection'];
  /** The address at which the gateway reaches it. */
  url: string;
  stop(): Promise<void>;
}

export interface Stage<Database extends StageDatabase = StageDatabase> {
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
  /** Between the gateway and the simulator. */
  providerRelay: Relay;
  /** How far the clock of each gateway process is wrong from its next start on. */
  skewMs: Map<string, number>;
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** The control API of the simulator. */
  provider<Result>(method: string, path: string, body?: unknown): Promise<Result>;
  close(): Promise<void>;
}

/** Starts everything; `startDatabase` gets the folder of the run, `root` is the checkout of the gateway processes. */
export async function setStage<Database extends StageDatabase>(
  name: string,
  startDatabase: (folder: string) => Promise<Database>,
  root = ROOT,
): Promise<Stage<Database>> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), `turnpike-${name}-`)));
  await fs.chmod(folder, 0o755);
  const database = await startDatabase(folder);
  const simulatorPort = await freePort();
  const providerRelay = await startRelay([{ port: simulatorPort, host: '127.0.0.1' }]);
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
    DATABASE_URL: database.url,
    TURNPIKE_MASTER_KEY: masterKey,
    TURNPIKE_ADMIN_TOKEN: adminToken,
    TURNPIKE_PROVIDER_URL: `http://127.0.0.1:${providerRelay.port}`,
    TURNPIKE_PROVIDER_KEY: access.key,
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: access.notificationSecret,
    LOG_LEVEL: 'warn',
  };
  const startGateway = (name: string, role: 'http' | 'work', port: number, root: string): Program =>
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
      { root },
    );
  const gateways: Program[] = [];
  async function addGateways(prefix: string, root: string): Promise<string[]> {
    const ports = await Promise.all([freePort(), freePort()]);
    gateways.push(
      ...ports.map((port, index) => startGateway(`${prefix}http-${index + 1}`, 'http', port, root)),
      ...[0, 0].map((port, index) => startGateway(`${prefix}work-${index + 1}`, 'work', port, root)),
    );
    targets.push(...ports.map((port) => ({ port, host: '127.0.0.1' })));
    return ports.map((port) => `http://127.0.0.1:${port}`);
  }
  await addGateways('', root);

  const callOnce = async (base: string, token: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each caller knows the body
    return { status: response.status, body: (await response.json()) as any };
  };
  /** Repeats a call that was not answered, or with 503: the process that got it may still be starting. */
  const call: typeof callOnce = async (...request) => {
    for (let left = REPEATS_MOST; left > 0; left--) {
      const answer = await callOnce(...request).catch(() => undefined);
      if (answer && answer.status !== 503) return answer;
      await pause(500);
    }
    return callOnce(...request);
  };
  return {
    folder,
    url,
    database,
    gateways,
    addGateways,
    variables,
    simulator,
    providerRelay,
    skewMs,
    admin: (method, path, body) => call(`${url}/admin/api`, adminToken, method, path, body),
    provider: async (method, path, body) =>
      (await call(`http://127.0.0.1:${simulatorPort}/control`, access.key, method, path, body)).body,
    async close() {
      await Promise.all([...gateways, simulator].map((program) => program.close()));
      await Promise.all([front.close(), providerRelay.close()]);
      await database.stop();
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
