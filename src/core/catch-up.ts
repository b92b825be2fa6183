/** Whoever has not heard yet that the sandbox clock was moved would date what is due wrongly. */
import { LIMITS } from '../rules/limits.ts';
import type { Gateway } from './context.ts';

/** Takes over the offsets that stand in the store, after a start or a move in another process, and the database's time. */
export async function readClock(gateway: Pick<Gateway, 'clock' | 'installation'>): Promise<void> {
  gateway.clock.set(await gateway.installation.clockOffsets());
  await synchroniseClock(gateway);
}

/** Compares the clock of this process with the database's, by which all processes judge what is due. */
export async function synchroniseClock({
  clock,
  installation,
}: Pick<Gateway, 'clock' | 'installation'>): Promise<void> {
  clock.synchronise(await installation.readClock());
}

/** Reads the clock again when rows that were just taken are due by a later one. */
export async function catchUp(
  gateway: Gateway,
  taken: readonly { mid: string; dueAt: number | null }[],
): Promise<void> {
  const isBehind = taken.some(({ mid, dueAt }) => gateway.clock.now(mid) < (dueAt ?? 0) - LIMITS.leaseMs);
  if (isBehind) await readClock(gateway);
}
