/** The text search for payments: the kinds of words, and what a word of each kind is compared with. */
import { isUuid } from '../lib/id.ts';
import { minorUnits } from '../lib/money.ts';
import { CURRENCIES } from './currencies.ts';

/** What a word may be compared with; every comparison has an index. */
export type SearchField =
  | 'paymentId'
  | 'operationId'
  | 'scheduleId'
  | 'email'
  | 'providerReference'
  | 'recurringToken'
  | 'orderId'
  | 'lastFour'
  | 'amount';

interface WordKind {
  name: 'uuid' | 'email' | 'amount' | 'four digits' | 'text';
  /** The shape of the word; the first kind that fits applies. */
  fits: (word: string) => boolean;
  /** What only words of this shape are compared with. */
  fields: readonly SearchField[];
}

/** Order ids and a provider's references have any shape, so every word is compared with them. */
const ANY_SHAPE: readonly SearchField[] = ['orderId', 'providerReference', 'recurringToken'];

export const WORD_KINDS: readonly WordKind[] = [
  { name: 'uuid', fits: isUuid, fields: ['paymentId', 'operationId', 'scheduleId'] },
  { name: 'email', fits: (word) => /^[^@]+@[^@]+$/.test(word), fields: ['email'] },
  { name: 'amount', fits: (word) => /^\d{1,12}\.\d{2,3}$/.test(word), fields: ['amount'] },
  { name: 'four digits', fits: (word) => /^\d{4}$/.test(word), fields: ['lastFour'] },
  { name: 'text', fits: () => true, fields: [] },
];

export interface SearchWord {
  text: string;
  fields: readonly SearchField[];
}

const WORDS_MOST = 5;
const WORD_LENGTH_MOST = 255;

/**
 * Splits a search into words; quotation marks keep spaces inside a word. Returns undefined for a search without words,
 * with too many, or with one that is too long.
 */
export function readSearch(text: string): SearchWord[] | undefined {
  const words = [...text.matchAll(/"([^"]*)"|\S+/g)].map(([whole, quoted]) => quoted ?? whole).filter(Boolean);
  const isValid = words.length > 0 && words.length <= WORDS_MOST && !text.includes('\0');
  if (!isValid || words.some((word) => word.length > WORD_LENGTH_MOST)) return undefined;
  return words.map((word) => {
    const kind = WORD_KINDS.find(({ fits }) => fits(word)) as WordKind;
    return { text: word, fields: [...kind.fields, ...ANY_SHAPE] };
  });
}

/** The currencies by their number of decimals. */
const BY_EXPONENT = Map.groupBy(Object.keys(CURRENCIES), (code) => CURRENCIES[code]?.exponent as number);

/** An amount of any currency: the minor units that it has in the currencies with the same number of decimals. */
export function searchedAmounts(word: string): { minor: bigint; currencies: readonly string[] }[] {
  return [...BY_EXPONENT].flatMap(([exponent, currencies]) => {
    const minor = minorUnits(word, exponent);
    return typeof minor === 'bigint' ? [{ minor, currencies }] : [];
  });
}
