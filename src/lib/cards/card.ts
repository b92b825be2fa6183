/** Card numbers: validation and masking. */
import { isLuhnValid } from './luhn.ts';

/** The page checks the length by network, too, but its table may lack a new range: banks know their cards better. */
export const isCardNumber = (digits: string): boolean => /^\d{12,19}$/.test(digits) && isLuhnValid(digits);

/** The first six and the last four digits; a card number is never displayed in any other form. */
export const maskedNumber = (digits: string): string =>
  `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;

/** The month and the year of a card: `05` and `2030`. */
export const EXPIRY_MONTH = /^(0[1-9]|1[0-2])$/;
export const EXPIRY_YEAR = /^20\d\d$/;

export const isExpiry = (month: string, year: string): boolean => EXPIRY_MONTH.test(month) && EXPIRY_YEAR.test(year);

/** Whether a card has expired; it is valid to the end of its expiry month. */
export function isExpired(month: string, year: string, now: number): boolean {
  const date = new Date(now);
  return Number(year) * 12 + Number(month) - 1 < date.getUTCFullYear() * 12 + date.getUTCMonth();
}
