/** The words of a search for payments: how a text is split, and what each word is compared with. */
import { describe, expect, test } from 'vitest';
import { readSearch, searchedAmounts } from '../../src/rules/payment-search.ts';

const UUID = '01A1dd05-0e84-7000-a7a3-5d3dc54f28c6';
const ANY = ['orderId', 'providerReference', 'recurringToken'];
const words = (text: string) => readSearch(text)?.map((word) => word.text);

describe('a word is compared with', () => {
  test.each([
    [UUID, ['paymentId', 'operationId', 'scheduleId', ...ANY]],
    [UUID.toLowerCase(), ['paymentId', 'operationId', 'scheduleId', ...ANY]],
    [UUID.slice(1), ANY],
    [`{${UUID}}`, ANY],
    ['ada@example.com', ['email', ...ANY]],
    ['ADA@localhost', ['email', ...ANY]],
    ['ада@пример.рф', ['email', ...ANY]],
    ['@example.com', ANY],
    ['ada@', ANY],
    ['a@b@c', ANY],
    ['4242', ['lastFour', ...ANY]],
    ['0000', ['lastFour', ...ANY]],
    ['424', ANY],
    ['42424', ANY],
    ['٤٢٤٢', ANY],
    ['10.00', ['amount', ...ANY]],
    ['1.234', ['amount', ...ANY]],
    ['123456789012.00', ['amount', ...ANY]],
    ['1234567890123.00', ANY],
    ['10', ANY],
    ['10.0', ANY],
    ['10.0000', ANY],
    ['10,00', ANY],
    ['-10.00', ANY],
    ['.50', ANY],
    ['order-17', ANY],
    ['%', ANY],
  ])('%s: %j', (text, fields) => {
    expect(readSearch(text)).toMatchObject([{ text, fields }]);
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

describe('an amount in minor units', () => {
  const minors = (word: string) =>
    Object.fromEntries(
      ['JPY', 'EUR', 'KWD'].map((code) => [
        code,
        searchedAmounts(word).find(({ currencies }) => currencies.includes(code))?.minor,
      ]),
    );
  test.each([
    ['10.00', { JPY: 10n, EUR: 1000n, KWD: 10_000n }],
    ['10.50', { JPY: undefined, EUR: 1050n, KWD: 10_500n }],
    ['10.505', { JPY: undefined, EUR: undefined, KWD: 10_505n }],
    ['0.00', { JPY: undefined, EUR: undefined, KWD: undefined }],
  ])('%s', (word, expected) => {
    expect(minors(word)).toEqual(expected);
  });
});
