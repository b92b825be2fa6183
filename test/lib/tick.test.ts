/** The end of an event-loop tick, and lists of the items of a tick. */
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { endOfTick, endOfTickList } from '../../src/lib/tick.ts';

describe('the end of a tick', () => {
  test('is the same promise within a tick, and another one in the next tick', async () => {
    const first = endOfTick();
    expect(endOfTick()).toBe(first);
    await first;
    expect(endOfTick()).not.toBe(first);
    await endOfTick();
  });

  test('comes after the remaining work of the tick, and before the next one', async () => {
    const order: string[] = [];
    const ended = endOfTick().then(() => order.push('end'));
    process.nextTick(() => order.push('tick'));
    queueMicrotask(() => order.push('microtask'));
    const later = immediate().then(() => order.push('later'));
    order.push('now');
    await Promise.all([ended, later]);
    expect(order.slice(0, 3).toSorted()).toEqual(['microtask', 'now', 'tick']);
    expect(order.slice(3)).toEqual(['end', 'later']);
  });

  test('resumes waiting callers in order of arrival', async () => {
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((who) => endOfTick().then(() => order.push(who))));
    expect(order).toEqual([1, 2, 3]);
  });
});

describe('the list of a tick', () => {
  test('is processed at the end of the tick, in order', async () => {
    const handed: string[][] = [];
    const add = endOfTickList<string>((items) => handed.push(items));
    add('a');
    add('b');
    add('c');
    expect(handed).toEqual([]);
    await immediate();
    expect(handed).toEqual([['a', 'b', 'c']]);
  });

  test('is empty at the start of each tick, and an empty list is not processed', async () => {
    const handed: string[][] = [];
    const add = endOfTickList<string>((items) => handed.push(items));
    add('a');
    await immediate();
    await immediate();
    add('b');
    await immediate();
    expect(handed).toEqual([['a'], ['b']]);
  });

  test('items added during processing belong to the next list', async () => {
    const handed: number[][] = [];
    const add = endOfTickList<number>((items) => {
      handed.push(items);
      if ((items[0] as number) < 3) add((items[0] as number) + 1);
    });
    add(1);
    for (let passed = 0; passed < 5; passed++) await immediate();
    expect(handed).toEqual([[1], [2], [3]]);
  });
});
