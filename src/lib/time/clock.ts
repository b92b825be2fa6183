/** The gateway's clock: the database's time, which all processes share, plus the offsets of the sandbox clock. */

/** A reading of the reference clock in milliseconds since 1970, and the monotonic times before and after it. */
export interface ClockReading {
  at: number;
  before: number;
  after: number;
}

export interface Clock {
  /** Milliseconds since 1970, with the offset of this account. */
  now(mid?: string): number;
  /** The database's time, without offsets. */
  real(): number;
  /** How far the clock of this account, or the global clock, is ahead of real time. */
  offset(mid?: string): number;
  /** Whether this process received a change of the sandbox clock in the last `ms` milliseconds. */
  wasMovedWithin(ms: number): boolean;
  /**
   * Sets the offsets to those in the store. `readAt` is the monotonic time at which their read began: the offsets of a read
   * that began before the last one are ignored, because they may have changed in between.
   */
  set(offsets: { global: number; accounts: ReadonlyMap<string, number> }, readAt?: number): void;
  /** Synchronises with a reading of the reference clock, unless an earlier reading is still more exact. */
  synchronise(reading: ClockReading): void;
}

/** The maximum drift between two clocks, as a share of the time since they were compared. */
const DRIFT = 1e-4;

/**
 * Until the first reading, the time of this machine. It counts in monotonic time, so that a step of the machine's clock
 * has no effect. It is never behind the reference clock: a row that is due for the database is also due here. A more
 * exact reading does not set it back, so that what was due at once stays due; it stands still until the time it showed.
 */
export function createClock(): Clock {
  let global = 0;
  let accounts: ReadonlyMap<string, number> = new Map();
  let origin = Date.now() - performance.now();
  let movedAt = Number.NEGATIVE_INFINITY;
  let offsetsReadAt = Number.NEGATIVE_INFINITY;
  let reading = { after: 0, uncertainty: Number.POSITIVE_INFINITY };
  let latest = Number.NEGATIVE_INFINITY;
  const offset = (mid?: string): number => global + (mid === undefined ? 0 : (accounts.get(mid) ?? 0));
  const real = (): number => {
    latest = Math.max(latest, Math.floor(origin + performance.now()));
    return latest;
  };
  return {
    now: (mid) => real() + offset(mid),
    real,
    offset,
    wasMovedWithin: (ms) => performance.now() - movedAt < ms,
    set(offsets, readAt = performance.now()) {
      if (readAt < offsetsReadAt) return;
      offsetsReadAt = readAt;
      const isSame = ([mid, ms]: [string, number]): boolean => accounts.get(mid) === ms;
      if (offsets.global !== global || ![...offsets.accounts].every(isSame)) movedAt = performance.now();
      global = offsets.global;
      accounts = offsets.accounts;
    },
    synchronise({ at, before, after }) {
      const uncertainty = after - before;
      // Time has stood still: nothing can be concluded from the reading.
      if (uncertainty <= 0) return;
      const margin = reading.uncertainty + (after - reading.after) * DRIFT;
      if (uncertainty > margin) return;
      // Only the first reading, or a step of the reference clock, corrects more than both readings are inexact.
      const isStep = !Number.isFinite(margin) || origin - (at - before) > margin + uncertainty;
      if (isStep) latest = Number.NEGATIVE_INFINITY;
      origin = at - before;
      reading = { after, uncertainty };
    },
  };
}

let lastSecond = Number.NaN;
let lastDate = '';

/** The date format of the API: `2026-01-31 23:59:59`, UTC. The last one is kept: most dates are those of this second. */
export function wireDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastDate = new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
    lastSecond = second;
  }
  return lastDate;
}
export const wireDateOrNull = (ms: number | null): string | null => (ms === null ? null : wireDate(ms));
