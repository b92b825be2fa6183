/** A deadline aborts what is under way, and says no to what would begin too late. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadline } from '../../src/lib/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('its signal aborts at the end, and not before', () => {
  const { signal } = new Deadline(1000);
  vi.advanceTimersByTime(999);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.aborted).toBe(true);
});

test('a signal that is asked for late still aborts at the end', () => {
  const deadline = new Deadline(1000);
  vi.advanceTimersByTime(900);
  const { signal } = deadline;
  vi.advanceTimersByTime(100);
  expect(signal.aborted).toBe(true);
});

test('after the call has ended nothing is aborted, and no timer is left', () => {
  const deadline = new Deadline(1000);
  const { signal } = deadline;
  deadline.clear();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(signal.aborted).toBe(false);
});

test('a call may begin while enough time is left for its answer', () => {
  const deadline = new Deadline(1000, 300);
  vi.advanceTimersByTime(699);
  expect([deadline.mayBegin, deadline.begin(), deadline.hasBegun]).toEqual([true, true, true]);
});

test('one that would have less does not begin', () => {
  const deadline = new Deadline(1000, 300);
  vi.advanceTimersByTime(700);
  expect([deadline.mayBegin, deadline.begin(), deadline.hasBegun]).toEqual([false, false, false]);
});

test('a deadline in the past lets nothing begin', () => {
  const deadline = new Deadline(-5000);
  expect([deadline.leftMs, deadline.begin()]).toEqual([0, false]);
});
