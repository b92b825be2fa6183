/** Copies bytes that are kept for long: a small buffer keeps the whole pool of 64 KB that Node.js took it from. */

/** A copy with memory of its own. */
export function unpooled(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
