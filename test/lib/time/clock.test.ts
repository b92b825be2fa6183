/** The clock: real time, the global offset, the offsets of accounts, and synchronisation with the database. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createClock, wireDate } from '../../../src/lib/time/clock.ts';

const NOW = Date.UTC(2026, 0, 31, 23, 59, 59);

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

describe('a clock', () => {
  test('without offsets shows real time', () => {
    const clock = createClock();
    expect([clock.now(), clock.now('a'), clock.offset(), clock.offset('a')]).toEqual([NOW, NOW, 0, 0]);
    vi.advanceTimersByTime(1500);
    expect(clock.now()).toBe(NOW + 1500);
  });

  test('with a global offset is ahead for all accounts', () => {
    const clock = createClock();
    clock.set({ global: 60_000, accounts: new Map() });
    expect([clock.now(), clock.now('a'), clock.offset('a')]).toEqual([NOW + 60_000, NOW + 60_000, 60_000]);
  });

  test('adds the offset of an account to the global one', () => {
    const clock = createClock();
    clock.set({
      global: 1000,
      accounts: new Map([
        ['a', 500],
        ['b', 7000],
      ]),
    });
    expect([clock.offset(), clock.offset('a'), clock.offset('b'), clock.offset('c')]).toEqual([1000, 1500, 8000, 1000]);
    expect(clock.now('b')).toBe(NOW + 8000);
  });

  test('replaces earlier offsets instead of adding to them', () => {
    const clock = createClock();
    clock.set({ global: 1000, accounts: new Map([['a', 500]]) });
    clock.set({ global: 20, accounts: new Map() });
    expect([clock.offset(), clock.offset('a')]).toEqual([20, 20]);
  });

  test('ignores the answer to a read that began before the last one', () => {
    const clock = createClock();
    clock.set({ global: 1000, accounts: new Map() }, 20);
    clock.set({ global: 0, accounts: new Map() }, 10);
    expect(clock.offset()).toBe(1000);
    clock.set({ global: 2000, accounts: new Map() }, 30);
    expect(clock.offset()).toBe(2000);
  });

  test('counts in monotonic time: a step of the machine’s clock has no effect', () => {
    const clock = createClock();
    vi.setSystemTime(NOW + 30_000);
    expect(clock.now()).toBe(NOW);
    vi.advanceTimersByTime(10);
    expect(clock.now()).toBe(NOW + 10);
  });
});

test('a clock reports a recent change of its offsets, but not a read without a change', () => {
  const clock = createClock();
  const offsets = { global: 1000, accounts: new Map([['a', 500]]) };
  expect(clock.wasMovedWithin(1000)).toBe(false);
  clock.set(offsets);
  expect(clock.wasMovedWithin(1000)).toBe(true);
  vi.advanceTimersByTime(1000);
  clock.set({ global: 1000, accounts: new Map([['a', 500]]) });
  expect(clock.wasMovedWithin(1000)).toBe(false);
  clock.set({ ...offsets, accounts: new Map([['a', 501]]) });
  expect(clock.wasMovedWithin(1000)).toBe(true);
});

describe('a synchronised clock', () => {
  const AHEAD = NOW + 30_000;
  const reading = (at: number, tookMs: number) => {
    const before = performance.now();
    vi.advanceTimersByTime(tookMs);
    return { at, before, after: performance.now() };
  };

  test('shows the reference time, and is never behind it', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 4));
    // The reference clock showed AHEAD at some moment of those 4 ms.
    expect(clock.now()).toBe(AHEAD + 4);
    vi.advanceTimersByTime(1000);
    expect(clock.now()).toBe(AHEAD + 1004);
  });

  test('keeps an exact reading instead of a slow one', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 1));
    clock.synchronise(reading(AHEAD + 1, 3000));
    expect(clock.now()).toBe(AHEAD + 3001);
  });

  test('prefers a newer reading once the drift of the old one may be as large', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 1));
    vi.advanceTimersByTime(60_000);
    clock.synchronise(reading(AHEAD + 60_101, 5));
    expect(clock.now()).toBe(AHEAD + 60_106);
  });

  test('is not set back by a more exact reading: it stands still until the time that it showed', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 300));
    expect(clock.now()).toBe(AHEAD + 300);
    // The reference clock showed AHEAD at the end of the first reading, not at its beginning.
    clock.synchronise(reading(AHEAD + 1, 1));
    expect(clock.now()).toBe(AHEAD + 300);
    vi.advanceTimersByTime(298);
    expect(clock.now()).toBe(AHEAD + 300);
    vi.advanceTimersByTime(2);
    expect(clock.now()).toBe(AHEAD + 302);
  });

  test('follows a step of the reference clock', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 1));
    expect(clock.now()).toBe(AHEAD + 1);
    clock.synchronise(reading(NOW, 1));
    expect(clock.now()).toBe(NOW + 1);
  });

  test('adds the sandbox offsets', () => {
    const clock = createClock();
    clock.set({ global: 1000, accounts: new Map([['a', 500]]) });
    clock.synchronise(reading(AHEAD - 1, 1));
    expect([clock.real(), clock.now(), clock.now('a')]).toEqual([AHEAD, AHEAD + 1000, AHEAD + 1500]);
  });

  test('ignores a reading that took no time', () => {
    const clock = createClock();
    clock.synchronise(reading(AHEAD, 0));
    expect(clock.now()).toBe(NOW);
  });
});

test.each<[number, string]>([
  [0, '1970-01-01 00:00:00'],
  [Date.UTC(2026, 0, 31, 23, 59, 59, 999), '2026-01-31 23:59:59'],
  [Date.UTC(2028, 1, 29), '2028-02-29 00:00:00'],
  [Date.UTC(2099, 11, 31, 12, 5, 9), '2099-12-31 12:05:09'],
])('formats %i as %s in UTC', (ms, text) => {
  expect(wireDate(ms)).toBe(text);
});
