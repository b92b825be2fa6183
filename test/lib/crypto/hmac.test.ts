/** HMAC-SHA-256 under one key: the vectors of RFC 4231, and the same results as Node's. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createHmacOf } from '../../../src/lib/crypto/hmac.ts';

test.each([
  [Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    Buffer.from('Jefe'),
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    Buffer.alloc(131, 0xaa),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
])('RFC 4231, key of %o', (key, text, expected) => {
  expect(createHmacOf(key)(text)).toBe(expected);
});

test('texts of any length one after another, also beyond ASCII', () => {
  const key = Buffer.alloc(32, 7);
  const hmacOf = createHmacOf(key);
  for (const length of [0, 1, 7, 40, 85, 86, 300, 2]) {
    const text = 'ß4'.repeat(length);
    expect(hmacOf(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
  }
});
