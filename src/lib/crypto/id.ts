/** Identifiers: time-ordered UUIDs (version 7) and random secrets. */
import { hash, randomFillSync } from 'node:crypto';
import { randomHex } from './random.ts';

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

/** The id of this moment with these random bits, of which 74 are used; 19 hexadecimal digits or more. */
export function idOf(ms: number, bits: string): string {
  const time = timeDigits(ms);
  const variant = (0x8 | (Number.parseInt(bits.charAt(3), 16) & 0x3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${bits.slice(0, 3)}-${variant}${bits.slice(4, 7)}-${bits.slice(7, 19)}`;
}

/** An id (version 8) that depends on this name only. */
export function nameId(name: string): string {
  const digest = hash('sha256', name);
  const variant = (0x8 | (Number.parseInt(digest.charAt(16), 16) & 0x3)).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The time in an id, in milliseconds since 1970. */
export const timeOfId = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** The lowest id, which nothing has. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The highest id that exists. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const LAST_MS = 2 ** 48 - 1;

const timeDigits = (ms: number): string =>
  Math.min(Math.max(Math.floor(ms), 0), LAST_MS)
    .toString(16)
    .padStart(12, '0');

/** The lower bound of the ids created at this moment or later; every id created before it is smaller. */
export function firstIdAt(ms: number): string {
  const time = timeDigits(ms);
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** A random secret, 128 bits by default; in hex, because the request hash upper-cases it without loss. */
export const newSecret = (bytes = 16): string => randomHex(bytes);
