/** Shortens texts to a length without breaking a character, such as an emoji or a letter with its accents. */

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

const HALF_AT_END = /[\ud800-\udbff]$/;

/** The beginning of a text, of at most this many UTF-16 units. A character that is longer than that is cut between its parts. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const { index = 0 } = characters.segment(text).containing(most) ?? {};
  return index > 0 ? text.slice(0, index) : text.slice(0, most).replace(HALF_AT_END, '');
}
