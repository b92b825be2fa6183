/** Writes a picture of black and white squares as PNG. */
import { crc32, deflateSync } from 'node:zlib';

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
