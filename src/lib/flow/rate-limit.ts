/** Token-bucket rate limits by name, with a bounded burst and bounded memory. */
import { hash, randomBytes } from 'node:crypto';
import { rateTime } from '../time/rate-time.ts';

/** Takes one token of a name; when none is left, returns the milliseconds until the next one. */
export type RateLimit = (name: string, perSecond: number, now?: number) => number | undefined;

interface Bucket {
  tokens: number;
  /** When the tokens were last counted. */
  at: number;
}

/** How many of the oldest buckets are examined to make room for a new one; bounds the work per request. */
const EXAMINED_BUCKETS = 8;
/** The number of buckets that further names share while the table is full of active ones. */
const SHARED_BUCKETS = 1024;

/**
 * A bucket that was idle for `burstMs` is full again, so dropping it changes no count. Only such buckets are dropped.
 * While none is found, new names share buckets chosen by a secret hash: a sender with many names can neither exhaust
 * the memory, nor reset the count of another name, nor evade the limit.
 */
export function createRateLimit(burstMs: number, namesMost: number): RateLimit {
  const buckets = new Map<string, Bucket>();
  const shared: Bucket[] = [];
  const secret = randomBytes(16).toString('hex');

  const makeRoom = (now: number): boolean => {
    if (buckets.size < namesMost) return true;
    let examined = 0;
    for (const [name, bucket] of buckets) {
      buckets.delete(name);
      if (now - bucket.at >= burstMs) return true;
      // An active bucket moves to the end, so that the next search begins behind it.
      buckets.set(name, bucket);
      if (++examined === EXAMINED_BUCKETS) return false;
    }
    return false;
  };

  const newBucket = (name: string, burst: number, now: number): Bucket => {
    const bucket = { tokens: burst, at: now };
    if (makeRoom(now)) {
      buckets.set(name, bucket);
      return bucket;
    }
    const slot = hash('sha256', `${secret} ${name}`, 'buffer').readUInt32BE() % SHARED_BUCKETS;
    shared[slot] ??= bucket;
    return shared[slot];
  };

  return (name, perSecond, now = rateTime.now()) => {
    const burst = Math.max(1, (perSecond * burstMs) / 1000);
    const bucket = buckets.get(name) ?? newBucket(name, burst, now);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1000);
    bucket.at = now;
    if (bucket.tokens < 1) return ((1 - bucket.tokens) * 1000) / perSecond;
    bucket.tokens--;
    return undefined;
  };
}
