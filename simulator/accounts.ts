/** Account numbers of the simulated banks: derived from a text, with valid check digits. */
import { createHash } from 'node:crypto';

/** A number of digits that is derived from the text alone. */
export function digitsOf(text: string, count: number): string {
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`) % 10n ** BigInt(count);
  return String(number).padStart(count, '0');
}

/** The digit that makes the weighted sum a multiple of ten. */
function checkDigit(digits: string, weights: readonly number[]): string {
  let sum = 0;
  for (const [index, digit] of [...digits].entries())
    sum += Number(digit) * (weights[index % weights.length] as number);
  return String((10 - (sum % 10)) % 10);
}

/** Argentina, 22 digits: provider and branch with a check digit, then the account with its own. */
export function cvu(text: string): string {
  const head = '0000999';
  const account = digitsOf(text, 13);
  return `${head}${checkDigit(head, [7, 1, 3, 9])}${account}${checkDigit(account, [3, 9, 7, 1])}`;
}

/** Mexico, 18 digits: bank, place and account, then one check digit over all of them. */
export function clabe(text: string): string {
  const digits = `999180${digitsOf(text, 11)}`;
  return digits + checkDigit(digits, [3, 7, 1]);
}

/** Serbia, 18 digits: bank, account, and two control digits. */
export function serbianAccount(text: string): string {
  const digits = `999${digitsOf(text, 13)}`;
  return digits + String(98n - ((BigInt(digits) * 100n) % 97n)).padStart(2, '0');
}

/** An address that is invalid in every real network, so that no coins are sent to it. */
export const coinAddress = (text: string): string =>
  `sim1${createHash('sha256').update(text).digest('hex').slice(0, 38)}`;
