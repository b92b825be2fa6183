/** The retry schedule: how long a callback waits after a failed attempt. */
import { RETRY_AFTER_MOST_MS, RETRY_JITTER, RETRY_SCHEDULE_MS } from '../../rules/callbacks.ts';

/**
 * The scheduled pause with jitter, or the longer one that the receiver asked for by `Retry-After`; undefined after the
 * last scheduled attempt.
 */
export function backoffMs(retryIndex: number, retryAfterMs = 0, random = Math.random): number | undefined {
  const scheduled = RETRY_SCHEDULE_MS[retryIndex];
  if (scheduled === undefined) return undefined;
  const jittered = scheduled * (1 + RETRY_JITTER * (2 * random() - 1));
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_MOST_MS)));
}
