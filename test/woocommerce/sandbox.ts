/** A gateway with its sandbox in a process of its own, and an account for the shop. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface Account {
  mid: string;
  merchant_key: string;
  password: string;
  callback_secret: string;
}

export interface Sandbox {
  url: string;
  admin<Result = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Result>;
  stop(): Promise<void>;
}

export async function startSandbox(folder: string): Promise<Sandbox> {
  const token = randomBytes(24).toString('hex');
  const env = { ...process.env, PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'warn', TURNPIKE_ADMIN_TOKEN: token };
  const gateway = spawn(process.execPath, ['src/cli/main.ts', 'serve'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => void gateway.kill();
  process.once('exit', kill);
  const banner = await new Promise<string>((resolve, reject) => {
    let text = '';
    gateway.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (/^curl .*\n/m.test(text)) resolve(text);
    });
    gateway.once('exit', () => reject(new Error(`The gateway did not start:\n${text}`)));
  });
  const url = /^ {2}Gateway +(\S+)\/post/m.exec(banner)?.[1] as string;
  return {
    url,
    async admin<Result>(method: string, path: string, body?: unknown) {
      const response = await fetch(`${url}/admin/api${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Result;
    },
    async stop() {
      process.off('exit', kill);
      gateway.kill();
      await once(gateway, 'exit');
    },
  };
}
