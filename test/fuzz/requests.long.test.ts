/** Altered requests against a gateway process: no crash, no leak, and every response is the documented one. */
import { expect, test } from 'vitest';
import { runRequests } from './run-requests.ts';

const SEED = Number(process.env.SEED) || 17;
const COUNT = 2000;

test(`${COUNT} altered requests (SEED=${SEED})`, { timeout: 300_000 }, async () => {
  const { failures, statuses } = await runRequests({ count: COUNT, seed: SEED, from: 0 });
  expect(failures).toEqual([]);
  // The run reached what is behind the checks, and the checks.
  for (const status of [200, 303, 400, 401, 403, 404, 413]) expect(statuses.get(status)).toBeGreaterThan(0);
});
