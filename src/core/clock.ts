/** The sandbox clock: moving it forward makes everything that is due by then happen. */
import { readClock } from './catch-up.ts';
import type { Gateway } from './context.ts';
import { processEverythingDue } from './due.ts';

export { readClock } from './catch-up.ts';
export { processEverythingDue } from './due.ts';

/** More steps than any rehearsal needs; what is still due then falls due together. */
const STEPS_MOST = 20_000;

/** Lets time pass: stops at everything that falls due on the way, so that it happens when it is due and in its order. */
export async function moveClock(gateway: Gateway, byMs: number, mid?: string): Promise<void> {
  const happen = async (): Promise<void> => {
    await processEverythingDue(gateway);
    await gateway.deliverer.drain();
  };
  const step = async (ms: number): Promise<void> => {
    await gateway.installation.moveClock(mid, ms);
    await readClock(gateway);
    await happen();
  };
  await happen();
  let left = byMs;
  for (let steps = 0; steps < STEPS_MOST; steps++) {
    const next = await gateway.installation.nextDue(mid);
    if (next === undefined || next >= left) break;
    const ms = Math.max(1, next);
    await step(ms);
    left -= ms;
  }
  await step(left);
}
