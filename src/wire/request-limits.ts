/** Rate limits on API requests per account and per client address, counted in this process. */
import type { Account, Gateway } from '../core/context.ts';
import { addressPrefix, isLoopback } from '../lib/address.ts';
import { createRateLimit, type RateLimit } from '../lib/rate-limit.ts';
import { Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';

const ALL_ACCOUNTS = '';

export interface RequestLimits {
  /** Counts a request before its body is read. */
  countAddress(address: string): void;
  /** Counts a request as soon as its account is known. */
  countAccount(account: Account): void;
  /** Whether a wrong hash of the account is explained now: the search for the mistake is expensive. */
  mayExplain(account: Account): boolean;
}

/** The functions that count throw a refusal when the request exceeds its limit. */
export function createRequestLimits({ metrics }: Gateway, perAddress: number): RequestLimits {
  const addresses = createRateLimit(LIMITS.rateBurstMs, LIMITS.rateNamesMost);
  const accounts = createRateLimit(LIMITS.rateBurstMs, LIMITS.rateNamesMost);
  const explanations = createRateLimit(LIMITS.apiCallsBurstMs, LIMITS.rateNamesMost);
  const count = (limit: 'account' | 'address', rate: RateLimit, name: string, perSecond: number): void => {
    const waitMs = rate(name, perSecond);
    if (waitMs === undefined) return;
    metrics.requestLimited(limit);
    throw new Refusal('tooManyRequests', [], Math.ceil(waitMs / 1000));
  };
  return {
    countAddress(address) {
      // Loopback is shared by all programs on this machine, and by all clients of a local proxy that is not trusted yet.
      if (perAddress > 0 && !isLoopback(address)) count('address', addresses, addressPrefix(address), perAddress);
    },
    countAccount({ mid, settings }) {
      if (settings.requests_per_second > 0) count('account', accounts, mid, settings.requests_per_second);
    },
    mayExplain: ({ mid }) =>
      explanations(mid, LIMITS.explainedPerAccount) === undefined &&
      explanations(ALL_ACCOUNTS, LIMITS.explainedPerProcess) === undefined,
  };
}
