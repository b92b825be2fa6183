/** Token buckets by name: how often something may happen per second, with a bounded burst and bounded memory. */
import { hash, randomBytes } from 'node:crypto';

/** Takes one token of a name; says after how many milliseconds there is one again when none is left. */
export type RateLimit = (name: string, perSecond: number, now?: number) => number | undefined;

interface Bucket {
  tokens: number;
  /** When the tokens were last counted. */
  at: number;
}

/** How many of the oldest buckets are looked at to make room for one; a constant bounds the effort. */
const LOOKED_AT = 8;
/** The buckets that further names share while the table is full of active ones. */
const SHARED = 1024;

/**
 * A bucket that was not used for the time of a burst is full again and says nothing, so dropping it changes no count.
 * Only such buckets are dropped. While none is found, new names share buckets chosen by a secret hash: a sender with
 * many names can neither fill the memory, nor reset the count of another name, nor escape the limit.
 */
export function createRateLimit(burstMs: number, namesMost: number): RateLimit {
  const buckets = new Map<string, Bucket>();
  const shared: Bucket[] = [];
  const secret = randomBytes(16).toString('hex');

  const makeRoom = (now: number): boolean => {
    if (buckets.size < namesMost) return true;
    let looked = 0;
    for (const [name, bucket] of buckets) {
      buckets.delete(name);
      if (now - bucket.at >= burstMs) return true;
      // An active one goes to the end, so that the next search begins behind it.
      buckets.set(name, bucket);
      if (++looked === LOOKED_AT) return false;
    }
    return false;
  };

  const newBucket = (name: string, burst: number, now: number): Bucket => {
    const bucket = { tokens: burst, at: now };
    if (makeRoom(now)) {
      buckets.set(name, bucket);
      return bucket;
    }
    const slot = hash('sha256', `${secret} ${name}`, 'buffer').readUInt32BE() % SHARED;
    shared[slot] ??= bucket;
    return shared[slot];
  };

  return (name, perSecond, now = performance.now()) => {
    const burst = Math.max(1, (perSecond * burstMs) / 1000);
    const bucket = buckets.get(name) ?? newBucket(name, burst, now);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1000);
    bucket.at = now;
    if (bucket.tokens < 1) return ((1 - bucket.tokens) * 1000) / perSecond;
    bucket.tokens--;
    return undefined;
  };
}
