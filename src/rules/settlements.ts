/** Settlement terms, and what of a merchant's balance a settlement pays. */

export const CYCLES = ['daily', 'weekly', 'monthly', 'manual'] as const;
export type Cycle = (typeof CYCLES)[number];

/** The terms of an account and currency, from a time on. */
export interface SettlementTerms {
  currency: string;
  validFrom: number;
  cycle: Cycle;
  /** From 1, Monday, to 7; of a weekly cycle. */
  weekday: number | null;
  /** Of a monthly cycle; in a shorter month its last day. */
  day: number | null;
  /** The zone of the days and of the cut-off. */
  timeZone: string;
  /** At which a day ends and is cut, in minutes after midnight; 0 is the midnight at which it begins. */
  cutOff: number;
  /** Whether the delay counts business days only, and cuts are made on business days only. */
  businessDays: boolean;
  /** After how many days a sale is available. */
  delayDays: number;
  /** In minor units; less is not paid. */
  minimum: bigint | null;
  reservePercent: string | null;
  reserveDays: number | null;
  /** Why nothing is paid. */
  hold: string | null;
}

/** The most days of a delay and of a reserve. */
export const DELAY_DAYS_MOST = 365;
export const RESERVE_DAYS_MOST = 1825;

/** The terms at a moment; all of them are in the order of their times. */
export const termsAt = (terms: readonly SettlementTerms[], at: number): SettlementTerms | undefined =>
  terms.findLast(({ validFrom }) => validFrom <= at);

export const SETTLEMENT_STATES = ['draft', 'approved', 'in_payout', 'paid', 'returned', 'void'] as const;
export type SettlementState = (typeof SETTLEMENT_STATES)[number];

export const WITHHELD_REASONS = ['pending', 'reserve', 'minimum', 'hold', 'negative', 'earlier'] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

export interface Withheld {
  reason: WithheldReason;
  amount: bigint;
}

/** The sum of the entries of a category. */
export interface SettlementLine {
  category: string;
  count: number;
  amount: bigint;
}

/** What a settlement pays, and what it does not, with the reasons: the closing balance is the sum of both. */
export function payoutOf(
  closing: bigint,
  { pending, earlier, underWay }: { pending: bigint; earlier: bigint; underWay: bigint },
  { minimum, hold }: Pick<SettlementTerms, 'minimum' | 'hold'>,
): { payout: bigint; withheld: Withheld[] } {
  const withheld: Withheld[] = [];
  let left = closing;
  const withhold = (reason: WithheldReason, amount: bigint): void => {
    if (amount === 0n) return;
    withheld.push({ reason, amount });
    left -= amount;
  };
  // Fees that are larger than their sales are due at once. Refunds that are under way will take their amount.
  withhold('pending', (pending > 0n ? pending : 0n) + underWay);
  withhold('earlier', earlier);
  if (left < 0n) withhold('negative', left);
  else if (hold !== null) withhold('hold', left);
  else if (minimum !== null && left < minimum) withhold('minimum', left);
  return { payout: left, withheld };
}
