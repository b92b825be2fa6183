/** The world as a program: how it says where it is, and that it never outlives its parent. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '..', '..', 'simulator', 'main.ts');
const ENVIRONMENT = { SIMULATOR_PORT: '0', SIMULATOR_KEY: 'key', SIMULATOR_NOTIFICATION_SECRET: 'c2VjcmV0' };

const start = (environment: Record<string, string> = {}) =>
  fork(PROGRAM, { env: { ...ENVIRONMENT, ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });

test('it says its address to its parent and nothing to the terminal, and ends when the parent lets go', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const taken = (other.address() as { port: number }).port;
  const child = start({ SIMULATOR_PORT: String(taken) });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  expect(new URL(url).port, 'a port that is taken is replaced by a free one').not.toBe(String(taken));
  const about = await fetch(`${url}/v1/about`, { headers: { authorization: 'Bearer key' } });
  expect(await about.json()).toEqual({ name: 'Turnpike sandbox', simulator: true });
  child.disconnect();
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(said).toBe('');
  other.close();
});

test.each(['SIGINT', 'SIGTERM'] as const)('alone it prints one line, and stops at %s', async (signal) => {
  const child = spawn(process.execPath, [PROGRAM], { env: ENVIRONMENT });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const [line] = await once(child.stdout, 'data');
  expect(String(line)).toMatch(/^The provider simulator is at http:\/\/127\.0\.0\.1:\d+\n$/);
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(said).toBe('');
});

test('without its key it does not start, and says why', async () => {
  const child = start({ SIMULATOR_KEY: '' });
  let said = '';
  child.stderr?.on('data', (text) => (said += text));
  expect((await once(child, 'close'))[0]).toBe(1);
  expect(said).toBe('Set SIMULATOR_KEY: the gateway and the sandbox have to agree on it.\n');
});
