/** The provider that the gateway speaks to: the configured one, or in the sandbox the simulated outside world. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ProviderAccess } from './connectors/index.ts';
import { StartRefusal } from './lib/refusal.ts';
import { createSeal } from './lib/seal.ts';

const PROGRAM = fileURLToPath(new URL('../sandbox/main.ts', import.meta.url));
const RESTART_MS = 1000;
const ABOUT_MS = 5000;

export interface Outside {
  provider: ProviderAccess | undefined;
  stop(): Promise<void>;
}

const nobody = async (): Promise<void> => undefined;

/** Reaches the provider of this installation, and starts one where the sandbox has none. */
export async function reachOutside(config: Config, masterKey: string, log: Logger): Promise<Outside> {
  if (config.providerUrl !== '') {
    const provider = { url: config.providerUrl, key: config.providerKey, newsSecret: config.providerNewsSecret };
    if (config.environment === 'production') await refuseSimulator(provider, log);
    return { provider, stop: nobody };
  }
  return config.environment === 'sandbox' ? startWorld(config, masterKey, log) : { provider: undefined, stop: nobody };
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
  throw new StartRefusal(
    'Production refuses a simulated provider: set TURNPIKE_PROVIDER_URL to the address of a real one.',
  );
}

/** Runs the simulated world as a process of its own, for as long as the gateway runs. */
async function startWorld(config: Config, masterKey: string, log: Logger): Promise<Outside> {
  const seal = createSeal(masterKey);
  const key = seal.derive('provider key').toString('hex');
  const newsSecret = seal.derive('provider news').toString('base64');
  const file = join(config.dataDir, 'sandbox.db');
  await mkdir(config.dataDir, { recursive: true }).catch(() => undefined);
  let isStopping = false;

  const start = (port: string) => {
    // Apart from the terminal's signals: the world outside stays until the last request is answered.
    const child = fork(PROGRAM, {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        SANDBOX_HOST: config.host,
        SANDBOX_PORT: port,
        SANDBOX_PUBLIC_URL: config.sandboxUrl,
        SANDBOX_FILE: file,
        SANDBOX_KEY: key,
        SANDBOX_NEWS_SECRET: newsSecret,
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
    throw new StartRefusal(
      `The simulated outside world did not start: see what it said, and whether ${file} can be written.`,
    );
  }
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      log.error({ code, signal }, 'the simulated outside world died and is started again');
      setTimeout(() => {
        if (isStopping) return;
        ({ child, url: started } = start(new URL(url).port));
        watch();
      }, RESTART_MS).unref();
    });
  };
  watch();
  return {
    provider: { url, key, newsSecret },
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}
