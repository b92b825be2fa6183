/** A ZIP archive of files in memory; the same files always give the same bytes. */
import { crc32, deflateRawSync } from 'node:zlib';

/** The first moment that the format can express, because the time of packing is nobody's concern. */
const DATE = 0x21;
const VERSION = 20;
const UTF_8 = 0x800;
const DEFLATED = 8;
/** A plain file that everybody may read, in the notation of Unix. */
const ATTRIBUTES = (0o100644 << 16) >>> 0;
const MADE_ON_UNIX = 3 << 8;

const numbers = (...pairs: (readonly [value: number, bytes: 2 | 4])[]): Buffer =>
  Buffer.concat(
    pairs.map(([value, bytes]) => {
      const part = Buffer.alloc(bytes);
      part.writeUIntLE(value, 0, bytes);
      return part;
    }),
  );

export function zip(files: ReadonlyMap<string, Buffer>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content, { level: 9 });
    const common = numbers(
      ...([
        [VERSION, 2],
        [UTF_8, 2],
        [DEFLATED, 2],
        [0, 2],
        [DATE, 2],
      ] as const),
      ...([
        [crc32(content), 4],
        [packed.length, 4],
        [content.length, 4],
        [name.length, 2],
        [0, 2],
      ] as const),
    );
    const body = Buffer.concat([numbers([0x04034b50, 4]), common, name, packed]);
    const place = numbers([0, 2], [0, 2], [0, 2], [ATTRIBUTES, 4], [offset, 4]);
    entries.push(Buffer.concat([numbers([0x02014b50, 4], [MADE_ON_UNIX | VERSION, 2]), common, place, name]));
    bodies.push(body);
    offset += body.length;
  }
  const directory = Buffer.concat(entries);
  const end = numbers(
    ...([
      [0x06054b50, 4],
      [0, 2],
      [0, 2],
      [files.size, 2],
      [files.size, 2],
    ] as const),
    ...([
      [directory.length, 4],
      [offset, 4],
      [0, 2],
    ] as const),
  );
  return Buffer.concat([...bodies, directory, end]);
}
