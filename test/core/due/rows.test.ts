/** Due rows of one kind of work: how far back claims read, and which connectors they are made for. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDueRows } from '../../../src/core/due/rows.ts';
import { LIMITS } from '../../../src/rules/limits.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Due rows of a store that has this many for each claim, and how far back the claims read. */
function rowsOver(counts: number[], connectors: () => string[] = () => ['a'], now = () => performance.now()) {
  const since: (number | undefined)[] = [];
  const store = {
    dueConnectors: async () => connectors(),
    claimDue: async (_connector: string, _most: number, sinceMs?: number) => {
      since.push(sinceMs);
      return Array(counts.shift() ?? 0).fill('row');
    },
  };
  const rows = createDueRows(store, now);
  return { rows, since };
}

test('a claim reads back to the last one that reached the present, with an overlap', async () => {
  const { rows, since } = rowsOver([2, 1, 2, 0]);
  await rows.connectors(false);
  for (let claims = 0; claims < 5; claims++) {
    await rows.claim('a', 2);
    vi.advanceTimersByTime(1000);
  }
  const overlap = LIMITS.dueOverlapMs;
  expect(since).toEqual([undefined, undefined, overlap + 1000, overlap + 2000, overlap + 1000]);
});

test('all rows are read once a minute, and when a sweep is requested', async () => {
  const { rows, since } = rowsOver([]);
  const round = async (isSweep: boolean, afterMs: number) => {
    vi.advanceTimersByTime(afterMs);
    await rows.connectors(isSweep);
    await rows.claim('a', 2);
  };
  await round(false, 0);
  await round(false, LIMITS.dueSweepMs - 1);
  await round(false, 1);
  await round(true, 1);
  await round(false, 1);
  expect(since.map((ms) => ms === undefined)).toEqual([true, false, true, true, false]);
});

test.each([LIMITS.dayMs, -LIMITS.dayMs])('all rows are read after the clock was set by %i ms', async (ms) => {
  let offset = 0;
  const { rows, since } = rowsOver([], undefined, () => performance.now() + offset);
  for (offset of [0, 0, ms]) {
    await rows.connectors(false);
    await rows.claim('a', 2);
  }
  expect(since).toEqual([undefined, LIMITS.dueOverlapMs, undefined]);
});

test('a claim that began before a sweep does not shorten the one after it', async () => {
  const { rows, since } = rowsOver([]);
  await rows.connectors(false);
  const before = rows.claim('a', 2);
  await rows.connectors(true);
  await before;
  await rows.claim('a', 2);
  expect(since).toEqual([undefined, undefined]);
});

test('a connector is remembered for some sweeps after its last due row', async () => {
  let due = ['a', 'b'];
  const { rows } = rowsOver([], () => due);
  expect(await rows.connectors(false)).toEqual(['a', 'b']);
  due = ['b', 'c'];
  expect(await rows.connectors(false)).toEqual(['a', 'b']);
  for (let sweeps = 0; sweeps < LIMITS.dueSweepsMissed; sweeps++) {
    expect(await rows.connectors(true)).toEqual(['a', 'b', 'c']);
  }
  expect(await rows.connectors(true)).toEqual(['b', 'c']);
});
