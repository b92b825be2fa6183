/** The text of an instant-payment QR code in the format of Serbia (NBS IPS QR). */
import { digitsOf, serbianAccount } from './accounts.ts';
import { decimalText } from './money.ts';

export interface IpsPayment {
  /** Minor units as digits. */
  amount: string;
  currency: string;
  reference: string;
  description: string;
  /** The name and city of the payee. */
  payee: string;
}

const BYTES_MOST = 331;
const NAME_MOST = 70;
const PURPOSE_MOST = 35;
/** Cashless payment for goods and services. */
const PAYMENT_CODE = '221';
/** Merchant category code: miscellaneous retail. */
const CATEGORY = '5999';

/** Removes line breaks and the field separator. */
const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[|\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

/** Truncates a text without splitting a character. */
function cut(text: string, characters: number, bytes = Number.POSITIVE_INFINITY): string {
  let result = '';
  for (const character of [...text].slice(0, characters)) {
    if (Buffer.byteLength(result + character) > bytes) break;
    result += character;
  }
  return result.trim();
}

export function ipsQr({ amount, currency, reference, description, payee }: IpsPayment): string {
  const text = (name: string): string =>
    [
      ['K', 'EK'],
      ['V', '01'],
      ['C', '1'],
      ['R', serbianAccount(payee)],
      ['N', name],
      ['I', currency + decimalText(amount, currency, ',')],
      ['SF', PAYMENT_CODE],
      ['S', cut(oneLine(description), PURPOSE_MOST)],
      ['M', CATEGORY],
      ['RP', digitsOf(reference, 19)],
    ]
      // A tag must not be empty.
      .filter(([, value]) => value !== '')
      .map(([tag, value]) => `${tag}:${value}`)
      .join('|');
  const name = cut(oneLine(payee), NAME_MOST) || 'Sandbox';
  const excess = Buffer.byteLength(text(name)) - BYTES_MOST;
  return excess > 0 ? text(cut(name, NAME_MOST, Buffer.byteLength(name) - excess)) : text(name);
}
