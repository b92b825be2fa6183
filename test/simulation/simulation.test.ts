/** Simulated runs of the core: hundreds of seeds, none of which may break an invariant, and each of which replays. */
import { expect, inject, test } from 'vitest';
import { TEMPLATE } from '../support/database.ts';
import { sized } from '../support/size.ts';
import { describeFailure, runSeeds } from './seeds.ts';

const COUNT = sized(200, 2000);
const run = (from: number, count: number) =>
  runSeeds({ server: inject('database'), template: TEMPLATE, from, count, threads: 2 });

test(`${COUNT} seeds hold, and a seed takes the same steps again`, { timeout: sized(120_000, 1_200_000) }, async () => {
  const { failures, digests, done } = await run(1, COUNT);
  expect(failures.map(describeFailure)).toEqual([]);
  expect(done).toBe(COUNT);
  expect(new Set(digests.values()).size).toBe(COUNT);
  const seed = Math.ceil(COUNT / 2);
  const again = await run(seed, 1);
  expect(again.digests.get(seed)).toBe(digests.get(seed));
});
