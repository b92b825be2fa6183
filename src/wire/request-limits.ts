/** Rate limits on requests of merchants and notifications of providers, counted in this process. */
import type { Account, Gateway } from '../core/context.ts';
import { createRateLimit, type RateLimit } from '../lib/flow/rate-limit.ts';
import { addressPrefix, isLoopback } from '../lib/http/address.ts';
import { Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';

const ALL_ACCOUNTS = '';

type Limit = Parameters<Gateway['metrics']['requestLimited']>[0];

export interface RequestLimits {
  /** Counts a request before its body is read. */
  countAddress(address: string): void;
  /** Counts a request as soon as its account is known. */
  countAccount(account: Account): void;
  /** Whether a wrong hash of the account is explained now: the search for the mistake is expensive. */
  mayExplain(account: Account): boolean;
}

/** Takes one token of a name, or refuses the request. */
const counter =
  ({ metrics }: Gateway, limit: Limit, rate: RateLimit = createRateLimit(LIMITS.rateBurstMs, LIMITS.rateNamesMost)) =>
  (name: string, perSecond: number): void => {
    const waitMs = rate(name, perSecond);
    if (waitMs === undefined) return;
    metrics.requestLimited(limit);
    throw new Refusal('tooManyRequests', [], Math.ceil(waitMs / 1000));
  };

/** Loopback is shared by all programs on this machine, and by all clients of a local proxy that is not trusted yet. */
const addressCounter = (gateway: Gateway, limit: Limit): ((address: string, perSecond: number) => void) => {
  const count = counter(gateway, limit);
  return (address, perSecond) => {
    if (perSecond > 0 && !isLoopback(address)) count(addressPrefix(address), perSecond);
  };
};

/** The functions that count throw a refusal when the request exceeds its limit. */
export function createRequestLimits(gateway: Gateway, perAddress: number): RequestLimits {
  const countAddress = addressCounter(gateway, 'address');
  const count = counter(gateway, 'account');
  const explanations = createRateLimit(LIMITS.apiCallsBurstMs, LIMITS.rateNamesMost);
  return {
    countAddress: (address) => countAddress(address, perAddress),
    countAccount({ mid, settings }) {
      if (settings.requests_per_second > 0) count(mid, settings.requests_per_second);
    },
    mayExplain: ({ mid }) =>
      explanations(mid, LIMITS.explainedPerAccount) === undefined &&
      explanations(ALL_ACCOUNTS, LIMITS.explainedPerProcess) === undefined,
  };
}

export interface NotificationLimits {
  /** Counts a notification before its body is read. */
  countAddress(address: string): void;
  /** Counts a notification to a connection that exists, before its signature is verified. */
  countConnection(key: string): void;
  /** Counts an unsigned notification about a payment that exists: each one leads to a query at the provider. */
  countUnsigned(key: string, providerReference: string): void;
}

export function createNotificationLimits(gateway: Gateway): NotificationLimits {
  const countAddress = addressCounter(gateway, 'notification_address');
  const countConnection = counter(gateway, 'connection');
  const rate = createRateLimit(LIMITS.unsignedBurstMs, LIMITS.rateNamesMost);
  const countUnsigned = counter(gateway, 'unsigned_notification', rate);
  return {
    countAddress: (address) => countAddress(address, LIMITS.notificationsPerAddress),
    countConnection: (key) => countConnection(key, LIMITS.notificationsPerConnection),
    countUnsigned: (key, providerReference) => countUnsigned(`${key} ${providerReference}`, LIMITS.unsignedPerSecond),
  };
}
