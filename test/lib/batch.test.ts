/** Group commit: who travels with whom, how much at once, and that everybody gets the own answer. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batch, Overloaded } from '../../src/lib/batch.ts';

const OPTIONS = { maxItems: 100, maxInFlight: 1, maxWaiting: 1000, isItemFault: () => false };

/** A statement that answers only when told to, and remembers what it was given. */
function heldStatement() {
  const batches: string[][] = [];
  const releases: (() => void)[] = [];
  const run = (items: string[]) =>
    new Promise<string[]>((resolve) => {
      batches.push(items);
      releases.push(() => resolve(items.map((item) => `answer to ${item}`)));
    });
  return { batches, releases, run };
}

const turns = async (count = 3): Promise<void> => {
  for (let passed = 0; passed < count; passed++) await turn();
};

test('a lone item runs at the end of its own turn, as a batch of one', async () => {
  const { batches, releases, run } = heldStatement();
  const answer = batch(run, OPTIONS)('a');
  expect(batches).toEqual([]);
  await turn();
  expect(batches).toEqual([['a']]);
  releases[0]?.();
  expect(await answer).toBe('answer to a');
});

test('the items of one turn travel together, in the order in which they came', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, OPTIONS);
  const answers = Promise.all(['a', 'b', 'c'].map(submit));
  await turn();
  expect(batches).toEqual([['a', 'b', 'c']]);
  releases[0]?.();
  expect(await answers).toEqual(['answer to a', 'answer to b', 'answer to c']);
});

test('what arrives while a batch is in flight goes out together after it', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, OPTIONS);
  const answers = [submit('a')];
  await turns();
  for (const item of ['b', 'c', 'd']) {
    answers.push(submit(item));
    await turns();
  }
  expect(batches).toEqual([['a']]);
  releases[0]?.();
  await turns();
  expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
  releases[1]?.();
  expect(await Promise.all(answers)).toEqual(['answer to a', 'answer to b', 'answer to c', 'answer to d']);
});

test('never more than maxInFlight batches, and every free place is used', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxItems: 1, maxInFlight: 3 });
  const answers = ['a', 'b', 'c', 'd', 'e'].map(submit);
  await turns();
  expect(batches).toEqual([['a'], ['b'], ['c']]);
  releases[1]?.();
  await turns();
  expect(batches).toEqual([['a'], ['b'], ['c'], ['d']]);
  releases[0]?.();
  releases[2]?.();
  await turns();
  expect(batches).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
  releases[3]?.();
  releases[4]?.();
  expect(await Promise.all(answers)).toHaveLength(5);
});

test('no batch holds more than maxItems, and its size is told', async () => {
  const sizes: number[] = [];
  const seen: number[][] = [];
  const run = async (items: number[]) => {
    seen.push(items);
    return items.map((item) => item * 10);
  };
  const submit = batch(run, { ...OPTIONS, maxItems: 4, onBatch: (size) => sizes.push(size) });
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map(submit));
  expect(answers).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
  expect(seen).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9]]);
  expect(sizes).toEqual([4, 4, 1]);
});

test('answers arrive in the order of the items, whatever the answers are', async () => {
  const submit = batch(async (items: (number | undefined)[]) => items.map((item) => item), OPTIONS);
  expect(await Promise.all([3, undefined, 1, 0].map((item) => submit(item)))).toEqual([3, undefined, 1, 0]);
});

test('a batch that fails rejects all of its items with the same error, and the next one runs', async () => {
  let runs = 0;
  const outage = new Error('no connection');
  const submit = batch(async (items: string[]) => {
    if (++runs === 1) throw outage;
    return items;
  }, OPTIONS);
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(submit));
  expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: outage }));
  expect(runs).toBe(1);
  expect(await submit('d')).toBe('d');
});

test('a statement that throws at once rejects as well', async () => {
  const submit = batch((): Promise<string[]> => {
    throw new Error('not even started');
  }, OPTIONS);
  await expect(submit('a')).rejects.toThrow('not even started');
});

test('where one item may be to blame, only the guilty one fails', async () => {
  const runs: string[][] = [];
  const run = async (items: string[]) => {
    runs.push(items);
    if (items.includes('bad')) throw new Error('22P05');
    return items.map((item) => item.toUpperCase());
  };
  const submit = batch(run, { ...OPTIONS, isItemFault: (error) => (error as Error).message === '22P05' });
  const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map(submit));
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: 'A' },
    { status: 'rejected', reason: new Error('22P05') },
    { status: 'fulfilled', value: 'C' },
  ]);
  expect(runs).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
});

