/** The clock runs with real time, ahead of it for everybody, or ahead for one account. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createClock, wireDate } from '../../src/lib/clock.ts';

const NOW = Date.UTC(2026, 0, 31, 23, 59, 59);

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

describe('a clock', () => {
  test('that nobody moved shows real time to everybody', () => {
    const clock = createClock();
    expect([clock.now(), clock.now('a'), clock.offset(), clock.offset('a')]).toEqual([NOW, NOW, 0, 0]);
    vi.advanceTimersByTime(1500);
    expect(clock.now()).toBe(NOW + 1500);
    expect(clock.furthestOffset()).toBe(0);
  });

  test('that was moved runs ahead for everybody', () => {
    const clock = createClock();
    clock.set({ global: 60_000, accounts: new Map() });
    expect([clock.now(), clock.now('a'), clock.offset('a')]).toEqual([NOW + 60_000, NOW + 60_000, 60_000]);
    expect(clock.furthestOffset()).toBe(0);
  });

  test('that was moved for one account runs ahead for it, on top of the offset for everybody', () => {
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
    expect(clock.furthestOffset()).toBe(7000);
  });

  test('takes over the offsets as they stand, not on top of earlier ones', () => {
    const clock = createClock();
    clock.set({ global: 1000, accounts: new Map([['a', 500]]) });
    clock.set({ global: 20, accounts: new Map() });
    expect([clock.offset(), clock.offset('a'), clock.furthestOffset()]).toEqual([20, 20, 0]);
  });

  test('counts how often it was set, for whichever account', () => {
    const clock = createClock();
    expect(clock.readings()).toBe(0);
    clock.set({ global: 1000, accounts: new Map() });
    clock.set({ global: 1000, accounts: new Map([['a', 500]]) });
    expect(clock.readings()).toBe(2);
  });

  test('bears as many accounts as there are', () => {
    const clock = createClock();
    clock.set({ global: 0, accounts: new Map(Array.from({ length: 300_000 }, (_, at) => [`account ${at}`, at])) });
    expect(clock.furthestOffset()).toBe(299_999);
  });
});

test.each<[number, string]>([
  [0, '1970-01-01 00:00:00'],
  [Date.UTC(2026, 0, 31, 23, 59, 59, 999), '2026-01-31 23:59:59'],
  [Date.UTC(2028, 1, 29), '2028-02-29 00:00:00'],
  [Date.UTC(2099, 11, 31, 12, 5, 9), '2099-12-31 12:05:09'],
])('the moment %i is written %s, in UTC', (ms, text) => {
  expect(wireDate(ms)).toBe(text);
});
