/** The backlog of endpoints with due callbacks: searched among the newest each time, and by sweeps over all. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDueEndpoints } from '../../../src/core/callbacks/due-endpoints.ts';
import type { Gateway } from '../../../src/core/context.ts';
import { type CallbackStore, SWEEP_START, type SweepPosition } from '../../../src/store/callbacks/callbacks.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** When the fake clock starts. */
const NOON = Date.UTC(2026, 2, 1, 12);
const HALFWAY: SweepPosition = { dueAt: '2026-03-01 00:00:00.123456+00', mid: 'merchant', endpoint: 'b' };

/** A backlog over a store that answers each search with the next of these results, and the positions it was asked for. */
function backlogOver(...results: Partial<Awaited<ReturnType<CallbackStore['findDue']>>>[]) {
  const positions: (SweepPosition | undefined)[] = [];
  const findDue: CallbackStore['findDue'] = async (_, position) => {
    positions.push(position);
    return { found: [], sweep: undefined, ...results[positions.length - 1] };
  };
  const gateway = { callbacks: { findDue }, clock: { now: () => NOON + performance.now() } } as unknown as Gateway;
  return { dueEndpoints: createDueEndpoints(gateway), positions };
}

const endpoint = (name: string) => ({ mid: 'merchant', endpoint: name, lookahead: 0, since: 5 });
const namesOf = (requests: readonly { endpoint: string }[]): string[] => requests.map((one) => one.endpoint);

test('found endpoints are taken once, in the order in which they were found', async () => {
  const { dueEndpoints } = backlogOver({ found: [endpoint('a'), endpoint('b')] }, { found: [endpoint('a')] });
  await dueEndpoints.search();
  await dueEndpoints.search();
  expect(namesOf(dueEndpoints.take(() => 1))).toEqual(['a', 'b']);
  expect(dueEndpoints.take(() => 1)).toEqual([]);
});

test('an endpoint without room stays in the backlog', () => {
  const { dueEndpoints } = backlogOver();
  dueEndpoints.add(endpoint('a'));
  dueEndpoints.add({ ...endpoint('b'), lookahead: 64 });
  expect(dueEndpoints.take((key) => (key === 'merchant b' ? 5 : 0))).toEqual([
    { mid: 'merchant', endpoint: 'b', lookahead: 64, since: 5, room: 5 },
  ]);
  expect(namesOf(dueEndpoints.take(() => 1))).toEqual(['a']);
});

test('at most 512 endpoints are taken at a time', () => {
  const { dueEndpoints } = backlogOver();
  for (let index = 0; index < 600; index++) dueEndpoints.add(endpoint(String(index)));
  expect(dueEndpoints.take(() => 1)).toHaveLength(512);
  expect(dueEndpoints.take(() => 1)).toHaveLength(88);
});

test('of several times since which callbacks of an endpoint are due, the earliest is used', () => {
  const { dueEndpoints } = backlogOver();
  dueEndpoints.add({ ...endpoint('a'), since: 7 });
  dueEndpoints.add({ ...endpoint('a'), since: 6 });
  dueEndpoints.add({ mid: 'merchant', endpoint: 'a' });
  dueEndpoints.add({ ...endpoint('b'), since: null });
  dueEndpoints.add(endpoint('b'));
  expect(dueEndpoints.take(() => 1).map(({ since }) => since)).toEqual([6, null]);
});

test('a sweep continues from its position until it is complete; the next one starts a second later', async () => {
  const { dueEndpoints, positions } = backlogOver({ sweep: HALFWAY });
  await dueEndpoints.search();
  expect(dueEndpoints.isSweeping).toBe(true);
  await dueEndpoints.search();
  expect(dueEndpoints.isSweeping).toBe(false);
  vi.advanceTimersByTime(999);
  await dueEndpoints.search();
  vi.advanceTimersByTime(1);
  await dueEndpoints.search();
  // Ten seconds before the first one started.
  const later = { ...SWEEP_START, dueAt: '2026-03-01T11:59:50.000Z' };
  expect(positions).toEqual([SWEEP_START, HALFWAY, undefined, later]);
});

test('every 15 seconds a sweep reads all due callbacks', async () => {
  const { dueEndpoints, positions } = backlogOver();
  for (let second = 0; second <= 30; second++) {
    await dueEndpoints.search();
    vi.advanceTimersByTime(1000);
  }
  const fromStart = positions.flatMap((position, second) => (position?.dueAt === SWEEP_START.dueAt ? second : []));
  expect(fromStart).toEqual([0, 15, 30]);
});

test('a requested sweep starts from the beginning with the next search, also during another one', async () => {
  const { dueEndpoints, positions } = backlogOver({ sweep: HALFWAY });
  const search = dueEndpoints.search();
  dueEndpoints.requestSweep();
  await search;
  await dueEndpoints.search();
  expect(dueEndpoints.isSweeping).toBe(false);
  dueEndpoints.requestSweep();
  expect(dueEndpoints.isSweeping).toBe(true);
  await dueEndpoints.search();
  expect(positions).toEqual([SWEEP_START, SWEEP_START, SWEEP_START]);
});
