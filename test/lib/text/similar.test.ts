/** Which names count as misspellings of a known one. */
import { expect, test } from 'vitest';
import { editDistance, mostSimilar } from '../../../src/lib/text/similar.ts';

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['abc', '', 3],
  ['retrun', 'return', 1],
  ['amount', 'amounts', 1],
  ['kitten', 'sitting', 3],
])('the distance of %j and %j is %i', (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance);
  expect(editDistance(other, one)).toBe(distance);
});

const KNOWN = ['order.number', 'order_amount', 'hash', 'auth', 'payer_ip', 'parameters[upi_id]'];

test.each([
  ['orderNumber', 'order.number'],
  ['ORDER_NUMBER', 'order.number'],
  ['order.nubmer', 'order.number'],
  ['number', 'order.number'],
  ['upi_id', undefined],
  ['parameters[upiId]', 'parameters[upi_id]'],
  ['hsah', 'hash'],
  ['cash', 'hash'],
  ['path', undefined],
  ['id', undefined],
  ['utm_source', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
])('%j is taken for %j', (sent, meant) => {
  expect(mostSimilar(sent, KNOWN)).toBe(meant);
});
