/** Claims due rows of one kind of work: usually those that fell due lately, and by a sweep from time to time all of them. */
import { LIMITS } from '../rules/limits.ts';

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

/** What this process knows about the rows of a connector; a sweep replaces it. */
interface Progress {
  /** When the last claim began that reached the present. */
  completeAt: number;
  /** In how many sweeps, one after another, the connector had no due rows. */
  missed: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A claim that returns fewer rows than it asked for has read all rows that were due. Rows that fall due afterwards have a
 * later `due_at`, so the next claim begins where that one ended, with an overlap for statements that were being committed.
 * Rows that were locked or busy meanwhile, or whose `due_at` was set to the past, are found by the next sweep. Reading all
 * rows each time would read the index entries of all rows that were due since the last vacuum, which are more in a large
 * table.
 */
export function createDueRows<Row>(store: DueStore<Row>): DueRows<Row> {
  const known = new Map<string, Progress>();
  let sweptAt = NEVER;
  return {
    async connectors(isSweep) {
      const now = performance.now();
      if (isSweep || now - sweptAt >= LIMITS.dueSweepMs) {
        const found = new Set(await store.dueConnectors());
        // A connector whose rows have all been processed will probably have others before the next sweep.
        for (const [connector, progress] of known) {
          if (!found.has(connector) && ++progress.missed > LIMITS.dueSweepsMissed) known.delete(connector);
        }
        for (const connector of found) known.set(connector, { completeAt: NEVER, missed: 0 });
        sweptAt = now;
      }
      return [...known.keys()];
    },
    async claim(connector, most) {
      const began = performance.now();
      const progress = known.get(connector) ?? { completeAt: NEVER, missed: 0 };
      const sinceMs = progress.completeAt === NEVER ? undefined : began - progress.completeAt + LIMITS.dueOverlapMs;
      const rows = await store.claimDue(connector, most, sinceMs);
      if (rows.length < most) progress.completeAt = began;
      return rows;
    },
  };
}
