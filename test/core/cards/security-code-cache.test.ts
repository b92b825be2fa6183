/** Card security codes are held in memory only: encrypted, returned once, and deleted after a while. */
import { afterEach, expect, test, vi } from 'vitest';
import { createSecurityCodeCache } from '../../../src/core/cards/security-code-cache.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';

afterEach(() => void vi.useRealTimers());
const MINUTE = 60_000;

test('returns a code once, for its own payment', () => {
  const securityCodes = createSecurityCodeCache();
  securityCodes.keep('one', new Secret('737'));
  securityCodes.keep('none', undefined);
  expect(securityCodes.take('other')).toBeUndefined();
  expect(securityCodes.take('none')).toBeUndefined();
  expect(securityCodes.take('one')?.reveal()).toBe('737');
  expect(securityCodes.take('one')).toBeUndefined();
});

test('deletes a code after fifteen minutes', () => {
  vi.useFakeTimers();
  const securityCodes = createSecurityCodeCache();
  securityCodes.keep('early', new Secret('737'));
  securityCodes.keep('late', new Secret('737'));
  vi.advanceTimersByTime(15 * MINUTE - 1);
  expect(securityCodes.take('early')?.reveal()).toBe('737');
  vi.advanceTimersByTime(1);
  expect(securityCodes.take('late')).toBeUndefined();
});

test('a later code of a payment has its own fifteen minutes', () => {
  vi.useFakeTimers();
  const securityCodes = createSecurityCodeCache();
  securityCodes.keep('kept twice', new Secret('737'));
  securityCodes.keep('taken before', new Secret('737'));
  vi.advanceTimersByTime(10 * MINUTE);
  securityCodes.take('taken before');
  for (const id of ['kept twice', 'taken before']) securityCodes.keep(id, new Secret('111'));
  vi.advanceTimersByTime(15 * MINUTE - 1);
  for (const id of ['kept twice', 'taken before']) expect(securityCodes.take(id)?.reveal()).toBe('111');
  expect(vi.getTimerCount()).toBe(0);
});

test('each cache has its own holder id and codes', () => {
  const [one, other] = [createSecurityCodeCache(), createSecurityCodeCache()];
  one.keep('payment', new Secret('737'));
  expect(other.holder).not.toBe(one.holder);
  expect(other.take('payment')).toBeUndefined();
});
