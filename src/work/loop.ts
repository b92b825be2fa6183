/** The work loop: processes what is due, in rounds, until it is stopped. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from '../core/context.ts';
import { drainDueWork, startDueWork } from '../core/due/due.ts';
import { LIMITS } from '../rules/limits.ts';

export interface WorkLoop {
  /** Waits for the current round to finish. */
  stop(): Promise<void>;
}

export function startWorkLoop(gateway: Gateway): WorkLoop {
  const stopping = new AbortController();
  gateway.deliverer.start();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      try {
        // Callbacks are delivered independently, so that a slow merchant server does not delay other work.
        gateway.deliverer.wake();
        await startDueWork(gateway, () => stopping.signal.aborted);
      } catch (error) {
        gateway.log.warn({ err: error }, 'work loop failed');
      }
      await pause(LIMITS.workPauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await Promise.all([loop, gateway.deliverer.stop()]);
      await drainDueWork(gateway);
    },
  };
}
