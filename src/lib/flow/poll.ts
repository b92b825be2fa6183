/** Reads a value again and again, with growing pauses, until it is as wanted or the time is over. */
import { setTimeout as pause } from 'node:timers/promises';

export interface PollOptions {
  mostMs: number;
  firstPauseMs?: number;
  longestPauseMs?: number;
}

/** Begins with a value that is known already; returns the first one that is as wanted, or else the last one read. */
export async function pollUntil<Value>(
  known: Value,
  read: (last: Value) => Promise<Value>,
  isWanted: (value: Value) => boolean,
  { mostMs, firstPauseMs = 5, longestPauseMs = 100 }: PollOptions,
): Promise<Value> {
  const until = performance.now() + mostMs;
  let value = known;
  for (let ms = firstPauseMs; !isWanted(value) && performance.now() < until; ms = Math.min(ms * 2, longestPauseMs)) {
    await pause(ms);
    value = await read(value);
  }
  return value;
}
