/** Sign-ins of browsers that are not known wait for their turn, so that they take neither the processor nor the queue of others. */

import { createLimiter, NotBegun } from '../../lib/flow/limiter.ts';
import { addressPrefix } from '../../lib/http/address.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';

const limiter = createLimiter(LIMITS.strangersConcurrency, LIMITS.strangersWaiting);
const waiting = new Map<string, number>();

/** Throws `NotBegun` if too many wait, of this address or altogether, or if the turn does not come in time. */
export async function inTurn<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
  const network = addressPrefix(address);
  const before = waiting.get(network) ?? 0;
  if (before >= LIMITS.strangersPerAddress) throw new NotBegun('Too many sign-ins of this address are waiting.');
  waiting.set(network, before + 1);
  try {
    return await limiter.run(call, new Deadline(LIMITS.passwordHashWaitMs));
  } finally {
    const left = (waiting.get(network) ?? 1) - 1;
    if (left === 0) waiting.delete(network);
    else waiting.set(network, left);
  }
}
