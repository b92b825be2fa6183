/** Brings a text into the form in which texts are compared by a search: lower case, without accents, decimal points. */

/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
};

const UNDECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');
const HAS_OTHERS = /[^\x20-\x7e]/;

/** Removes accents; also brings letters of other widths and ligatures to their usual form. */
const withoutAccents = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(UNDECOMPOSED, (letter) => LETTERS[letter] as string);

/** `101,86` is `101.86`; spaces and line breaks are one space. */
export function plain(text: string): string {
  const lower = text.toLowerCase();
  const letters = HAS_OTHERS.test(lower) ? withoutAccents(lower) : lower;
  return letters.replace(/\s+/g, ' ').replace(/(?<=\d),(?=\d)/g, '.');
}
