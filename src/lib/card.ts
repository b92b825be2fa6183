/** Card numbers: validation, the card network, masking. */
import { isLuhnValid } from './luhn.ts';

export type Network = 'visa' | 'mastercard' | 'amex' | 'discover' | 'jcb' | 'unionpay' | 'other';

/** The number prefixes of each network. */
export const NETWORKS: readonly [Network, RegExp][] = [
  ['visa', /^4/],
  ['mastercard', /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ['amex', /^3[47]/],
  ['discover', /^(6011|65|64[4-9])/],
  ['jcb', /^35(2[89]|[3-8])/],
  ['unionpay', /^62/],
];

/** The number lengths that each network issues. */
const LENGTHS: Readonly<Record<Network, readonly number[]>> = {
  ...{ visa: [16], mastercard: [16], amex: [15], discover: [16], jcb: [16], unionpay: [16, 17, 18, 19], other: [] },
};

// Without separators, or in the groups printed on cards; not inside a longer word or number.
const CARD_NUMBER =
  /(?<![\dA-Za-z])(?:\d{15,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{5})(?![\dA-Za-z])/g;

/** No network has shorter numbers. */
export const LEAST_DIGITS = 15;

const withoutSeparators = (found: string): string => found.replace(/[ -]/g, '');

const isOfNetwork = (digits: string): boolean =>
  LENGTHS[networkOf(digits)].includes(digits.length) && isLuhnValid(digits);

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

export const isCardNumber = (digits: string): boolean => /^\d{12,19}$/.test(digits) && isLuhnValid(digits);

export const networkOf = (digits: string): Network =>
  NETWORKS.find(([, prefix]) => prefix.test(digits))?.[0] ?? 'other';

/** The first six and the last four digits; a card number is never displayed in any other form. */
export const maskedNumber = (digits: string): string =>
  `${digits.slice(0, 6)}${'*'.repeat(Math.max(0, digits.length - 10))}${digits.slice(-4)}`;

/** Whether a card has expired; it is valid to the end of its expiry month. */
export function isExpired(month: string, year: string, now: number): boolean {
  const date = new Date(now);
  return Number(year) * 12 + Number(month) - 1 < date.getUTCFullYear() * 12 + date.getUTCMonth();
}
