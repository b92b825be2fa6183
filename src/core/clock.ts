/** The sandbox clock: moves it forward and processes everything that falls due on the way. */
import { readClock } from './catch-up.ts';
import type { Gateway } from './context.ts';
import { processEverythingDue } from './due.ts';

export { readClock } from './catch-up.ts';
export { processEverythingDue } from './due.ts';

/** More steps than any scenario needs; after them the rest falls due in one step. */
const MAX_STEPS = 20_000;

/** Moves the clock from one due time to the next, so that everything is processed at its due time, in order. */
export async function moveClock(gateway: Gateway, byMs: number, mid?: string): Promise<void> {
  const processDue = async (): Promise<void> => {
    await processEverythingDue(gateway);
    await gateway.deliverer.drain();
  };
  const step = async (ms: number): Promise<void> => {
    await gateway.installation.moveClock(mid, ms);
    await readClock(gateway);
    await processDue();
  };
  await processDue();
  let left = byMs;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const next = await gateway.installation.nextDue(mid);
    if (next === undefined || next >= left) break;
    const ms = Math.max(1, next);
    await step(ms);
    left -= ms;
  }
  await step(left);
}
