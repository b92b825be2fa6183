/** The fixed-window limit: counts per window and per name. */
import { expect, test } from 'vitest';
import { createWindowLimit } from '../../../src/lib/flow/window-limit.ts';

test('with a limit of two the third exceeds it, until the window ends', () => {
  const isTooMany = createWindowLimit(2, 1000);
  expect([5000, 5000, 5999, 5999].map((now) => isTooMany('a', now))).toEqual([false, false, true, true]);
  expect([6000, 6001, 6002].map((now) => isTooMany('a', now))).toEqual([false, false, true]);
});

test('counts names separately', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(['a', 'b', 'a', 'b', 'c'].map((name) => isTooMany(name, 1))).toEqual([false, false, true, true, false]);
});

test('after a pause a window begins with the next event', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(isTooMany('a', 0)).toBe(false);
  expect([1_000_900, 1_001_100].map((now) => isTooMany('a', now))).toEqual([false, true]);
});

test('accepts names of object properties', () => {
  const isTooMany = createWindowLimit(1, 1000);
  expect(['__proto__', 'constructor', '', '__proto__'].map((name) => isTooMany(name, 1))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
