/** Finds the word that was probably meant by a misspelled one. */

/** The number of letters to insert, remove, replace or swap with their neighbour to get from one word to the other. */
function distance(a: string, b: string): number {
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, n) => n)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + cost,
          isSwap ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}

/** The closest of these words; undefined when none is close, or when the word is too long to be one of them. */
export function similarWord(word: string, words: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  if (typed === '' || typed.length > 40) return undefined;
  const ranked = [...words]
    .map((candidate) => ({ candidate, steps: distance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, steps }) => steps <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.steps - b.steps);
  return ranked[0]?.candidate ?? [...words].find((candidate) => typed.length > 2 && candidate.startsWith(typed));
}
