/** Altered wallet tokens: a token is refused by name, or it opens to exactly what its wallet sealed. */
import { type OpenedToken, TokenRefused } from '../../src/lib/wallets/opened.ts';
import { copyWith, openA, openB, revealed, type Vector, vectorsA, vectorsB } from '../lib/wallets/vectors.ts';

export type Random = () => number;

/** Mulberry32: the same seed gives the same tokens. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The random numbers of one token: they do not depend on the tokens before it. */
export const seededAt = (seed: number, number: number): Random => seeded(seed ^ Math.imul(number + 1, 0x9e3779b1));

const below = (random: Random, most: number): number => Math.floor(random() * most);
const pick = <Item>(random: Random, items: readonly Item[]): Item => items[below(random, items.length)] as Item;

/** Bytes with one change: a bit, a byte, a piece removed, repeated or taken from elsewhere. */
function alteredBytes(random: Random, bytes: Buffer): Buffer {
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
function altered(random: Random, value: unknown): unknown {
  if (typeof value === 'string') return random() < 0.1 ? pick(random, ODD) : alteredText(random, value);
  if (typeof value !== 'object' || value === null || random() < 0.05) return pick(random, ODD);
  const entries = Object.entries(value);
  if (entries.length === 0 || random() < 0.03) entries.push([`more${below(random, 9)}`, pick(random, ODD)]);
  else {
    const at = below(random, entries.length);
    const [name, member] = entries[at] as [string, unknown];
    if (random() < 0.05) entries.splice(at, 1);
    else entries[at] = [name, altered(random, member)];
  }
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

// One token for each combination of version and form that differs in structure.
const NAMES = ['indefinite lengths', 'definite lengths', 'application data', 'ECv1 with a cryptogram'];
const SEEDS = [...vectorsA, ...vectorsB].filter(({ name }) => [...NAMES, 'ECv2 with a cryptogram'].includes(name));

/** The sealed part of each of them, as its wallet made it. */
const originals = new Map<Vector, Promise<string>>();
const originalOf = (vector: Vector, open: (token: unknown) => Promise<OpenedToken>): Promise<string> => {
  const known = originals.get(vector) ?? open(vector.token).then((opened) => sealedPart(revealed(opened)));
  originals.set(vector, known);
  return known;
};

/** What nothing but the wallet may decide. The card network is in the unsigned part of a token. */
const sealedPart = ({ network: _, validUntil: __, ...rest }: Record<string, unknown>): string => JSON.stringify(rest);

/** The part that the wallet signed, at which most changes are aimed. */
const SIGNED = { a: ['paymentData'], b: ['paymentMethodData', 'tokenizationData', 'token'] };

/** Opens one altered token; returns whether it was accepted. Throws if it opens to something else, or fails otherwise. */
export async function fuzzWalletToken(random: Random): Promise<boolean> {
  const vector = pick(random, SEEDS);
  const [open, path] = vectorsA.includes(vector) ? [openA, SIGNED.a] : [openB, SIGNED.b];
  let token: unknown = vector.token;
  const isSignedPart = random() < 0.95;
  for (let changes = 1 + below(random, 3); changes > 0; changes -= 1) {
    token = isSignedPart ? copyWith(token as object, path, (part) => altered(random, part)) : altered(random, token);
  }
  try {
    const opened = revealed(await open(token));
    if (sealedPart(opened) !== (await originalOf(vector, open))) {
      throw new Error(`An altered token opened to something else: ${JSON.stringify(token)}`);
    }
    return true;
  } catch (error) {
    if (error instanceof TokenRefused) return false;
    throw error;
  }
}
