/** Exact arithmetic on decimal texts: integers of a fixed number of fraction digits, rounded half up. */

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,15}))?$/;

/** A decimal text as an integer with this many fraction digits; undefined if it is none, or has more of them. */
export function scaledDecimal(text: string, digits: number): bigint | undefined {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined || /[1-9]/.test(fraction.slice(digits))) return undefined;
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

/** A quotient of integers that are not negative, rounded half up. */
export const halfUp = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

export const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Bounds are compared with this many fraction digits, as many as an amount of any currency has at most. */
export const BOUND_DIGITS = 4;

/** Whether an amount in minor units is within two inclusive bounds, each a decimal text or none. */
export function isWithinBounds(amount: bigint, exponent: number, least: string | null, most: string | null): boolean {
  const scaled = amount * 10n ** BigInt(BOUND_DIGITS - exponent);
  const bound = (text: string | null): bigint =>
    text === null ? scaled : (scaledDecimal(text, BOUND_DIGITS) ?? scaled);
  return bound(least) <= scaled && scaled <= bound(most);
}

/** Whether two bounds leave no amount between them. */
export const areBoundsReversed = (least: string | null, most: string | null): boolean =>
  least !== null &&
  most !== null &&
  (scaledDecimal(least, BOUND_DIGITS) ?? 0n) > (scaledDecimal(most, BOUND_DIGITS) ?? 0n);
