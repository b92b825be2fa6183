/** The sandbox clock: moves it forward and processes everything that falls due on the way. */
import { invalidField } from '../../rules/errors.ts';
import type { Gateway } from '../context.ts';
import { processEverythingDue } from '../due/due.ts';
import { readClock } from '../installation/catch-up.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

export { processEverythingDue } from '../due/due.ts';
export { readClock } from '../installation/catch-up.ts';

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
  // A row can be due already: another session holds it, or it has become due since.
  for (let steps = 0; left > 0 && steps < MAX_STEPS; steps++) {
    const next = await gateway.installation.nextDue(mid);
    if (next === undefined || next >= left) break;
    const ms = Math.max(1, next);
    await step(ms);
    left -= ms;
  }
  await step(left);
}

/** Dates of the API have a four-digit year. */
const LAST_DAY = Date.UTC(9999, 0, 1);
const MAX_OFFSET_SECONDS = 100 * 366 * 24 * 3600;

/** Refuses a time that is not valid; `field` is the name under which it was sent. */
export async function advanceClock(
  gateway: Gateway,
  by: Caller,
  seconds: unknown,
  mid?: string,
  field = 'advance_seconds',
): Promise<void> {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MAX_OFFSET_SECONDS)) {
    throw invalidField(field, `This value should be a number from 0 to ${MAX_OFFSET_SECONDS}.`);
  }
  const byMs = Math.round(seconds * 1000);
  if (gateway.clock.offset(mid) + byMs > MAX_OFFSET_SECONDS * 1000) {
    throw invalidField(field, `The clock should not run more than ${MAX_OFFSET_SECONDS} seconds ahead.`);
  }
  if (gateway.clock.now(mid) + seconds * 1000 > LAST_DAY) throw invalidField(field, 'The year would be past 9999.');
  await moveClock(gateway, byMs, mid);
  await gateway.audit.append(auditEntry(gateway, by, 'sandbox.clock', { mid: mid ?? null, after: { seconds } }));
}
