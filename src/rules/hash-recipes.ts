/** The hash recipes of S2S requests and callbacks, as data: the check, the hash debugger, docs, clients and vectors read it. */
import type { HashedPart } from '../lib/crypto/hash.ts';
import type { DialectAction, S2sAction } from './operations.ts';

/** `specified` signs the fields of `signs` in `operations.ts`; `reversed_md5` signs the texts below. */
export type HashRecipe = 'specified' | 'reversed_md5';

/** What a text consists of besides fields of the request. */
export const PASSWORD = 'password';
/** The first six and the last four digits of the card number, or in a request with a token the whole token. */
export const CARD_DIGITS = 'card';

/** Values that are joined, in order, and whether the result is reversed. */
export interface RecipePart {
  of: readonly string[];
  isReversed: boolean;
}

const plain = (...of: string[]): RecipePart => ({ of, isReversed: false });
const reversed = (...of: string[]): RecipePart => ({ of, isReversed: true });

/** The texts of `reversed_md5`; each is upper-cased as a whole. */
export const REVERSED_TEXTS = {
  cardSale: [reversed('payer_email'), plain(PASSWORD), reversed(CARD_DIGITS)],
  cardOperation: [reversed('payer_email'), plain(PASSWORD, 'trans_id'), reversed(CARD_DIGITS)],
  apmSale: [reversed('identifier', 'order_id', 'order_amount', 'order_currency', PASSWORD)],
  apmOperation: [reversed('trans_id', PASSWORD)],
  apmOrder: [reversed('order_id', PASSWORD)],
  account: [reversed(PASSWORD)],
  schedule: [reversed('schedule_id', PASSWORD)],
  credit: [plain(PASSWORD), reversed(CARD_DIGITS)],
} as const satisfies Record<string, readonly RecipePart[]>;

export type ReversedText = keyof typeof REVERSED_TEXTS;

/** Whether a payment was made with a card number or token, or with a brand. */
export type PaymentKind = 'card' | 'apm';

/** The text of each request, by the kind of its payment. A request that is about no payment has the same for both. */
export const REVERSED_REQUESTS: Readonly<
  Record<S2sAction | DialectAction, Partial<Record<PaymentKind, ReversedText>>>
> = {
  SALE: { card: 'cardSale', apm: 'apmSale' },
  AUTH: { card: 'cardSale' },
  GET_TRANS_STATUS: { card: 'cardOperation', apm: 'apmOperation' },
  GET_TRANS_DETAILS: { card: 'cardOperation', apm: 'apmOperation' },
  GET_TRANS_STATUS_BY_ORDER: { card: 'cardSale', apm: 'apmOrder' },
  CAPTURE: { card: 'cardOperation', apm: 'apmOperation' },
  VOID: { card: 'cardOperation', apm: 'apmOperation' },
  CREDITVOID: { card: 'cardOperation', apm: 'apmOperation' },
  RECURRING_SALE: { card: 'cardSale', apm: 'apmOrder' },
  CREATE_SCHEDULE: { card: 'account', apm: 'account' },
  UPDATE_SCHEDULE: { card: 'schedule', apm: 'schedule' },
  DELETE_SCHEDULE: { card: 'schedule', apm: 'schedule' },
  CREDIT2CARD: { card: 'credit' },
};

/** The text of the callback of a card payment. The one of any other payment has all fields: `callbackParts`. */
export const REVERSED_CARD_CALLBACK: ReversedText = 'cardOperation';

/** The parts of a text with their values; `value` returns the password and the card digits under their names, too. */
export const partsOf = (text: ReversedText, value: (name: string) => string): HashedPart[] =>
  REVERSED_TEXTS[text].map(({ of, isReversed }) => ({ text: of.map(value).join(''), isReversed }));

const byBytes = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The callback of a payment without a card: all values in the order of the names, and the password as it is. */
export const callbackParts = (fields: Iterable<readonly [string, string]>, password: string): HashedPart[] => [
  ...[...fields]
    .filter(([name]) => name !== 'hash')
    .sort(byBytes)
    .map(([, text]) => ({ text, isReversed: true })),
  { text: password, isRaw: true },
];

/** The first six and the last four digits of a card number, or of its masked form. */
export const cardDigits = (number: string): string => number.slice(0, 6) + number.slice(-4);

const partText = ({ of, isReversed }: RecipePart): string => {
  const names = of.map((name) => (name === CARD_DIGITS || name === PASSWORD ? name : `\`${name}\``)).join(' + ');
  return isReversed ? `rev(${names})` : names;
};

/** A text for people: `upper(rev(payer_email) + password + rev(card))`. */
export const formulaOf = (text: ReversedText): string => `upper(${REVERSED_TEXTS[text].map(partText).join(' + ')})`;

/** The texts of an action that is sent with or without a brand, for people; none for an action of Checkout. */
export function formulasOf(action: string, hasBrand: boolean): string[] {
  if (!Object.hasOwn(REVERSED_REQUESTS, action)) return [];
  const { card, apm } = REVERSED_REQUESTS[action as keyof typeof REVERSED_REQUESTS];
  const texts = action === 'SALE' ? [hasBrand ? apm : card] : [card, apm];
  return [...new Set(texts.filter((text) => text !== undefined))].map(formulaOf);
}
