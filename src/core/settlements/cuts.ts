/** Cuts settlements, by hand and by their cycles, from a ledger that contains everything that is committed. */
import { lastCut, nextCut } from '../../rules/settlement-calendar.ts';
import { payoutOf } from '../../rules/settlements.ts';
import type { Cut, CutFacts, CutSums, Owner, Settlement } from '../../store/settlements/settlements.ts';
import type { Gateway } from '../context.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

/** Without terms: no delay, by hand, no reserve. */
const NO_TERMS = { minimum: null, hold: null } as const;

/** The settlement of these postings; the newest one if nothing was posted and nothing became payable since. */
function compose(
  gateway: Gateway,
  by: Caller,
  { mid, currency }: Owner,
  { newest, terms, number }: CutFacts,
  untilAt: number,
  { lines, ...sums }: CutSums,
) {
  const opening = newest?.closing ?? 0n;
  const closing = lines.reduce((sum, { amount }) => sum + amount, opening);
  const { payout, withheld } = payoutOf(closing, sums, terms ?? NO_TERMS);
  if (newest && lines.length === 0 && payout === 0n) return newest;
  const settlement: Settlement = {
    settlementId: '',
    mid,
    currency,
    number,
    fromAt: newest?.untilAt ?? null,
    untilAt,
    opening,
    closing,
    payout,
    lines,
    withheld,
    state: 'draft',
    cutBy: by.name,
    cutAt: gateway.clock.now(mid),
    decidedBy: null,
    decidedAt: null,
  };
  const after = { currency, number, closing: String(closing), payout: String(payout) };
  return { change: settlement, audit: auditEntry(gateway, by, 'settlements.cut', { mid, after }) };
}

/**
 * Cuts a settlement of everything that was posted before a moment; without one, until now. The same cut twice is one,
 * also if a later one was made since. Undefined if a later one was made, and none at this moment.
 */
export async function cutSettlement(
  gateway: Gateway,
  by: Caller,
  owner: Owner,
  until: number | undefined,
): Promise<Cut | undefined> {
  // What is posted in this millisecond belongs to it. What is posted later may not be in the ledger when it is cut.
  const now = gateway.clock.now(owner.mid) + 1;
  const [cut] = await withCompleteLedger(gateway, (historyNumber) =>
    gateway.settlements.cut([owner], historyNumber, {
      until: (_, { newest }) => {
        if (until === undefined) return Math.max(now, (newest?.untilAt ?? 0) + 1);
        return newest && newest.untilAt >= until ? newest : until;
      },
      compose: (_, facts, at, sums) => compose(gateway, by, owner, facts, at, sums),
    }),
  );
  if (!cut || cut.isNew || until === undefined || cut.settlement.untilAt < until) return cut;
  const settlement = await gateway.settlements.ofCut(owner, until);
  return settlement && { settlement, isNew: false };
}

export const CYCLE: Caller = { kind: 'system', id: null, name: 'settlement cycle', address: null };

/** Cuts at the last moment of each cycle, none without entries, and sets the next cut; all in one transaction. */
export async function cutCycles(gateway: Gateway, owners: readonly Owner[]): Promise<void> {
  // Both are decided from the same time: no cut is between them.
  const times = new Map(owners.map(({ mid }) => [mid, gateway.clock.now(mid)]));
  const now = ({ mid }: Owner): number => times.get(mid) as number;
  await withCompleteLedger(gateway, (historyNumber) =>
    gateway.settlements.cut(owners, historyNumber, {
      until: (owner, { newest, terms, holidays }) => {
        const until = terms && lastCut(terms, now(owner), holidays);
        // A cycle begins with its terms; another process may have cut already.
        if (!terms || until === undefined || until < terms.validFrom) return undefined;
        return newest && newest.untilAt >= until ? undefined : until;
      },
      compose: (owner, facts, until, sums) =>
        facts.newest || sums.lines.length > 0 ? compose(gateway, CYCLE, owner, facts, until, sums) : undefined,
      next: (owner, { terms, holidays }) => (terms && nextCut(terms, now(owner), holidays)) ?? null,
    }),
  );
}
