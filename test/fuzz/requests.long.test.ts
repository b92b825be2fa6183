/** More altered requests than in `npm test`: what is rare, and what grows. */
import { expect, test } from 'vitest';
import { runRequests } from './run-requests.ts';

const SEED = Number(process.env.SEED) || 18;
const COUNT = 10_000;
const GROWTH_MOST = 48 * 2 ** 20;

test(`${COUNT} altered requests (SEED=${SEED})`, { timeout: 900_000 }, async () => {
  const { failures, memory } = await runRequests({ count: COUNT, seed: SEED, from: 0 });
  expect(failures).toEqual([]);
  for (const { before, after } of memory) expect(after - before).toBeLessThan(GROWTH_MOST);
});
