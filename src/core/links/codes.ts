/** The codes in the addresses of links and invoices. */
import { randomInt } from 'node:crypto';

/** Without letters and digits that look alike. 14 of them have 80 bits, which nobody guesses. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 14;

export const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

export const newCode = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
