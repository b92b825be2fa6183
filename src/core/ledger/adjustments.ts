/** Adjustments of merchants' balances, which need two persons. */
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { type AdjustmentState, composeEntry, type LedgerEntry } from '../../rules/ledger.ts';
import type { Adjustment, AdjustmentFilter } from '../../store/ledger/adjustments.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, isAuthor, type Principal } from '../operators/principal.ts';
import { readNote } from '../payments/resolve.ts';
import { invalid, readCurrency, readMid } from './input.ts';

export type { Adjustment } from '../../store/ledger/adjustments.ts';

/** As the caller sent it. */
export interface AdjustmentInput {
  mid: unknown;
  currency: unknown;
  amount: unknown;
  reason: unknown;
}

const EXPECTED_AMOUNT = 'A number with a sign as a text, such as "12.50" or "-12.50"; not zero.';

function readAmount(value: unknown, currency: string): bigint {
  const [, sign = '', digits = ''] = (typeof value === 'string' && /^([+-]?)(.*)$/.exec(value.trim())) || [];
  const amount = minorUnits(digits, exponentOf(currency));
  if (typeof amount !== 'bigint') throw invalid('amount', EXPECTED_AMOUNT);
  return sign === '-' ? -amount : amount;
}

function readReason(value: unknown): string {
  const reason = typeof value === 'string' ? readNote(value, 'reason') : '';
  if (reason === '') throw invalid('reason', 'Why the balance is adjusted, in words.', SENTENCES.blank);
  return reason;
}

/** Proposes to change the balance of an account by an amount with a sign, from the merchant's view. */
export async function proposeAdjustment(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  input: AdjustmentInput,
): Promise<Adjustment> {
  const mid = await readMid(gateway, principal, input.mid);
  const currency = readCurrency(input.currency);
  const adjustment: Adjustment = {
    mid,
    adjustmentId: newId(),
    currency,
    amount: readAmount(input.amount, currency),
    reason: readReason(input.reason),
    state: 'waiting',
    authorKind: by.kind,
    authorId: by.id,
    authorName: by.name,
    proposedAt: gateway.clock.now(mid),
    decidedBy: null,
    decidedAt: null,
  };
  const { adjustmentId: subject, amount, reason } = adjustment;
  const after = { currency, amount: String(amount), reason };
  await gateway.adjustments.propose(
    adjustment,
    auditEntry(gateway, by, 'adjustments.propose', { mid, subject, after }),
  );
  return adjustment;
}

/** Newest first. */
export const listAdjustments = (
  gateway: Gateway,
  filter: AdjustmentFilter,
  limit: number,
  before?: string,
): Promise<Adjustment[]> =>
  filter.mids?.length === 0 ? Promise.resolve([]) : gateway.adjustments.list(filter, limit, before);

const entryOf = ({ mid, adjustmentId, currency, amount, reason }: Adjustment, postedAt: number): LedgerEntry =>
  composeEntry({ sourceId: adjustmentId, category: 'adjustment', mid, currency, postedAt, note: reason }, { amount });

/** Approves or refuses an adjustment, once, and as another person or token than the one that proposed it. */
export async function decideAdjustment(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  adjustmentId: string,
  state: Exclude<AdjustmentState, 'waiting'>,
): Promise<Adjustment> {
  const { mids } = principal;
  const id = adjustmentId.toLowerCase();
  const [found] = isUuid(id) ? await listAdjustments(gateway, { mids, adjustmentId: id }, 1) : [];
  if (!found) throw new Refusal('noSuchAdjustment');
  return gateway.adjustments.decide(found, (adjustment) => {
    if (isAuthor(adjustment, by)) throw new Refusal('ownAdjustment');
    if (adjustment.state !== 'waiting') throw new Refusal('adjustmentDecided');
    const { mid } = adjustment;
    const decidedAt = gateway.clock.now(mid);
    const change = { before: { state: adjustment.state }, after: { state } };
    return {
      state,
      decidedBy: by.name,
      decidedAt,
      entry: state === 'approved' ? entryOf(adjustment, decidedAt) : null,
      audit: auditEntry(gateway, by, `adjustments.${state === 'approved' ? 'approve' : 'refuse'}`, {
        mid,
        subject: id,
        ...change,
      }),
    };
  });
}
