/** Timers that are all cleared when the simulator stops. */

export interface Timers {
  at(moment: number, work: () => void): void;
  stop(): void;
}

export function createTimers(onError: (error: unknown) => void, delayMs = 0): Timers {
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;
  return {
    at(moment, work) {
      if (isStopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          try {
            work();
          } catch (error) {
            onError(error);
          }
        },
        // A timer may fire a millisecond early, before its work is due.
        Math.max(0, moment - Date.now()) + 1 + delayMs,
      );
      timers.add(timer);
    },
    stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
