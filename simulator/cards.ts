/** Cards of the simulated banks: the expiry selects what happens, whatever the number. */
import { isLuhnValid } from '../src/lib/luhn.ts';

/** How a challenge goes that the payer has to pass. */
export interface Challenge {
  transStatus: 'C';
  /** Not even the right code helps. */
  fails?: true;
  /** What the payer's browser carries back, whatever the truth. */
  claims?: 'Y';
  /** How late the result is. */
  resultAfterMs?: number;
  /** How often the result is sent, if not once. */
  resultCopies?: 0 | 2;
}

/** What the directory answers when it asks the bank. */
export type ThreeDS =
  | { transStatus: 'Y' | 'A' | 'I' }
  | { transStatus: 'N' | 'U' | 'R'; transStatusReason: string }
  | Challenge;

export interface CardRow {
  isDeclined?: true;
  refusesCapture?: true;
  /** The payer is sent to a page, and this is what counts there, whatever they choose. */
  page?: 'approve' | 'decline';
  /** How the line goes dead when the card is submitted. */
  line?: 'timeout_before' | 'timeout_after';
  /** Without it the card is not enrolled. */
  threeDS?: ThreeDS;
}

/** Every other expiry succeeds and is not enrolled, as `01/38` does. */
export const CARDS: Readonly<Record<string, CardRow>> = {
  '01/38': {},
  '02/38': { isDeclined: true },
  '03/38': { refusesCapture: true },
  '04/38': { threeDS: { transStatus: 'I' } },
  '05/38': { threeDS: { transStatus: 'C' } },
  '06/38': { threeDS: { transStatus: 'C', fails: true } },
  '07/38': { threeDS: { transStatus: 'Y' } },
  '08/38': { threeDS: { transStatus: 'A' } },
  '09/38': { threeDS: { transStatus: 'N', transStatusReason: '01' }, isDeclined: true },
  '10/38': { threeDS: { transStatus: 'U', transStatusReason: '22' } },
  '11/38': { threeDS: { transStatus: 'R', transStatusReason: '11' }, isDeclined: true },
  '12/38': { page: 'approve' },
  '12/39': { page: 'decline' },
  '01/39': { line: 'timeout_after' },
  '02/39': { line: 'timeout_before' },
  '05/39': { threeDS: { transStatus: 'C', resultAfterMs: 2000 } },
  '06/39': { threeDS: { transStatus: 'C', resultCopies: 2 } },
  '07/39': { threeDS: { transStatus: 'C', resultCopies: 0 } },
  '08/39': { threeDS: { transStatus: 'C', fails: true, claims: 'Y' } },
};

const DECLINED_NUMBER = '4000000000000002';
export const DECLINED_BY_BANK = 'Declined by the simulated bank.';

/** With one of these the payer was authenticated, or need not be. */
const SUFFICIENT = ['Y', 'A', 'I', 'U'];

/** A card as it is submitted. */
export interface Card {
  number: string;
  month: string;
  year: string;
  /** Of the authentication that came with the card; empty without one. */
  transStatus: string;
  /** Nobody is there who could be authenticated. */
  isPayerAbsent: boolean;
}

/** What is kept of a card. */
export interface KeptCard {
  first6: string;
  last4: string;
  expiry: string;
}

export const isCardNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{12,19}$/.test(value) && isLuhnValid(value);

export const rowOf = (expiry: string): CardRow => (Object.hasOwn(CARDS, expiry) ? (CARDS[expiry] as CardRow) : {});

/** The century is told where it could be another. */
export const expiryOf = ({ month, year }: Pick<Card, 'month' | 'year'>): string =>
  `${month}/${year.replace(/^20/, '')}`;

export const keptOf = (number: string, expiry: string): KeptCard => ({
  first6: number.slice(0, 6),
  last4: number.slice(-4),
  expiry,
});

/** What is wrong with a card, before anybody asks its bank. */
export function cardProblem({ number, month, year }: Card, now: number): string | undefined {
  if (!isCardNumber(number)) return 'The card number is not valid.';
  if (!/^(0[1-9]|1[0-2])$/.test(month) || !/^\d{4}$/.test(year)) return 'The expiry date of the card is not valid.';
  return `${year}-${month}` < new Date(now).toISOString().slice(0, 7) ? 'The card has expired.' : undefined;
}

/** Why the bank says no. */
export function refusalOf(card: Card): string | undefined {
  const { isDeclined, threeDS } = rowOf(expiryOf(card));
  if (isDeclined || card.number === DECLINED_NUMBER) return DECLINED_BY_BANK;
  if (threeDS?.transStatus !== 'C' || card.isPayerAbsent || SUFFICIENT.includes(card.transStatus)) return undefined;
  return 'The bank wants to authenticate the payer first.';
}
