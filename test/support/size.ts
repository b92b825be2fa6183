/** The two sizes of tests that can be long: a sample in `npm test`, everything in `npm run test:long`. */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    isLong: boolean;
  }
}

export const isLong = inject('isLong');

export const sized = <Size>(sample: Size, everything: Size): Size => (isLong ? everything : sample);

/** One case of each `every` in `npm test`, all of them in `npm run test:long`. */
export const sampled = <Case>(cases: readonly Case[], every = 8): Case[] =>
  cases.filter((_, place) => isLong || place % every === 0);
