/** A pace lets so many pass in each stretch of time, and each name by itself. */
import { expect, test } from 'vitest';
import { createWindowLimit } from '../../src/lib/window-limit.ts';

test('the third is one too many of two, until the stretch is over', () => {
  const isTooMany = createWindowLimit(2, 1000);
  expect([5000, 5000, 5999, 5999].map((now) => isTooMany('a', now))).toEqual([false, false, true, true]);
  expect([6000, 6001, 6002].map((now) => isTooMany('a', now))).toEqual([false, false, true]);
});

test('names do not get in each other’s way', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(['a', 'b', 'a', 'b', 'c'].map((name) => isTooMany(name, 1))).toEqual([false, false, true, true, false]);
});

test('after a long pause a stretch begins with what happens then', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(isTooMany('a', 0)).toBe(false);
  expect([1_000_900, 1_001_100].map((now) => isTooMany('a', now))).toEqual([false, true]);
});

test('names that are the names of something else are names as well', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(['__proto__', 'constructor', '', '__proto__'].map((name) => isTooMany(name, 1))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
