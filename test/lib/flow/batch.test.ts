/** Group commit: which items form a batch, its limits, and that each item gets its own result. */
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batch, Overloaded } from '../../../src/lib/flow/batch.ts';
import { createWaitGauge } from '../../../src/lib/flow/wait-gauge.ts';

const OPTIONS = { maxItems: 100, maxInFlight: 1, maxWaiting: 1000, isItemFault: () => false };

/** A statement that returns only when it is released, and records its batches. */
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

const ticks = async (count = 3): Promise<void> => {
  for (let passed = 0; passed < count; passed++) await immediate();
};

test('a lone item runs at the end of its tick, as a batch of one', async () => {
  const { batches, releases, run } = heldStatement();
  const answer = batch(run, OPTIONS)('a');
  expect(batches).toEqual([]);
  await immediate();
  expect(batches).toEqual([['a']]);
  releases[0]?.();
  expect(await answer).toBe('answer to a');
});

test('with patience, a batch is sent beside another one that takes long, and at once when that has returned', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxInFlight: 2, besideAfterMs: 30 });
  const answers = [submit('a')];
  await immediate();
  answers.push(submit('b'));
  await ticks();
  answers.push(submit('c'));
  await ticks();
  expect(batches).toEqual([['a']]);
  await expect.poll(() => batches).toEqual([['a'], ['b', 'c']]);
  answers.push(submit('d'));
  await ticks();
  expect(batches).toHaveLength(2);
  for (const release of releases) release();
  await expect.poll(() => batches).toEqual([['a'], ['b', 'c'], ['d']]);
  releases[2]?.();
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((item) => `answer to ${item}`));
});

test('with a least time between batches, items wait for the next one together, and not after a pause', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxInFlight: 2, besideAfterMs: 60_000, everyMs: 200 });
  await pause(200);
  const answers = [submit('a')];
  await immediate();
  const sentAt = performance.now();
  // Waits for the first one to return, and then for the time to pass.
  answers.push(submit('b'));
  await ticks();
  releases[0]?.();
  await answers[0];
  answers.push(submit('c'));
  await ticks();
  expect(batches).toEqual([['a']]);
  await expect.poll(() => batches).toEqual([['a'], ['b', 'c']]);
  expect(performance.now() - sentAt).toBeGreaterThan(190);
  releases[1]?.();
  await Promise.all(answers);
  await pause(210);
  answers.push(submit('d'));
  await immediate();
  expect(batches.at(-1)).toEqual(['d']);
  releases[2]?.();
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((item) => `answer to ${item}`));
});

test('the items of one tick form one batch, in order of arrival', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, OPTIONS);
  const answers = Promise.all(['a', 'b', 'c'].map(submit));
  await immediate();
  expect(batches).toEqual([['a', 'b', 'c']]);
  releases[0]?.();
  expect(await answers).toEqual(['answer to a', 'answer to b', 'answer to c']);
});

test('items that arrive while a batch is in flight form the next batch', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, OPTIONS);
  const answers = [submit('a')];
  await ticks();
  for (const item of ['b', 'c', 'd']) {
    answers.push(submit(item));
    await ticks();
  }
  expect(batches).toEqual([['a']]);
  releases[0]?.();
  await ticks();
  expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
  releases[1]?.();
  expect(await Promise.all(answers)).toEqual(['answer to a', 'answer to b', 'answer to c', 'answer to d']);
});

test('runs up to maxInFlight batches, and starts the next one as soon as one ends', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxItems: 1, maxInFlight: 3 });
  const answers = ['a', 'b', 'c', 'd', 'e'].map(submit);
  await ticks();
  expect(batches).toEqual([['a'], ['b'], ['c']]);
  releases[1]?.();
  await ticks();
  expect(batches).toEqual([['a'], ['b'], ['c'], ['d']]);
  releases[0]?.();
  releases[2]?.();
  await ticks();
  expect(batches).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
  releases[3]?.();
  releases[4]?.();
  expect(await Promise.all(answers)).toHaveLength(5);
});

