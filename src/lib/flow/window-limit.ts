/** Fixed-window rate limits by name. */
import { rateTime } from '../time/rate-time.ts';

/** Counts one event of a name and returns whether it exceeds the limit. */
export type WindowLimit = (name: string, now?: number) => boolean;

/** The counts are dropped at the end of each window, which bounds the memory. */
export function createWindowLimit(most: number, windowMs: number): WindowLimit {
  const counts = new Map<string, number>();
  let until = 0;
  return (name, now = rateTime.now()) => {
    if (now >= until) {
      counts.clear();
      until = now + windowMs;
    }
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count > most;
  };
}
