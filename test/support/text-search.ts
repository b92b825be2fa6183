/** Searches a text for many others at once, whatever their case, without looking at most of its characters. */

export interface TextSearch {
  add(sought: string): void;
  /** Those of the sought texts that this text contains. */
  foundIn(text: string): string[];
}

const BLOCK = 3;
const HASHES = 2 ** 14;

const hashAt = (text: string, at: number): number => {
  const [a, b, c] = [text.charCodeAt(at) | 32, text.charCodeAt(at + 1) | 32, text.charCodeAt(at + 2) | 32];
  return ((a * 31 + b) * 31 + c) % HASHES;
};

/**
 * The algorithm of Wu and Manber. A window of `least` characters, the length of the shortest sought text, moves over the
 * text; its last characters tell how far it can move without missing the beginning of a sought one.
 */
export function textSearch(sought: readonly string[], least = 12): TextSearch {
  const steps = new Uint8Array(HASHES).fill(least - BLOCK + 1);
  const candidates = new Map<number, Set<string>>();
  const add = (each: string): void => {
    if (each.length < least) throw new Error(`A text of ${each.length} characters is too short to be sought.`);
    const last = least - BLOCK;
    for (let at = 0; at <= last; at++) {
      const hash = hashAt(each, at);
      steps[hash] = Math.min(steps[hash] as number, last - at);
    }
    const hash = hashAt(each, last);
    candidates.set(hash, (candidates.get(hash) ?? new Set()).add(each));
  };
  for (const each of sought) add(each);
  return {
    add,
    foundIn(text) {
      const found = new Set<string>();
      for (let at = 0; at <= text.length - least; ) {
        const hash = hashAt(text, at + least - BLOCK);
        const step = steps[hash] as number;
        at += step;
        if (step > 0) continue;
        for (const each of candidates.get(hash) ?? []) {
          if (text.slice(at, at + each.length).toLowerCase() === each.toLowerCase()) found.add(each);
        }
        at++;
      }
      return [...found];
    },
  };
}
