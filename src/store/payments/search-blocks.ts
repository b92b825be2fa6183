/** Finds the blocks of the projection that can have what a search looks for, the newest first. */
import { LIMITS } from '../../rules/limits.ts';
import { iso } from '../database/columns.ts';
import type { Reading } from '../projections/read.ts';
import { openPlaces, PLACES, type Places } from './search-projection.ts';
import { BLOCK_ROWS, chunkOf, HASH_BYTES, offsetOf, SEGMENT_BLOCKS, SEGMENT_ROWS } from './search-terms.ts';

/** A block has a term if it has all hashes of one of its alternatives; an alternative without hashes is everywhere. */
export type Term = readonly (readonly number[])[];

interface Segment {
  segment: number;
  lastAt: number;
}

export interface Blocks {
  /** The first places of blocks, or the places of rows that have no bits yet. */
  blocks: number[] | { from: number; below: number };
  readSince: {
    /** When the newest row of what remains was created; undefined if nothing remains. */
    time: number | undefined;
    /** Whether no more blocks follow, because enough was read. */
    isLast: boolean;
  };
}

const SEGMENTS = `
  select segment::float8 as segment, last_at as "lastAt" from payment_search_segments
  where last_at >= $1::timestamptz and first_at <= $2::timestamptz order by last_at desc, segment desc`;

const BITS = `
  select b.segment::float8 as segment, h.ordinal::int as ordinal, substring(b.bits from h.start + 1 for ${HASH_BYTES}) as bits
  from unnest($1::int[], $2::int[]) with ordinality h(chunk, start, ordinal)
  join payment_search_bits b on b.chunk = h.chunk and b.segment = any($3::bigint[])`;

/** The bits of the blocks of each segment that have all terms. */
async function combinedBits(
  client: Reading['client'],
  terms: readonly Term[],
  segments: readonly Segment[],
): Promise<Map<number, Uint8Array>> {
  const hashes = [...new Set(terms.flat(2))];
  const numbers = segments.map(({ segment }) => segment);
  const { rows } = await client.query<{ segment: number; ordinal: number; bits: Buffer }>(BITS, [
    hashes.map(chunkOf),
    hashes.map(offsetOf),
    numbers,
  ]);
  const bits = new Map(numbers.map((segment) => [segment, new Map<number, Buffer>()]));
  for (const row of rows) bits.get(row.segment)?.set(hashes[row.ordinal - 1] as number, row.bits);
  const both = (into: Uint8Array, from: Uint8Array | undefined): void => {
    for (let index = 0; index < HASH_BYTES; index++) into[index] = (into[index] as number) & (from?.[index] ?? 0);
  };
  const all = (): Uint8Array => new Uint8Array(HASH_BYTES).fill(0xff);
  return new Map(
    numbers.map((segment) => {
      const combined = all();
      for (const term of terms) {
        const any = new Uint8Array(HASH_BYTES);
        for (const alternative of term) {
          const one = all();
          for (const hash of alternative) both(one, bits.get(segment)?.get(hash));
          for (let index = 0; index < HASH_BYTES; index++) any[index] = (any[index] as number) | (one[index] as number);
        }
        both(combined, any);
      }
      return [segment, combined];
    }),
  );
}

function blocksOf({ segment }: Segment, bits: Uint8Array): number[] {
  const blocks: number[] = [];
  for (let block = SEGMENT_BLOCKS - 1; block >= 0; block--) {
    if ((bits[block >> 3] as number) & (1 << (block & 7))) blocks.push(segment * SEGMENT_ROWS + block * BLOCK_ROWS);
  }
  return blocks;
}

/** How many segments are looked up at once: few at first, because the newest ones often suffice. */
const SEGMENTS_AT_FIRST = 8;
const GROWTH = 4;

/**
 * Returns the blocks of payments of a time that have all terms, the newest first, in portions. After `searchReadMost` rows
 * no more blocks follow.
 */
export async function* blocksWith(
  client: Reading['client'],
  terms: readonly Term[],
  { from = 0, until }: { from?: number | undefined; until: number },
): AsyncGenerator<Blocks, void> {
  const { rows: places } = await client.query<Places>(PLACES);
  const range = [iso(from), Number.isFinite(until) ? iso(until) : 'infinity'];
  const { rows: segments } = await client.query<Segment>(SEGMENTS, range);
  yield {
    blocks: openPlaces(places[0] as Places),
    readSince: { time: segments[0]?.lastAt, isLast: segments.length === 0 },
  };
  const most = LIMITS.searchReadMost / BLOCK_ROWS;
  let [taken, portion]: [number, number[]] = [0, []];
  for (let start = 0, size = SEGMENTS_AT_FIRST; start < segments.length; start += size, size *= GROWTH) {
    const looked = segments.slice(start, start + size);
    const bits = await combinedBits(client, terms, looked);
    for (const [index, segment] of looked.entries()) {
      portion.push(...blocksOf(segment, bits.get(segment.segment) as Uint8Array));
      const next = segments[start + index + 1];
      if (portion.length < SEGMENT_BLOCKS && next) continue;
      // What the previous page has read as well does not count, so that every page gets further.
      if (segment.lastAt < until) taken += portion.length;
      const isLast = taken >= most || !next;
      yield { blocks: portion, readSince: { time: next?.lastAt, isLast } };
      if (isLast) return;
      portion = [];
    }
  }
}
