/** The search for many texts at once finds what a search for each of them finds. */
import { expect, test } from 'vitest';
import { disguises, found, NUMBERS } from './canaries.ts';
import { seeded } from './chance.ts';
import { textSearch } from './text-search.ts';

test('finds each text wherever it is, and in any case', () => {
  const random = seeded(17);
  const digits = (length: number): string => Array.from({ length }, () => Math.floor(random() * 3)).join('');
  const sought = Array.from({ length: 40 }, (_, at) => `${digits(8 + (at % 9))}aB%3`);
  const search = textSearch(sought);
  for (let round = 0; round < 2000; round++) {
    const at = Math.floor(random() * sought.length);
    const [one = '', other = ''] = [sought[at], sought[(at * 7) % sought.length]];
    const text = `${digits(round % 37)}${one.toUpperCase()}${digits(round % 5)}${other.slice(round % 3)}${digits(round % 29)}`;
    const expected = sought.filter((each) => text.toLowerCase().includes(each.toLowerCase()));
    expect(search.foundIn(text).toSorted()).toEqual([...new Set(expected)].toSorted());
  }
});

test('finds each form of each card number', () => {
  for (const digits of NUMBERS) {
    for (const [how, form] of disguises(digits)) {
      expect(found(`{"text":"${form}"}`)).toContain(`${digits.slice(0, 6)}… ${how}`);
      expect(found(form.slice(1))).not.toContain(`${digits.slice(0, 6)}… ${how}`);
    }
  }
});

test('refuses a text that is shorter than its window', () => {
  expect(() => textSearch(['short'])).toThrow('too short');
});
