/** How long new work would wait in this process at the moment: in queues, and for the event loop. */

export interface WaitGauge {
  /** Adds a queue; the function returns how long a new item would wait there. */
  watch(expectedMs: () => number): void;
  /** The longest of the waiting times. */
  waitMs(): number;
  close(): void;
}

/** Between two measurements of the event loop. */
const TICK_MS = 100;
/** A single late measurement, as after a pause of the machine, is no overload. */
const TICKS_LATE = 3;

export function createWaitGauge(): WaitGauge {
  const queues: (() => number)[] = [];
  const late = Array<number>(TICKS_LATE).fill(0);
  let expectedAt = performance.now() + TICK_MS;
  // After a blocked loop, timers run before the requests that arrived meanwhile.
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(now - expectedAt);
    late.shift();
    expectedAt = now + TICK_MS;
  }, TICK_MS).unref();
  return {
    watch: (expectedMs) => void queues.push(expectedMs),
    waitMs: () => queues.reduce((longest, expectedMs) => Math.max(longest, expectedMs()), Math.min(...late)),
    close: () => clearInterval(timer),
  };
}
