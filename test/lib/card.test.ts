/** Which texts contain a card number, the masked form of a number, and expiry. */
import { describe, expect, test } from 'vitest';
import { cardNumberIn, hasNumber, isExpired, maskCardNumbers, maskedNumber } from '../../src/lib/card.ts';

describe('a text contains a card number', () => {
  test.each([
    ['4111111111111111', '4111111111111111'],
    ['Paid with 4111111111111111.', '4111111111111111'],
    ['pan=5555555555554444&x', '5555555555554444'],
    ['2223003122003222', '2223003122003222'],
    ['4111 1111 1111 1111', '4111111111111111'],
    ['card 4111-1111-1111-1111, thanks', '4111111111111111'],
    ['3782 822463 10005', '378282246310005'],
    ['378282246310005', '378282246310005'],
    ['6011111111111117', '6011111111111117'],
    ['3530111333300000', '3530111333300000'],
    ['6212345678901232', '6212345678901232'],
    ['9792030394440796', '9792030394440796'],
    ['2200000000000004', '2200000000000004'],
    ['6759649826438453', '6759649826438453'],
    ['order-4111111111111111', '4111111111111111'],
    ['4111111111111112, or rather 4111111111111111', '4111111111111111'],
    ['custom_data[4111111111111111]', '4111111111111111'],
  ])('%s', (text, digits) => {
    expect(cardNumberIn(text)).toBe(digits);
  });

  test.each([
    '',
    'Two teapots',
    // A wrong check digit, or a length or prefix that no network uses.
    '4111111111111112',
    '411111111111116',
    '41111111111111111',
    '1234567812345670',
    '4222222222222',
    '6304000000000000000',
    '2026010100000001',
    '0000000000000000',
    // Part of something longer, or grouped unlike a card number.
    '84111111111111111',
    'A4111111111111111',
    '4111111111111111B',
    '4 1111 1111 1111 111',
    '4111 1111-1111 1111',
    '411111 1111111111',
    'DE44 5001 0517 5407 3249 31',
    '+44 20 7946 0958',
  ])('but not %j', (text) => {
    expect(cardNumberIn(text)).toBeUndefined();
  });
});

test('masks every card number of a text', () => {
  const text = '4111111111111111 or 5555 5555 5555 4444, order 4111111111111112';
  expect(maskCardNumbers(text)).toBe('411111******1111 or 555555******4444, order 4111111111111112');
});

test.each([
  ['Ada Byron', false],
  ['01/38', false],
  ['Ada 1st of 2026', false],
  ['4111 1111 1111', true],
  ['Ada 4111111111111111', true],
])('a name or a date that contains a number: %j', (text, has) => {
  expect(hasNumber(text)).toBe(has);
});

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