test('a batch has at most maxItems items, and its size is reported', async () => {
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

test('results are matched to items by position, whatever they are', async () => {
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

test('when one item may have caused the failure, only that item fails', async () => {
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

test('a failing item in a batch of its own is not run twice', async () => {
  let runs = 0;
  const run = async (): Promise<string[]> => {
    runs++;
    throw new Error('22P05');
  };
  const submit = batch(run, { ...OPTIONS, isItemFault: () => true });
  await expect(submit('bad')).rejects.toThrow('22P05');
  expect(runs).toBe(1);
});

test('an item beyond maxWaiting is refused as Overloaded at once; later ones are accepted again', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxWaiting: 2 });
  const first = submit('in flight');
  await ticks();
  const waiting = [submit('b'), submit('c')];
  await expect(submit('d')).rejects.toBeInstanceOf(Overloaded);
  releases[0]?.();
  await ticks();
  const late = submit('e');
  await ticks();
  releases[1]?.();
  await ticks();
  releases[2]?.();
  expect(await Promise.all([first, ...waiting, late])).toEqual([
    'answer to in flight',
    'answer to b',
    'answer to c',
    'answer to e',
  ]);
  expect(batches).toEqual([['in flight'], ['b', 'c'], ['e']]);
});

test('an item that was not sent within maxWaitMs is refused as Overloaded; a sent one is not', async () => {
  const { batches, releases, run } = heldStatement();
  const submit = batch(run, { ...OPTIONS, maxWaitMs: 500 });
  const sent = submit('sent');
  await ticks();
  const stuck = [submit('b'), submit('c')].map((answer) => answer.catch((error) => error));
  for (const error of await Promise.all(stuck)) expect(error).toBeInstanceOf(Overloaded);
  const later = submit('d');
  releases[0]?.();
  expect(await sent).toBe('answer to sent');
  await ticks();
  releases[1]?.();
  expect(await later).toBe('answer to d');
  expect(batches).toEqual([['sent'], ['d']]);
});

test('tells how long a new item would wait: as long as the batch in flight, and once more for each one ahead', async () => {
  const { releases, run } = heldStatement();
  const gauge = createWaitGauge();
  const submit = batch(run, { ...OPTIONS, maxItems: 2, gauge });
  gauge.close();
  const expectedMs = gauge.waitMs;
  expect(expectedMs()).toBe(0);
  const answers = [submit('a')];
  await immediate();
  await pause(20);
  const alone = expectedMs();
  expect(alone).toBeGreaterThan(10);
  answers.push(...['b', 'c', 'd'].map(submit));
  expect(expectedMs()).toBeGreaterThanOrEqual(alone * 3);
  for (let sent = 0; sent < 3; sent++) {
    releases[sent]?.();
    await ticks();
  }
  await Promise.all(answers);
  expect(expectedMs()).toBe(0);
});

test('batches in flight at the same time shorten the expected wait', async () => {
  const { releases, run } = heldStatement();
  const gauge = createWaitGauge();
  const submit = batch(run, { ...OPTIONS, maxItems: 1, maxInFlight: 2, gauge });
  gauge.close();
  const began = performance.now();
  const answers = ['a', 'b'].map(submit);
  await immediate();
  await pause(20);
  const alone = gauge.waitMs();
  answers.push(...['c', 'd', 'e', 'f'].map(submit));
  // Four items wait for two places: twice the time of a batch, and that of the batch in flight.
  const expected = gauge.waitMs();
  expect(expected).toBeGreaterThanOrEqual(alone * 3);
  expect(expected).toBeLessThanOrEqual((performance.now() - began) * 3);
  for (let sent = 0; sent < 6; sent++) {
    releases[sent]?.();
    await ticks();
  }
  await Promise.all(answers);
});

describe('isolation', () => {
  const LOCKED = new Error('55P03');
  /** A batch with an item of a locked key fails; alone, such an item waits until the lock is released. */
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

  test('an isolated item delays neither the other items of its batch nor later batches', async () => {
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

  test('further items of an isolated key queue behind it in order, and enter no batch', async () => {
    const { batches, alone, release, run, isolation } = lockedRow('x');
    const submit = batch(run, { ...OPTIONS, isolation });
    const answers = [submit('x1')];
    await ticks();
    answers.push(submit('x2'), submit('x3'), submit('a'));
    await ticks();
    expect(alone).toEqual(['x1']);
    expect(batches).toEqual([['x1'], ['a']]);
    release.resolve();
    expect(await Promise.all(answers)).toEqual(['alone x1', 'alone x2', 'alone x3', 'a']);
    expect(alone).toEqual(['x1', 'x2', 'x3']);
    const after = submit('x4');
    await expect(after).resolves.toBe('alone x4');
    expect(batches).toEqual([['x1'], ['a'], ['x4']]);
  });

  test('items behind an isolated one count towards maxWaiting and expire after maxWaitMs', async () => {
    const { release, run, isolation } = lockedRow('x');
    const submit = batch(run, { ...OPTIONS, maxWaiting: 2, maxWaitMs: 500, isolation });
    const first = submit('x1');
    await ticks();
    const second = submit('x2').catch((error) => error);
    await expect(submit('x3')).rejects.toBeInstanceOf(Overloaded);
    await pause(600);
    release.resolve();
    expect(await first).toBe('alone x1');
    expect(await second).toBeInstanceOf(Overloaded);
    expect(await submit('a')).toBe('a');
  });

  test('a failing isolated item fails alone', async () => {
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

test('property: a batch of several items never exceeds maxBytes, and the order is kept', async () => {
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
          await ticks(1);
          return items.map((item) => item.id);
        };
        const submit = batch(run, { ...OPTIONS, maxItems, maxBytes, weigh: (item) => item.bytes });
        const answers: Promise<number>[] = [];
        for (const [id, arrival] of arrivals.entries()) {
          answers.push(submit({ id, bytes: arrival.bytes }));
          await ticks(arrival.pause);
        }
        const ids = arrivals.map((_, id) => id);
        expect(await Promise.all(answers)).toEqual(ids);
        expect(batches.flat().map((item) => item.id)).toEqual(ids);
        const heaviness = (items: { bytes: number }[]) => items.reduce((sum, item) => sum + item.bytes, 0);
        for (const [index, items] of batches.entries()) {
          expect(items.length).toBeLessThanOrEqual(maxItems);
          if (items.length > 1) expect(heaviness(items)).toBeLessThanOrEqual(maxBytes);
          // Without pauses all items queue at once, and a batch ends only where the next item does not fit.
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

test('property: each item gets exactly its own result', async () => {
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
          await ticks(delays.next().value);
          inFlight--;
          if (items.some((item) => item.isBad)) throw new Error('a bad item');
          return items.map((item) => item.id);
        };
        const submit = batch(run, { ...OPTIONS, maxItems, maxInFlight, isItemFault: () => true });
        const outcomes: Promise<number | 'refused'>[] = [];
        for (const [id, { pause, isBad }] of arrivals.entries()) {
          outcomes.push(submit({ id, isBad }).catch(() => 'refused' as const));
          await ticks(pause);
        }
        expect(await Promise.all(outcomes)).toEqual(arrivals.map(({ isBad }, id) => (isBad ? 'refused' : id)));
        expect(mostInFlight).toBeLessThanOrEqual(maxInFlight);
        expect(mostItems).toBeLessThanOrEqual(maxItems);
      },
    ),
    { numRuns: 100 },
  );
});
