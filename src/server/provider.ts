/** The provider of the gateway: the configured one, or in the sandbox the provider simulator, as a child process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProviderAccess } from '../connectors/index.ts';
import { simulatedAmong } from '../core/connections/connections.ts';
import type { Gateway } from '../core/context.ts';
import { createSeal } from '../lib/crypto/seal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import type { Log } from '../lib/text/log.ts';
import type { Config } from './config.ts';

const PROGRAM = fileURLToPath(new URL('../../simulator/main.ts', import.meta.url));
const RESTART_MS = 1000;
const ABOUT_MS = 5000;

export interface ProviderHandle {
  provider: ProviderAccess | undefined;
  stop(): Promise<void>;
}

const nothingToStop = async (): Promise<void> => undefined;

/** The configured provider; a sandbox without one starts the provider simulator. */
export async function openProvider(config: Config, masterKey: string, log: Log): Promise<ProviderHandle> {
  if (config.providerUrl !== '') {
    const provider = {
      url: config.providerUrl,
      key: config.providerKey,
      notificationSecret: config.providerNotificationSecret,
    };
    if (config.environment === 'production') await refuseSimulator(provider, log);
    return { provider, stop: nothingToStop };
  }
  return config.environment === 'sandbox'
    ? startSimulatorProcess(config, masterKey, log)
    : { provider: undefined, stop: nothingToStop };
}

/** Production must not accept simulated payments. */
async function refuseSimulator({ url, key }: ProviderAccess, log: Log): Promise<void> {
  try {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/v1/about`, { headers, signal: AbortSignal.timeout(ABOUT_MS) });
    if (!response.ok) throw new Error(`The provider responded with status ${response.status}.`);
    const about = (await response.json()) as { simulator?: unknown };
    if (about.simulator !== true) return;
  } catch (error) {
    return log.warn({ err: error }, 'the provider does not support /v1/about');
  }
  throw new StartupError(
    'Production refuses a simulated provider: set TURNPIKE_PROVIDER_URL to the address of a real one.',
  );
}

/** Refuses to start production while routes lead to a simulator; `turnpike routes` changes them without a gateway. */
export async function refuseSimulatedRoutes(gateway: Gateway): Promise<void> {
  if (gateway.environment !== 'production') return;
  const { connectionStore } = gateway;
  for (const { connectionId } of await simulatedAmong(gateway, await connectionStore.list(null))) {
    const [mid] = await connectionStore.accountsWith(connectionId);
    if (mid === undefined) continue;
    throw new StartupError(
      `Production refuses a simulated provider: the account ${mid} has a route to the connection ${connectionId}, which is one. Change the routes: \`turnpike routes ${mid} set\`.`,
    );
  }
}

/** Runs the provider simulator as a child process while the gateway runs, and restarts it when it dies. */
async function startSimulatorProcess(config: Config, masterKey: string, log: Log): Promise<ProviderHandle> {
  const seal = createSeal(masterKey);
  const key = seal.derive('provider key').toString('hex');
  const notificationSecret = seal.derive('provider news').toString('base64');
  const file = join(config.dataDir, 'sandbox.db');
  await mkdir(config.dataDir, { recursive: true }).catch(() => undefined);
  let isStopping = false;

  const start = (port: string) => {
    // Detached from the terminal's signals: the simulator must run until the gateway has finished its last request.
    const child = fork(PROGRAM, {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        SIMULATOR_HOST: config.host,
        SIMULATOR_PORT: port,
        SIMULATOR_PUBLIC_URL: config.sandboxUrl,
        SIMULATOR_FILE: file,
        SIMULATOR_KEY: key,
        SIMULATOR_NOTIFICATION_SECRET: notificationSecret,
        NODE_COMPILE_CACHE: getCompileCacheDir(),
      },
    });
    const url = Promise.race([
      once(child, 'message').then(([message]) => (message as { url: string }).url),
      once(child, 'exit').then(() => undefined),
    ]);
    return { child, url };
  };

  const usualPort = config.sandboxPort || (config.port === 0 ? '0' : String(config.port + 1));
  let { child, url: started } = start(usualPort);
  const url = await started;
  if (url === undefined) {
    throw new StartupError(
      `The provider simulator did not start: see its error output, and check that ${file} is writable.`,
    );
  }
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      log.error({ code, signal }, 'the provider simulator died and is started again');
      setTimeout(() => {
        if (isStopping) return;
        ({ child, url: started } = start(new URL(url).port));
        watch();
      }, RESTART_MS).unref();
    });
  };
  watch();
  return {
    provider: { url, key, notificationSecret },
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
