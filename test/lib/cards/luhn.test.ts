/** The Luhn check: known numbers, and every single-digit error. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLuhnValid } from '../../../src/lib/cards/luhn.ts';

test.each(['4111111111111111', '5500000000000004', '378282246310005', '6011000990139424', '79927398713', '0'])(
  '%s passes',
  (digits) => {
    expect(isLuhnValid(digits)).toBe(true);
  },
);

test.each(['', '4111111111111112', '4111 1111 1111 1111', '-0', '1', '4111111111111111\n', '٠'])('%j fails', (text) => {
  expect(isLuhnValid(text)).toBe(false);
});

test('exactly one check digit completes any number', () => {
  const digits = fc.stringMatching(/^\d{11,18}$/);
  fc.assert(fc.property(digits, (head) => [...'0123456789'].filter((last) => isLuhnValid(head + last)).length === 1));
});