test('a guilty item that is alone is not tried twice', async () => {
  let runs = 0;
  const run = async (): Promise<string[]> => {
    runs++;
    throw new Error('22P05');
  };
  const submit = batch(run, { ...OPTIONS, isItemFault: () => true });
  await expect(submit('bad')).rejects.toThrow('22P05');
  expect(runs).toBe(1);
});

test('beyond maxWaiting an item is refused as Overloaded at once, and there is room again later', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxWaiting: 2 });
  const first = submit('in flight');
  await turns();
  const waiting = [submit('b'), submit('c')];
  await expect(submit('d')).rejects.toBeInstanceOf(Overloaded);
  releases[0]?.();
  await turns();
  const late = submit('e');
  await turns();
  releases[1]?.();
  await turns();
  releases[2]?.();
  expect(await Promise.all([first, ...waiting, late])).toEqual([
    'answer to in flight',
    'answer to b',
    'answer to c',
    'answer to e',
  ]);
  expect(batches).toEqual([['in flight'], ['b', 'c'], ['e']]);
});

test('an item that was not sent within maxWaitMs is refused as Overloaded, and what was sent is not', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxWaitMs: 50 });
  const sent = submit('sent');
  await turns();
  const stuck = [submit('b'), submit('c')].map((answer) => answer.catch((error) => error));
  for (const error of await Promise.all(stuck)) expect(error).toBeInstanceOf(Overloaded);
  const later = submit('d');
  releases[0]?.();
  expect(await sent).toBe('answer to sent');
  await turns();
  releases[1]?.();
  expect(await later).toBe('answer to d');
  expect(batches).toEqual([['sent'], ['d']]);
});

describe('isolation', () => {
  const LOCKED = new Error('55P03');
  /** A batch with an item of a locked key fails; alone, such an item waits until it is let go. */
  function lockedRow(...locked: string[]) {
    const batches: string[][] = [];
    const alone: string[] = [];
    const release = Promise.withResolvers<void>();
    const keyOf = (item: string): string => item[0] as string;
    const isLocked = (item: string): boolean => locked.includes(keyOf(item));
    const run = async (items: string[]) => {
      batches.push(items);
      if (items.some(isLocked)) throw LOCKED;
      return items;
    };
    const isolation = {
      isNeeded: (error: unknown) => error === LOCKED,
      keyOf,
      run: async (item: string) => {
        alone.push(item);
        if (isLocked(item)) await release.promise;
        return `alone ${item}`;
      },
    };
    return { batches, alone, release, run, isolation };
  }

  test('the other items of a batch are answered while one of them waits, and so are later batches', async () => {
    const { batches, release, run, isolation } = lockedRow('x');
    const submit = batch(run, { ...OPTIONS, isolation });
    let isAnswered = false;
    const [a, x, b] = ['a', 'x', 'b'].map(submit) as [Promise<string>, Promise<string>, Promise<string>];
    void x.finally(() => {
      isAnswered = true;
    });
    expect(await Promise.all([a, b])).toEqual(['alone a', 'alone b']);
    expect(await submit('c')).toBe('c');
    expect(isAnswered).toBe(false);
    release.resolve();
    expect(await x).toBe('alone x');
    expect(batches).toEqual([['a', 'x', 'b'], ['c']]);
  });

  test('items of a key that is isolated queue behind it in their order, and enter no batch', async () => {
    const { batches, alone, release, run, isolation } = lockedRow('x');
    const submit = batch(run, { ...OPTIONS, isolation });
    const answers = [submit('x1')];
    await turns();
    answers.push(submit('x2'), submit('x3'), submit('a'));
    await turns();
    expect(alone).toEqual(['x1']);
    expect(batches).toEqual([['x1'], ['a']]);
    release.resolve();
    expect(await Promise.all(answers)).toEqual(['alone x1', 'alone x2', 'alone x3', 'a']);
    expect(alone).toEqual(['x1', 'x2', 'x3']);
    const after = submit('x4');
    await expect(after).resolves.toBe('alone x4');
    expect(batches).toEqual([['x1'], ['a'], ['x4']]);
  });

  test('what waits behind an isolated item counts as waiting, and waits no longer than maxWaitMs', async () => {
    const { release, run, isolation } = lockedRow('x');
    const submit = batch(run, { ...OPTIONS, maxWaiting: 2, maxWaitMs: 20, isolation });
    const first = submit('x1');
    await turns();
    const second = submit('x2').catch((error) => error);
    await expect(submit('x3')).rejects.toBeInstanceOf(Overloaded);
    await pause(30);
    release.resolve();
    expect(await first).toBe('alone x1');
    expect(await second).toBeInstanceOf(Overloaded);
    expect(await submit('a')).toBe('a');
  });

  test('an isolated item that fails fails alone', async () => {
    const { run, isolation } = lockedRow('x');
    const submit = batch(run, {
      ...OPTIONS,
      isolation: {
        ...isolation,
        run: async (item) => {
          if (item === 'x') throw LOCKED;
          return item;
        },
      },
    });
    const outcomes = await Promise.allSettled(['a', 'x'].map(submit));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: LOCKED },
    ]);
  });
});

