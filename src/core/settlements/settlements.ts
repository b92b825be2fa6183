/** Settlements of merchants' balances: cuts them by hand, lists, approves and voids them. */
import { isUuid } from '../../lib/crypto/id.ts';
import { dateTime } from '../../lib/time/date-time.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import type { LedgerEntry } from '../../rules/ledger.ts';
import type { Cut, EntryPosition, Settlement, SettlementFilter } from '../../store/settlements/settlements.ts';
import type { Gateway } from '../context.ts';
import { invalid, readCurrency, readMid } from '../ledger/input.ts';
import { isMerchantView, seenBy } from '../ledger/ledger.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { cutSettlement } from './cuts.ts';

export type { Settlement } from '../../store/settlements/settlements.ts';

/** As the caller sent it. */
export interface CutInput {
  mid: unknown;
  currency: unknown;
  until: unknown;
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
  const cut = await cutSettlement(gateway, by, { mid, currency }, until);
  if (!cut)
    throw invalidField('until', 'A later settlement was cut already.', { expected: 'A time after the last cut.' });
  return { ...cut, settlement: shownTo(principal, cut.settlement) };
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
