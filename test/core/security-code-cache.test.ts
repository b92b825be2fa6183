/** The code on the back of a card waits in memory alone: sealed, for one taker, and not for long. */
import { afterEach, expect, test, vi } from 'vitest';
import { createSecurityCodeCache } from '../../src/core/security-code-cache.ts';
import { Secret } from '../../src/lib/secret.ts';

afterEach(() => void vi.useRealTimers());
const MINUTE = 60_000;

test('it is taken once, by the payment that it was kept for', () => {
  const securityCodes = createSecurityCodeCache();
  securityCodes.keep('one', new Secret('737'));
  securityCodes.keep('none', undefined);
  expect(securityCodes.take('other')).toBeUndefined();
  expect(securityCodes.take('none')).toBeUndefined();
  expect(securityCodes.take('one')?.reveal()).toBe('737');
  expect(securityCodes.take('one')).toBeUndefined();
});

test('after fifteen minutes it is gone', () => {
  vi.useFakeTimers();
  const securityCodes = createSecurityCodeCache();
  securityCodes.keep('early', new Secret('737'));
  securityCodes.keep('late', new Secret('737'));
  vi.advanceTimersByTime(15 * MINUTE - 1);
  expect(securityCodes.take('early')?.reveal()).toBe('737');
  vi.advanceTimersByTime(1);
  expect(securityCodes.take('late')).toBeUndefined();
});

test('each process has a name of its own, and knows no code of another', () => {
  const [one, other] = [createSecurityCodeCache(), createSecurityCodeCache()];
  one.keep('payment', new Secret('737'));
  expect(other.holder).not.toBe(one.holder);
  expect(other.take('payment')).toBeUndefined();
});
