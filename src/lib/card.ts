/** Card numbers: validation, masking, finding them in texts. */
import { networkOf, rulesOf } from './card-networks.ts';
import { isLuhnValid } from './luhn.ts';

// Without separators, or in the groups printed on cards; not inside a longer word or number.
const CARD_NUMBER =
  /(?<![\dA-Za-z])(?:\d{15,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{5})(?![\dA-Za-z])/g;

/** Shorter numbers in texts are not taken for card numbers. */
export const LEAST_DIGITS = 15;

const withoutSeparators = (found: string): string => found.replace(/[ -]/g, '');

const isOfNetwork = (digits: string): boolean =>
  rulesOf(networkOf(digits)).lengthsInTexts.includes(digits.length) && isLuhnValid(digits);

/** The first number in a text that has a card network's prefix and length and a valid check digit. */
export const cardNumberIn = (text: string): string | undefined =>
  text.match(CARD_NUMBER)?.map(withoutSeparators).find(isOfNetwork);

/** A text in which every such number is masked. */
export const maskCardNumbers = (text: string): string =>
  text.replace(CARD_NUMBER, (found) => {
    const digits = withoutSeparators(found);
    return isOfNetwork(digits) ? maskedNumber(digits) : found;
  });

/** Whether a text has as many digits as a card number; a name or an expiry date never has. */
export const hasNumber = (text: string): boolean => text.replace(/\D/g, '').length >= 12;

/** The page checks the length by network, too, but its table may lack a new range: banks know their cards better. */
export const isCardNumber = (digits: string): boolean => /^\d{12,19}$/.test(digits) && isLuhnValid(digits);

/** The first six and the last four digits; a card number is never displayed in any other form. */
export const maskedNumber = (digits: string): string =>
  `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;

/** Whether a card has expired; it is valid to the end of its expiry month. */
export function isExpired(month: string, year: string, now: number): boolean {
  const date = new Date(now);
  return Number(year) * 12 + Number(month) - 1 < date.getUTCFullYear() * 12 + date.getUTCMonth();
}
