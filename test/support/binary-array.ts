/** Reads arrays in PostgreSQL's binary format, written independently of the product. */

const EPOCH_MS = Date.UTC(2000, 0, 1);

/** The text of an element, by the object id of its type. */
const READERS: Readonly<Record<number, (bytes: Buffer) => string>> = {
  16: (bytes) => (bytes[0] === 1 ? 'true' : 'false'),
  20: (bytes) => String(bytes.readBigInt64BE()),
  23: (bytes) => String(bytes.readInt32BE()),
  25: (bytes) => bytes.toString(),
  1184: (bytes) => new Date(EPOCH_MS + Number(bytes.readBigInt64BE() / 1000n)).toISOString(),
  2950: (bytes) => bytes.toString('hex'),
  3802: (bytes) => bytes.subarray(1).toString(),
};

/** The elements of an array of one dimension, as texts. */
export function readBinaryArray(bytes: Buffer): (string | null)[] {
  const dimensions = bytes.readInt32BE(0);
  if (dimensions === 0) return [];
  const read = READERS[bytes.readInt32BE(8)];
  if (dimensions !== 1 || !read) throw new Error(`An array of type ${bytes.readInt32BE(8)} cannot be read.`);
  const elements: (string | null)[] = [];
  for (let at = 20, left = bytes.readInt32BE(12); left > 0; left--) {
    const length = bytes.readInt32BE(at);
    at += 4;
    elements.push(length < 0 ? null : read(bytes.subarray(at, at + length)));
    at += Math.max(length, 0);
  }
  return elements;
}
