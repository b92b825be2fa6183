/** Other limits for the gateways of one test file or `describe`, so that waits in it are short, or long enough. */
import { afterAll, beforeAll } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';

type SomeLimits = { [Name in keyof typeof LIMITS]?: number };

function changeLimits(changes: SomeLimits): void {
  let usual = { ...LIMITS };
  beforeAll(() => {
    usual = { ...LIMITS };
    Object.assign(LIMITS, changes);
  });
  afterAll(() => void Object.assign(LIMITS, usual));
}

/** So that a test need not wait as long as a real caller would. */
export const shortenLimits: (shorter: SomeLimits) => void = changeLimits;

/** So that nothing ends too early for a test that shows what happens before, however busy the machine is. */
export const lengthenLimits: (longer: SomeLimits) => void = changeLimits;

/** So that a busy machine does not refuse what a test sends at once. Called before the gateway starts. */
export const allowBursts = (): void => lengthenLimits({ openingWaitMs: 60_000, batchWaitTimeoutMs: 60_000 });
