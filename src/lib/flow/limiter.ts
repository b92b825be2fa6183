/** A concurrency limit with a bounded queue; a call whose deadline passes while it waits is never started. */
import type { Deadline } from '../time/deadline.ts';

/** The call was not started: the queue is full, or the deadline passed while it waited. */
export class NotBegun extends Error {}

export interface Limiter {
  run<Result>(call: () => Promise<Result>, deadline: Deadline): Promise<Result>;
  /** Whether the queue is full. */
  readonly isFull: boolean;
}

export function createLimiter(concurrency: number, waitingMost: number): Limiter {
  let running = 0;
  // First in, first out; a call that times out leaves the queue at once.
  const waiting = new Set<() => void>();

  const release = (): void => {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else running--;
  };

  const waitForSlot = (deadline: Deadline): Promise<void> =>
    new Promise((resolve, reject) => {
      if (waiting.size >= waitingMost) return reject(new NotBegun('Too many calls are waiting.'));
      const timeOut = (): void => {
        waiting.delete(start);
        reject(new NotBegun('The call waited in the queue until its deadline.'));
      };
      const start = (): void => {
        deadline.signal.removeEventListener('abort', timeOut);
        resolve();
      };
      waiting.add(start);
      deadline.signal.addEventListener('abort', timeOut, { once: true });
    });

  return {
    async run(call, deadline) {
      if (running < concurrency) running++;
      else await waitForSlot(deadline);
      try {
        if (!deadline.mayBegin) throw new NotBegun('Too little time was left to start the call.');
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
