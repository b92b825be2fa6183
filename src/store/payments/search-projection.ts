/** The projection that lists and the text search read: gives each payment its place, and stores the bits of full segments. */
import type { Client, Projection } from '../projections/projection.ts';
import {
  READ_COLUMNS,
  type ReadRow,
  readColumns,
  type SearchRow,
  searchRow,
  termsOf,
  termsText,
  writeSearchRows,
} from './search-row.ts';
import {
  BLOCK_ROWS,
  CHUNK_BYTES,
  CHUNKS,
  chunkOf,
  hashesOf,
  offsetOf,
  SEGMENT_BLOCKS,
  SEGMENT_ROWS,
  segmentBits,
} from './search-terms.ts';

export const SEARCH = 'search';

/** The payments of a portion as they are now, if their rows are older, with what is stored of them. */
const changed = (payments: string): string => `
  select ${readColumns('c')}, c."oldOrdinal", c."oldText", c."oldTerms" from (
    select ${READ_COLUMNS}, s.ordinal::float8 as "oldOrdinal", s.text as "oldText", ${termsOf('s')} as "oldTerms"
    from (${payments}) f join payments p using (mid, payment_id)
    left join payment_search s on s.payment_id = p.payment_id and s.mid = p.mid
    where s.ordinal is null or s.history_length < p.history_length
  ) c order by c.created_at, c.payment_id`;

interface ChangedRow extends ReadRow {
  oldOrdinal: number | null;
  oldText: string | null;
  oldTerms: string;
}

/** Where rows are placed. Full segments are contiguous; a backfill, which takes the newest first, goes on below them. */
export interface Places {
  /** The first and the last segment that has bits; null if none has. */
  firstSegment: number | null;
  lastSegment: number | null;
  /** The lowest and the highest place that is taken, and when the payment at the lowest one was created. */
  lowest: number | null;
  lowestAt: number | null;
  highest: number | null;
  isFilling: boolean;
}

export const PLACES = `
  select (select min(segment) from payment_search_segments)::float8 as "firstSegment",
    (select max(segment) from payment_search_segments)::float8 as "lastSegment",
    l.ordinal::float8 as lowest, l.created_at as "lowestAt",
    (select max(ordinal) from payment_search)::float8 as highest,
    exists (select from projections where name = '${SEARCH}' and backfill_before is not null) as "isFilling"
  from (select) one left join (
    select ordinal, created_at from payment_search where ordinal is not null order by ordinal limit 1
  ) l on true`;

/** The first place above the segments with bits, and the first one above all places below them. */
export const openPlaces = ({ firstSegment, lastSegment }: Places): { from: number; below: number } => ({
  from: Math.max((lastSegment ?? -1) + 1, 0) * SEGMENT_ROWS,
  below: Math.min(firstSegment ?? 0, 0) * SEGMENT_ROWS,
});

const placesOf = async (client: Client): Promise<Places> => (await client.query<Places>(PLACES)).rows[0] as Places;

/** Writes the payments of a portion, places those that are new, and adds the terms that a row with bits did not have. */
async function fold(client: Client, payments: string): Promise<void> {
  const { rows } = await client.query<ChangedRow>(changed(payments));
  if (rows.length === 0) return;
  const places = await placesOf(client);
  const open = openPlaces(places);
  const isFormer = ({ createdAt }: ChangedRow): boolean =>
    places.isFilling && places.lowestAt !== null && createdAt < places.lowestAt;
  const unplaced = rows.filter(({ oldOrdinal }) => oldOrdinal === null);
  const above = Math.max((places.highest ?? -1) + 1, open.from);
  const below = Math.min(places.lowest ?? 0, open.below);
  const ordinals = new Map<ChangedRow, number>([
    ...unplaced.filter((row) => !isFormer(row)).map((row, index): [ChangedRow, number] => [row, above + index]),
    ...unplaced
      .filter(isFormer)
      .toReversed()
      .map((row, index): [ChangedRow, number] => [row, below - 1 - index]),
  ]);
  const written = rows.map((row) => searchRow(row, ordinals.get(row) ?? null));
  await writeSearchRows(client, written);
  const added = rows.flatMap(({ oldOrdinal, oldText, oldTerms }, index) => {
    if (oldOrdinal === null || oldOrdinal >= open.from || oldOrdinal < open.below) return [];
    const row = written[index] as SearchRow;
    const former = hashesOf(oldText as string, oldTerms);
    const hashes = [...hashesOf(row.text, termsText(row))].filter((hash) => !former.has(hash));
    return hashes.map((hash) => ({ ordinal: oldOrdinal, hash }));
  });
  if (added.length > 0) await addBits(client, added);
}

