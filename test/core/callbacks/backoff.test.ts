/** The retry schedule: scheduled pauses with jitter, and longer ones that a receiver asks for. */
import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/core/callbacks/backoff.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const middle = (): number => 0.5;

test('the pauses grow, and end after thirteen retries', () => {
  const pauses = Array.from({ length: 14 }, (_, index) => backoffMs(index, 0, middle));
  expect(pauses.slice(0, 4)).toEqual([10, 30, 60, 300].map((seconds) => seconds * SECOND));
  expect(pauses.slice(12)).toEqual([24 * HOUR, undefined]);
});

test('jitter makes a pause up to a fifth shorter or longer', () => {
  expect(backoffMs(0, 0, () => 0)).toBe(8 * SECOND);
  expect(backoffMs(0, 0, () => 1)).toBe(12 * SECOND);
});

test('Retry-After lengthens a pause, up to an hour, and never shortens one', () => {
  expect(backoffMs(0, 120 * SECOND, middle)).toBe(120 * SECOND);
  expect(backoffMs(0, 2 * HOUR, middle)).toBe(HOUR);
  expect(backoffMs(0, SECOND, middle)).toBe(10 * SECOND);
  expect(backoffMs(12, HOUR, middle)).toBe(24 * HOUR);
  expect(backoffMs(13, HOUR, middle)).toBeUndefined();
});
