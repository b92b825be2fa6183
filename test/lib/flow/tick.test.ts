/** Lists of the items of an event-loop tick. */
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { endOfTickList } from '../../../src/lib/flow/tick.ts';

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