test('however heavy the items are, no batch of several is heavier than maxBytes, and their order is kept', async () => {
  const bytes = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 300 }));
  const limits = fc.record({ maxItems: fc.integer({ min: 1, max: 8 }), maxBytes: fc.integer({ min: 1, max: 100 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ bytes, pause: fc.integer({ min: 0, max: 2 }) }), { minLength: 1, maxLength: 40 }),
      limits,
      async (arrivals, { maxItems, maxBytes }) => {
        const batches: { id: number; bytes: number }[][] = [];
        const run = async (items: { id: number; bytes: number }[]) => {
          batches.push(items);
          await turns(1);
          return items.map((item) => item.id);
        };
        const submit = batch(run, { ...OPTIONS, maxItems, maxBytes, weigh: (item) => item.bytes });
        const answers: Promise<number>[] = [];
        for (const [id, arrival] of arrivals.entries()) {
          answers.push(submit({ id, bytes: arrival.bytes }));
          await turns(arrival.pause);
        }
        const ids = arrivals.map((_, id) => id);
        expect(await Promise.all(answers)).toEqual(ids);
        expect(batches.flat().map((item) => item.id)).toEqual(ids);
        const heaviness = (items: { bytes: number }[]) => items.reduce((sum, item) => sum + item.bytes, 0);
        for (const [index, items] of batches.entries()) {
          expect(items.length).toBeLessThanOrEqual(maxItems);
          if (items.length > 1) expect(heaviness(items)).toBeLessThanOrEqual(maxBytes);
          // Without pauses everything waits together, and a batch ends only where the next item does not fit.
          const next = batches[index + 1]?.[0];
          if (next && arrivals.every((arrival) => arrival.pause === 0)) {
            expect(items.length === maxItems || heaviness([...items, next]) > maxBytes).toBe(true);
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('however items arrive and batches end, each item gets exactly its own answer', async () => {
  const arrival = fc.record({ pause: fc.integer({ min: 0, max: 3 }), isBad: fc.boolean() });
  const limits = fc.record({ maxItems: fc.integer({ min: 1, max: 5 }), maxInFlight: fc.integer({ min: 1, max: 3 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(arrival, { minLength: 1, maxLength: 40 }),
      limits,
      fc.infiniteStream(fc.integer({ min: 0, max: 4 })),
      async (arrivals, { maxItems, maxInFlight }, delays) => {
        let inFlight = 0;
        let mostInFlight = 0;
        let mostItems = 0;
        const run = async (items: { id: number; isBad: boolean }[]) => {
          mostInFlight = Math.max(mostInFlight, ++inFlight);
          mostItems = Math.max(mostItems, items.length);
          await turns(delays.next().value);
          inFlight--;
          if (items.some((item) => item.isBad)) throw new Error('a bad item');
          return items.map((item) => item.id);
        };
        const submit = batch(run, { ...OPTIONS, maxItems, maxInFlight, isItemFault: () => true });
        const outcomes: Promise<number | 'refused'>[] = [];
        for (const [id, { pause, isBad }] of arrivals.entries()) {
          outcomes.push(submit({ id, isBad }).catch(() => 'refused' as const));
          await turns(pause);
        }
        expect(await Promise.all(outcomes)).toEqual(arrivals.map(({ isBad }, id) => (isBad ? 'refused' : id)));
        expect(mostInFlight).toBeLessThanOrEqual(maxInFlight);
        expect(mostItems).toBeLessThanOrEqual(maxItems);
      },
    ),
    { numRuns: 100 },
  );
});
