/** Limits for simulated runs; imported before the gateway, which reads some of them when it is loaded. */
import { LIMITS } from '../../src/rules/limits.ts';

/** What the gateway does at intervals, and does not concern payments, is done once by each process. */
const ONCE = Number.MAX_VALUE;

Object.assign(LIMITS, {
  rollupEveryMs: ONCE,
  apiCallSweepMs: ONCE,
  retentionEveryMs: ONCE,
  cardSweepMs: ONCE,
  walletTokenSweepMs: ONCE,
  accountAgeMs: ONCE,
  // A repeated request polls for the outcome of the first one.
  duplicateWaitMs: 2000,
} satisfies { [Name in keyof typeof LIMITS]?: number });
