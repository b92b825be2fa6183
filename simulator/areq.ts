/** Validates an AReq of EMV 3-D Secure 2.2 for a browser payment; the error names the first invalid member. */
import { isIP } from 'node:net';
import { isUuid } from '../src/lib/crypto/id.ts';
import { CURRENCY_OF } from '../src/lib/money/iso-4217.ts';
import { isObject, isText } from '../src/lib/text/json.ts';
import { isCardNumber } from './cards.ts';
import { exponentOf } from './money.ts';
import { isAmount, isLink } from './payment-request.ts';

export const MESSAGE_VERSION = '2.2.0';

const DESCRIPTIONS = {
  101: 'The message is not an AReq.',
  102: 'This message version is not supported.',
  201: 'A required data element is missing.',
  203: 'The format of a data element is not valid.',
  304: 'The ISO code is not valid.',
  305: 'The card is not in a range that is enrolled.',
} as const;

/** An error message of the directory server. It names the invalid member without its value, which could be a card number. */
export class Erro extends Error {
  readonly code: keyof typeof DESCRIPTIONS;
  readonly detail: string;
  readonly statusCode: number;
  readonly threeDSServerTransID: unknown;

  constructor(code: keyof typeof DESCRIPTIONS, detail: string, areq?: Json) {
    super(DESCRIPTIONS[code]);
    this.code = code;
    this.detail = detail;
    this.statusCode = code === 305 ? 404 : 400;
    this.threeDSServerTransID = areq?.threeDSServerTransID;
  }

  toJSON() {
    return {
      messageType: 'Erro',
      messageVersion: MESSAGE_VERSION,
      ...(isId(this.threeDSServerTransID) && { threeDSServerTransID: this.threeDSServerTransID }),
      errorComponent: 'D',
      errorMessageType: 'AReq',
      errorCode: String(this.code),
      errorDescription: this.message,
      errorDetail: this.detail,
    };
  }
}

type Json = Record<string, unknown>;
type Check = (value: unknown, areq: Json) => boolean;
type Need = 'must' | 'may' | 'with scripts';

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
const only =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const text =
  (most: number, least = 1): Check =>
  (value) =>
    isText(value, most) && value.length >= least;
const shaped =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const link =
  (most: number): Check =>
  (value) =>
    isLink(value) && value.length <= most;

/** A valid date and time in the format YYYYMMDDHHMMSS. */
const isDate: Check = (value) => {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(String(value))?.slice(1);
  if (!parts) return false;
  const [year, month, day, hour, minute, second] = parts;
  const moment = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = Date.parse(moment);
  return !Number.isNaN(time) && new Date(time).toISOString() === moment;
};

const isExponent: Check = (value, { purchaseCurrency }) =>
  value === String(exponentOf(CURRENCY_OF.get(purchaseCurrency) ?? ''));

/** The members in the order of the checks. Members that a 3DS server adds itself are optional. */
const MEMBERS: readonly (readonly [name: string, need: Need, check: Check, code?: 101 | 102 | 304])[] = [
  ['messageType', 'must', only('AReq'), 101],
  ['messageVersion', 'must', only(MESSAGE_VERSION), 102],
  ['messageCategory', 'must', only('01')],
  ['deviceChannel', 'must', only('02')],
  ['threeDSServerTransID', 'must', isId],
  ['threeDSServerURL', 'must', link(2048)],
  ['threeDSServerRefNumber', 'may', text(32)],
  ['threeDSServerOperatorID', 'may', text(32)],
  ['threeDSRequestorID', 'may', text(35)],
  ['threeDSRequestorName', 'may', text(40)],
  ['threeDSRequestorURL', 'must', link(2048)],
  ['threeDSRequestorAuthenticationInd', 'may', shaped(/^0[1-6]$/)],
  ['threeDSRequestorChallengeInd', 'may', shaped(/^0[1-9]$/)],
  ['threeDSCompInd', 'may', only('Y', 'N', 'U')],
  ['notificationURL', 'must', link(256)],
  ['acctNumber', 'must', isCardNumber],
  ['cardExpiryDate', 'must', shaped(/^\d\d(0[1-9]|1[0-2])$/)],
  ['cardholderName', 'may', text(45, 2)],
  ['purchaseAmount', 'must', isAmount],
  ['purchaseCurrency', 'must', (value) => CURRENCY_OF.has(value), 304],
  ['purchaseExponent', 'must', isExponent],
  ['purchaseDate', 'must', isDate],
  ['acquirerBIN', 'may', text(11)],
  ['acquirerMerchantID', 'may', text(35)],
  ['merchantName', 'must', text(40)],
  ['merchantCountryCode', 'may', shaped(/^\d{3}$/)],
  ['mcc', 'must', shaped(/^\d{4}$/)],
  ['browserAcceptHeader', 'must', text(2048)],
  ['browserIP', 'may', (value) => typeof value === 'string' && isIP(value) !== 0],
  ['browserLanguage', 'must', text(8)],
  ['browserUserAgent', 'must', text(2048)],
  ['browserJavascriptEnabled', 'must', isBoolean],
  ['browserJavaEnabled', 'with scripts', isBoolean],
  ['browserColorDepth', 'with scripts', only('1', '4', '8', '15', '16', '24', '32', '48')],
  ['browserScreenHeight', 'with scripts', shaped(/^\d{1,6}$/)],
  ['browserScreenWidth', 'with scripts', shaped(/^\d{1,6}$/)],
  ['browserTZ', 'with scripts', shaped(/^[+-]?\d{1,4}$/)],
];

const isNeeded = (need: Need, { browserJavascriptEnabled }: Json): boolean =>
  need === 'must' || (need === 'with scripts' && browserJavascriptEnabled === true);

/** The members of an AReq that the simulated card issuer uses. */
export interface Areq {
  threeDSServerTransID: string;
  threeDSServerURL: string;
  notificationURL: string;
  acctNumber: string;
  cardExpiryDate: string;
  purchaseAmount: string;
  purchaseCurrency: string;
  merchantName: string;
}

export function readAreq(body: unknown): Areq {
  if (!isObject(body)) throw new Erro(101, 'The body is not an object.');
  for (const [name, need, check, code = 203] of MEMBERS) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (value === undefined || value === '') {
      if (value === '' || isNeeded(need, body)) throw new Erro(201, name, body);
    } else if (!check(value, body)) {
      throw new Erro(code, code === 102 ? MESSAGE_VERSION : name, body);
    }
  }
  return body as unknown as Areq;
}
