/** Replaces the timers, the clocks and the random numbers of this thread by those of the scheduler. */
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Scheduler } from './scheduler.ts';

/** When every run starts, in milliseconds since 1970: before the real time, and at the start of a month. */
export const START = Date.UTC(2024, 0, 1);

let scheduler: Scheduler | undefined;
const time = (): number => scheduler?.now ?? 0;

/** The scheduler of the run that begins; the replaced functions use it from now on. */
export function useScheduler(next: Scheduler): void {
  scheduler = next;
}

class Timeout {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  refresh = (): this => this;
  [Symbol.dispose] = (): void => this.cancel();
}

const set = (run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]): Timeout =>
  new Timeout(
    scheduler?.after(scheduler.current, ms, `timer ${Math.round(ms)}`, () => run(...values)) ?? (() => undefined),
  );

/** Only for threads that run nothing else. */
export function installVirtualTime(): void {
  const clear = (timeout: unknown): void => void (timeout instanceof Timeout && timeout.cancel());
  const never = (): Timeout => new Timeout(() => undefined);
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, setInterval: never, clearInterval: clear });
  Object.assign(timersPromises, {
    setTimeout: (ms?: number, value?: unknown) => new Promise((resolve) => set(() => resolve(value), ms)),
  });
  syncBuiltinESMExports();
  Date.now = () => START + Math.floor(time());
  performance.now = time;
  Math.random = () => scheduler?.chance.between(0, 1) ?? 0;
}
