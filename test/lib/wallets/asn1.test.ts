/** The framing of BER elements: exact lengths, the shortest form of each, end marks where they belong. */
import { expect, test } from 'vitest';
import { isWellFramed } from '../../../src/lib/wallets/asn1.ts';

test.each([
  ['NULL', '0500', true],
  ['an empty sequence', '3000', true],
  ['an indefinite sequence', '30800000', true],
  ['nested indefinite sequences', '3080308005000000' + '0000', true],
  ['an indefinite sequence in a definite one', '300430800000', true],
  ['a long length', `048180${'00'.repeat(128)}`, true],
  ['nothing', '', false],
  ['only a tag', '05', false],
  ['a trailing byte', '050000', false],
  ['a length beyond the end', '0401', false],
  ['a long form for a short length', '04810100', false],
  ['a length with a leading zero', `04820080${'00'.repeat(128)}`, false],
  ['a length of four bytes', '048400000000', false],
  ['no end mark', '30800500', false],
  ['half an end mark', '308000', false],
  ['an end mark outside', '0000', false],
  ['an end mark that reaches beyond a definite sequence', '300330800000', false],
  ['an end mark in a definite sequence', '30020000', false],
  ['an end mark with a length', '3080000100' + '0000', false],
  ['an indefinite length of a primitive', '04800000', false],
  ['a primitive sequence', '1000', false],
  ['a constructed octet string', '2400', false],
  ['a tag of several bytes', '1f0100', false],
  ['a part that is longer than its sequence', '30020401' + '00', false],
  ['deep nesting', '3080'.repeat(5000), false],
])('%s', (_name, hex, isGood) => {
  expect(isWellFramed(Buffer.from(hex, 'hex'))).toBe(isGood);
});
