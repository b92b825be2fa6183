/** A turn of the event loop ends once for everybody who waits for it. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { endOfTick, endOfTickList } from '../../src/lib/tick.ts';

describe('the end of a turn', () => {
  test('is one and the same for all who wait in that turn, and another in the next', async () => {
    const first = endOfTick();
    expect(endOfTick()).toBe(first);
    await first;
    expect(endOfTick()).not.toBe(first);
    await endOfTick();
  });

  test('comes after everything that the turn still has to do, and before a later one', async () => {
    const order: string[] = [];
    const ended = endOfTick().then(() => order.push('end'));
    process.nextTick(() => order.push('tick'));
    queueMicrotask(() => order.push('microtask'));
    const later = turn().then(() => order.push('later'));
    order.push('now');
    await Promise.all([ended, later]);
    expect(order.slice(0, 3).toSorted()).toEqual(['microtask', 'now', 'tick']);
    expect(order.slice(3)).toEqual(['end', 'later']);
  });

  test('lets all who wait go on in the order in which they came', async () => {
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((who) => endOfTick().then(() => order.push(who))));
    expect(order).toEqual([1, 2, 3]);
  });
});

describe('a list of a turn', () => {
  test('is handed over together at the end of the turn, in order', async () => {
    const handed: string[][] = [];
    const add = endOfTickList<string>((items) => handed.push(items));
    add('a');
    add('b');
    add('c');
    expect(handed).toEqual([]);
    await turn();
    expect(handed).toEqual([['a', 'b', 'c']]);
  });

  test('starts anew in each turn and is silent in an empty one', async () => {
    const handed: string[][] = [];
    const add = endOfTickList<string>((items) => handed.push(items));
    add('a');
    await turn();
    await turn();
    add('b');
    await turn();
    expect(handed).toEqual([['a'], ['b']]);
  });

  test('takes what is added during the hand-over into the next one', async () => {
    const handed: number[][] = [];
    const add = endOfTickList<number>((items) => {
      handed.push(items);
      if ((items[0] as number) < 3) add((items[0] as number) + 1);
    });
    add(1);
    for (let passed = 0; passed < 5; passed++) await turn();
    expect(handed).toEqual([[1], [2], [3]]);
  });
});
