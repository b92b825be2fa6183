/** Identifiers: time-ordered UUIDs (version 7) and random secrets. */
import { randomBytes, randomFillSync } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

const pool = Buffer.alloc(8 * 512);
let used = pool.length;
let lastMs = 0;
let counter = 0;
/** The first groups of the ids of this millisecond. */
let timeText = '';
let timeOfText = -1;

/** A new id that sorts after every earlier one of this process: 48 bits of time, a 12-bit counter, 62 random bits. */
export function newId(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  if (timeOfText !== lastMs) {
    const time = lastMs.toString(16).padStart(12, '0');
    timeText = `${time.slice(0, 8)}-${time.slice(8)}`;
    timeOfText = lastMs;
  }
  const versionAndCounter = (0x7000 | counter).toString(16);
  pool[used] = 0x80 | ((pool[used] as number) & 0x3f);
  const random = pool.toString('hex', used, used + 8);
  used += 8;
  return `${timeText}-${versionAndCounter}-${random.slice(0, 4)}-${random.slice(4)}`;
}

/** The highest id that exists. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const LAST_MS = 2 ** 48 - 1;

/** The lower bound of the ids created at this moment or later; every id created before it is smaller. */
export function firstIdAt(ms: number): string {
  const time = Math.min(Math.max(Math.floor(ms), 0), LAST_MS)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** A random secret, 128 bits by default; in hex, because the request hash upper-cases it without loss. */
export const newSecret = (bytes = 16): string => randomBytes(bytes).toString('hex');
