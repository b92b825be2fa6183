/** Keeps the clock of this process in step with the database's clock and with the sandbox offsets in the database. */
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway } from '../context.ts';

/** Reads the sandbox offsets, which another process may have changed, and the time of the database. */
export async function readClock(gateway: Pick<Gateway, 'clock' | 'installation'>): Promise<void> {
  const readAt = performance.now();
  gateway.clock.set(await gateway.installation.clockOffsets(), readAt);
  await synchroniseClock(gateway);
}

/** Corrects the clock of this process by that of the database, which decides what is due in all processes. */
export async function synchroniseClock({
  clock,
  installation,
}: Pick<Gateway, 'clock' | 'installation'>): Promise<void> {
  clock.synchronise(await installation.readClock());
}

/**
 * Reads the clock again if it is behind the one by which the database found the claimed rows due: another process has
 * moved the sandbox clock. Otherwise events would be written with a time that is too early.
 */
export async function catchUp(
  gateway: Gateway,
  claimed: readonly { mid: string; dueAt: number | null }[],
  leaseMs: number = LIMITS.leaseMs,
): Promise<void> {
  const isBehind = claimed.some(({ mid, dueAt }) => gateway.clock.now(mid) < (dueAt ?? 0) - leaseMs);
  if (isBehind) await readClock(gateway);
}

/** Claims rows and processes each portion together, until none is due; claims nothing more once stopped. */
export async function processPortions<Row extends { mid: string; dueAt: number | null }>(
  gateway: Gateway,
  isStopped: () => boolean,
  leaseMs: number,
  claim: () => Promise<Row[]>,
  processRow: (row: Row) => Promise<void>,
): Promise<void> {
  while (!isStopped()) {
    const claimed = await claim();
    if (claimed.length === 0) return;
    await catchUp(gateway, claimed, leaseMs);
    await Promise.all(claimed.map(processRow));
  }
}
