/** Ranges of card numbers in whole prefixes of eight digits. */
import { expect, test } from 'vitest';
import { wholePrefixes } from '../../../src/core/risk/card-ranges.ts';

const range = (from: string, to: string, country: string | null, funding: string | null = null) => ({
  firstNumber: BigInt(from.padEnd(12, '0')),
  lastNumber: BigInt(to.padEnd(12, '9')),
  ...{ network: 'visa', country, funding, issuer: null },
});
type Range = ReturnType<typeof range>;

test.each<[string, Range[], Range[]]>([
  ['ranges of 8 digits stay', [range('411111', '411111', 'DE')], [range('411111', '411111', 'DE')]],
  [
    'what sub-ranges agree on is known',
    [range('4111111100', '4111111149', 'DE', 'debit'), range('4111111150', '4111111199', 'DE', 'credit')],
    [range('41111111', '41111111', 'DE')],
  ],
  [
    'three that do not agree',
    [
      range('411111110', '411111111', 'DE'),
      range('411111112', '411111112', 'FR'),
      range('411111113', '411111113', 'FR'),
    ],
    [range('41111111', '41111111', null)],
  ],
  [
    'ranges that share a prefix at their ends',
    [range('41111110', '411111124', 'DE'), range('411111125', '41111114', 'FR')],
    [range('41111110', '41111111', 'DE'), range('41111112', '41111112', null), range('41111113', '41111114', 'FR')],
  ],
])('%s', (_, given, expected) => {
  expect(wholePrefixes(given)).toEqual(expected);
});
