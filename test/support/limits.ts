/** Shorter limits for the gateways of one test file, so that it need not wait as long as a real caller would. */
import { afterAll, beforeAll } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';

export function shortenLimits(shorter: { [Name in keyof typeof LIMITS]?: number }): void {
  const usual = { ...LIMITS };
  beforeAll(() => void Object.assign(LIMITS, shorter));
  afterAll(() => void Object.assign(LIMITS, usual));
}
