/** Claimed callbacks by endpoint: queued until the window and the group have room, then in flight. */
import { expect, test } from 'vitest';
import {
  createEndpoints,
  type Endpoint,
  type Endpoints,
  endpointKey,
  type Flight,
  MAX_IDLE_MS,
  MAX_QUEUED_MS,
} from '../../../src/core/callbacks/endpoints.ts';
import type { CallbackRow } from '../../../src/store/callbacks/callbacks.ts';

const rowsOf = (endpoint: string, count: number, retryIndex = 0): CallbackRow[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ mid: 'merchant', paymentId: `${endpoint} ${index}`, seq: 2, endpoint, retryIndex },
    ...{ type: 'sale', body: 'a=b', isJson: false, url: null, state: 'waiting', reason: null, attempts: 0 },
    ...{ dueAt: 0, createdAt: 0, finishedAt: null },
  }));

const keyOf = (endpoint: string): string => endpointKey({ mid: 'merchant', endpoint });
const find = (endpoints: Endpoints, name: string): Endpoint =>
  [...endpoints.all()].find(({ endpoint }) => endpoint === name) as Endpoint;

function startAll(endpoints: Endpoints, name: string): Flight[] {
  const flights: Flight[] = [];
  const endpoint = find(endpoints, name);
  for (let flight = endpoints.startNext(endpoint); flight; flight = endpoints.startNext(endpoint)) {
    flights.push(flight);
  }
  return flights;
}

/** Makes an endpoint a failing one. */
function fail(endpoints: Endpoints, name: string): void {
  endpoints.queue(rowsOf(name, 1, 1));
  for (const { land } of startAll(endpoints, name)) land(false);
}

test('callbacks start in order, as many as the window allows, and each delivery makes room for two more', () => {
  const endpoints = createEndpoints();
  endpoints.queue(rowsOf('a', 10));
  const flights = startAll(endpoints, 'a');
  expect(flights.map(({ row }) => row.paymentId)).toEqual(['a 0', 'a 1', 'a 2', 'a 3']);
  flights[0]?.land(true);
  expect(startAll(endpoints, 'a').map(({ row }) => row.paymentId)).toEqual(['a 4', 'a 5']);
  expect(endpoints.claimed).toBe(9);
});

test('a callback that was queued too long is left to its lease', () => {
  let now = 1000;
  const endpoints = createEndpoints(() => now);
  endpoints.queue(rowsOf('a', 2));
  now++;
  endpoints.queue(rowsOf('a', 1));
  now += MAX_QUEUED_MS;
  expect(startAll(endpoints, 'a')).toHaveLength(1);
  expect(endpoints.claimed).toBe(1);
});

test('an endpoint has room in its own group only', () => {
  const endpoints = createEndpoints();
  fail(endpoints, 'failing');
  expect(endpoints.roomFor(keyOf('failing'), 'failing')).toBe(1);
  expect(endpoints.roomFor(keyOf('failing'), 'healthy')).toBe(0);
  expect(endpoints.roomFor(keyOf('unknown'), 'healthy')).toBe(16);
  expect(endpoints.roomFor(keyOf('unknown'), 'failing')).toBe(0);
});

test('a flight counts for the group in which it started, whatever becomes of its endpoint', () => {
  const endpoints = createEndpoints();
  endpoints.queue(rowsOf('a', 3, 1));
  const [first, second] = startAll(endpoints, 'a');
  first?.land(false);
  expect(find(endpoints, 'a').window).toBe(1);
  expect(endpoints.claimLimit('failing')).toBe(256);
  second?.land(false);
  expect(startAll(endpoints, 'a')).toHaveLength(1);
  expect(endpoints.claimLimit('failing')).toBe(255);
});

test('failing endpoints together have no more in flight than their group allows', () => {
  const endpoints = createEndpoints();
  const names = Array.from({ length: 300 }, (_, index) => `failing ${index}`);
  for (const name of names) fail(endpoints, name);
  for (const name of names) endpoints.queue(rowsOf(name, 1, 1));
  const flights = names.flatMap((name) => startAll(endpoints, name));
  expect(flights).toHaveLength(256);
  expect(endpoints.claimLimit('failing')).toBe(0);
  flights[0]?.land(false);
  expect(endpoints.claimLimit('failing')).toBe(1);
});

test('queued callbacks are handed back by group or all at once; what is in flight stays', () => {
  const endpoints = createEndpoints();
  fail(endpoints, 'failing');
  endpoints.queue(rowsOf('failing', 2));
  endpoints.queue(rowsOf('healthy', 6));
  startAll(endpoints, 'healthy');
  expect(endpoints.unqueue('failing')).toHaveLength(2);
  expect(endpoints.unqueue().map(({ paymentId }) => paymentId)).toEqual(['healthy 4', 'healthy 5']);
  expect(endpoints.claimed).toBe(4);
});

test('idle healthy endpoints are forgotten; failing ones and those in use are kept', () => {
  const endpoints = createEndpoints();
  fail(endpoints, 'failing');
  endpoints.queue(rowsOf('busy', 1));
  endpoints.queue(rowsOf('idle', 1));
  for (const { land } of startAll(endpoints, 'idle')) land(true);
  endpoints.forgetIdle();
  expect([...endpoints.all()].map(({ endpoint }) => endpoint)).toEqual(['failing', 'busy']);
});

test('a failing endpoint without an attempt for a long time is forgotten', () => {
  let now = 1000;
  const endpoints = createEndpoints(() => now);
  fail(endpoints, 'former address');
  now += MAX_IDLE_MS - 1;
  fail(endpoints, 'failing');
  endpoints.forgetIdle();
  expect([...endpoints.all()]).toHaveLength(2);
  now += 1;
  endpoints.forgetIdle();
  expect([...endpoints.all()].map(({ endpoint }) => endpoint)).toEqual(['failing']);
});
