/** Spreads calls: at most so many per second, with a burst of one second after a pause. */

export interface Pacer {
  /** Takes the next place; returns how long to wait for it, in milliseconds. */
  take(now: number): number;
}

export function createPacer(perSecond: number): Pacer {
  const intervalMs = 1000 / perSecond;
  let nextAt = 0;
  return {
    take(now) {
      const at = Math.max(nextAt, now - 1000 + intervalMs);
      nextAt = at + intervalMs;
      return Math.max(0, at - now);
    },
  };
}
