/** Keeps the objects of requests in V8's young generation, where they are freed soon. */
import { setFlagsFromString } from 'node:v8';

/**
 * With pretenuring, which allocates objects that V8 expects to live long in the old generation, that generation grew by
 * half a kilobyte per request until the next full collection; without it, by 15 bytes (`test/flood/flood.long.test.ts`).
 */
export const allocateYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');
