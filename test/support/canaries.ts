/** Known card numbers and a security code, and the search for them in every encoding. */
import { textSearch } from './text-search.ts';

export const NUMBERS = [
  ...['4539578763621486', '5425233430109903', '374245455400126'],
  ...['6011000991300009', '3566002020360505', '6240008631401148'],
];
export const CVV = '7391';

export const grouped = (digits: string, separator: string): string =>
  (digits.length === 15 ? /(.{4})(.{6})(.{5})/ : /(.{4})(.{4})(.{4})(.+)/).exec(digits)?.slice(1).join(separator) ??
  digits;
const each = (text: string, write: (code: number) => string): string =>
  Array.from(text, (character) => write(character.charCodeAt(0))).join('');
/** The base64 of a text inside a longer text: the part that does not depend on the surrounding bytes. */
const base64At = (text: string, offset: number): string =>
  Buffer.from(' '.repeat(offset) + text)
    .toString('base64')
    .replace(/=+$/, '')
    .slice(Math.ceil((offset * 8) / 6), -1);

/** Every encoding in which a number could appear. */
export const disguises = (digits: string): [string, string][] => [
  ['plain', digits],
  ...[' ', '-', '.', '+', '%20', '%2D', '\\u0020', '&nbsp;', '\u00a0'].map((separator): [string, string] => [
    `with ${JSON.stringify(separator)}`,
    grouped(digits, separator),
  ]),
  ['backwards', [...digits].reverse().join('')],
  ['percent-encoded', each(digits, (code) => `%${code.toString(16)}`)],
  ['escaped as JSON', each(digits, (code) => `\\u00${code.toString(16)}`)],
  ['escaped as HTML', each(digits, (code) => `&#${code};`)],
  ['hexadecimal', Buffer.from(digits).toString('hex')],
  ['hexadecimal, two bytes each', Buffer.from(digits, 'utf16le').toString('hex')],
  ['as a number', BigInt(digits).toString(16)],
  ...[0, 1, 2].map((offset): [string, string] => [`base64 at ${offset}`, base64At(digits, offset)]),
  ['hexadecimal of base64', Buffer.from(Buffer.from(digits).toString('base64').replace(/=+$/, '')).toString('hex')],
];
/** What each form of a number is, described without the number itself. */
const DISGUISES = new Map(
  NUMBERS.flatMap((digits) => disguises(digits).map(([how, text]) => [text, `${digits.slice(0, 6)}… ${how}`] as const)),
);
const search = textSearch([...DISGUISES.keys()]);

/** The forms of the numbers that a text contains. */
export const found = (text: string): string[] => search.foundIn(text).map((form) => DISGUISES.get(form) ?? '');

const CODE = new RegExp(`(?<![\\w.:-])${CVV}(?![\\w:-]|\\.\\d\\d\\b)`);
/**
 * A security code is too short to search for inside other words, so only separate occurrences count. A sum of amounts may
 * have its digits, before its decimals.
 */
export const hasCode = (text: string): boolean => CODE.test(text);

/** What surrounds the security code in a text. */
export const aroundCode = (text: string): string => {
  const at = CODE.exec(text)?.index;
  return at === undefined ? '' : `${text.slice(Math.max(0, at - 60), at)}…${text.slice(at + CVV.length, at + 60)}`;
};
