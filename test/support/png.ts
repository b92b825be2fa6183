/** Reads and composes PNG pictures, independently of the product. */
import { crc32, inflateSync } from 'node:zlib';

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [size, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, checksum]);
}

/** All chunks to the end of the file. */
export function chunksOf(png: Buffer): [type: string, data: Buffer][] {
  const chunks: [string, Buffer][] = [];
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    if (png.readUInt32BE(end) !== crc32(png.subarray(at + 4, end))) throw new Error(`wrong checksum at ${end}`);
    chunks.push([png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, end)]);
    at = end + 4;
  }
  return chunks;
}

/** The header and the lines of pixels, each with its filter. */
export function pixelsOf(png: Buffer): Record<'header' | 'lines', Buffer> {
  const { IHDR, IDAT } = Object.fromEntries(chunksOf(png)) as Record<'IHDR' | 'IDAT', Buffer>;
  return { header: IHDR, lines: inflateSync(IDAT) };
}
