/** The words of a search for payments, and the texts that they are compared with. */
import { describe, expect, test } from 'vitest';
import { readAmount, readSearch, searchText } from '../../src/rules/payment-search.ts';

const words = (text: string) => readSearch(text)?.map((word) => word.text);

describe('a word is brought into the form of the texts', () => {
  test.each([
    ['SHOP-2026', 'shop-2026'],
    ['Ñandú', 'nandu'],
    ['Øresund', 'oresund'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['ŁÓDŹ', 'lodz'],
    ['ＡＢＣ', 'abc'],
    ['Ёлка', 'елка'],
    ['İstanbul', 'istanbul'],
    ['101,86', '101.86'],
    ['1.234,56', '1234.56'],
    ['1,234.56', '1234.56'],
    ['1,234', '1.234'],
    ['1.2.3', '1.2.3'],
    ['a,b', 'a,b'],
    ['%_', '%_'],
  ])('%s: %s', (typed, text) => {
    expect(readSearch(typed)).toEqual([{ typed, text }]);
  });
});

test('the texts of a payment are on lines of their own', () => {
  const texts = {
    orderId: 'Shop 1',
    amountText: '10',
    amount: 1000n,
    currency: 'EUR',
    description: 'Té\nverde',
    email: 'Ana@Example.com',
    receiptEmail: 'Ana@Example.com',
    firstName: 'Ana',
    lastName: null,
    masked: '411111******1111',
    providerReference: null,
    recurringToken: null,
    scheduleId: null,
  };
  expect(searchText(texts)).toBe('shop 1\nana@example.com\nana\nte verde\n1111\n10.00\n10');
});

describe('a bound of an amount', () => {
  test.each([
    ['19.99', '19.99'],
    ['19,99', '19.99'],
    ['5', '5'],
    ['-5', undefined],
    ['1,234.56', undefined],
    ['', undefined],
  ])('%s: %s', (text, expected) => {
    expect(readAmount(text)).toBe(expected);
  });
});

describe('a search is split into words', () => {
  test.each([
    ['a b', ['a', 'b']],
    ['  a\t\n b ', ['a', 'b']],
    ['a\u00a0b', ['a', 'b']],
    ['"a b" c', ['a b', 'c']],
    ['"" a', ['a']],
    ['"a b', ['"a', 'b']],
    ['a"b c"', ['a"b', 'c"']],
    ['a b c d e', ['a', 'b', 'c', 'd', 'e']],
    ['x'.repeat(255), ['x'.repeat(255)]],
  ])('%j: %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });
  test.each([' ', '""', 'a\0b', 'a b c d e f', 'x'.repeat(256)])('%j is refused', (text) => {
    expect(readSearch(text)).toBeUndefined();
  });
});
