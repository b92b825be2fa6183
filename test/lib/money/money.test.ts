/** The amount format per exponent; formatting and parsing are inverse. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountText, minorUnits } from '../../../src/lib/money/money.ts';

test.each<[string, number, bigint]>([
  ['1.00', 2, 100n],
  ['0.01', 2, 1n],
  ['007.50', 2, 750n],
  ['999999999999.99', 2, 99999999999999n],
  ['100', 0, 100n],
  ['100.00', 0, 100n],
  ['999999999999', 0, 999999999999n],
  ['1.234', 3, 1234n],
  ['1.23', 3, 1230n],
  ['0.001', 3, 1n],
  ['1.2345', 4, 12345n],
  ['1.23', 4, 12300n],
])('%s with exponent %i is %s', (text, exponent, minor) => {
  expect(minorUnits(text, exponent)).toBe(minor);
});

test.each<[string, number]>([
  ['', 2],
  ['1', 2],
  ['1.', 2],
  ['1.0', 2],
  ['1.005', 2],
  ['0.000', 2],
  ['.50', 2],
  ['1e3', 2],
  ['1e3.00', 2],
  ['+1.00', 2],
  ['-1.00', 2],
  ['1,00', 2],
  ['1.000,00', 2],
  ['1 000.00', 2],
  [' 1.00', 2],
  ['1.00 ', 2],
  ['1.00\n', 2],
  ['1.00\u0000', 2],
  ['0x1.00', 2],
  ['1.00.00', 2],
  ['1000000000000.00', 2],
  ['\u0661.\u0660\u0660', 2],
  ['\uff11.\uff10\uff10', 2],
  ['NaN', 2],
  ['Infinity', 2],
  ['100.50', 0],
  ['100.01', 0],
  ['100.0', 0],
  ['100.000', 0],
  ['1000000000000', 0],
  ['1', 3],
  ['1.2', 3],
  ['1.2345', 3],
  ['1', 4],
  ['1.234', 4],
  ['1.23456', 4],
])('%j with exponent %i is malformed', (text, exponent) => {
  expect(minorUnits(text, exponent)).toBe('malformed');
});

test.each<[string, number]>([
  ['0.00', 2],
  ['000000000000.00', 2],
  ['0', 0],
  ['0.00', 0],
  ['0.000', 3],
  ['0.00', 3],
  ['0.0000', 4],
])('%s with exponent %i is zero', (text, exponent) => {
  expect(minorUnits(text, exponent)).toBe('zero');
});

test.each<[bigint, number, string]>([
  [100n, 0, '100.00'],
  [123n, 2, '1.23'],
  [5n, 2, '0.05'],
  [1234n, 3, '1.234'],
  [1n, 4, '0.0001'],
  [0n, 2, '0.00'],
  [-5n, 2, '-0.05'],
])('%s minor units with exponent %i are formatted as %s', (minor, exponent, text) => {
  expect(amountText(minor, exponent)).toBe(text);
});

test.each([0, 2, 3, 4])('with exponent %i every formatted amount parses to the same amount', (exponent) => {
  const minor = fc.bigInt({ min: 1n, max: 10n ** BigInt(12 + exponent) - 1n });
  fc.assert(fc.property(minor, (amount) => minorUnits(amountText(amount, exponent), exponent) === amount));
});

test('property: arbitrary text never throws and never yields a non-positive amount', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(0, 2, 3, 4), (text, exponent) => {
      const minor = minorUnits(text, exponent);
      return typeof minor === 'string' || minor > 0n;
    }),
  );
});
