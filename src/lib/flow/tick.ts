/** Groups the work of one event-loop tick: running the same step for all requests together keeps CPU caches warm. */

/** Collects the items of one tick and processes them together at its end. */
export function endOfTickList<Item>(work: (items: Item[]) => void): (item: Item) => void {
  let items: Item[] = [];
  const flush = (): void => {
    const collected = items;
    items = [];
    work(collected);
  };
  return (item) => {
    if (items.push(item) === 1) setImmediate(flush);
  };
}
