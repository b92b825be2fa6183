/** Random choices from a seed, and the changes that every fuzz test makes. */
import { type Random, seeded } from '../support/chance.ts';

/** The random numbers of one token or request: they do not depend on those before it. */
export const seededAt = (seed: number, number: number): Random => seeded(seed ^ Math.imul(number + 1, 0x9e3779b1));

/** The random numbers of the parts of a request: a part that takes more of them than in another run shifts no other. */
export const streamsAt = (seed: number, number: number): Record<'draft' | 'changes' | 'frame', Random> => ({
  draft: seededAt(seed, number),
  changes: seededAt(seed ^ 0x5bd1e995, number),
  frame: seededAt(seed ^ 0x27d4eb2f, number),
});

/** Random numbers for one value: however many it takes, the others stay the same. */
export const fork = (random: Random): Random => seeded(Math.floor(random() * 2 ** 32));

export const below = (random: Random, most: number): number => Math.floor(random() * most);
export const pick = <Item>(random: Random, items: readonly Item[]): Item => items[below(random, items.length)] as Item;

/** Bytes with one change: a bit, a byte, a piece removed, repeated or taken from elsewhere. */
export function alteredBytes(random: Random, bytes: Buffer): Buffer {
  const at = below(random, bytes.length + 1);
  const length = 1 + below(random, 16);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (below(random, 6)) {
    case 0: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = (copy[at] as number) ^ (1 << below(random, 8));
      return copy;
    }
    case 1:
      return Buffer.concat([before, Buffer.of(below(random, 256)), after.subarray(1)]);
    case 2:
      return Buffer.concat([before, after.subarray(length)]);
    case 3:
      return Buffer.concat([before, after.subarray(0, length), after]);
    case 4:
      return before;
    default:
      return Buffer.concat([before, bytes.subarray(below(random, bytes.length + 1)).subarray(0, length), after]);
  }
}

const ODD: readonly unknown[] = [
  ...[null, true, 0, -1, 1e308, '', ' ', '\0', '\ud800', '=', '{}', '[]', 'null', [], {}, [[]]],
  ...[{ toString: 1 }, '__proto__', 'EC_v1', 'ECv1', 'ECv2', 'A'.repeat(5000), '30'.repeat(2000)],
  Buffer.from('3080'.repeat(2000), 'hex').toString('base64'),
];

/** A value that a field rarely has; a new one each time, because requests are changed further. */
export const oddValue = (random: Random): unknown => structuredClone(pick(random, ODD));

function parsed(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A text with one change; encoded bytes are changed as bytes, and JSON inside a text as JSON. */
function alteredText(random: Random, text: string): unknown {
  const json = random() < 0.8 ? parsed(text) : undefined;
  if (json) return JSON.stringify(altered(random, json));
  const encoding = /^[0-9a-f]+$/i.test(text) ? 'hex' : 'base64';
  if (Buffer.from(text, encoding).toString(encoding) === text && random() < 0.9) {
    return alteredBytes(random, Buffer.from(text, encoding)).toString(encoding);
  }
  return alteredBytes(random, Buffer.from(text)).toString();
}

/** A copy of a JSON value with one change somewhere. */
export function altered(random: Random, value: unknown): unknown {
  if (typeof value === 'string') return random() < 0.1 ? oddValue(random) : alteredText(random, value);
  if (typeof value !== 'object' || value === null || random() < 0.05) return oddValue(random);
  const entries = Object.entries(value);
  if (entries.length === 0 || random() < 0.03) entries.push([`more${below(random, 9)}`, oddValue(random)]);
  else {
    const at = below(random, entries.length);
    const [name, member] = entries[at] as [string, unknown];
    if (random() < 0.05) entries.splice(at, 1);
    else entries[at] = [name, altered(random, member)];
  }
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
