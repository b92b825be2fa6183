/** Texts that are shortened: whole characters stay. */
import { expect, test } from 'vitest';
import { cut } from '../../../src/lib/text/cut.ts';

test.each([
  ['a text that is short enough', 'shop', 4, 'shop'],
  ['a text of plain letters', 'shoppers', 4, 'shop'],
  ['an emoji at the end', 'tea 🍵', 5, 'tea '],
  ['an emoji that fits', 'tea 🍵 and more', 6, 'tea 🍵'],
  ['a letter with a combining accent', 'Cafe\u0301', 4, 'Caf'],
  ['a family of joined emoji', 'for 👨‍👩‍👧', 9, 'for '],
  ['a flag of two letters', 'at 🇦🇹', 5, 'at '],
  ['a line break of two characters', 'ab\r\ncd', 3, 'ab'],
  ['a single character that is too long', `e${'\u0301'.repeat(9)}`, 4, `e${'\u0301'.repeat(3)}`],
  ['a single joined character that is too long', '👨‍👩‍👧', 4, '👨‍'],
  ['nothing', '🍵', 0, ''],
])('%s', (_, text, most, expected) => {
  expect(cut(text, most)).toBe(expected);
});
