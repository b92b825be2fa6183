/** An LRU cache with a time limit, which also caches misses. */
import type { MaybePromise } from './maybe-promise.ts';

export interface CacheOptions {
  maxEntries: number;
  maxAgeMs: number;
  /** How long a miss is cached. */
  maxMissAgeMs: number;
  /** While it returns false, entries are neither read nor written. */
  isUsable?: () => boolean;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

export interface Cache<Value> {
  /** The cached value of a key, or the result of `read`; concurrent calls for one key share one read. */
  get(key: string, read: () => Promise<Value | undefined>): MaybePromise<Value | undefined>;
  /** Removes the matching values, or all of them, and every miss. Reads in progress are not cached. */
  forget(matches?: (value: Value) => boolean): void;
}

interface Entry<Value> {
  value: Value;
  until: number;
}

export function createCache<Value>(options: CacheOptions): Cache<Value> {
  const { maxEntries, maxAgeMs, maxMissAgeMs, isUsable = () => true, now = () => performance.now() } = options;
  // A Map keeps the order in which its keys were set. Misses have their own, so that they cannot displace values.
  const values = new Map<string, Entry<Value>>();
  const misses = new Map<string, Entry<undefined>>();
  let reading = new Map<string, Promise<Value | undefined>>();

  function find<Cached>(entries: Map<string, Entry<Cached>>, key: string): Entry<Cached> | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    const isExpired = entry.until <= now();
    // The order matters only once entries may be displaced.
    const isReordered = entries.size > maxEntries / 2;
    if (isExpired || isReordered) entries.delete(key);
    if (isExpired) return undefined;
    if (isReordered) entries.set(key, entry);
    return entry;
  }

  function store<Cached>(entries: Map<string, Entry<Cached>>, key: string, value: Cached, until: number): void {
    entries.set(key, { value, until });
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
  }

  return {
    get(key, read) {
      if (isUsable()) {
        const cached = find(values, key) ?? find(misses, key);
        if (cached) return cached.value;
      }
      const current = reading;
      const shared = current.get(key);
      if (shared) return shared;
      // The age counts from the start of the read, because the value may be that old.
      const readAt = now();
      const result = read()
        .then((value) => {
          // A value that was read before an invalidation must not be cached after it.
          if (isUsable() && current === reading) {
            if (value === undefined) store(misses, key, undefined, readAt + maxMissAgeMs);
            else store(values, key, value, readAt + maxAgeMs);
          }
          return value;
        })
        .finally(() => current.delete(key));
      current.set(key, result);
      return result;
    },
    forget(matches = () => true) {
      reading = new Map();
      misses.clear();
      for (const [key, { value }] of values) if (matches(value)) values.delete(key);
    },
  };
}
