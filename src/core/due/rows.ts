/** Claims due rows of one kind of work: usually those that fell due lately, and by a sweep from time to time all of them. */
import { LIMITS } from '../../rules/limits.ts';

/** The part of a store that finds due rows. */
export interface DueStore<Row> {
  dueConnectors(): Promise<string[]>;
  claimDue(connector: string, most: number, sinceMs?: number): Promise<Row[]>;
}

export interface DueRows<Row> {
  /** The connectors that may have due rows; `isSweep` makes the next claim of each read all of them. */
  connectors(isSweep: boolean): Promise<string[]>;
  claim(connector: string, most: number): Promise<Row[]>;
}

/** How far this process has read the rows of a connector; a sweep replaces it. */
interface Progress {
  /** When the last claim began that reached the present. */
  completeAt: number;
  /** In how many sweeps, one after another, the connector had no due rows. */
  missed: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/** Whether it is time to read all due rows again: after a while, or because the clock was set. */
export const isSweepTime = (sweptAt: number, now: number): boolean => Math.abs(now - sweptAt) >= LIMITS.dueSweepMs;

/**
 * A claim that returns fewer rows than it asked for has read all rows that were due. Rows that fall due afterwards have a
 * later `due_at`, so the next claim begins where that one ended, with an overlap for statements that were being committed.
 * Rows that were locked or busy meanwhile, or whose `due_at` was set to the past, are found by the next sweep. Reading all
 * rows each time would read the index entries of all rows that were due since the last vacuum, which are more in a large
 * table. `now` is the clock by which rows fall due; in a sandbox it can be set forward.
 */
export function createDueRows<Row>(store: DueStore<Row>, now: () => number): DueRows<Row> {
  const known = new Map<string, Progress>();
  let sweptAt = NEVER;
  return {
    async connectors(isSweep) {
      const began = now();
      if (isSweep || isSweepTime(sweptAt, began)) {
        const found = new Set(await store.dueConnectors());
        // A connector whose rows have all been processed will probably have others before the next sweep.
        for (const [connector, progress] of known) {
          if (!found.has(connector) && ++progress.missed > LIMITS.dueSweepsMissed) known.delete(connector);
        }
        for (const connector of found) known.set(connector, { completeAt: NEVER, missed: 0 });
        sweptAt = began;
      }
      return [...known.keys()];
    },
    async claim(connector, most) {
      const began = now();
      const progress = known.get(connector) ?? { completeAt: NEVER, missed: 0 };
      const { completeAt } = progress;
      const sinceMs = completeAt === NEVER ? undefined : Math.max(0, began - completeAt) + LIMITS.dueOverlapMs;
      const rows = await store.claimDue(connector, most, sinceMs);
      if (rows.length < most) progress.completeAt = began;
      return rows;
    },
  };
}
