/** Ids are UUIDs of version 7 that never repeat and sort in order of creation. */
import { afterEach, expect, test, vi } from 'vitest';
import { firstIdAt, idOf, isUuid, newId, newSecret, timeOfId } from '../../../src/lib/crypto/id.ts';

afterEach(() => void vi.useRealTimers());

test('version, variant and time are where RFC 9562 puts them', () => {
  const before = Date.now();
  const id = newId();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  // Many ids in one millisecond use up the next few milliseconds.
  expect(time).toBeLessThanOrEqual(Date.now() + 5);
});

test.each(['0', '5', '9', 'f'])(
  'an id of a moment and given bits has that time, and version and variant in their places',
  (digit) => {
    const ms = Date.UTC(2026, 10, 17, 12, 30, 15, 123);
    const id = idOf(ms, digit.repeat(64));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOfId(id)).toBe(ms);
    expect(id >= firstIdAt(ms) && id < firstIdAt(ms + 1)).toBe(true);
    expect(id.slice(24)).toBe(digit.repeat(12));
  },
);

test('100,000 ids are unique and strictly increasing', () => {
  const ids = Array.from({ length: 100_000 }, newId);
  expect(new Set(ids).size).toBe(100_000);
  expect(ids.findIndex((id, at) => at > 0 && id <= (ids[at - 1] as string))).toBe(-1);
});

test('ids keep increasing when the clock of the machine is set back', () => {
  vi.useFakeTimers({ now: Date.now() + 60_000 });
  const before = newId();
  vi.setSystemTime(Date.now() - 3_600_000);
  const after = newId();
  expect(after > before).toBe(true);
});

test('the random part of an id is random', () => {
  const tails = Array.from({ length: 2000 }, () => newId().slice(19));
  expect(new Set(tails).size).toBe(2000);
  for (const variant of ['8', '9', 'a', 'b']) expect(tails.some((tail) => tail[0] === variant)).toBe(true);
});

test.each<[string, boolean]>([
  ['01990000-0000-7000-8000-0123456789ab', true],
  ['01990000-0000-7000-8000-0123456789AB', true],
  ['00000000-0000-0000-0000-000000000000', true],
  ['ffffffff-ffff-4fff-bfff-ffffffffffff', true],
  ['', false],
  ['0', false],
  ['01990000000070008000012345678901', false],
  ['01990000-0000-7000-8000-0123456789a', false],
  ['01990000-0000-7000-8000-0123456789abc', false],
  ['01990000-0000-7000-8000-0123456789ag', false],
  ['{01990000-0000-7000-8000-0123456789ab}', false],
  ['urn:uuid:01990000-0000-7000-8000-0123456789ab', false],
  [' 01990000-0000-7000-8000-0123456789ab', false],
  ['01990000-0000-7000-8000-0123456789ab\n', false],
  ['01990000_0000_7000_8000_0123456789ab', false],
  ['０1990000-0000-7000-8000-0123456789ab', false],
])('%j is a UUID: %s', (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});

test('secrets are hex of at least 128 bits and never repeat', () => {
  expect(newSecret()).toMatch(/^[0-9a-f]{32}$/);
  expect(newSecret(24)).toMatch(/^[0-9a-f]{48}$/);
  expect(new Set(Array.from({ length: 1000 }, () => newSecret())).size).toBe(1000);
});
