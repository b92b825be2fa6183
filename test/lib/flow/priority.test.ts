/** A thread that yields has a lower priority than the others of its process. */
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { yieldToOthers } from '../../../src/lib/flow/priority.ts';

const FILE = new URL('../../../src/lib/flow/priority.ts', import.meta.url).href;

test.runIf(process.platform === 'linux')('a thread yields, and the thread that started it does not', async () => {
  const before = getPriority();
  const worker = new Worker(
    `import(${JSON.stringify(FILE)}).then(({ yieldToOthers }) => {
      yieldToOthers();
      require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority());
    })`,
    { eval: true },
  );
  const [priority] = await once(worker, 'message');
  await worker.terminate();
  expect(priority).toBeGreaterThan(before);
  expect(getPriority()).toBe(before);
});

test('a process that does not exist is no failure', () => {
  expect(() => yieldToOthers(2 ** 30)).not.toThrow();
});
