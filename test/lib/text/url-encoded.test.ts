/** Form bodies have the same bytes as those of `URLSearchParams`. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withPair } from '../../../src/lib/text/url-encoded.ts';

const expectSame = (pairs: [string, string][]): void => {
  const body = pairs.reduce((before, [name, value]) => withPair(before, name, value), '');
  expect(body).toBe(new URLSearchParams(pairs).toString());
};

test('every character of one byte, and some of more', () => {
  for (let code = 0; code < 0x100; code++) expectSame([[`n${String.fromCharCode(code)}`, String.fromCharCode(code)]]);
  expectSame([['name', 'č ß 注文 🛒 \ud800 \udc00 \ufeff']]);
});

test('no pairs, empty names and empty values', () => {
  expectSame([]);
  expectSame([['', '']]);
  expectSame([
    ['', ''],
    ['a', ''],
    ['', 'b'],
  ]);
});

test('property: any list of pairs', () => {
  const any = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...` +%20~!'()*-._&=`) }),
  );
  const halves = fc.string({ unit: fc.constantFrom('\ud83d', '\uded2', 'a', ' ') });
  fc.assert(fc.property(fc.array(fc.tuple(fc.oneof(any, halves), fc.oneof(any, halves))), expectSame), {
    numRuns: 500,
  });
});
