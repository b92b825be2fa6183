/** Formats amounts in minor units for people. */

const EXPONENTS: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
]);

export const exponentOf = (currency: string): number => EXPONENTS[currency] ?? 2;

/** Minor units as a decimal string with the fraction digits of the currency. */
export function decimalText(amount: string, currency: string, point = '.'): string {
  const exponent = exponentOf(currency);
  const digits = amount.padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return exponent === 0 ? whole : `${whole}${point}${digits.slice(-exponent)}`;
}

export function formatAmount(amount: string, currency: string): string {
  const digits = exponentOf(currency);
  const format = new Intl.NumberFormat('en', {
    ...(/^[A-Z]{3}$/.test(currency) && { style: 'currency', currency }),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const text = format.format(decimalText(amount, currency) as Intl.StringNumericLiteral);
  return /^[A-Z]{3}$/.test(currency) ? text : `${text} ${currency}`;
}

/** Splits an amount into parts that differ by at most one minor unit, larger ones first. */
export function instalments(amount: string, parts: number): string[] {
  const [whole, rest] = [BigInt(amount) / BigInt(parts), BigInt(amount) % BigInt(parts)];
  return Array.from({ length: parts }, (_, index) => String(whole + (BigInt(index) < rest ? 1n : 0n)));
}
