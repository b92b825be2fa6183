/** Loaded into the gateway process: answers the message `memory` with the memory in use after a garbage collection. */

// One ordinary collection leaves what only its finalisers release: 14 MB more, in one run.
const WHOLE = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;

process.on('message', (message) => {
  if (message !== 'memory') return;
  globalThis.gc?.(WHOLE);
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
