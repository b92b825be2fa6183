/** The monotonic time in milliseconds by which rates are counted. */
export const rateTime = { now: (): number => performance.now() };
