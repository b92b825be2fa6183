/** Amounts as people read them: minor units and a currency become a decimal text. */

const EXPONENTS: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
]);

export const exponentOf = (currency: string): number => EXPONENTS[currency] ?? 2;

/** Minor units, which are digits, with the fraction that the currency has after the point. */
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
  const shown = format.format(decimalText(amount, currency) as Intl.StringNumericLiteral);
  return /^[A-Z]{3}$/.test(currency) ? shown : `${shown} ${currency}`;
}

/** The amount in so many parts that differ by one minor unit at most, the larger ones first. */
export function instalments(amount: string, parts: number): string[] {
  const [whole, rest] = [BigInt(amount) / BigInt(parts), BigInt(amount) % BigInt(parts)];
  return Array.from({ length: parts }, (_, index) => String(whole + (BigInt(index) < rest ? 1n : 0n)));
}
