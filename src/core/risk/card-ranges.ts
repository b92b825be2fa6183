/** Brings ranges of card numbers to the digits that risk rules know of a card. */
import { BIN_DIGITS, RANGE_DIGITS } from '../../rules/risk/list-kinds.ts';
import type { BinRange } from '../../store/risk/data.ts';

/** The numbers of one prefix. */
const PREFIX = 10n ** BigInt(RANGE_DIGITS - BIN_DIGITS.most);

const firstOf = (number: bigint): bigint => number - (number % PREFIX);
const lastOf = (number: bigint): bigint => firstOf(number) + PREFIX - 1n;

/** What two ranges say of the same prefix: what they do not agree on is not known. */
function agreed(one: BinRange, other: BinRange) {
  const both = (name: 'network' | 'country' | 'funding' | 'issuer') => (one[name] === other[name] ? one[name] : null);
  return { network: both('network'), country: both('country'), funding: both('funding'), issuer: both('issuer') };
}

/** Extends ranges, which are sorted and do not overlap, to whole prefixes; ranges within the same prefix become one. */
export function wholePrefixes(sorted: readonly BinRange[]): BinRange[] {
  const whole: BinRange[] = [];
  for (const range of sorted) {
    const [firstNumber, lastNumber] = [firstOf(range.firstNumber), lastOf(range.lastNumber)];
    const before = whole.at(-1);
    if (!before || before.lastNumber < firstNumber) {
      whole.push({ ...range, firstNumber, lastNumber });
      continue;
    }
    if (before.firstNumber < firstNumber) before.lastNumber = firstNumber - 1n;
    else whole.pop();
    whole.push({ firstNumber, lastNumber: lastOf(firstNumber), ...agreed(before, range) });
    if (lastOf(firstNumber) < lastNumber) whole.push({ ...range, firstNumber: firstNumber + PREFIX, lastNumber });
  }
  return whole;
}
