/** The gateway's clock: the time of the database, which all processes share, moved forward by the sandbox's offsets. */

/** What a reference clock showed, in milliseconds since 1970, and the monotonic times before and after it was read. */
export interface ClockReading {
  at: number;
  before: number;
  after: number;
}

export interface Clock {
  /** Milliseconds since 1970 as this account sees them. */
  now(mid?: string): number;
  /** The time of the database itself, which nobody can move. */
  real(): number;
  /** How far the clock of this account, or of everybody, runs ahead of real time. */
  offset(mid?: string): number;
  /** Whether the sandbox clock was moved in the last so many milliseconds, as far as this process has heard. */
  wasMovedWithin(ms: number): boolean;
  /** Takes over the offsets as they stand in the store. */
  set(offsets: { global: number; accounts: ReadonlyMap<string, number> }): void;
  /** Follows the reference clock from this reading on, unless an earlier reading is still more exact. */
  synchronise(reading: ClockReading): void;
}

/** Two clocks drift apart by less than this share of the time since they were compared. */
const DRIFT = 1e-4;

/**
 * Until the first reading it shows the time of this machine. It counts in monotonic time, so that a step of the machine's
 * clock changes nothing, and it is never behind the reference clock: what the database considers due is due here, too.
 */
export function createClock(): Clock {
  let global = 0;
  let accounts: ReadonlyMap<string, number> = new Map();
  let origin = Date.now() - performance.now();
  let movedAt = Number.NEGATIVE_INFINITY;
  let reading = { after: Number.NEGATIVE_INFINITY, uncertainty: Number.POSITIVE_INFINITY };
  const offset = (mid?: string): number => global + (mid === undefined ? 0 : (accounts.get(mid) ?? 0));
  const real = (): number => Math.floor(origin + performance.now());
  return {
    now: (mid) => real() + offset(mid),
    real,
    offset,
    wasMovedWithin: (ms) => performance.now() - movedAt < ms,
    set(offsets) {
      const isSame = ([mid, ms]: [string, number]): boolean => accounts.get(mid) === ms;
      if (offsets.global !== global || ![...offsets.accounts].every(isSame)) movedAt = performance.now();
      global = offsets.global;
      accounts = offsets.accounts;
    },
    synchronise({ at, before, after }) {
      const uncertainty = after - before;
      if (uncertainty > reading.uncertainty + (after - reading.after) * DRIFT) return;
      origin = at - before;
      reading = { after, uncertainty };
    },
  };
}

/** A moment as the wire writes it: `2026-01-31 23:59:59`, UTC. */
export const wireDate = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
export const wireDateOrNull = (ms: number | null): string | null => (ms === null ? null : wireDate(ms));
