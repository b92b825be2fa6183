/** A short chaos run: shops, gateway, provider and merchants agree at the end. */
import { expect, test } from 'vitest';
import { runChaos } from './run.ts';

const SEED = Number(process.env.SEED) || 17;

test(`after 40 seconds of faults all sides agree (SEED=${SEED})`, { timeout: 600_000 }, async () => {
  const report = await runChaos({ seed: SEED, seconds: 40 });
  expect(report.violations, JSON.stringify({ folder: report.folder, faults: report.faults })).toEqual([]);
  // How many there are depends on the speed of the machine.
  expect(report.faults.length).toBeGreaterThan(1);
  expect(report.movements).toBeGreaterThan(1);
});
