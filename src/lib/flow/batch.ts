/** Group commit: items that arrive while a batch is in flight form the next batch; each item gets its own result. */
import type { WaitGauge } from './wait-gauge.ts';

export interface BatchOptions<Item, Result> {
  maxItems: number;
  /** The maximum size of one batch as `weigh` counts it; a larger item is a batch of its own. */
  maxBytes?: number;
  weigh?: (item: Item) => number;
  maxInFlight: number;
  /** How long a batch is in flight before the next one is sent beside it: fewer and larger batches take less. */
  besideAfterMs?: number;
  /** How long after a batch the next one is sent at the earliest, for the same reason. An item after a pause does not wait. */
  everyMs?: number;
  /** The maximum number of queued items; further ones are refused with `Overloaded`. */
  maxWaiting: number;
  /** An item that was not sent within this time is refused with `Overloaded`. */
  maxWaitMs?: number;
  /** Whether a failed batch changed nothing and one item may have caused it; its items then run one by one. */
  isItemFault: (error: unknown) => boolean;
  isolation?: Isolation<Item, Result>;
  onBatch?: (size: number) => void;
  /** Learns how long a new item would wait for its result. */
  gauge?: Pick<WaitGauge, 'watch'> | undefined;
}

/**
 * Keeps an item that waits for a locked row from delaying the others. The items of a batch that failed with a lock
 * timeout run again, each on its own, and do not count towards `maxInFlight`. While an item of a key runs isolated,
 * further items of that key queue behind it and do not enter a batch.
 */
export interface Isolation<Item, Result> {
  isNeeded: (error: unknown) => boolean;
  keyOf: (item: Item) => string;
  run: (item: Item) => Promise<Result>;
}

export class Overloaded extends Error {
  constructor() {
    super('Too many requests are waiting for the database.');
  }
}

interface QueuedItem<Item, Result> {
  item: Item;
  bytes: number;
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export function batch<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { maxItems, maxInFlight, maxWaiting, isItemFault, isolation, onBatch } = options;
  const { maxBytes = Number.POSITIVE_INFINITY, weigh = () => 0, maxWaitMs, besideAfterMs = 0, everyMs = 0 } = options;
  let waiting: QueuedItem<Item, Result>[] = [];
  let waitingBytes = 0;
  let inFlight = 0;
  let scheduled = false;
  let expiry: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  let patientUntil = 0;
  /** The isolated items, by key; the first one of each list is running. */
  const isolated = new Map<string, QueuedItem<Item, Result>[]>();
  let isolatedItems = 0;

  /** When the newest batch was sent, and how long the last one took. */
  let sentAt = 0;
  let tookMs = 0;
  options.gauge?.watch(() => {
    if (inFlight < maxInFlight) return 0;
    const batchMs = Math.max(tookMs, performance.now() - sentAt);
    return batchMs * (1 + Math.ceil(waiting.length / (maxItems * maxInFlight)));
  });

  // The items of one tick are sent together, and a lone item at once.
  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || waiting.length === 0) return;
    const now = performance.now();
    const at = sentAt + (inFlight === 0 ? everyMs : besideAfterMs);
    if (at > now) {
      scheduleAgain(now, at);
    } else {
      scheduled = true;
      process.nextTick(flush);
    }
  }

  function scheduleAgain(now: number, at: number): void {
    if (patience && patientUntil <= at) return;
    clearTimeout(patience);
    patientUntil = at;
    patience = setTimeout(() => {
      patience = undefined;
      schedule();
    }, at - now).unref();
  }

  function flush(): void {
    scheduled = false;
    while (inFlight < maxInFlight && waiting.length > 0) {
      const entries = takeBatch();
      inFlight++;
      onBatch?.(entries.length);
      const began = performance.now();
      sentAt = began;
      void settle(entries).finally(() => {
        inFlight--;
        tookMs = performance.now() - began;
        schedule();
      });
    }
  }

  /** Removes the next batch from the queue: as many items, in their order, as fit. */
  function takeBatch(): QueuedItem<Item, Result>[] {
    let count = 0;
    let bytes = 0;
    if (waiting.length <= maxItems && waitingBytes <= maxBytes) {
      count = waiting.length;
      bytes = waitingBytes;
    } else {
      for (const entry of waiting) {
        if (count === maxItems || (count > 0 && bytes + entry.bytes > maxBytes)) break;
        bytes += entry.bytes;
        count++;
      }
    }
    return remove(count, bytes);
  }

  function remove(count: number, bytes: number): QueuedItem<Item, Result>[] {
    const entries = count === waiting.length ? waiting : waiting.slice(0, count);
    waiting = entries === waiting ? [] : waiting.slice(count);
    waitingBytes -= bytes;
    return entries;
  }

  const isExpired = (entry: QueuedItem<Item, Result>): boolean =>
    maxWaitMs !== undefined && performance.now() - entry.since >= maxWaitMs;

  /** One timer for the whole queue, set for its oldest item; it expires nothing while the queue keeps moving. */
  function scheduleExpiry(): void {
    const oldest = waiting[0];
    if (maxWaitMs === undefined || expiry !== undefined || !oldest) return;
    expiry = setTimeout(expire, Math.max(1, oldest.since + maxWaitMs - performance.now())).unref();
  }

  function expire(): void {
    expiry = undefined;
    let count = 0;
    let bytes = 0;
    for (const entry of waiting) {
      if (!isExpired(entry)) break;
      bytes += entry.bytes;
      count++;
    }
    for (const entry of remove(count, bytes)) entry.reject(new Overloaded());
    scheduleExpiry();
  }

  async function settle(entries: QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await run(entries.map((entry) => entry.item));
      entries.forEach((entry, index) => {
        entry.resolve(results[index] as Result);
      });
    } catch (error) {
      if (isolation?.isNeeded(error)) {
        for (const entry of entries) isolate(isolation, entry);
      } else if (entries.length > 1 && isItemFault(error)) {
        for (const entry of entries) await settle([entry]);
      } else {
        for (const entry of entries) entry.reject(error);
      }
    }
  }

  function isolate(isolation: Isolation<Item, Result>, entry: QueuedItem<Item, Result>): void {
    isolatedItems++;
    const key = isolation.keyOf(entry.item);
    const queue = isolated.get(key);
    if (queue) {
      queue.push(entry);
    } else {
      const first = [entry];
      isolated.set(key, first);
      void runIsolated(isolation, key, first);
    }
  }

  async function runIsolated(
    { run }: Isolation<Item, Result>,
    key: string,
    queue: QueuedItem<Item, Result>[],
  ): Promise<void> {
    // The list may grow during the loop. The first item does not expire: it was already sent once, in its batch.
    for (const entry of queue) {
      try {
        if (entry !== queue[0] && isExpired(entry)) throw new Overloaded();
        entry.resolve(await run(entry.item));
      } catch (error) {
        entry.reject(error);
      }
      isolatedItems--;
    }
    isolated.delete(key);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length + isolatedItems >= maxWaiting) {
        reject(new Overloaded());
        return;
      }
      const entry = { item, bytes: weigh(item), since: performance.now(), resolve, reject };
      if (isolation && isolated.size > 0 && isolated.has(isolation.keyOf(item))) {
        isolate(isolation, entry);
        return;
      }
      waiting.push(entry);
      waitingBytes += entry.bytes;
      schedule();
      scheduleExpiry();
    });
}
