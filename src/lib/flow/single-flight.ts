/** Runs a task in rounds, one round at a time: a request during a run is served by the run's next round. */
import { setTimeout as pause } from 'node:timers/promises';

export interface SingleFlight {
  /** Starts a run, or asks the present run for a further round. */
  request(): void;
  readonly isRunning: boolean;
}

export interface SingleFlightOptions {
  /** The pause between two rounds; requests made meanwhile share the next round. */
  pauseMs: number;
  /** Called with the error of a round, which ends the run. */
  onError: (error: unknown) => void;
  /** Called after each run. */
  onEnd: () => void;
}

/**
 * A run ends after a round that returns false, unless another round was requested. Each round learns whether it was
 * requested or only continues the previous one.
 */
export function createSingleFlight(
  round: (isRequested: boolean) => Promise<boolean>,
  { pauseMs, onError, onEnd }: SingleFlightOptions,
): SingleFlight {
  let isRunning = false;
  let isRequested = false;

  async function run(): Promise<void> {
    isRunning = true;
    try {
      for (;;) {
        const wasRequested = isRequested;
        isRequested = false;
        const isMore = await round(wasRequested);
        // Nothing is awaited between this check and the end of the run: a request in between would start no round.
        if (!isMore && !isRequested) break;
        await pause(pauseMs);
      }
    } catch (error) {
      onError(error);
    }
    isRunning = false;
    onEnd();
  }

  return {
    request() {
      isRequested = true;
      if (!isRunning) void run();
    },
    get isRunning() {
      return isRunning;
    },
  };
}
