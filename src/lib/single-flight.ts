/** Runs a task in rounds, one round at a time: a request during a run is served by the run's next round. */
import { setTimeout as pause } from 'node:timers/promises';

export interface SingleFlight {
  /** Starts a run and resolves when it ends; during a run, only asks it for a further round and resolves at once. */
  request(): Promise<void>;
  readonly isRunning: boolean;
}

/**
 * A run ends after a round that returns false, unless another round was requested. Each round learns whether it was
 * requested or only continues the previous one. An error in a round ends the run and rejects the request that started it.
 * Requests made during the pause between two rounds share the next round.
 */
export function createSingleFlight(
  round: (isRequested: boolean) => Promise<boolean>,
  { pauseMs }: { pauseMs: number },
): SingleFlight {
  let isRunning = false;
  let isRequested = false;

  async function runRound(): Promise<boolean> {
    const wasRequested = isRequested;
    isRequested = false;
    return (await round(wasRequested)) || isRequested;
  }

  return {
    async request() {
      isRequested = true;
      if (isRunning) return;
      isRunning = true;
      try {
        while (await runRound()) await pause(pauseMs);
      } finally {
        isRunning = false;
      }
    },
    get isRunning() {
      return isRunning;
    },
  };
}
