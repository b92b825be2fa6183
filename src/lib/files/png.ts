/** PNG: writes a picture of black and white squares, and encodes the picture of somebody else anew. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, checksum]);
}

/** One bit per pixel; `true` is black, and each square is `scale` pixels wide and high. */
export function pngOf(squares: readonly (readonly boolean[])[], scale: number): Buffer {
  const width = (squares[0]?.length ?? 0) * scale;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(squares.length * scale, 4);
  header[8] = 1; // bit depth; the other bytes are 0: greyscale, deflate, no filter, not interlaced
  const lines = squares.flatMap((row) => {
    // The first byte of a line names its filter: none.
    const line = Buffer.alloc(1 + Math.ceil(width / 8));
    for (let x = 0; x < width; x++) {
      if (!row[Math.floor(x / scale)]) line[1 + (x >> 3)] = (line[1 + (x >> 3)] as number) | (0x80 >> (x & 7));
    }
    return Array.from({ length: scale }, () => line);
  });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The numbers of values per pixel of each colour type, and the bit depths that it allows. */
const COLOUR_TYPES: Readonly<Record<number, { values: number; depths: readonly number[] }>> = {
  0: { values: 1, depths: [1, 2, 4, 8, 16] },
  2: { values: 3, depths: [8, 16] },
  3: { values: 1, depths: [1, 2, 4, 8] },
  4: { values: 2, depths: [8, 16] },
  6: { values: 4, depths: [8, 16] },
};
const PALETTE = 3;
const MAX_PIXELS = 4_000_000;
const MAX_PALETTE_BYTES = 3 * 256;

/** The passes of an interlaced picture: the first column and row, and the distances of the others. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The chunks of a file whose lengths and checksums are right; undefined for any other file. */
function readChunks(file: Buffer): [type: string, data: Buffer][] | undefined {
  if (!file.subarray(0, 8).equals(SIGNATURE)) return undefined;
  const chunks: [string, Buffer][] = [];
  for (let at = 8; at + 12 <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    if (end + 4 > file.length || crc32(file.subarray(at + 4, end)) !== file.readUInt32BE(end)) return undefined;
    const type = file.toString('latin1', at + 4, at + 8);
    chunks.push([type, file.subarray(at + 8, end)]);
    if (type === 'IEND') return chunks;
    at = end + 4;
  }
  return undefined;
}

/** The length of each line, with the byte of its filter, in the order of the file. */
function lineLengths(width: number, height: number, bitsPerPixel: number, isInterlaced: boolean): number[] {
  const lines = (columns: number, rows: number): number[] =>
    columns > 0 ? Array.from({ length: rows }, () => 1 + Math.ceil((columns * bitsPerPixel) / 8)) : [];
  if (!isInterlaced) return lines(width, height);
  const count = (size: number, first: number, step: number): number => Math.max(0, Math.ceil((size - first) / step));
  return PASSES.flatMap(([x, y, dx, dy]) => lines(count(width, x, dx), count(height, y, dy)));
}

/**
 * The same picture, composed from its pixels and its palette: nothing else of the file is kept, such as texts, colour
 * profiles, or what follows the end. Undefined for a file that is no PNG, is damaged, or has too many pixels.
 */
export function encodedAnew(file: Buffer): Buffer | undefined {
  const chunks = readChunks(file);
  const [first, header] = chunks?.[0] ?? [];
  if (!chunks || first !== 'IHDR' || header?.length !== 13) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, type = 0, compression, filter, interlace = 0] = header.subarray(8);
  const colours = COLOUR_TYPES[type];
  const isHeaderRight =
    width > 0 && height > 0 && width * height <= MAX_PIXELS && compression === 0 && filter === 0 && interlace <= 1;
  if (!isHeaderRight || !colours?.depths.includes(depth)) return undefined;
  const palette = chunks.find(([name]) => name === 'PLTE')?.[1];
  const transparency = chunks.find(([name]) => name === 'tRNS')?.[1];
  if (type === PALETTE && !(palette && palette.length % 3 === 0 && palette.length <= MAX_PALETTE_BYTES))
    return undefined;
  const lengths = lineLengths(width, height, depth * colours.values, interlace === 1);
  const size = lengths.reduce((sum, length) => sum + length, 0);
  let pixels: Buffer;
  try {
    const data = Buffer.concat(chunks.filter(([name]) => name === 'IDAT').map(([, part]) => part));
    pixels = inflateSync(data, { maxOutputLength: size });
  } catch {
    return undefined;
  }
  let at = 0;
  const isLineRight = (length: number): boolean => {
    const isKnownFilter = (pixels[at] ?? 5) <= 4;
    at += length;
    return isKnownFilter;
  };
  if (pixels.length !== size || !lengths.every(isLineRight)) return undefined;
  const hasTransparency = transparency && transparency.length <= 256 && type !== 4 && type !== 6;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...(type === PALETTE && palette ? [chunk('PLTE', palette)] : []),
    ...(hasTransparency ? [chunk('tRNS', transparency)] : []),
    chunk('IDAT', deflateSync(pixels, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
