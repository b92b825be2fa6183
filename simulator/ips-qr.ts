/** The text of an instant-payment QR code in the national format of Serbia, as an online shop shows it. */
import { digitsOf, serbianAccount } from './accounts.ts';
import { decimalText } from './money.ts';

export interface IpsPayment {
  /** Minor units as digits. */
  amount: string;
  currency: string;
  reference: string;
  description: string;
  /** Name and seat of who is paid. */
  payee: string;
}

const BYTES_MOST = 331;
const NAME_MOST = 70;
const PURPOSE_MOST = 35;
/** Without cash, goods and services for consumption. */
const PAYMENT_CODE = '221';
/** Merchant category: miscellaneous shops. */
const CATEGORY = '5999';

/** One line without the character that parts the fields. */
const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[|\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

/** The beginning of a text, whole characters only. */
function cut(text: string, characters: number, bytes = Number.POSITIVE_INFINITY): string {
  let kept = '';
  for (const character of [...text].slice(0, characters)) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept.trim();
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
      // A tag without a value may not stand in the text.
      .filter(([, value]) => value !== '')
      .map(([tag, value]) => `${tag}:${value}`)
      .join('|');
  const name = cut(oneLine(payee), NAME_MOST) || 'Sandbox';
  const excess = Buffer.byteLength(text(name)) - BYTES_MOST;
  return excess > 0 ? text(cut(name, NAME_MOST, Buffer.byteLength(name) - excess)) : text(name);
}
