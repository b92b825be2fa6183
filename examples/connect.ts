/** Connects an example to the gateway that the environment names, or to a sandbox that it starts for itself. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Turnpike } from '@turnpike-pay/client';
import { PORT } from './web.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Account {
  client_key: string;
  merchant_key: string;
  password: string;
  callback_secret: string;
}

interface Options {
  /** Settings of the account that is created. */
  settings?: object;
  /** Prints the command that advances the clock of the sandbox. */
  hasClock?: boolean;
}

/** The keys of an account are in `TURNPIKE_CLIENT_KEY`, `TURNPIKE_MERCHANT_KEY`, `TURNPIKE_PASSWORD` and so on. */
export async function connect(name: string, options: Options = {}): Promise<Turnpike> {
  const { TURNPIKE_URL } = process.env;
  const [url, account] = TURNPIKE_URL ? [TURNPIKE_URL, accountOfEnvironment()] : await startSandbox(name, options);
  return new Turnpike({
    url,
    clientKey: account.client_key,
    merchantKey: account.merchant_key,
    password: account.password,
    callbackSecret: account.callback_secret,
  });
}

function accountOfEnvironment(): Account {
  const read = (variable: string): string => {
    const value = process.env[variable];
    if (!value) throw new Error(`Set ${variable}, as the start of the gateway prints it.`);
    return value;
  };
  return {
    client_key: read('TURNPIKE_CLIENT_KEY'),
    merchant_key: read('TURNPIKE_MERCHANT_KEY'),
    password: read('TURNPIKE_PASSWORD'),
    callback_secret: read('TURNPIKE_CALLBACK_SECRET'),
  };
}

/** Starts a gateway with its data in `data/`, and creates an account whose callbacks come to this example. */
async function startSandbox(name: string, { settings, hasClock }: Options): Promise<[url: string, account: Account]> {
  console.log('Starting a sandbox …');
  const token = randomBytes(24).toString('hex');
  const folder = `data/example-${name.toLowerCase().replaceAll(' ', '-')}`;
  const gateway = spawn(process.execPath, ['src/cli/main.ts', 'serve'], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: process.env.DATA_DIR ?? folder, TURNPIKE_ADMIN_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => gateway.kill());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());
  const banner = await new Promise<string>((resolve, reject) => {
    let text = '';
    gateway.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (/^curl .*\n/m.test(text)) resolve(text);
    });
    gateway.once('exit', () => reject(new Error(`The sandbox did not start:\n${text}`)));
  });
  const shown = (line: RegExp): string => line.exec(banner)?.[1] as string;
  const url = shown(/^ {2}Gateway +(\S+)\/post/m);
  const response = await fetch(`${url}/admin/api/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...settings, name, callback_url: `http://127.0.0.1:${PORT}/callback` }),
  });
  console.log(`Payers' banks are simulated at ${shown(/^ {2}Simulator +(\S+)/m)}`);
  if (hasClock) {
    console.log(
      `A month later: curl ${url}/admin/api/clock -H 'Authorization: Bearer ${token}' ` +
        `-H 'Content-Type: application/json' -d '{"advance_seconds": 2678400}'`,
    );
  }
  return [url, (await response.json()) as Account];
}
