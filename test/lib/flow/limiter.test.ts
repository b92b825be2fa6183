/** The limiter bounds concurrency and its queue, keeps the order, and starts no call too late. */
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLimiter, NotBegun } from '../../../src/lib/flow/limiter.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';

const soon = (): Deadline => new Deadline(60_000);

/** Calls that end when the test ends them. */
function calls() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const call = (name: number) => () => {
    begun.push(name);
    return new Promise<number>((resolve) => {
      ends[name] = () => resolve(name);
    });
  };
  return { begun, call, end: (name: number) => ends[name]?.() };
}

describe('a limiter', () => {
  test('runs as many calls as allowed; the others follow in order of arrival', async () => {
    const { begun, call, end } = calls();
    const limiter = createLimiter(2, 10);
    const results = [0, 1, 2, 3].map((name) => limiter.run(call(name), soon()));
    expect(begun).toEqual([0, 1]);
    end(1);
    await results[1];
    await immediate();
    expect(begun).toEqual([0, 1, 2]);
    end(0);
    await results[0];
    await immediate();
    expect(begun).toEqual([0, 1, 2, 3]);
    end(2);
    end(3);
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3]);
  });

  test('a failed call frees its slot', async () => {
    const limiter = createLimiter(1, 10);
    const failing = limiter.run(() => Promise.reject(new Error('no')), soon());
    const next = limiter.run(async () => 'yes', soon());
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
    expect(await limiter.run(async () => 'again', soon())).toBe('again');
  });

  test('refuses at once when the queue is full, and reports isFull before', async () => {
    const { call, end } = calls();
    const limiter = createLimiter(1, 1);
    const first = limiter.run(call(0), soon());
    expect(limiter.isFull).toBe(false);
    const second = limiter.run(call(1), soon());
    expect(limiter.isFull).toBe(true);
    await expect(limiter.run(call(2), soon())).rejects.toThrow(NotBegun);
    end(0);
    await first;
    await immediate();
    expect(limiter.isFull).toBe(false);
    end(1);
    await second;
  });

  test('a queued call whose deadline passes is never started, and leaves the queue', async () => {
    const { begun, call, end } = calls();
    const limiter = createLimiter(1, 1);
    const first = limiter.run(call(0), soon());
    await expect(limiter.run(call(1), new Deadline(20))).rejects.toThrow(NotBegun);
    expect(limiter.isFull).toBe(false);
    const third = limiter.run(call(2), soon());
    end(0);
    await first;
    await immediate();
    expect(begun).toEqual([0, 2]);
    end(2);
    await third;
  });

  test('a queued call with too little time left is not started', async () => {
    const { begun, call, end } = calls();
    const limiter = createLimiter(1, 1);
    const first = limiter.run(call(0), soon());
    const late = limiter.run(call(1), new Deadline(60_000, 59_999));
    await new Promise((resolve) => setTimeout(resolve, 5));
    end(0);
    await first;
    await expect(late).rejects.toThrow(NotBegun);
    expect(begun).toEqual([0]);
    expect(await limiter.run(async () => 'free', soon())).toBe('free');
  });
});
