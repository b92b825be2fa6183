/** Reads an amount as a person types it: with a comma or a point, with or without fraction digits and thousands. */

const WITHOUT_THOUSANDS = /^(\d+)(?:[.,](\d*))?$/;
/** Thousands have one sign, and the fraction the other one. */
const WITH_THOUSANDS = /^(\d{1,3}([.,])\d{3}(?:\2\d{3})*)(?:(?!\2)[.,](\d*))?$/;

/**
 * The amount as requests have it, or an empty text if nothing was typed. `5`, `5,50`, `1 234.56` and `1.234,56` are
 * clear; `1,234` could be a fraction or thousands, which is not guessed.
 */
export function typedAmount(typed: string, exponent: number): string | 'ambiguous' | 'malformed' {
  const text = typed.replace(/[\s'’]/g, '');
  if (text === '') return '';
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return 'ambiguous';
  const [, plain, plainFraction] = WITHOUT_THOUSANDS.exec(text) ?? [];
  const [, grouped, , groupedFraction] = WITH_THOUSANDS.exec(text) ?? [];
  const whole = plain ?? grouped;
  const fraction = (plain === undefined ? groupedFraction : plainFraction) ?? '';
  const digits = Math.max(exponent, 2);
  if (whole === undefined || fraction.length > digits) return 'malformed';
  return `${whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '')}.${fraction.padEnd(digits, '0')}`;
}
