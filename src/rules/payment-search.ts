/** The text search for payments: which texts of a payment it looks at, and how its words are read. */
import { amountText } from '../lib/money/money.ts';
import { plain } from '../lib/text/plain.ts';
import { exponentOf } from './currencies.ts';

/** What the search looks at. */
export interface SearchedTexts {
  orderId: string;
  /** As the merchant sent it, and in minor units. */
  amountText: string;
  amount: bigint;
  currency: string;
  description: string | null;
  email: string | null;
  receiptEmail: string | null;
  firstName: string | null;
  lastName: string | null;
  /** The card number as it is shown. */
  masked: string | null;
  providerReference: string | null;
  recurringToken: string | null;
  scheduleId: string | null;
}

/** The texts of a payment in the form in which words are compared, one on each line, so that no word spans two of them. */
export function searchText(texts: SearchedTexts): string {
  const { firstName, lastName, email, receiptEmail, masked, amount, currency } = texts;
  const shownAmount = amountText(amount, exponentOf(currency));
  const lines = [
    texts.orderId,
    email,
    receiptEmail === email ? null : receiptEmail,
    [firstName, lastName].filter(Boolean).join(' '),
    texts.description,
    masked?.slice(-4),
    shownAmount,
    texts.amountText === shownAmount ? null : texts.amountText,
    texts.providerReference,
    texts.recurringToken,
    texts.scheduleId,
  ];
  return lines.flatMap((line) => (line ? plain(line) : [])).join('\n');
}

export interface SearchWord {
  /** As it was typed, to look up ids. */
  typed: string;
  /** In the form of `searchText`. */
  text: string;
}

const WORDS_MOST = 5;
const WORD_LENGTH_MOST = 255;

/** `1,234.56` and `1.234,56`: the separators of thousands are left out, as in amounts. */
const GROUPED_AMOUNT = /^\d{1,3}(?:([.,'])\d{3})(?:\1\d{3})*(?!\1)[.,]\d{2,3}$/;
const withoutGroups = (word: string): string => {
  const match = GROUPED_AMOUNT.exec(word);
  return match ? word.replaceAll(match[1] as string, '') : word;
};

/**
 * Splits a search into words; quotation marks keep spaces inside a word. Returns undefined for a search without words,
 * with too many, or with one that is too long.
 */
export function readSearch(text: string): SearchWord[] | undefined {
  const typed = [...text.matchAll(/"([^"]*)"|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
  const words = typed.map((one) => ({ typed: one, text: plain(withoutGroups(one)) })).filter((one) => one.text.trim());
  const isValid = words.length > 0 && words.length <= WORDS_MOST && !text.includes('\0');
  return isValid && words.every((word) => word.typed.length <= WORD_LENGTH_MOST) ? words : undefined;
}

/** A bound of an amount, such as `19.99` or `19,99`; undefined if it is none. */
export const readAmount = (text: string): string | undefined =>
  /^\d{1,12}(?:[.,]\d{1,4})?$/.test(text) ? text.replace(',', '.') : undefined;
