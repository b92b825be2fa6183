/** Brings the ledger up to date with everything that is committed, for those who decide from it. */
import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../rules/errors.ts';
import { ledger } from '../../store/ledger/projection.ts';
import type { Gateway } from '../context.ts';

/** How often a reader that finds the ledger behind tries again, and how long it waits between. */
const TRIES = 100;
const PAUSE_MS = 50;

/**
 * Reads from the ledger once it contains every history row that is committed now, or is being written; `read` gets their
 * last number, and returns undefined while the ledger has not come so far, because another process folds.
 */
export async function withCompleteLedger<Result>(
  { projections }: Pick<Gateway, 'projections'>,
  read: (historyNumber: bigint) => Promise<Result | undefined>,
): Promise<Result> {
  // What is being written may take its number only now: the numbers are read again when it is committed.
  const settled = (await projections.settled()) && (await projections.settled());
  for (let tries = 0; settled && tries < TRIES; tries++) {
    while ((await projections.fold(ledger, settled)).hasMore);
    const result = await read(settled.history);
    if (result !== undefined) return result;
    await pause(PAUSE_MS);
  }
  throw new Refusal('unavailable');
}
