/** The code on the back of a card waits in memory alone: sealed, for one taker, and not for long. */
import { afterEach, expect, test, vi } from 'vitest';
import { createCodes } from '../../src/core/codes.ts';
import { Secret } from '../../src/lib/secret.ts';

afterEach(() => void vi.useRealTimers());
const MINUTE = 60_000;

test('it is taken once, by the payment that it was kept for', () => {
  const codes = createCodes();
  codes.keep('one', new Secret('737'));
  codes.keep('none', undefined);
  expect(codes.take('other')).toBeUndefined();
  expect(codes.take('none')).toBeUndefined();
  expect(codes.take('one')?.reveal()).toBe('737');
  expect(codes.take('one')).toBeUndefined();
});

test('after fifteen minutes it is gone', () => {
  vi.useFakeTimers();
  const codes = createCodes();
  codes.keep('early', new Secret('737'));
  codes.keep('late', new Secret('737'));
  vi.advanceTimersByTime(15 * MINUTE - 1);
  expect(codes.take('early')?.reveal()).toBe('737');
  vi.advanceTimersByTime(1);
  expect(codes.take('late')).toBeUndefined();
});

test('each process has a name of its own, and knows no code of another', () => {
  const [one, other] = [createCodes(), createCodes()];
  one.keep('payment', new Secret('737'));
  expect(other.holder).not.toBe(one.holder);
  expect(other.take('payment')).toBeUndefined();
});
