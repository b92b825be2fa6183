/** The terms of a search, by their hash. */

/*
 * Rows are placed in blocks, and the blocks in segments. When a segment is full, bits are stored that say for each hash in
 * which blocks it occurs: a search reads the bits of its terms, and then only the rows of the blocks that have all of them.
 */

/** How many rows a block has, and how many blocks a segment. */
export const BLOCK_ROWS = 64;
export const SEGMENT_BLOCKS = 256;
export const SEGMENT_ROWS = BLOCK_ROWS * SEGMENT_BLOCKS;

/** The number of hashes, and the bytes of one: a bit for each block. */
const HASHES = 2 ** 16;
export const HASH_BYTES = SEGMENT_BLOCKS / 8;
/** A chunk has the bits of so many hashes. */
const CHUNK_HASHES = 32;
export const CHUNK_BYTES = CHUNK_HASHES * HASH_BYTES;
export const CHUNKS = HASHES / CHUNK_HASHES;

export const chunkOf = (hash: number): number => Math.floor(hash / CHUNK_HASHES);
/** Where the bits of a hash begin in its chunk. */
export const offsetOf = (hash: number): number => (hash % CHUNK_HASHES) * HASH_BYTES;

const FACTOR = 0x9e3779b1;

/** Spreads the bits of a hash: its lower and its upper half are two hashes. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

const lower = (hash: number): number => hash & (HASHES - 1);
const upper = (hash: number): number => hash >>> 16;

const three = (a: number, b: number, c: number): number =>
  spread(Math.imul(Math.imul(Math.imul(a, FACTOR) ^ b, FACTOR) ^ c, FACTOR));
const four = (a: number, b: number, c: number, d: number): number =>
  spread(Math.imul(Math.imul(Math.imul(Math.imul(a, FACTOR) ^ b, FACTOR) ^ c, FACTOR) ^ d, FACTOR));

const LINE_END = 10;

/** Calls back with the hashes of all parts of a text with three and four characters, none of which spans two lines. */
function eachPart(text: string, found: (hash: number) => void): void {
  let [a, b, c, length] = [0, 0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const d = text.charCodeAt(index);
    length = d === LINE_END ? 0 : length + 1;
    if (length >= 3) {
      // Two hashes: a word of three characters has no other part.
      const hash = three(b, c, d);
      found(lower(hash));
      found(upper(hash));
    }
    if (length >= 4) found(lower(four(a, b, c, d)));
    [a, b, c] = [b, c, d];
  }
}

/** The hashes of a value of a filter, such as `brand=card`. */
export function valueHashes(value: string): number[] {
  let hash = 0x2545f491;
  for (let index = 0; index < value.length; index++) hash = Math.imul(hash ^ value.charCodeAt(index), FACTOR);
  hash = spread(hash);
  return [lower(hash), upper(hash)];
}

/** All hashes of a row. */
export function hashesOf(text: string, terms: string): Set<number> {
  const hashes = new Set(terms.split('\n').flatMap(valueHashes));
  eachPart(text, (hash) => hashes.add(hash));
  return hashes;
}

/** How many parts of a word are looked up: more would hardly exclude more blocks. */
const PARTS_MOST = 6;

/** Starts of parts, spread over the word from its first part to its last one. */
function starts(word: string, length: number): number[] {
  const last = word.length - length;
  const count = Math.min(PARTS_MOST, last + 1);
  return Array.from({ length: Math.max(0, count) }, (_, n) => (count === 1 ? 0 : Math.round((n * last) / (count - 1))));
}

/** The hashes that every block with this word has; none for a word that is too short. */
export function wordHashes(word: string): number[] {
  const at = (index: number): number => word.charCodeAt(index);
  const fours = starts(word, 4).map((n) => lower(four(at(n), at(n + 1), at(n + 2), at(n + 3))));
  if (fours.length >= 3) return fours;
  const threes = starts(word, 3).map((n) => three(at(n), at(n + 1), at(n + 2)));
  return [...fours, ...threes.flatMap((hash) => [lower(hash), upper(hash)])];
}

/** The bits of a segment, as they are stored. */
export interface SegmentBits {
  add(block: number, texts: string, values: Iterable<string>): void;
  /** All chunks in their order. */
  bytes: Buffer;
}

export function segmentBits(): SegmentBits {
  const bytes = Buffer.alloc(CHUNKS * CHUNK_BYTES);
  // Set for one block at a time, because this fits into the cache of the processor, and the bits of a segment do not.
  const ofBlock = new Uint8Array(HASHES);
  return {
    bytes,
    add(block, texts, values) {
      ofBlock.fill(0);
      const set = (hash: number): void => {
        ofBlock[hash] = 1;
      };
      eachPart(texts, set);
      for (const value of values) valueHashes(value).forEach(set);
      const [place, bit] = [block >> 3, 1 << (block & 7)];
      for (let hash = 0; hash < HASHES; hash++) {
        if (ofBlock[hash] === 1) (bytes[hash * HASH_BYTES + place] as number) |= bit;
      }
    },
  };
}
