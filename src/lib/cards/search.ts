/** Finds card numbers in texts, in whichever digits and with whichever separators they are written. */

import { ibansIn } from '../text/identifiers.ts';
import { maskedNumber } from './card.ts';
import { isLuhnValid } from './luhn.ts';
import { networkOf, rulesOf } from './networks.ts';

/** The shortest and the longest number that is taken for a card number in a text. */
export const LEAST_DIGITS = 15;
const MOST_DIGITS = 19;

const OTHER_DIGIT = /(?!\d)\p{Nd}/gu;
/** Raised, lowered and circled digits, fractions and the like. */
const SIGN = /\p{No}/gu;
/** A text with fewer digits has no number of a card. */
const LEAST_DIGITS_IN_NAME = 12;
const DECIMAL = /^\p{Nd}$/u;
/** Digits in circles that Unicode does not decompose. */
const CIRCLED = ['⓿❶❷❸❹❺❻❼❽❾', '🄋➀➁➂➃➄➅➆➇➈', '🄌➊➋➌➍➎➏➐➑➒', '⓪⓵⓶⓷⓸⓹⓺⓻⓼⓽'];
const CIRCLED_DIGITS: ReadonlyMap<string, string> = new Map(
  CIRCLED.flatMap((signs) => [...signs].map((sign, digit): [string, string] => [sign, String(digit)])),
);
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|nbsp);/gi;
/** Invisible characters and marks, such as a zero-width space or the frame of a keycap. */
const INVISIBLE = /(?<=\d)[\p{Cf}\p{M}]+/gu;
const SPACE = /(?<=\d)\p{Zs}(?=\d)/gu;

/** Raised, lowered and circled digits have a value; other signs, such as fractions, stay. */
function digitOfSign(sign: string): string {
  const compatible = sign.normalize('NFKC');
  return /^\d$/.test(compatible) ? compatible : (CIRCLED_DIGITS.get(sign) ?? sign);
}

/** The digits of a script are ten consecutive characters, the first of which is zero. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) as number;
  let zero = code;
  while (DECIMAL.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}

/** The character of a reference to a digit or a space; other references stay. */
function characterOf(reference: string, decimal: string | undefined, hex: string | undefined): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? 'a0', 16) : Number(decimal);
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return /^[\p{Nd}\p{No}\p{Zs}]$/u.test(character) ? character : reference;
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * The text with all digits and the spaces between them in ASCII, and without invisible characters between them. Raised and circled
 * digits, as in m², stay in a text with too few digits for a number.
 */
export function plainDigits(text: string): string {
  const decoded = text.includes('&') ? text.replace(ENTITY, characterOf) : text;
  if (isAscii(decoded)) return decoded;
  const unsigned = mayHaveDigits(decoded, LEAST_DIGITS_IN_NAME) ? decoded.replace(SIGN, digitOfSign) : decoded;
  return unsigned.replace(OTHER_DIGIT, digitOf).replace(INVISIBLE, '').replace(SPACE, ' ');
}

/** Where digits that are not ASCII are: three raised ones, and those of other scripts. */
const isOtherDigits = (code: number): boolean => code >= 0x660 || (code >= 0xb2 && code <= 0xb9);

/** Whether a text may have so many digits, also as references such as `&#52;`; most texts have not. */
export function mayHaveDigits(text: string, least: number): boolean {
  if (text.length < least) return false;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code >= 0x30 && code <= 0x39) || isOtherDigits(code)) digits++;
  }
  return digits >= least;
}

const mayHaveNumber = (text: string): boolean => mayHaveDigits(text, LEAST_DIGITS);

/** Digits without a separator. */
interface Group {
  digits: string;
  start: number;
  end: number;
  /** What is between this group and the one before it; undefined if they cannot belong to one number. */
  separator: string | undefined;
}

/** Spaces, or a character up to three times in a row, perhaps with spaces around it. */
const SEPARATOR = /^\s{0,3}(?:([^\p{L}\p{N}\s])\1{0,2})?\s{0,3}$/u;

