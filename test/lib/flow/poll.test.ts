/** A value is read again until it is as wanted, and no longer than the time that there is. */
import { expect, test } from 'vitest';
import { pollUntil } from '../../../src/lib/flow/poll.ts';

const countUp = async (last: number): Promise<number> => last + 1;

test('a value that is as wanted already is not read again', async () => {
  const read = async (): Promise<number> => expect.unreachable('It was read.');
  expect(await pollUntil(3, read, (value) => value === 3, { mostMs: 1000 })).toBe(3);
});

test('the first value that is as wanted ends it', async () => {
  expect(await pollUntil(0, countUp, (value) => value === 4, { mostMs: 10_000 })).toBe(4);
});

test('when the time is over the last value is returned, whatever it is', async () => {
  const started = performance.now();
  const value = await pollUntil(0, countUp, () => false, { mostMs: 60, firstPauseMs: 10, longestPauseMs: 20 });
  expect(value).toBeGreaterThan(0);
  expect(performance.now() - started).toBeGreaterThanOrEqual(59);
  expect(await pollUntil(7, countUp, () => false, { mostMs: 0 })).toBe(7);
});

test('each pause is twice as long as the one before, up to the longest', async () => {
  const moments = [performance.now()];
  const read = async (): Promise<number> => moments.push(performance.now());
  await pollUntil(0, read, (count) => count === 5, { mostMs: 10_000, firstPauseMs: 20, longestPauseMs: 40 });
  const pauses = moments.slice(1).map((moment, index) => moment - (moments[index] as number));
  // A timer may fire a millisecond early, and any time late.
  [20, 40, 40, 40].forEach((least, index) => {
    expect(pauses[index]).toBeGreaterThanOrEqual(least - 1);
  });
});

test('an error of the reading ends it', async () => {
  const read = (): Promise<number> => Promise.reject(new Error('gone'));
  await expect(pollUntil(0, read, () => false, { mostMs: 1000 })).rejects.toThrow('gone');
});
