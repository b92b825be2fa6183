/** Amounts: decimal text in the API, minor units as bigint inside; no floating point, so nothing is rounded. */

const WHOLE_DIGITS = 12;
const DECIMAL = new RegExp(`^(\\d{1,${WHOLE_DIGITS}})(?:\\.(\\d{1,4}))?$`);

/** The largest amount of a currency in minor units: it has twelve digits before the point. */
export const mostUnits = (exponent: number): bigint => 10n ** BigInt(WHOLE_DIGITS + exponent) - 1n;

/** Which fraction digits may be missing: none; all of them; or any, as in a JSON number, which drops zeros at its end. */
export type AmountSpelling = 'exact' | 'whole' | 'number';

/** Parses an amount with two fraction digits, or with exactly as many as the currency has; or with fewer, if allowed. */
export function minorUnits(
  text: string,
  exponent: number,
  spelling: AmountSpelling = 'exact',
): bigint | 'malformed' | 'zero' {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  const isShort =
    (spelling !== 'exact' && !text.includes('.')) || (spelling === 'number' && fraction.length < exponent);
  if (whole === undefined || (!isShort && fraction.length !== 2 && fraction.length !== exponent)) return 'malformed';
  // Digits below the minor unit are allowed when they are zero ('100.00' yen).
  if (/[1-9]/.test(fraction.slice(exponent))) return 'malformed';
  const minor = BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'));
  return minor === 0n ? 'zero' : minor;
}

/** Whether an amount without faults is zero. */
export const isZeroAmount = (text: string): boolean => !/[1-9]/.test(text);

/** Formats an amount canonically: two fraction digits, or more where the currency has more. */
export function amountText(minor: bigint, exponent: number): string {
  if (minor < 0n) return `-${amountText(-minor, exponent)}`;
  const digits = minor.toString().padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  return `${digits.slice(0, point)}.${digits.slice(point).padEnd(2, '0')}`;
}
