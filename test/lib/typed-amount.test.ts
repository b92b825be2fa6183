/** Amounts as people type them. */
import { expect, test } from 'vitest';
import { typedAmount } from '../../src/lib/money/typed-amount.ts';

test.each([
  ['5', 2, '5.00'],
  ['5,5', 2, '5.50'],
  ['05.50', 2, '5.50'],
  ['1 234.56', 2, '1234.56'],
  ['1.234,56', 2, '1234.56'],
  ['1,234,567', 2, '1234567.00'],
  ['1500', 0, '1500.00'],
  ['0.125', 3, '0.125'],
  ['', 2, ''],
  ['1,234', 2, 'ambiguous'],
  ['1.2.3', 2, 'malformed'],
  ['5.555', 2, 'ambiguous'],
  ['-5', 2, 'malformed'],
  ['x', 2, 'malformed'],
])('%j with %s fraction digits is %s', (typed, exponent, amount) => {
  expect(typedAmount(typed, exponent)).toBe(amount);
});
