/** Card numbers: whether one can be right, whose network it is of, and how much of it may be shown. */
import { isLuhnValid } from './luhn.ts';

export type Network = 'visa' | 'mastercard' | 'amex' | 'discover' | 'jcb' | 'unionpay' | 'other';

/** The first digits that each network owns. */
const PREFIXES: readonly [Network, RegExp][] = [
  ['visa', /^4/],
  ['mastercard', /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ['amex', /^3[47]/],
  ['discover', /^(6011|65|64[4-9])/],
  ['jcb', /^35(2[89]|[3-8])/],
  ['unionpay', /^62/],
];

export const isCardNumber = (digits: string): boolean => /^\d{12,19}$/.test(digits) && isLuhnValid(digits);

export const networkOf = (digits: string): Network =>
  PREFIXES.find(([, prefix]) => prefix.test(digits))?.[0] ?? 'other';

/** The first six and the last four digits: the one form in which a number is shown anywhere. */
export const maskedNumber = (digits: string): string =>
  `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;

/** Whether a card is good through the month that the moment lies in. */
export function isExpired(month: string, year: string, now: number): boolean {
  const date = new Date(now);
  return Number(year) * 12 + Number(month) - 1 < date.getUTCFullYear() * 12 + date.getUTCMonth();
}
