/** What settlements do by time: releases reserves, and cuts the settlements of a cycle. */
import { idOf, timeOfId } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { composeEntry, type LedgerEntry } from '../../rules/ledger.ts';
import { LIMITS } from '../../rules/limits.ts';
import { settlementDay } from '../../rules/settlement-calendar.ts';
import type { ReserveSlice } from '../../store/settlements/reserve.ts';
import type { Owner } from '../../store/settlements/settlements.ts';
import type { Gateway } from '../context.ts';
import { catchUp } from '../installation/catch-up.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { cutCycles } from './cuts.ts';

/** The id of the release depends on what was held, and is in the partition of the payment. It is not available before its sale. */
function releaseOf(gateway: Gateway, slice: ReserveSlice): LedgerEntry {
  const { entryId, mid, paymentId, currency, amount, availableOn, timeZone } = slice;
  const postedAt = gateway.clock.now(mid);
  const today = settlementDay(postedAt, timeZone);
  return composeEntry(
    {
      sourceId: idOf(timeOfId(paymentId), entryId.replaceAll('-', '')),
      category: 'reserve_released',
      ...{ mid, paymentId, currency, postedAt },
      availableOn: [today, availableOn].sort().at(-1) as string,
    },
    { amount },
  );
}

/** Cuts together; if that fails, each alone, and what fails alone is tried again later, so that the others go on. */
async function cutDue(gateway: Gateway, owners: readonly Owner[]): Promise<void> {
  try {
    await cutCycles(gateway, owners);
  } catch (error) {
    // The ledger is being built again: none can be cut, and all stay due.
    if (error instanceof Refusal) throw error;
    const [owner, ...others] = owners as [Owner, ...Owner[]];
    if (others.length > 0) {
      for (const one of owners) await cutDue(gateway, [one]);
      return;
    }
    gateway.log.warn({ err: error, mid: owner.mid }, 'settlement was not cut');
    await gateway.settlements.postpone(owner, gateway.clock.now(owner.mid) + LIMITS.settlementRetryMs);
  }
}

/** Processes what is due, until nothing is. */
export async function processDueSettlements(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const released = await gateway.reserve.release(LIMITS.settlementsAtATime, async (slices) => {
      await catchUp(gateway, slices, 0);
      return slices.map((slice) => releaseOf(gateway, slice));
    });
    if (released === 0) break;
  }
  while (!isStopped()) {
    const due = await gateway.settlements.due(LIMITS.settlementsTogether);
    if (due.length === 0) break;
    await catchUp(gateway, due, 0);
    await cutDue(gateway, due);
  }
}

/** Adds everything to the ledger before the clock of the sandbox moves, so that what is withheld is released on time. */
export async function foldForTerms(gateway: Gateway): Promise<void> {
  if (!(await gateway.terms.exist())) return;
  await withCompleteLedger(
    gateway,
    async (historyNumber) => (await gateway.statements.isComplete(historyNumber)) || undefined,
  );
}
