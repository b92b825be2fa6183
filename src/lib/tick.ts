/** One turn of the event loop: what arrived in it is worked on together, step by step, while the code is warm. */

let turn: Promise<void> | undefined;

/** Resolves when everything that is readable now has been read; at once when nothing else is. */
export function endOfTick(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

/** Collects what happens in a turn and hands it over together at its end. */
export function endOfTickList<Item>(work: (items: Item[]) => void): (item: Item) => void {
  let items: Item[] = [];
  const flush = (): void => {
    const taken = items;
    items = [];
    work(taken);
  };
  return (item) => {
    if (items.push(item) === 1) setImmediate(flush);
  };
}
