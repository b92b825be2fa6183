/** Loaded into the gateway process: answers the message `memory` with the memory in use after a garbage collection. */
process.on('message', (message) => {
  if (message !== 'memory') return;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
