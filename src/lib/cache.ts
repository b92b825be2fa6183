/** A bounded memory of what was read: for a limited time, the least recently used forgotten first. */

export interface CacheOptions {
  maxEntries: number;
  maxAgeMs: number;
  /** How long it is remembered that there is nothing under a key. */
  maxMissAgeMs: number;
  /** While it is false, nothing is remembered and nothing that was remembered is used. */
  isUsable?: () => boolean;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

export interface Cache<Value> {
  /** The value of a key, read when it is not known; requests for one key at the same time share one read. */
  get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined>;
  /** Forgets these values, or all of them, and everything that was not found. What is being read is not remembered. */
  forget(isConcerned?: (value: Value) => boolean): void;
}

interface Entry<Value> {
  value: Value;
  until: number;
}

export function createCache<Value>(options: CacheOptions): Cache<Value> {
  const { maxEntries, maxAgeMs, maxMissAgeMs, isUsable = () => true, now = () => performance.now() } = options;
  // A map keeps the order in which its keys were set. Misses have one of their own: they must not displace values.
  const values = new Map<string, Entry<Value>>();
  const misses = new Map<string, Entry<undefined>>();
  let reading = new Map<string, Promise<Value | undefined>>();

  function find<Kept>(entries: Map<string, Entry<Kept>>, key: string): Entry<Kept> | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    if (entry.until <= now()) return undefined;
    entries.set(key, entry);
    return entry;
  }

  function remember<Kept>(entries: Map<string, Entry<Kept>>, key: string, value: Kept, until: number): void {
    entries.set(key, { value, until });
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
  }

  return {
    async get(key, read) {
      if (isUsable()) {
        const known = find(values, key) ?? find(misses, key);
        if (known) return known.value;
      }
      const current = reading;
      const shared = current.get(key);
      if (shared) return shared;
      // The age counts from the question: the answer may be as old as that.
      const askedAt = now();
      const result = read()
        .then((value) => {
          // What was read before a change was announced must not be remembered after it.
          if (isUsable() && current === reading) {
            if (value === undefined) remember(misses, key, undefined, askedAt + maxMissAgeMs);
            else remember(values, key, value, askedAt + maxAgeMs);
          }
          return value;
        })
        .finally(() => current.delete(key));
      current.set(key, result);
      return result;
    },
    forget(isConcerned = () => true) {
      reading = new Map();
      misses.clear();
      for (const [key, { value }] of values) if (isConcerned(value)) values.delete(key);
    },
  };
}