function groupsOf(text: string): Group[] {
  const groups: Group[] = [];
  for (const { 0: digits, index: start } of text.matchAll(/\d+/g)) {
    const between = text.slice(groups.at(-1)?.end ?? 0, start);
    const separator = groups.length > 0 && SEPARATOR.test(between) ? between : undefined;
    groups.push({ digits, start, end: start + digits.length, separator });
  }
  return groups;
}

/** Besides groups of one size, of which the last may be smaller. */
const AMERICAN_EXPRESS = [4, 6, 5];
const LARGEST_GROUP = 6;
const LEAST_GROUPS = 3;
/** Groups that are as large as those of cards may have different separators; smaller ones are often dates or phone numbers. */
const PRINTED_GROUP = 4;

const isSeparatorOf = ({ digits }: Group, { separator: usual }: Group, { separator }: Group): boolean =>
  separator !== undefined &&
  (separator === usual || (digits.length >= PRINTED_GROUP && separator.length === 1 && usual?.length === 1));

const isOfCard = (digits: string): boolean =>
  digits.length >= LEAST_DIGITS && digits.length <= MOST_DIGITS && isLuhnValid(digits) && isOfNetwork(digits);

const isOfNetwork = (digits: string): boolean => rulesOf(networkOf(digits)).lengthsInTexts.includes(digits.length);

interface Found {
  digits: string;
  start: number;
  end: number;
}

/** The number that begins with a group: the group itself, or the longest one of several groups. */
function numberFrom(groups: readonly Group[], at: number): Found | undefined {
  const [first, second] = groups.slice(at, at + 2) as [Group, Group | undefined];
  const { start, end } = first;
  if (isOfCard(first.digits)) return { digits: first.digits, start, end };
  const size = first.digits.length;
  if (second === undefined || size > LARGEST_GROUP) return undefined;
  // Groups in the middle of a longer number.
  if (first.separator === second.separator && groups[at - 1]?.digits.length === size) return undefined;
  const sizes = second.digits.length > size && size === AMERICAN_EXPRESS[0] ? AMERICAN_EXPRESS : undefined;
  let { digits } = first;
  let found: Found | undefined;
  for (let place = 1; digits.length < MOST_DIGITS; place++) {
    const group = groups[at + place];
    const most = sizes ? (sizes[place] ?? 0) : size;
    if (group === undefined || group.digits.length > most || !isSeparatorOf(first, second, group)) break;
    digits += group.digits;
    if (place + 1 >= LEAST_GROUPS && isOfCard(digits)) found = { digits, start, end: group.end };
    if (group.digits.length < most) break;
  }
  return found;
}

/** The numbers in a text of plain digits; those of bank accounts are none. */
function searched(text: string): Found[] {
  const groups = groupsOf(text);
  const found = groups.flatMap((_, first) => numberFrom(groups, first) ?? []);
  if (found.length === 0) return found;
  const ibans = ibansIn(text);
  return found.filter(({ start, end }) => !ibans.some((iban) => start < iban.end && iban.start < end));
}

/** Whether a text has as many digits as a card number; a name or an expiry date never has. */
export const hasNumber = (text: string): boolean => plainDigits(text).replace(/\D/g, '').length >= LEAST_DIGITS_IN_NAME;

/** The numbers in a text that have a card network's prefix and length and a valid check digit. */
export const cardNumbersIn = (text: string): string[] =>
  mayHaveNumber(text) ? searched(plainDigits(text)).map(({ digits }) => digits) : [];

export const hasCardNumber = (text: string): boolean => cardNumbersIn(text).length > 0;

/** A text in which every such number is masked; a text without one is returned as it is. */
export function maskCardNumbers(text: string): string {
  if (!mayHaveNumber(text)) return text;
  const plain = plainDigits(text);
  let masked = '';
  let copied = 0;
  for (const { digits, start, end } of searched(plain)) {
    if (start < copied) continue;
    masked += plain.slice(copied, start) + maskedNumber(digits);
    copied = end;
  }
  return copied === 0 ? text : masked + plain.slice(copied);
}
