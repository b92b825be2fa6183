/** The masked form of a number, and expiry. */
import { expect, test } from 'vitest';
import { isExpired, maskedNumber } from '../../../src/lib/cards/card.ts';

test.each([
  ['4111111111111111', '411111******1111'],
  ['378282246310005', '378282*****0005'],
  ['501800000009', '501800**0009'],
])('%s is masked as %s', (digits, masked) => {
  expect(maskedNumber(digits)).toBe(masked);
});

test('a card is valid until the end of its expiry month', () => {
  const at = (date: string) => isExpired('02', '2028', Date.parse(date));
  expect([at('2028-02-29T23:59:59.999Z'), at('2028-03-01T00:00:00Z')]).toEqual([false, true]);
});
