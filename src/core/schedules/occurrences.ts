/** The dates of a subscription: its next occurrence, and the planned moments that a restore may have lost. */
import { momentAfter } from '../../lib/time/calendar.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Restore } from '../../store/installation/restores.ts';
import type { Schedule, Subscription } from '../../store/schedules/schedules.ts';
import type { Gateway } from '../context.ts';
import { isInLostTime } from '../installation/hold.ts';

export const stopped = (state: 'finished' | 'ended') => ({ state, nextAt: null, dueAt: null }) as const;

/** Moves to the next date after this moment: occurrences missed during an outage are charged once, not several times. */
export function nextOccurrence(subscription: Subscription, schedule: Schedule, at: number): Subscription {
  const occurrences = subscription.occurrences + 1;
  const done = { ...subscription, occurrences, declines: 0 };
  if (occurrences >= schedule.paymentsCount) return { ...done, ...stopped('finished') };
  const anchored = anchoredBy(done, schedule);
  const day = schedule.dayOfMonth ?? anchored.anchorDay;
  const rhythm = { unit: schedule.intervalUnit, length: schedule.intervalLength };
  let intervals = anchored.intervals + 1;
  let nextAt = momentAfter(anchored.anchorAt, day, rhythm, intervals);
  while (nextAt <= at) nextAt = momentAfter(anchored.anchorAt, day, rhythm, ++intervals);
  return { ...anchored, intervals, nextAt, dueAt: nextAt };
}

/** The intended day of the month: the last day of a short month may stand for a later day. */
function intendedDay(moment: number, day: number): number {
  const date = new Date(moment);
  const isLast = new Date(moment + LIMITS.dayMs).getUTCDate() === 1;
  return isLast ? Math.max(day, date.getUTCDate()) : date.getUTCDate();
}

/** After a change of the schedule, intervals count from the date of the last charge. */
function anchoredBy(subscription: Subscription, { version }: Schedule): Subscription {
  if (subscription.scheduleVersion === version) return subscription;
  const anchorAt = subscription.nextAt ?? subscription.anchorAt;
  const anchorDay = intendedDay(anchorAt, subscription.anchorDay);
  return { ...subscription, anchorAt, anchorDay, intervals: 0, scheduleVersion: version };
}

/**
 * The moments for which the due occurrence may have been planned when it was charged in the time that a restore has
 * lost; none if it was not due then. The first attempt may have been late, so that planned moments were skipped.
 */
export function lostMoments(
  gateway: Gateway,
  subscription: Subscription,
  schedule: Schedule,
  restore: Restore | undefined,
): number[] {
  const { nextAt, declines } = subscription;
  if (nextAt === null || !restore || !isInLostTime(gateway, restore, nextAt)) return [];
  // In a sandbox the id does not depend on the moment.
  if (declines > 0 || gateway.environment === 'sandbox') return [nextAt];
  const moments = [nextAt];
  const until = restore.releasedAt ?? gateway.clock.now(subscription.mid);
  for (let last = nextAt; ; ) {
    const next = nextOccurrence(subscription, { ...schedule, paymentsCount: Number.POSITIVE_INFINITY }, last).nextAt;
    if (next === null || next > until) return moments;
    moments.push(next);
    last = next;
  }
}
