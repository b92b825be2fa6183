/** Fraud rates: which chargebacks are fraud, and up to which rate banks accept the exemption `transaction_risk`. */

/**
 * Reasons of chargebacks that mean fraud: in words, and by the codes of the networks (Visa 10.x, Mastercard 4837, 4849,
 * 4863, 4870, 4871, American Express F..). PostgreSQL reads it, too.
 */
export const FRAUD_REASON =
  /fraud|unauthori[sz]ed|not authori[sz]ed|not recogni[sz]ed|unrecogni[sz]ed|counterfeit|stolen|^10[.][1-5]|^48(37|49|63|70|71)|^F(10|14|24|29|30|31)$/i;

/** The reference rates of remote card payments, by the technical standards on strong customer authentication. */
export const RATE_BANDS = [
  { upTo: '100.00', currency: 'EUR', percent: '0.13' },
  { upTo: '250.00', currency: 'EUR', percent: '0.06' },
  { upTo: '500.00', currency: 'EUR', percent: '0.01' },
] as const;

/** The start of the quarter by UTC, of the next one, and of the one before. */
export function quarterOf(now: number): { since: number; until: number; before: number } {
  const date = new Date(now);
  const [year, first] = [date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3];
  return { since: Date.UTC(year, first), until: Date.UTC(year, first + 3), before: Date.UTC(year, first - 3) };
}

const PERCENT = /^(?:\d{1,2}(?:\.\d{1,4})?|100)$/;
export const isPercent = (value: unknown): value is string => typeof value === 'string' && PERCENT.test(value);

/** In millionths, so that rates are compared without rounding. */
const millionths = (percent: string): bigint => {
  const [whole = '0', fraction = ''] = percent.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
};

/** Whether the rate is above the limit, which is a percentage. */
export const isAbove = (fraud: bigint, captured: bigint, percent: string): boolean =>
  fraud > 0n && fraud * 1_000_000n > captured * millionths(percent);

/** Whether a rate, itself a percentage, is above that of a band. */
export const isAboveBand = (rate: string, percent: string): boolean => millionths(rate) > millionths(percent);

/** The rate as a percentage with four digits, rounded up. */
export function rateText(fraud: bigint, captured: bigint): string | null {
  if (captured <= 0n) return null;
  const units = (fraud * 1_000_000n + captured - 1n) / captured;
  return `${units / 10_000n}.${(units % 10_000n).toString().padStart(4, '0')}`;
}
