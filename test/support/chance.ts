/** Seeded random generators: the same seed makes the same choices. */

/** Returns numbers from 0 to 1. */
export type Random = () => number;

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Chance {
  oneIn(probability: number): boolean;
  /** A whole number from 1 to `most`. */
  upTo(most: number): number;
  between(least: number, most: number): number;
  of<Item>(items: readonly Item[]): Item;
}

export function chanceFrom(seed: number): Chance {
  const next = seeded(seed);
  return {
    oneIn: (probability) => next() < probability,
    upTo: (most) => 1 + Math.floor(next() * most),
    between: (least, most) => least + next() * (most - least),
    of: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
  };
}
