/** Runs so many calls at a time and lets so many wait; one whose deadline comes first is never begun. */
import type { Deadline } from './deadline.ts';

/** The call was not begun: too many wait, or its turn did not come in time. */
export class NotBegun extends Error {}

export interface Limiter {
  run<Result>(call: () => Promise<Result>, deadline: Deadline): Promise<Result>;
  /** Whether a further call would find no place to wait. */
  readonly isFull: boolean;
}

export function createLimiter(concurrency: number, waitingMost: number): Limiter {
  let running = 0;
  // In the order of their coming; one that gives up leaves its place at once.
  const waiting = new Set<() => void>();

  const release = (): void => {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else running--;
  };

  const turn = (deadline: Deadline): Promise<void> =>
    new Promise((resolve, reject) => {
      if (waiting.size >= waitingMost) return reject(new NotBegun('Too many calls are waiting.'));
      const giveUp = (): void => {
        waiting.delete(take);
        reject(new NotBegun('The turn of the call did not come in time.'));
      };
      const take = (): void => {
        deadline.signal.removeEventListener('abort', giveUp);
        resolve();
      };
      waiting.add(take);
      deadline.signal.addEventListener('abort', giveUp, { once: true });
    });

  return {
    async run(call, deadline) {
      if (running < concurrency) running++;
      else await turn(deadline);
      try {
        if (!deadline.mayBegin) throw new NotBegun('The turn of the call came too late.');
        return await call();
      } finally {
        release();
      }
    },
    get isFull() {
      return waiting.size >= waitingMost;
    },
  };
}
