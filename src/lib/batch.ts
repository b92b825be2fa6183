/** Group commit: what arrives while earlier work is in flight goes out together, each item getting its own answer. */

export interface BatchOptions {
  maxItems: number;
  maxInFlight: number;
  /** Items allowed to wait before new ones are refused with `Overloaded`. */
  maxWaiting: number;
  /** Whether a failed batch changed nothing and one item may be to blame; its items then run one by one. */
  isItemFault: (error: unknown) => boolean;
  onBatch?: (size: number) => void;
}

export class Overloaded extends Error {}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export function batch<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  options: BatchOptions,
): (item: Item) => Promise<Result> {
  const { maxItems, maxInFlight, maxWaiting, isItemFault, onBatch } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;

  // Not a timer: when all that is ready to run has run, what it asked for leaves together; a lone item leaves at once.
  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || waiting.length === 0) return;
    scheduled = true;
    process.nextTick(flush);
  }

  function flush(): void {
    scheduled = false;
    while (inFlight < maxInFlight && waiting.length > 0) {
      const taken = waiting.length <= maxItems ? waiting : waiting.slice(0, maxItems);
      waiting = taken === waiting ? [] : waiting.slice(maxItems);
      inFlight++;
      onBatch?.(taken.length);
      void settle(taken).finally(() => {
        inFlight--;
        schedule();
      });
    }
  }

  async function settle(taken: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(taken.map((one) => one.item));
      taken.forEach((one, index) => {
        one.resolve(results[index] as Result);
      });
    } catch (error) {
      if (taken.length > 1 && isItemFault(error)) {
        for (const one of taken) await settle([one]);
      } else {
        for (const one of taken) one.reject(error);
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= maxWaiting) {
        reject(new Overloaded('Too many requests are waiting for the database.'));
        return;
      }
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
