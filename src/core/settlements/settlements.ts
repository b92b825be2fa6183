/** Settlements of merchants' balances: cuts them by hand and by their cycles, approves and voids them. */
import { isUuid } from '../../lib/crypto/id.ts';
import { dateTime } from '../../lib/time/date-time.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import type { LedgerEntry } from '../../rules/ledger.ts';
import { lastCut, nextCut } from '../../rules/settlement-calendar.ts';
import { payoutOf } from '../../rules/settlements.ts';
import type {
  Cut,
  CutFacts,
  CutSums,
  EntryPosition,
  Owner,
  Settlement,
  SettlementFilter,
} from '../../store/settlements/settlements.ts';
import type { Gateway } from '../context.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { invalid, readCurrency, readMid } from '../ledger/input.ts';
import { isMerchantView, seenBy } from '../ledger/ledger.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { NO_TERMS } from './terms.ts';

export type { Settlement } from '../../store/settlements/settlements.ts';

/** As the caller sent it. */
export interface CutInput {
  mid: unknown;
  currency: unknown;
  until: unknown;
}

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
 * Cuts a settlement of everything that was posted before a moment; without one, until now. `onLater` decides what happens
 * if a later one was cut already.
 */
export async function cutSettlement(
  gateway: Gateway,
  by: Caller,
  owner: Owner,
  until: number | undefined,
  onLater: (newest: Settlement) => Settlement,
): Promise<Cut> {
  const cuts = await withCompleteLedger(gateway, (historyNumber) =>
    gateway.settlements.cut([owner], historyNumber, {
      until: (_, { newest }) => {
        // What is posted in this millisecond belongs to it.
        if (until === undefined) return gateway.clock.now(owner.mid) + 1;
        // Answers have the time of a cut in whole seconds.
        if (newest && (newest.untilAt === until || newest.untilAt - (newest.untilAt % 1000) === until)) return newest;
        return newest && newest.untilAt > until ? onLater(newest) : until;
      },
      compose: (_, facts, at, sums) => compose(gateway, by, owner, facts, at, sums),
    }),
  );
  return cuts[0] as Cut;
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

export function readUntil(value: unknown, now: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  const until = typeof value === 'string' ? dateTime(value) : undefined;
  if (until === undefined) throw invalid('until', 'A date, or a date and a time in UTC, such as 2026-11-15T02:24:01Z.');
  if (until > now)
    throw invalid('until', 'A time that is not in the future.', 'This value should not be in the future.');
  return until;
}

/** What merchants see instead of the names of those who work for the operator. */
export const OPERATOR = 'operator';

/** The settlement as the caller may see it. */
const shownTo = (principal: Pick<Principal, 'mids'>, settlement: Settlement): Settlement =>
  isMerchantView(principal)
    ? { ...settlement, cutBy: OPERATOR, decidedBy: settlement.decidedBy === null ? null : OPERATOR }
    : settlement;

/** Cuts a settlement by hand. */
export async function cutByHand(gateway: Gateway, principal: Principal, by: Caller, input: CutInput): Promise<Cut> {
  const mid = await readMid(gateway, principal, input.mid);
  const currency = readCurrency(input.currency);
  const until = readUntil(input.until, gateway.clock.now(mid));
  const { settlement, isNew } = await cutSettlement(gateway, by, { mid, currency }, until, () => {
    throw invalidField('until', 'A later settlement was cut already.', { expected: 'A time after the last cut.' });
  });
  return { settlement: shownTo(principal, settlement), isNew };
}

/** Newest first. */
export async function listSettlements(
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  filter: Omit<SettlementFilter, 'mids'>,
  limit: number,
  before?: string,
): Promise<Settlement[]> {
  const found = mids?.length === 0 ? [] : await gateway.settlements.list({ ...filter, mids }, limit, before);
  return found.map((settlement) => shownTo({ mids }, settlement));
}

export async function findSettlement(gateway: Gateway, principal: Principal, id: string): Promise<Settlement> {
  const settlementId = id.toLowerCase();
  const [found] = isUuid(id) ? await listSettlements(gateway, principal, { settlementId }, 1) : [];
  if (!found) throw new Refusal('noSuchSettlement');
  return found;
}

/** The entries of a settlement, oldest first, as the caller may see them. */
export async function settlementEntries(
  gateway: Gateway,
  principal: Principal,
  { settlementId }: Settlement,
  limit: number,
  after?: EntryPosition,
): Promise<LedgerEntry[]> {
  const entries = await gateway.settlements.entries(settlementId, limit, after);
  return entries.map((entry) => seenBy(principal, entry));
}

/** Approves a settlement, or voids the newest one of an account and currency; either while it is a draft. */
export async function decideSettlement(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  id: string,
  state: 'approved' | 'void',
): Promise<Settlement> {
  const found = await findSettlement(gateway, principal, id);
  const decided = await gateway.settlements.decide(found, (settlement, isNewest) => {
    if (settlement.state !== 'draft') throw new Refusal('settlementDecided');
    if (state === 'void' && !isNewest) throw new Refusal('settlementNotNewest');
    const { mid, settlementId: subject } = settlement;
    return {
      change: { state, decidedBy: by.name, decidedAt: gateway.clock.now(mid) },
      audit: auditEntry(gateway, by, `settlements.${state === 'void' ? 'void' : 'approve'}`, {
        mid,
        subject,
        before: { state: settlement.state },
        after: { state },
      }),
    };
  });
  return shownTo(principal, decided);
}
