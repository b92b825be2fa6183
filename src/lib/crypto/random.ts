/** Random bytes, drawn in large portions: a call for a few bytes costs more than what is done with them. */
import { randomBytes, randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** The position of this many new random bytes in the pool. */
function draw(bytes: number): number {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += bytes;
  return at;
}

/** Random bytes that need not be secret, such as initialisation vectors. */
export function randomPart(bytes: number): Buffer {
  const at = draw(bytes);
  return Buffer.from(pool.subarray(at, at + bytes));
}

/** Random bytes in hex; the pool forgets them. */
export function randomHex(bytes: number): string {
  if (bytes > pool.length) return randomBytes(bytes).toString('hex');
  const at = draw(bytes);
  const text = pool.toString('hex', at, at + bytes);
  pool.fill(0, at, at + bytes);
  return text;
}
