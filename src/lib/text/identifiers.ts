/** Validates bank and personal identifiers, contact details, timestamps and encodings by format and check digits. */

import { countrySpecs, isValidBBAN, isValidBIC, isValidIBAN } from 'ibantools';
import { isSeen } from './plain-text.ts';

export const isBic = (value: string): boolean => isValidBIC(value);

/** In the electronic format: upper case, without blanks. */
export const isIban = (value: string): boolean => isValidIBAN(value);

const SOME_IBAN = /(?<![\p{L}\p{N}])([a-z]{2})\d{2}(?:[ \u00a0-]?[a-z\d]){11,30}/giu;

/** Where the IBANs of a text are, in upper or lower case, with or without blanks. */
export function ibansIn(text: string): { start: number; end: number }[] {
  return [...text.matchAll(SOME_IBAN)].flatMap(({ 0: found, 1: country = '', index: start }) => {
    const length = countrySpecs[country.toUpperCase()]?.chars ?? 0;
    const [iban = ''] = new RegExp(`^(?:[ \\u00a0-]?[a-z\\d]){${length}}`, 'i').exec(found) ?? [];
    return isIban(iban.replace(/[^a-z\d]/gi, '').toUpperCase()) ? [{ start, end: start + iban.length }] : [];
  });
}

/** Account numbers of countries without a published BBAN structure are accepted unchecked. */
export const isBban = (value: string, country: string): boolean =>
  countrySpecs[country]?.bban_regexp === undefined || isValidBBAN(value, country);

// A digit has its own value, so that one alphabet serves the schemes with and without letters.
const ALPHABET = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
const ABA_WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7, 1];
// The check digit has weight 1, so the weighted sum of the whole number is a multiple of ten.
const CLABE_WEIGHTS = [...ABA_WEIGHTS, ...ABA_WEIGHTS];
const CUIL_WEIGHTS = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2];
const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CURP_WEIGHTS = [18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];

const weightedSum = (text: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * ALPHABET.indexOf(text.charAt(at)), 0);

export const isAbaRoutingNumber = (value: string): boolean =>
  /^\d{9}$/.test(value) && !/^0+$/.test(value) && weightedSum(value, ABA_WEIGHTS) % 10 === 0;

export const isClabe = (value: string): boolean =>
  /^\d{18}$/.test(value) && weightedSum(value, CLABE_WEIGHTS) % 10 === 0;

/** Argentina, people (CUIL) and companies (CUIT): eleven digits, plain or written as 20-12345678-6. */
export function isCuil(value: string): boolean {
  if (!/^\d{2}(-?)\d{8}\1\d$/.test(value)) return false;
  const digits = value.replaceAll('-', '');
  const control = 11 - (weightedSum(digits, CUIL_WEIGHTS) % 11);
  return Number(digits[10]) === (control === 11 ? 0 : control === 10 ? 9 : control);
}

/** Brazil: eleven digits, the last two of which are check digits. */
export function isCpf(value: string): boolean {
  if (!/^\d{11}$/.test(value) || /^(\d)\1+$/.test(value)) return false;
  const first = ((weightedSum(value, CPF_WEIGHTS.slice(1)) * 10) % 11) % 10;
  const second = ((weightedSum(value, CPF_WEIGHTS) * 10) % 11) % 10;
  return value.endsWith(`${first}${second}`);
}

// The 32 states, and NE for people born abroad.
const CURP_STATE = 'AS|BC|BS|CC|CH|CL|CM|CS|DF|DG|GR|GT|HG|JC|MC|MN|MS|NE|NL|NT|OC|PL|QR|QT|SL|SP|SR|TC|TL|TS|VZ|YN|ZS';
// Matched without case instead of upper-casing first, which would turn other letters (ı, ſ) into ASCII ones.
const CURP = new RegExp(
  `^[A-Z]{4}(\\d{2})(\\d{2})(\\d{2})[HMX](?:${CURP_STATE})[B-DF-HJ-NP-TV-Z]{3}([A-Z\\d])(\\d)$`,
  'i',
);

/** Mexico: letters of the name, birth date, sex, state, more letters, a character for the century, a check digit. */
export function isCurp(value: string): boolean {
  const [, year, month, day, centuryMark = '', checkDigit] = CURP.exec(value) ?? [];
  if (checkDigit === undefined) return false;
  const century = /\d/.test(centuryMark) ? '19' : '20';
  const sum = weightedSum(value.toUpperCase(), CURP_WEIGHTS);
  return isRealDate(`${century}${year}-${month}-${day}`) && Number(checkDigit) === (10 - (sum % 10)) % 10;
}

/** `Date` either rejects a date that does not exist or rolls it over into the next month. */
function isRealDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

const UTC_MOMENT = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|\+00:00)$/;

/** ISO 8601 in UTC, to the minute or finer. */
export const isUtcMoment = (value: string): boolean => UTC_MOMENT.test(value) && isRealDate(value.slice(0, 10));

export const isUpiAddress = (value: string): boolean => /^[A-Za-z\d._-]{2,256}@[A-Za-z][A-Za-z\d]{1,63}$/.test(value);

/** E.164, with or without the plus sign. */
export const isPhoneNumber = (value: string): boolean => /^\+?[1-9]\d{6,14}$/.test(value);

/** Permissive, because only a delivered message proves an address. */
export const isEmail = (value: string): boolean =>
  value.length <= 254 && isSeen(value) && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value);

/** United Kingdom and Ireland. */
export const isSortCode = (value: string): boolean => /^\d{2}(-?)\d{2}\1\d{2}$/.test(value);

/** Australia. */
export const isBsb = (value: string): boolean => /^\d{3}-?\d{3}$/.test(value);

/** Germany. */
export const isBlz = (value: string): boolean => /^[1-8]\d{7}$/.test(value);

/** India. */
export const isIfsc = (value: string): boolean => /^[A-Z]{4}0[A-Z\d]{6}$/.test(value);

/** At most the first eight and the last four digits may be visible. */
export function isMaskedCardNumber(value: string): boolean {
  const ungrouped = value.replace(/(?<=[\d*Xx•])[ -](?=[\d*Xx•])/g, '');
  return /^(?=.{12,19}$)\d{0,8}[*Xx•]{4,}\d{0,4}$/.test(ungrouped);
}

/** Searches for a wrong character, because matching all characters of a long text can overflow the regexp stack. */
export const isBase64 = (value: string): boolean =>
  value !== '' && value.length % 4 === 0 && !/[^A-Za-z\d+/]/.test(value.replace(/={1,2}$/, ''));
