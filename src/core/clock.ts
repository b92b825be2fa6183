/** The sandbox clock: moving it forward makes everything that is due by then happen. */
import type { Gateway } from './context.ts';
import { workDuePayments } from './payments/due.ts';
import { workDueNews } from './payments/news.ts';

/** Takes over the offsets that stand in the store, after a start or a move in another process. */
export async function readClock(gateway: Pick<Gateway, 'clock' | 'installation'>): Promise<void> {
  gateway.clock.set(await gateway.installation.clockOffsets());
}

export async function moveClock(gateway: Gateway, byMs: number, mid?: string): Promise<void> {
  await gateway.installation.moveClock(mid, byMs);
  await readClock(gateway);
  await workEverythingDue(gateway);
}

const running = new WeakMap<Gateway, Promise<unknown>>();

/** Does what is due, one round at a time: whoever asks also waits for the round that is under way. */
export async function workEverythingDue(gateway: Gateway): Promise<void> {
  const before = running.get(gateway) ?? Promise.resolve();
  const round = before.then(async () => {
    await workDueNews(gateway);
    await workDuePayments(gateway);
  });
  running.set(
    gateway,
    round.catch(() => undefined),
  );
  await round;
}
