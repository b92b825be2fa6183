/** The command line of the simulator: how it reports its address, and that it stops with its parent process. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '..', '..', 'simulator', 'main.ts');
const ENVIRONMENT = { SIMULATOR_PORT: '0', SIMULATOR_KEY: 'key', SIMULATOR_NOTIFICATION_SECRET: 'c2VjcmV0' };

const start = (environment: Record<string, string> = {}) =>
  fork(PROGRAM, { env: { ...ENVIRONMENT, ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });

test('sends its address to the parent process, prints nothing, and stops when the parent disconnects', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const taken = (other.address() as { port: number }).port;
  const child = start({ SIMULATOR_PORT: String(taken) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  expect(new URL(url).port, 'a port that is taken is replaced by a free one').not.toBe(String(taken));
  const about = await fetch(`${url}/v1/about`, { headers: { authorization: 'Bearer key' } });
  expect(await about.json()).toEqual({ name: 'Turnpike sandbox', simulator: true });
  child.disconnect();
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(output).toBe('');
  other.close();
});

test.each(['SIGINT', 'SIGTERM'] as const)('without a parent it prints one line, and stops on %s', async (signal) => {
  const child = spawn(process.execPath, [PROGRAM], { env: ENVIRONMENT });
  let output = '';
  child.stderr.on('data', (text) => (output += text));
  const [line] = await once(child.stdout, 'data');
  expect(String(line)).toMatch(/^The provider simulator is at http:\/\/127\.0\.0\.1:\d+\n$/);
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(output).toBe('');
});

test('does not start without its key', async () => {
  const child = start({ SIMULATOR_KEY: '' });
  let output = '';
  child.stderr?.on('data', (text) => (output += text));
  expect((await once(child, 'close'))[0]).toBe(1);
  expect(output).toBe('Set SIMULATOR_KEY to the value that the gateway uses.\n');
});
