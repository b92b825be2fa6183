/** The test cards: the expiry date selects the behaviour, whatever the number. */
import { isLuhnValid } from '../src/lib/cards/luhn.ts';

/** A 3-D Secure challenge. */
export interface Challenge {
  transStatus: 'C';
  /** The challenge fails even with the right code. */
  fails?: true;
  /** The status that the browser returns, regardless of the result. */
  browserStatus?: 'Y';
  /** The delay of the result. */
  resultAfterMs?: number;
  /** How often the result is sent; default once. */
  resultCopies?: 0 | 2;
}

/** The authentication response of the directory server. */
export type ThreeDS =
  | { transStatus: 'Y' | 'A' | 'I' }
  | { transStatus: 'N' | 'U' | 'R'; transStatusReason: string }
  | Challenge;

export interface CardBehaviour {
  isDeclined?: true;
  refusesCapture?: true;
  /** The payer is redirected to a page; this decision applies, whatever the payer chooses there. */
  pageDecision?: 'approve' | 'decline';
  /** The connection fault when the card is submitted. */
  connectionFault?: 'timeout_before' | 'timeout_after';
  /** If not set, the card is not enrolled. */
  threeDS?: ThreeDS;
}

/** Any other expiry succeeds and is not enrolled, like `01/38`. */
export const CARDS: Readonly<Record<string, CardBehaviour>> = {
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
  '12/38': { pageDecision: 'approve' },
  '12/39': { pageDecision: 'decline' },
  '01/39': { connectionFault: 'timeout_after' },
  '02/39': { connectionFault: 'timeout_before' },
  '05/39': { threeDS: { transStatus: 'C', resultAfterMs: 2000 } },
  '06/39': { threeDS: { transStatus: 'C', resultCopies: 2 } },
  '07/39': { threeDS: { transStatus: 'C', resultCopies: 0 } },
  '08/39': { threeDS: { transStatus: 'C', fails: true, browserStatus: 'Y' } },
};

export const WANTS_AUTHENTICATION = 'The bank wants to authenticate the payer first.';

export const DECLINED_BY_BANK = 'Declined by the simulated bank.';

/** Numbers that are declined with every expiry, and why. */
const DECLINED_NUMBERS: Readonly<Record<string, string>> = {
  '4000000000000002': DECLINED_BY_BANK,
  '4000000000009995': 'Insufficient funds.',
  '4000000000000127': 'The security code of the card is wrong.',
};

/** The authentication results with which a challenged card is accepted. */
const SUFFICIENT = ['Y', 'A', 'I', 'U'];

/** A card as it is submitted. */
export interface Card {
  number: string;
  month: string;
  year: string;
  /** The result of the authentication; empty without an authentication. */
  transStatus: string;
  /** A recurring payment, a telephone order or a payout: the payer cannot be authenticated. */
  isPayerAbsent: boolean;
  /** The device wallet that the card comes from, with the proof of the device. */
  wallet?: { type: 'CRYPTOGRAM_3DS' | 'PAN_ONLY'; cryptogram: string; eci: string } | null;
}

/** The parts of a card that are stored. */
export interface MaskedCard {
  first6: string;
  last4: string;
  expiry: string;
}

export const isCardNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{12,19}$/.test(value) && isLuhnValid(value);

export const cardBehaviour = (expiry: string): CardBehaviour =>
  Object.hasOwn(CARDS, expiry) ? (CARDS[expiry] as CardBehaviour) : {};

/** `MM/YY`; a year outside of this century keeps all its digits. */
export const formatExpiry = ({ month, year }: Pick<Card, 'month' | 'year'>): string =>
  `${month}/${year.replace(/^20/, '')}`;

export const maskCard = (number: string, expiry: string): MaskedCard => ({
  first6: number.slice(0, 6),
  last4: number.slice(-4),
  expiry,
});

/** Why a card is invalid, independent of its behaviour. */
export function cardProblem({ number, month, year }: Card, now: number): string | undefined {
  if (!isCardNumber(number)) return 'The card number is not valid.';
  if (!/^(0[1-9]|1[0-2])$/.test(month) || !/^\d{4}$/.test(year)) return 'The expiry date of the card is not valid.';
  return `${year}-${month}` < new Date(now).toISOString().slice(0, 7) ? 'The card has expired.' : undefined;
}

const isAuthenticatedByDevice = ({ wallet }: Card): boolean => wallet?.type === 'CRYPTOGRAM_3DS';

/** Why the proof of a device is invalid. A repetition has none, and neither has a card that is only stored in a wallet. */
function walletProblem({ wallet, isPayerAbsent }: Card): string | undefined {
  if (!wallet) return undefined;
  const { type, cryptogram, eci } = wallet;
  if (type === 'PAN_ONLY' || isPayerAbsent) {
    return cryptogram + eci === '' ? undefined : 'A cryptogram was sent with a card that has none.';
  }
  if (!/^[A-Za-z0-9+/]{16,128}={0,2}$/.test(cryptogram)) return 'The cryptogram is missing or not valid.';
  return /^(\d{1,2})?$/.test(eci) ? undefined : 'The ECI is not valid.';
}

/** Why the simulated bank declines a valid card. */
export function bankRefusal(card: Card): string | undefined {
  const { isDeclined, threeDS } = cardBehaviour(formatExpiry(card));
  if (isDeclined) return DECLINED_BY_BANK;
  if (Object.hasOwn(DECLINED_NUMBERS, card.number)) return DECLINED_NUMBERS[card.number];
  const problem = walletProblem(card);
  if (problem !== undefined || isAuthenticatedByDevice(card)) return problem;
  if (threeDS?.transStatus !== 'C' || card.isPayerAbsent || SUFFICIENT.includes(card.transStatus)) return undefined;
  return WANTS_AUTHENTICATION;
}
