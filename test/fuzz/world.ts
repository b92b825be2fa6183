/** What altered requests are sent to: a gateway process with its database and provider, and the ids that it returned. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbedded } from '../../src/store/embedded.ts';
import { type Program, startProgram } from '../chaos/program.ts';
import { freePort } from '../support/free-port.ts';

export interface Account {
  mid: string;
  client_key: string;
  merchant_key: string;
  password: string;
}

export interface World {
  host: string;
  port: number;
  adminToken: string;
  notificationSecret: string;
  /** Takes the payments. */
  account: Account;
  /** The one whose settings the requests change. */
  other: Account;
  /** Values of responses by the name of their field; the newest are kept. */
  known: Map<string, string[]>;
  /** Texts that no response and no log line may contain. */
  secrets: readonly string[];
  gateway: Program;
  logFile: string;
  /** The memory of the gateway process in bytes; 0 where it cannot be read. */
  memory(): number;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'turnpike-fuzz-')));
  await fs.chmod(folder, 0o755);
  const database = await startEmbedded({ folder: join(folder, 'postgres') });
  const [port, simulatorPort] = await Promise.all([freePort(), freePort()]);
  const secret = (): string => randomBytes(32).toString('base64');
  const [key, notificationSecret, adminToken, masterKey] = [secret(), secret(), secret(), secret()];
  const simulator = startProgram(
    'simulator',
    'simulator/main.ts',
    () => ({
      SIMULATOR_PORT: String(simulatorPort),
      SIMULATOR_KEY: key,
      SIMULATOR_NOTIFICATION_SECRET: notificationSecret,
    }),
    folder,
  );
  const { host, user, database: name } = database.connection;
  const gateway = startProgram(
    'gateway',
    'src/cli/main.ts',
    () => ({
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`,
      TURNPIKE_MASTER_KEY: masterKey,
      TURNPIKE_ADMIN_TOKEN: adminToken,
      TURNPIKE_PROVIDER_URL: `http://127.0.0.1:${simulatorPort}`,
      TURNPIKE_PROVIDER_KEY: key,
      TURNPIKE_PROVIDER_NOTIFICATION_SECRET: notificationSecret,
      LOG_LEVEL: 'debug',
    }),
    folder,
  );
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url);
  const newAccount = async (): Promise<Account> => {
    const response = await fetch(`${url}/admin/api/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Fuzz', requests_per_second: 0, account_uuid: crypto.randomUUID() }),
    });
    return (await response.json()) as Account;
  };
  const [account, other] = [await newAccount(), await newAccount()];
  return {
    host: '127.0.0.1',
    port,
    adminToken,
    notificationSecret,
    account,
    other,
    known: new Map([['mid', [other.mid]]]),
    secrets: [adminToken, account.password, key, notificationSecret, masterKey],
    gateway,
    logFile: join(folder, 'gateway.log'),
    memory: () => residentBytes(gateway.pid),
    async close() {
      await Promise.all([gateway.close(), simulator.close()]);
      await database.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
}

function residentBytes(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function untilReady(url: string): Promise<void> {
  for (let left = 300; ; left--) {
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (left === 0) throw new Error('The gateway did not start.');
    await pause(200);
  }
}
