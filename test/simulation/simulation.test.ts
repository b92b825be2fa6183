/** Simulated runs of the core: no seed may break an invariant, and a seed takes the same steps when it is run again. */
import { expect, inject, test } from 'vitest';
import { TEMPLATE } from '../support/database.ts';
import { sized } from '../support/size.ts';
import { describeFailure, runSeeds } from './seeds.ts';

const COUNT = sized(20, 400);
const run = (from: number, count: number) =>
  runSeeds({ server: inject('database'), template: TEMPLATE, from, count, threads: sized(1, 2) });

/** For a busy machine. */
const TIMEOUT_MS = sized(600_000, 3_600_000);

test(`${COUNT} seeds`, { timeout: TIMEOUT_MS }, async () => {
  const { failures, digests, done } = await run(1, COUNT);
  expect(failures.map(describeFailure)).toEqual([]);
  expect(done).toBe(COUNT);
  expect(new Set(digests.values()).size).toBe(COUNT);
  // Alone, in another thread, on another database.
  const again = await run(COUNT / 2, 1);
  expect(again.digests.get(COUNT / 2)).toBe(digests.get(COUNT / 2));
});
