/** The one clock of the gateway; in the sandbox it can be moved forward, for everybody or for one account. */

export interface Clock {
  /** Milliseconds since 1970 as this account sees them. */
  now(mid?: string): number;
  /** How far the clock of this account, or of everybody, runs ahead of real time. */
  offset(mid?: string): number;
  /** The largest offset of an account over the global one; nothing is due that is not due by it. */
  furthestOffset(): number;
  /** How often the offsets were set: as long as it stays the same, the clock was not moved. */
  readings(): number;
  /** Takes over the offsets as they stand in the store. */
  set(offsets: { global: number; accounts: ReadonlyMap<string, number> }): void;
}

export function createClock(): Clock {
  let global = 0;
  let accounts: ReadonlyMap<string, number> = new Map();
  let readings = 0;
  const offset = (mid?: string): number => global + (mid === undefined ? 0 : (accounts.get(mid) ?? 0));
  return {
    now: (mid) => Date.now() + offset(mid),
    offset,
    furthestOffset() {
      let furthest = 0;
      for (const offset of accounts.values()) furthest = Math.max(furthest, offset);
      return furthest;
    },
    readings: () => readings,
    set(offsets) {
      readings++;
      global = offsets.global;
      accounts = offsets.accounts;
    },
  };
}

/** A moment as the wire writes it: `2026-01-31 23:59:59`, UTC. */
export const wireDate = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
export const wireDateOrNull = (ms: number | null): string | null => (ms === null ? null : wireDate(ms));
