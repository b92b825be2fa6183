/** Token buckets by name: rate and burst are enforced, memory is bounded, and names are independent. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateLimit } from '../../../src/lib/flow/rate-limit.ts';

const BURST_MS = 3000;
const allowed = (limit: ReturnType<typeof createRateLimit>, name: string, times: number, rate: number, now: number) =>
  Array.from({ length: times }, () => limit(name, rate, now)).filter((wait) => wait === undefined).length;

test('allows a burst at once, and then the rate', () => {
  const limit = createRateLimit(BURST_MS, 10);
  expect(allowed(limit, 'a', 100, 10, 0)).toBe(30);
  expect(allowed(limit, 'a', 100, 10, 1000)).toBe(10);
  expect(allowed(limit, 'a', 100, 10, 1050)).toBe(0);
  expect(limit('a', 10, 1050)).toBeCloseTo(50);
  expect(limit('a', 10, 1100)).toBeUndefined();
  expect(allowed(limit, 'a', 100, 10, 1_000_000)).toBe(30);
});

test('a limit below one per second lets the first request through', () => {
  const limit = createRateLimit(100, 10);
  expect(allowed(limit, 'a', 5, 1, 0)).toBe(1);
  expect(limit('a', 1, 0)).toBeCloseTo(1000);
});

test('a lower rate applies at once', () => {
  const limit = createRateLimit(BURST_MS, 10);
  limit('a', 1000, 0);
  expect(allowed(limit, 'a', 100, 1, 0)).toBe(3);
});

test('counts names separately', () => {
  const limit = createRateLimit(BURST_MS, 10);
  expect(allowed(limit, 'a', 100, 1, 0)).toBe(3);
  expect(allowed(limit, 'b', 100, 1, 0)).toBe(3);
});

test('no number of other names resets the count of a name', () => {
  const limit = createRateLimit(BURST_MS, 100);
  expect(allowed(limit, 'heavy', 100, 1, 0)).toBe(3);
  for (let other = 0; other < 10_000; other++) limit(`other ${other}`, 1, 0);
  expect(limit('heavy', 1, 0)).toBeGreaterThan(0);
  for (let other = 0; other < 10_000; other++) limit(`later ${other}`, 1, 900);
  expect(limit('heavy', 1, 900)).toBeGreaterThan(0);
});

test('a name that shares a bucket is limited, too', () => {
  const limit = createRateLimit(BURST_MS, 100);
  for (let other = 0; other < 100; other++) limit(`other ${other}`, 1, 0);
  expect(allowed(limit, 'heavy', 1000, 1, 0)).toBe(3);
  // Only a few of many names share its bucket.
  const others = Array.from({ length: 200 }, (_, at) => limit(`light ${at}`, 1, 0));
  expect(others.filter((wait) => wait === undefined).length).toBeGreaterThan(150);
});

test('an idle name is dropped without effect, because its bucket is full again', () => {
  const limit = createRateLimit(BURST_MS, 2);
  expect(allowed(limit, 'a', 10, 1, 0)).toBe(3);
  expect(allowed(limit, 'b', 10, 1, 0)).toBe(3);
  expect(allowed(limit, 'c', 10, 1, BURST_MS)).toBe(3);
  expect(allowed(limit, 'd', 10, 1, BURST_MS)).toBe(3);
  // Both keep their counts, because they are active.
  expect(allowed(limit, 'c', 10, 1, BURST_MS + 1000)).toBe(1);
  expect(allowed(limit, 'd', 10, 1, BURST_MS + 1000)).toBe(1);
});

test('property: no interval allows more than the burst plus the rate', () => {
  const steps = fc.array(fc.record({ pause: fc.nat(2000), times: fc.nat(50) }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 20 }), (sent, rate) => {
      const limit = createRateLimit(BURST_MS, 10);
      let now = 0;
      let passed = 0;
      for (const { pause, times } of sent) {
        now += pause;
        passed += allowed(limit, 'a', times, rate, now);
        expect(passed).toBeLessThanOrEqual(rate * 3 + (now * rate) / 1000 + 1e-6);
      }
    }),
  );
});
