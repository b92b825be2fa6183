/** Clients that send thousands of requests at once take little memory, and others are answered meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measureFlood, openSite, type Site } from './run.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite({});
});
afterAll(() => site.close());

const MEMORY_MOST = 150e6;
/** What a request may leave in the old generation, where it stays until a full collection. */
const OLD_PER_REQUEST = 100;
const FLOODS_MOST = 6;

test.each([
  ['sales', true],
  ['sales', false],
  ['mixed', true],
  ['mixed', false],
] as const)('20 connections with 2 MB of %s each; whether the responses are read: %s', async (load, reads) => {
  const measured = await measureFlood(site, { load, reads, connections: 20, bytes: 2_000_000, seconds: 12 });
  const { before, most, checks, answeredBefore, sent } = measured;
  expect(most - before, JSON.stringify(measured)).toBeLessThan(MEMORY_MOST);
  expect(checks).toBeGreaterThan(1);
  // A check waits for a few turns of each connection, however many requests the flood has.
  if (reads) expect(answeredBefore).toBeLessThan(sent / 50);
  expect(site.crashes()).toEqual([]);
});

test('the objects of requests do not reach the old generation', { timeout: 400_000 }, async () => {
  const load = { load: 'sales', reads: true, connections: 20, bytes: 200_000, seconds: 60 } as const;
  const perRequest: number[] = [];
  // What is compiled or done in the background meanwhile takes memory of its own, but not in every flood.
  while (perRequest.length < FLOODS_MOST && !perRequest.some((bytes) => bytes < OLD_PER_REQUEST)) {
    const { oldGrowth, answered } = await measureFlood(site, load);
    expect(answered).toBeGreaterThan(0);
    perRequest.push(oldGrowth / answered);
  }
  expect(Math.min(...perRequest), `${perRequest}`).toBeLessThan(OLD_PER_REQUEST);
});
