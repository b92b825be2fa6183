/** Which texts of a payment are replaced when personal data is erased. */
import { expect, test } from 'vitest';
import { createScrub, remainingDetails } from '../../../src/core/erasure/personal-data.ts';
import type { PaymentDetails } from '../../../src/store/payments/payments.ts';

const scrub = createScrub(['Ada', 'Ada Byron', 'ada+tea@example.com', 'Łukasz (1)', 'Al', '']);

test.each([
  ['Tea for Ada', 'Tea for [erased]'],
  ['ADA BYRON, ada', '[erased], [erased]'],
  ['Adam and Canada', 'Adam and Canada'],
  ['Al, Also', 'Al, Also'],
  ['łukasz (1)!', '[erased]!'],
  ['write to ada+tea@example.com.', 'write to [erased].'],
  ['https://shop.example/?to=ada%2Btea%40example.com&n=Ada+Byron', 'https://shop.example/?to=erased&n=erased'],
  ['Nothing of the payer', 'Nothing of the payer'],
])('%j becomes %j', (text, expected) => {
  expect(scrub(text)).toBe(expected);
});

test('without values to search for, texts stay', () => {
  expect(createScrub(['', 'x'])('x and y')).toBe('x and y');
});

test('only listed members remain', () => {
  const details = {
    description: 'Tea for Ada',
    payer: { first_name: 'Ada' },
    identifier: 'ada',
    receiptEmail: 'ada@example.com',
    customData: { a: 'b' },
    parameters: { document: '1' },
    sealed: 'c2VhbGVk',
    language: 'en',
    consent: { at: 1, text: 'Ada agrees' },
    card: { id: 'id', masked: '411111******1111', network: 'visa', expiry: '01/2038', token: 't' },
    somethingNew: 'Ada',
  } as PaymentDetails;
  expect(remainingDetails(details, scrub, 5, false)).toEqual({
    description: 'Tea for [erased]',
    payer: {},
    consent: { at: 1, text: '[erased] agrees' },
    card: { id: 'id', masked: '411111******1111', network: 'visa', expiry: '01/2038', removed: true },
    erasedAt: 5,
  });
  expect(remainingDetails(details, scrub, 5, true).card).toEqual(details.card);
});
