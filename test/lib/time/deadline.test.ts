/** A deadline aborts a running call, and prevents a late start. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadline } from '../../../src/lib/time/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the signal aborts at the deadline, and not before', () => {
  const { signal } = new Deadline(1000);
  vi.advanceTimersByTime(999);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.aborted).toBe(true);
});

test('a signal that is first used later still aborts at the deadline', () => {
  const deadline = new Deadline(1000);
  vi.advanceTimersByTime(900);
  const { signal } = deadline;
  vi.advanceTimersByTime(100);
  expect(signal.aborted).toBe(true);
});

test('after the call has ended nothing is aborted, and no timer remains', () => {
  const deadline = new Deadline(1000);
  const { signal } = deadline;
  deadline.clear();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(signal.aborted).toBe(false);
});

test('a call may begin while enough time is left for its response', () => {
  const deadline = new Deadline(1000, 300);
  vi.advanceTimersByTime(699);
  expect([deadline.mayBegin, deadline.begin(), deadline.hasBegun]).toEqual([true, true, true]);
});

test('a call with too little time left may not begin', () => {
  const deadline = new Deadline(1000, 300);
  vi.advanceTimersByTime(700);
  expect([deadline.mayBegin, deadline.begin(), deadline.hasBegun]).toEqual([false, false, false]);
});

test('after the deadline no call may begin', () => {
  const deadline = new Deadline(-5000);
  expect([deadline.leftMs, deadline.begin()]).toEqual([0, false]);
});
