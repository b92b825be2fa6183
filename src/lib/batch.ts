/** Group commit: what arrives while earlier work is in flight goes out together, each item getting its own answer. */

export interface BatchOptions<Item, Result> {
  maxItems: number;
  /** An upper bound for the bytes of one batch, as `weigh` counts them; an item beyond it travels alone. */
  maxBytes?: number;
  weigh?: (item: Item) => number;
  maxInFlight: number;
  /** Items allowed to wait before new ones are refused with `Overloaded`. */
  maxWaiting: number;
  /** An item that was not sent within this time is refused with `Overloaded`. */
  maxWaitMs?: number;
  /** Whether a failed batch changed nothing and one item may be to blame; its items then run one by one. */
  isItemFault: (error: unknown) => boolean;
  isolation?: Isolation<Item, Result>;
  onBatch?: (size: number) => void;
}

/**
 * Keeps an item that has to wait for something, such as a locked row, from holding up the others. The items of a batch
 * that failed for this reason run again, each on its own, outside the places in flight. While an item of a key runs so,
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

interface Waiting<Item, Result> {
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
  const { maxBytes = Number.POSITIVE_INFINITY, weigh = () => 0, maxWaitMs } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let waitingBytes = 0;
  let inFlight = 0;
  let scheduled = false;
  let expiry: NodeJS.Timeout | undefined;
  /** The items that run outside of batches, by key; the first one of each list is running. */
  const isolated = new Map<string, Waiting<Item, Result>[]>();
  let isolatedItems = 0;

  // Not a timer: when all that is ready to run has run, what it asked for leaves together; a lone item leaves at once.
  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || waiting.length === 0) return;
    scheduled = true;
    process.nextTick(flush);
  }

  function flush(): void {
    scheduled = false;
    while (inFlight < maxInFlight && waiting.length > 0) {
      const taken = take();
      inFlight++;
      onBatch?.(taken.length);
      void settle(taken).finally(() => {
        inFlight--;
        schedule();
      });
    }
  }

  /** Removes the next batch from the queue: as many items, in their order, as fit. */
  function take(): Waiting<Item, Result>[] {
    let count = 0;
    let bytes = 0;
    if (waiting.length <= maxItems && waitingBytes <= maxBytes) {
      count = waiting.length;
      bytes = waitingBytes;
    } else {
      for (const one of waiting) {
        if (count === maxItems || (count > 0 && bytes + one.bytes > maxBytes)) break;
        bytes += one.bytes;
        count++;
      }
    }
    return remove(count, bytes);
  }

  function remove(count: number, bytes: number): Waiting<Item, Result>[] {
    const taken = count === waiting.length ? waiting : waiting.slice(0, count);
    waiting = taken === waiting ? [] : waiting.slice(count);
    waitingBytes -= bytes;
    return taken;
  }

  const isExpired = (one: Waiting<Item, Result>): boolean =>
    maxWaitMs !== undefined && performance.now() - one.since >= maxWaitMs;

  /** One timer for the whole queue, set for its oldest item; while the queue moves on, it finds nothing to do. */
  function scheduleExpiry(): void {
    const oldest = waiting[0];
    if (maxWaitMs === undefined || expiry !== undefined || !oldest) return;
    expiry = setTimeout(expire, Math.max(1, oldest.since + maxWaitMs - performance.now())).unref();
  }

  function expire(): void {
    expiry = undefined;
    let count = 0;
    let bytes = 0;
    for (const one of waiting) {
      if (!isExpired(one)) break;
      bytes += one.bytes;
      count++;
    }
    for (const one of remove(count, bytes)) one.reject(new Overloaded());
    scheduleExpiry();
  }

  async function settle(taken: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(taken.map((one) => one.item));
      taken.forEach((one, index) => {
        one.resolve(results[index] as Result);
      });
    } catch (error) {
      if (isolation?.isNeeded(error)) {
        for (const one of taken) isolate(isolation, one);
      } else if (taken.length > 1 && isItemFault(error)) {
        for (const one of taken) await settle([one]);
      } else {
        for (const one of taken) one.reject(error);
      }
    }
  }

  function isolate(isolation: Isolation<Item, Result>, one: Waiting<Item, Result>): void {
    isolatedItems++;
    const key = isolation.keyOf(one.item);
    const queue = isolated.get(key);
    if (queue) {
      queue.push(one);
    } else {
      const first = [one];
      isolated.set(key, first);
      void runIsolated(isolation, key, first);
    }
  }

  async function runIsolated(
    { run }: Isolation<Item, Result>,
    key: string,
    queue: Waiting<Item, Result>[],
  ): Promise<void> {
    // A list that grows while it is worked on; the first item has been sent once already, so it is not too late.
    for (const one of queue) {
      try {
        if (one !== queue[0] && isExpired(one)) throw new Overloaded();
        one.resolve(await run(one.item));
      } catch (error) {
        one.reject(error);
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
      const one = { item, bytes: weigh(item), since: performance.now(), resolve, reject };
      if (isolation && isolated.size > 0 && isolated.has(isolation.keyOf(item))) {
        isolate(isolation, one);
        return;
      }
      waiting.push(one);
      waitingBytes += one.bytes;
      schedule();
      scheduleExpiry();
    });
}
