/** The window of an endpoint grows by one with each delivery and halves with each failure; groups have limits. */
import { expect, test } from 'vitest';
import { claimLimit, firstWindow, groupOf, isBusy, nextWindow, roomFor } from '../../../src/core/callbacks/windows.ts';

const windowsAfter = (start: number, outcomes: readonly boolean[]): number[] => {
  let window = start;
  return outcomes.map((isDelivered) => (window = nextWindow(window, isDelivered)));
};

test('a new endpoint starts with a window of 4, or of 2 if its callback failed before', () => {
  expect([0, 1, 13].map(firstWindow)).toEqual([4, 2, 2]);
});

test('each delivery adds one, up to 16', () => {
  expect(windowsAfter(4, Array(14).fill(true))).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16]);
});

test('each failure halves the window, down to one', () => {
  expect(windowsAfter(16, Array(6).fill(false))).toEqual([8, 4, 2, 1, 1, 1]);
  expect(windowsAfter(5, [false, true, false])).toEqual([2, 3, 1]);
});

test('an endpoint is failing when its window is down to one', () => {
  expect([1, 2, 4, 16].map(groupOf)).toEqual(['failing', 'healthy', 'healthy', 'healthy']);
});

test('callbacks are claimed four windows ahead, and one at a time for a failing endpoint', () => {
  expect(roomFor(4, 0, false)).toBe(16);
  expect(roomFor(16, 60, false)).toBe(4);
  expect(roomFor(2, 9, false)).toBe(0);
  expect([0, 1, 2].map((claimed) => roomFor(1, claimed, false))).toEqual([1, 0, 0]);
});

test('in a busy process only endpoints that have answered get more than one at a time', () => {
  expect([0, 1].map((claimed) => roomFor(4, claimed, true))).toEqual([1, 0]);
  expect(roomFor(5, 0, true)).toBe(20);
});

test('a process is busy from 512 claimed callbacks on, and claims up to 4096', () => {
  expect([511, 512].map(isBusy)).toEqual([false, true]);
  expect([0, 500, 512, 4000, 4096].map((claimed) => claimLimit('healthy', claimed, 0))).toEqual([512, 12, 3584, 96, 0]);
});

test('failing endpoints have 256 in flight at most, however many the others have', () => {
  expect([0, 200, 256].map((inFlight) => claimLimit('failing', 4096, inFlight))).toEqual([256, 56, 0]);
});
