/** The provider that the gateway speaks to: the configured one, or in the sandbox the provider simulator. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { ProviderAccess } from '../connectors/index.ts';
import { createSeal } from '../lib/seal.ts';
import { StartupError } from '../lib/startup-error.ts';
import type { Config } from './config.ts';

const PROGRAM = fileURLToPath(new URL('../../simulator/main.ts', import.meta.url));
const RESTART_MS = 1000;
const ABOUT_MS = 5000;

export interface ProviderHandle {
  provider: ProviderAccess | undefined;
  stop(): Promise<void>;
}

const nobody = async (): Promise<void> => undefined;

/** Reaches the provider of this installation, and starts one where the sandbox has none. */
export async function openProvider(config: Config, masterKey: string, log: Logger): Promise<ProviderHandle> {
  if (config.providerUrl !== '') {
    const provider = {
      url: config.providerUrl,
      key: config.providerKey,
      notificationSecret: config.providerNotificationSecret,
    };
    if (config.environment === 'production') await refuseSimulator(provider, log);
    return { provider, stop: nobody };
  }
  return config.environment === 'sandbox'
    ? startSimulatorProcess(config, masterKey, log)
    : { provider: undefined, stop: nobody };
}

/** Money that only seems to move must not pass for money. */
async function refuseSimulator({ url, key }: ProviderAccess, log: Logger): Promise<void> {
  try {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/v1/about`, { headers, signal: AbortSignal.timeout(ABOUT_MS) });
    if (!response.ok) throw new Error(`It answered ${response.status}.`);
    const about = (await response.json()) as { simulator?: unknown };
    if (about.simulator !== true) return;
  } catch (error) {
    return log.warn({ err: error }, 'the provider does not tell about itself');
  }
  throw new StartupError(
    'Production refuses a simulated provider: set TURNPIKE_PROVIDER_URL to the address of a real one.',
  );
}

/** Runs the provider simulator as a process of its own, for as long as the gateway runs. */
async function startSimulatorProcess(config: Config, masterKey: string, log: Logger): Promise<ProviderHandle> {
  const seal = createSeal(masterKey);
  const key = seal.derive('provider key').toString('hex');
  const notificationSecret = seal.derive('provider news').toString('base64');
  const file = join(config.dataDir, 'sandbox.db');
  await mkdir(config.dataDir, { recursive: true }).catch(() => undefined);
  let isStopping = false;

  const start = (port: string) => {
    // Apart from the terminal's signals: the world outside stays until the last request is answered.
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
      `The provider simulator did not start: see what it said, and whether ${file} can be written.`,
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
      const gone = once(child, 'exit');
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}
