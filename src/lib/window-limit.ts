/** Counts how often something happens within one stretch of time, by name; with each stretch it begins anew. */

export type WindowLimit = (name: string, now?: number) => boolean;

/** Says whether this time is one too many. Only names of the present stretch are kept, so nobody can fill the memory. */
export function createWindowLimit(most: number, stretchMs: number): WindowLimit {
  const counts = new Map<string, number>();
  let until = 0;
  return (name, now = performance.now()) => {
    if (now >= until) {
      counts.clear();
      until = now + stretchMs;
    }
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count > most;
  };
}
