/** The face of time: again and again does what is due, until it is stopped. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from '../core/context.ts';
import { drainDueWork, startDueWork } from '../core/due.ts';
import { LIMITS } from '../rules/limits.ts';

export interface WorkLoop {
  /** Ends after the round that is under way. */
  stop(): Promise<void>;
}

export function startWorkLoop(gateway: Gateway): WorkLoop {
  const stopping = new AbortController();
  gateway.deliverer.start();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      try {
        // Callbacks have a pace of their own: a slow receiver keeps nothing else from happening.
        gateway.deliverer.wake();
        await startDueWork(gateway, () => stopping.signal.aborted);
      } catch (error) {
        gateway.log.warn({ err: error }, 'work loop could not do what is due');
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