/** Sets bits of segments that are stored already. Bits of former terms remain: they only let a search read a block in vain. */
async function addBits(client: Client, added: readonly { ordinal: number; hash: number }[]): Promise<void> {
  const segmentOf = ({ ordinal }: { ordinal: number }): number => Math.floor(ordinal / SEGMENT_ROWS);
  const byChunk = Map.groupBy(added, (one) => `${chunkOf(one.hash)} ${segmentOf(one)}`);
  const firsts = [...byChunk.values()].map(([first]) => first as { ordinal: number; hash: number });
  const { rows } = await client.query<{ chunk: number; segment: number; bits: Buffer }>(
    `select b.chunk, b.segment::float8 as segment, b.bits from unnest($1::int[], $2::bigint[]) c(chunk, segment)
     join payment_search_bits b using (chunk, segment)`,
    [firsts.map(({ hash }) => chunkOf(hash)), firsts.map(segmentOf)],
  );
  for (const { chunk, segment, bits } of rows) {
    for (const { ordinal, hash } of byChunk.get(`${chunk} ${segment}`) ?? []) {
      const block = Math.floor((ordinal - segment * SEGMENT_ROWS) / BLOCK_ROWS);
      const index = offsetOf(hash) + (block >> 3);
      bits[index] = (bits[index] as number) | (1 << (block & 7));
    }
  }
  await client.query(
    `update payment_search_bits b set bits = decode(c.bits, 'hex')
     from unnest($1::int[], $2::bigint[], $3::text[]) c(chunk, segment, bits)
     where b.chunk = c.chunk and b.segment = c.segment and b.bits <> decode(c.bits, 'hex')`,
    [rows.map(({ chunk }) => chunk), rows.map(({ segment }) => segment), rows.map(({ bits }) => bits.toString('hex'))],
  );
}

/** The texts and terms of some blocks of a segment. */
const BLOCKS = `
  select ((ordinal - $1::bigint) / ${BLOCK_ROWS})::int as block, string_agg(s.text, E'\\n') as texts,
    string_agg(${termsOf('s')}, E'\\n') as terms, min(created_at) as "firstAt", max(created_at) as "lastAt"
  from payment_search s where ordinal >= $2::bigint and ordinal < $3::bigint group by 1`;

/** So many blocks are read at a time, because other requests wait meanwhile. */
const BLOCKS_AT_A_TIME = 16;

/** Stores the bits of a segment; nothing is placed in it afterwards. */
async function seal(client: Client, segment: number): Promise<void> {
  const start = segment * SEGMENT_ROWS;
  const bits = segmentBits();
  let [firstAt, lastAt] = [Number.POSITIVE_INFINITY, 0];
  for (let block = 0; block < SEGMENT_BLOCKS; block += BLOCKS_AT_A_TIME) {
    const from = start + block * BLOCK_ROWS;
    const { rows } = await client.query<{
      block: number;
      texts: string;
      terms: string;
      firstAt: number;
      lastAt: number;
    }>(BLOCKS, [start, from, from + BLOCKS_AT_A_TIME * BLOCK_ROWS]);
    for (const row of rows) {
      bits.add(row.block, row.texts, new Set(row.terms.split('\n')));
      firstAt = Math.min(firstAt, row.firstAt);
      lastAt = Math.max(lastAt, row.lastAt);
    }
  }
  await client.query(
    `insert into payment_search_bits (chunk, segment, bits)
     select n, $1, substring($2::bytea from n * ${CHUNK_BYTES} + 1 for ${CHUNK_BYTES}) from generate_series(0, ${CHUNKS - 1}) n`,
    [segment, bits.bytes],
  );
  const at = (ms: number): string => new Date(Number.isFinite(ms) ? ms : 0).toISOString();
  await client.query('insert into payment_search_segments (segment, first_at, last_at) values ($1, $2, $3)', [
    segment,
    at(firstAt),
    at(lastAt),
  ]);
}

/** Stores the bits of one full segment; returns whether there may be another. The last one of a backfill is never full. */
async function sealFullSegment(client: Client): Promise<boolean> {
  const places = await placesOf(client);
  if (places.highest === null || places.lowest === null) return false;
  const { from, below } = openPlaces(places);
  if (places.highest >= from + SEGMENT_ROWS - 1) {
    await seal(client, from / SEGMENT_ROWS);
    return true;
  }
  if (places.lowest >= below) return false;
  if (places.lowest > below - SEGMENT_ROWS && places.isFilling) return false;
  await seal(client, below / SEGMENT_ROWS - 1);
  return true;
}

export const paymentSearch: Projection = {
  name: SEARCH,
  logs: ['history'],
  everyMs: 1000,
  portion: { rows: 10_000, payments: 2000 },
  fold: (client, { payments }) => fold(client, payments),
  tend: sealFullSegment,
  async reset(client) {
    for (const table of ['payment_search_bits', 'payment_search_segments', 'payment_search']) {
      await client.query(`delete from ${table}`);
    }
  },
  check: ({ history }) => `
    select 'The search does not have the payment ' || f.payment_id || ' as it is' as violation
    from (select mid, payment_id, max(seq) as seq from (${history}) h group by mid, payment_id) f
    join payments p using (mid, payment_id) left join payment_search s using (mid, payment_id)
    where s.ordinal is null or s.history_length < f.seq
      or s.history_length = p.history_length and (s.state, s.brand, s.amount, s.attention, s.provider_reference, s.created_at)
        is distinct from (p.state, p.brand, p.amount, p.attention, p.provider_reference, p.created_at)`,
};
