/** The fee of a row of a statement, from its columns for fees and net amounts, with the signs that providers use. */
import { expect, test } from 'vitest';
import { type StatementType, statementFee } from '../../src/rules/statements.ts';

test.each<[StatementType, bigint, bigint | undefined, bigint | undefined, bigint | null]>([
  ['sale', 10_000n, undefined, undefined, null],
  ['sale', 10_000n, 290n, undefined, 290n],
  ['sale', 10_000n, -290n, undefined, 290n],
  ['sale', 10_000n, 0n, undefined, 0n],
  ['sale', 10_000n, undefined, 9710n, 290n],
  ['sale', 10_000n, -290n, 9710n, 290n],
  ['refund', -3000n, undefined, -3000n, 0n],
  ['refund', -3000n, undefined, -2913n, -87n],
  ['refund', 3000n, undefined, 2913n, -87n],
  ['refund', -3000n, -87n, undefined, -87n],
  ['refund', -3000n, 10n, undefined, 10n],
  ['chargeback', -7000n, undefined, -8500n, 1500n],
  ['chargeback', 7000n, undefined, 8500n, 1500n],
  ['chargeback', 7000n, undefined, -8500n, 1500n],
  ['chargeback', 7000n, 1500n, undefined, 1500n],
])('a %s of %s with the fee %s and the net amount %s costs %s', (type, amount, fee, net, expected) => {
  expect(statementFee(type, amount, fee, net)).toBe(expected);
});
