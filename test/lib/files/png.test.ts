/** A picture of squares as PNG: its size, its checksums, and that a reader finds the code in it. */
import { crc32, inflateSync } from 'node:zlib';
import encodeQR from 'qr';
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { pngOf } from '../../../src/lib/files/png.ts';

/** The pixels of a picture with one bit per pixel and no filter. */
function pixelsOf(png: Buffer): { width: number; height: number; data: Uint8Array } {
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const parts: Record<string, Buffer> = {};
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + 8 + length;
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)));
    parts[png.toString('latin1', at + 4, at + 8)] = png.subarray(at + 8, end);
    at = end + 4;
  }
  const { IHDR, IDAT, IEND } = parts as Record<'IHDR' | 'IDAT' | 'IEND', Buffer>;
  const [width, height] = [IHDR.readUInt32BE(0), IHDR.readUInt32BE(4)];
  expect([IHDR.toString('hex', 8), IEND.length]).toEqual(['0100000000', 0]);
  const lines = inflateSync(IDAT);
  const bytes = 1 + Math.ceil(width / 8);
  expect(lines.length).toBe(bytes * height);
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = (lines[y * bytes + 1 + (x >> 3)] as number) & (0x80 >> (x & 7));
      data.set([bit ? 255 : 0, bit ? 255 : 0, bit ? 255 : 0, 255], (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

test.each(['K:EK|V:01|C:1|R:840000000000000055', 'upi://pay?pa=shop@bank'])('%s can be scanned', (text) => {
  const squares = encodeQR(text, 'raw', { border: 4 });
  const picture = pixelsOf(pngOf(squares, 8));
  expect([picture.width, picture.height]).toEqual([squares.length * 8, squares.length * 8]);
  expect(decodeQR(picture)).toBe(text);
});
