/** The cache: the age and number of its entries, and invalidation. */
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { type Cache, createCache } from '../../../src/lib/flow/cache.ts';

let time = 0;
let isUsable = true;
let reads: string[] = [];
let cache: Cache<string>;
beforeEach(() => {
  time = 1000;
  isUsable = true;
  reads = [];
  cache = createCache({ maxEntries: 3, maxAgeMs: 5000, maxMissAgeMs: 1000, isUsable: () => isUsable, now: () => time });
});

const read = async (key: string, value: string | undefined = `value of ${key}`): Promise<string | undefined> =>
  cache.get(key, async () => {
    reads.push(key);
    return value;
  });
const readNothing = async (key: string): Promise<string | undefined> =>
  cache.get(key, async () => {
    reads.push(key);
    return undefined;
  });

test('a value is read once, and again after its maximum age, however often it is used', async () => {
  for (const at of [0, 2000, 4000, 4999]) {
    time = 1000 + at;
    expect(await read('a')).toBe('value of a');
  }
  expect(reads).toEqual(['a']);
  time = 6000;
  await read('a');
  expect(reads).toEqual(['a', 'a']);
});

test('the age counts from the start of the read', async () => {
  await cache.get('a', async () => {
    time += 4000;
    return 'slowly';
  });
  time += 1000;
  await read('a');
  expect(reads).toEqual(['a']);
});

test('a miss is cached for a shorter time, and until the next invalidation', async () => {
  for (const at of [0, 999]) {
    time = 1000 + at;
    expect(await readNothing('a')).toBeUndefined();
  }
  expect(reads).toEqual(['a']);
  time = 2000;
  await readNothing('a');
  expect(reads).toEqual(['a', 'a']);
  cache.forget(() => false);
  expect(await read('a')).toBe('value of a');
});

test('concurrent requests share one read and its failure; the next request reads again', async () => {
  let calls = 0;
  const fail = async (): Promise<string> => {
    calls++;
    throw new Error('no answer');
  };
  const outcomes = await Promise.allSettled([cache.get('a', fail), cache.get('a', fail), cache.get('a', fail)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(calls).toBe(1);
  expect(await read('a')).toBe('value of a');
});

test('a read that was in progress at an invalidation is neither cached nor shared', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const before = cache.get('a', () => promise);
  cache.forget(() => false);
  const after = read('a', 'new');
  resolve('old');
  expect(await before).toBe('old');
  expect(await after).toBe('new');
  expect(await read('a', 'not read')).toBe('new');
});

test('an invalidation removes only the matching values', async () => {
  await read('a');
  await read('b');
  cache.forget((value) => value === 'value of a');
  await read('a');
  await read('b');
  expect(reads).toEqual(['a', 'b', 'a']);
  cache.forget();
  await read('a');
  await read('b');
  expect(reads).toEqual(['a', 'b', 'a', 'a', 'b']);
});

test('while the cache is not usable, every request reads, and nothing is cached', async () => {
  await read('a');
  isUsable = false;
  await read('a');
  await read('b');
  isUsable = true;
  await read('b');
  expect(reads).toEqual(['a', 'a', 'b', 'b']);
});

test('cached misses displace no values', async () => {
  for (const key of ['a', 'b', 'c']) await read(key);
  for (let index = 0; index < 10; index++) await readNothing(`nothing ${index}`);
  reads = [];
  for (const key of ['a', 'b', 'c']) await read(key);
  expect(reads).toEqual([]);
});

test('property: the most recently used values stay cached', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 40 }), async (keys) => {
      cache = createCache({ maxEntries: 3, maxAgeMs: 5000, maxMissAgeMs: 1000, now: () => time });
      let recent: number[] = [];
      for (const key of keys) {
        reads = [];
        await read(String(key));
        expect(reads).toEqual(recent.includes(key) ? [] : [String(key)]);
        recent = [key, ...recent.filter((other) => other !== key)].slice(0, 3);
      }
    }),
  );
});
