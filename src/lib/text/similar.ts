/** Finds the known name that a misspelt one probably stands for. */

/** A name without its case and its separators: `orderNumber`, `order_number` and `order.number` are the same. */
const bare = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '');

const LENGTH_MOST = 64;

/** The number of letters to add, remove, replace or swap with their neighbour. */
export function editDistance(one: string, other: string): number {
  let [twoBack, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      line[at] = Math.min(
        (last[at] as number) + 1,
        (line[at - 1] as number) + 1,
        (last[at - 1] as number) + (isSame ? 0 : 1),
        ...(isSwapped ? [(twoBack[at - 2] as number) + 1] : []),
      );
    }
    [twoBack, last] = [last, line];
  }
  return last[other.length] as number;
}

/** How far a name is from a known one; undefined if it is another name. */
function distanceOf(sent: string, known: string): number | undefined {
  const [one, other] = [bare(sent), bare(known)];
  if (one.length < 2 || one.length > LENGTH_MOST) return undefined;
  if (one === other) return 0;
  // Short names are close to each other by chance.
  const most = other.length <= 5 ? 1 : 2;
  const distance = Math.abs(one.length - other.length) <= most ? editDistance(one, other) : Number.POSITIVE_INFINITY;
  if (distance <= most) return distance;
  const lastPart = known.split(/[^A-Za-z\d]+/).findLast((part) => part !== '') ?? '';
  return one.length >= 4 && one === lastPart.toLowerCase() ? 3 : undefined;
}

/** The most similar of the known names; undefined if none is similar. */
export function mostSimilar(sent: string, known: Iterable<string>): string | undefined {
  if (sent.length > LENGTH_MOST) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = distanceOf(sent, name);
    if (distance !== undefined && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}
