/** Schedules: made, changed and deleted by merchants, and charged when they are due. */
import { setTimeout as pause } from 'node:timers/promises';
import { momentAfter } from '../lib/calendar.ts';
import { isUuid, newId } from '../lib/id.ts';
import { invalidField, Refusal } from '../rules/errors.ts';
import { SENTENCES } from '../rules/fields.ts';
import { LIMITS } from '../rules/limits.ts';
import { isOpen } from '../rules/states.ts';
import type { Payment, WholePayment } from '../store/payments.ts';
import type { ListedSchedule, Schedule, ScheduleCursor, ScheduleTerms, Subscription } from '../store/schedules.ts';
import { findAccount } from './accounts.ts';
import { catchUp } from './catch-up.ts';
import type { Account, Gateway } from './context.ts';
import { openOnce } from './payments/open.ts';
import { repetition } from './payments/repeat.ts';

const LAST_MOMENT = Date.UTC(9999, 0, 1);

/** A day of the month means something in months only, and a schedule ends in a year that can be written. */
function refuseTerms(terms: ScheduleTerms, now: number): void {
  const { intervalUnit, intervalLength, paymentsCount, delays, dayOfMonth } = terms;
  if (dayOfMonth !== null && intervalUnit !== 'month') {
    throw invalidField('day_of_month', SENTENCES.monthsOnly);
  }
  const last = momentAfter(now, 31, { unit: intervalUnit, length: intervalLength }, paymentsCount + delays);
  if (!(last < LAST_MOMENT)) {
    const sentence = 'The last charge would be past the year 9999.';
    throw invalidField('payments_count', sentence);
  }
}

export async function createSchedule(
  gateway: Gateway,
  { mid }: Account,
  terms: ScheduleTerms,
  ownId: string,
): Promise<Schedule> {
  refuseTerms(terms, gateway.clock.now(mid));
  const schedule: Schedule = {
    ...terms,
    mid,
    scheduleId: ownId === '' ? newId() : ownId.toLowerCase(),
    version: 1,
    deletedAt: null,
    createdAt: gateway.clock.now(mid),
  };
  if (await gateway.schedules.insert(schedule)) return schedule;
  throw invalidField('schedule_id', 'This value is already used.');
}

export async function existingSchedule(gateway: Gateway, { mid }: Account, scheduleId: string): Promise<Schedule> {
  const schedule = await gateway.schedules.find(mid, scheduleId.toLowerCase());
  if (!schedule) throw new Refusal('unknownSchedule');
  return schedule;
}

/** What is not given stays as it is; the change holds from the next charge on. */
export async function updateSchedule(
  gateway: Gateway,
  account: Account,
  scheduleId: string,
  changes: Partial<ScheduleTerms>,
): Promise<Schedule> {
  for (;;) {
    const before = await existingSchedule(gateway, account, scheduleId);
    const after = { ...before, ...changes, version: before.version + 1 };
    refuseTerms(after, gateway.clock.now(account.mid));
    if (await gateway.schedules.update(after)) return after;
  }
}

export async function deleteSchedule(gateway: Gateway, { mid }: Account, scheduleId: string): Promise<void> {
  if (!(await gateway.schedules.remove(mid, scheduleId.toLowerCase(), gateway.clock.now(mid)))) {
    throw new Refusal('unknownSchedule');
  }
}

/** Schedules with what they charge, for the operator. */
export const listSchedules = (
  gateway: Gateway,
  mid: string | undefined,
  limit: number,
  before?: ScheduleCursor,
): Promise<ListedSchedule[]> => gateway.schedules.list(mid, limit, before);

/** All subscriptions of a schedule, for the operator; of every account that has one of this id, unless one is named. */
export async function listSubscriptions(
  gateway: Gateway,
  scheduleId: string,
  mid: string | undefined,
  limit: number,
  before?: string,
): Promise<Subscription[]> {
  if (!isUuid(scheduleId) || !(await gateway.schedules.isKnown(scheduleId, mid))) throw new Refusal('noSuchSchedule');
  return gateway.schedules.listSubscriptions(scheduleId, mid, limit, before);
}

/** Few at a time, so that requests in between hardly wait. */
const CLAIM_MOST = 12;
/** So many portions are under way together: one whose provider is slow leaves room for the others. */
const PORTIONS_MOST = 4;
/** A portion that takes longer is not waited for by the next one. */
const SLOW_MS = 500;

/** Charges every subscription that is due. */
export async function processDueSubscriptions(gateway: Gateway, isStopped: () => boolean = () => false): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    const due = isStopped() ? [] : await gateway.schedules.claimDue(CLAIM_MOST);
    if (due.length > 0) {
      const portion = workPortion(gateway, due).finally(() => running.delete(portion));
      running.add(portion);
      // While each is quick they go one after the other.
      await Promise.race([portion, pause(SLOW_MS, undefined, { ref: false })]);
    }
    if (running.size === 0 && due.length === 0) return;
    if (running.size === PORTIONS_MOST || due.length === 0) await Promise.race(running);
  }
}

async function workPortion(gateway: Gateway, due: readonly Subscription[]): Promise<void> {
  try {
    await catchUp(gateway, due);
    const find = await everythingFor(gateway, due);
    const steps = await Promise.all(
      due.map(async (before) => ({ before, after: await workSubscription(gateway, before, find(before)) })),
    );
    await gateway.schedules.proceed(steps);
  } catch (error) {
    // The leases run out and the subscriptions are due again; what was charged is found by its order.
    gateway.log.error({ err: error }, 'scheduled charges could not be written');
  }
}

/** What a charge needs to know. */
interface Ground {
  schedule: Schedule | undefined;
  first: WholePayment | undefined;
  account: Account | undefined;
}

/** Reads together what many charges need. */
async function everythingFor(
  gateway: Gateway,
  due: readonly Subscription[],
): Promise<(subscription: Subscription) => Ground> {
  const key = ({ mid, scheduleId }: Pick<Schedule, 'mid' | 'scheduleId'>): string => `${mid} ${scheduleId}`;
  const schedules = new Map((await gateway.schedules.findFor(due)).map((schedule) => [key(schedule), schedule]));
  const payments = await gateway.payments.findAll(due.map(({ firstPaymentId }) => firstPaymentId));
  const firsts = new Map(payments.map((payment) => [payment.paymentId, payment]));
  const accounts = new Map<string, Account | undefined>();
  for (const mid of new Set(due.map((one) => one.mid))) accounts.set(mid, await findAccount(gateway, mid));
  return (subscription) => ({
    schedule: schedules.get(key(subscription)),
    first: firsts.get(subscription.firstPaymentId),
    account: accounts.get(subscription.mid),
  });
}

/** How a subscription goes on; as it is, when that could not be found out: then the lease runs out and it is due again. */
async function workSubscription(gateway: Gateway, subscription: Subscription, ground: Ground): Promise<Subscription> {
  try {
    return await chargeOccurrence(gateway, subscription, ground);
  } catch (error) {
    gateway.log.error({ err: error, schedule_id: subscription.scheduleId }, 'scheduled charge failed');
    return subscription;
  }
}

/** Charges the occurrence that is due, and tells how the subscription goes on. */
async function chargeOccurrence(
  gateway: Gateway,
  subscription: Subscription,
  { schedule, first, account }: Ground,
): Promise<Subscription> {
  const { mid } = subscription;
  const now = gateway.clock.now(mid);
  if (!schedule || !account || !first || hasFailed(first)) return { ...subscription, ...stopped('ended') };
  if (subscription.occurrences >= schedule.paymentsCount) return { ...subscription, ...stopped('finished') };
  // Nothing can be repeated before it has succeeded.
  if (!isRepeatable(first)) return waiting(subscription, now);
  // A connector that does not answer is given some time; its charges hold up no others.
  if (gateway.health.isDown(first.connector)) return { ...subscription, dueAt: now + LIMITS.scheduleWaitMs };
  const payment = await charge(gateway, account, first, subscription);
  if (payment.state === 'DECLINED') return afterDecline(gateway, subscription, schedule, now);
  // Whether it was charged is still to be found out.
  const isUnknown = isOpen(payment.state) && payment.authorised === 0n;
  if (isUnknown) return waiting(subscription, now);
  return nextOccurrence(subscription, schedule, now);
}

/** What it waits for is looked for again soon at first, and ever more seldom. */
function waiting(subscription: Subscription, now: number): Subscription {
  const waited = now - (subscription.nextAt ?? now);
  return { ...subscription, dueAt: now + Math.max(LIMITS.scheduleWaitMs, Math.min(waited, LIMITS.dayMs)) };
}

/** A first payment has a token once it succeeded; a repetition goes by the token of the first. */
const isRepeatable = ({ recurringToken, details, authorised }: WholePayment): boolean =>
  recurringToken !== null || (details.recurringOf !== undefined && authorised > 0n);

const FAILED: readonly Payment['state'][] = ['DECLINED', 'VOID', 'REVERSAL', 'EXPIRED', 'CHARGEBACK'];
const hasFailed = ({ state }: WholePayment): boolean => FAILED.includes(state);

const stopped = (state: 'finished' | 'ended') => ({ state, nextAt: null, dueAt: null }) as const;

/** Each occurrence has an order of its own, so that none is charged twice whoever charges it. */
const occurrenceOrders = ({ orderId, paymentId }: Payment, occurrence: number): string[] =>
  [`${orderId}:${occurrence}`, `${paymentId}:${occurrence}`].filter((order) => order.length <= LIMITS.orderIdLength);

/** Makes a charge under the first of its orders that nothing else was paid under. */
async function charge(
  gateway: Gateway,
  account: Account,
  first: WholePayment,
  { subscriptionId, scheduleId, occurrences, declines }: Subscription,
): Promise<Payment> {
  const contentOf = (tries: number): string => `${subscriptionId} ${occurrences + 1} ${tries}`;
  const earlier = Array.from({ length: declines }, (_, tries) => contentOf(tries));
  for (const orderId of occurrenceOrders(first, occurrences + 1)) {
    const order = repetition(first, { orderId, scheduleId, content: contentOf(declines) });
    const payment = await openOnce(gateway, account, order, earlier);
    if (payment) return payment;
  }
  throw new Error(`Every order of a charge of schedule ${scheduleId} is taken.`);
}

/** A declined charge is tried again after a while; when that does not help, it is reported and the next one follows. */
function afterDecline(gateway: Gateway, subscription: Subscription, schedule: Schedule, now: number): Subscription {
  const pause = LIMITS.scheduleRetryMs[subscription.declines];
  if (pause !== undefined) return { ...subscription, declines: subscription.declines + 1, dueAt: now + pause };
  const { mid, scheduleId, firstPaymentId } = subscription;
  const occurrence = subscription.occurrences + 1;
  gateway.log.warn(
    { mid, schedule_id: scheduleId, payment_id: firstPaymentId, occurrence },
    'scheduled charge given up',
  );
  return nextOccurrence({ ...subscription, failed: subscription.failed + 1 }, schedule, now);
}

/** The next date that is still to come: what was missed during an outage is made up by one charge, not by many. */
function nextOccurrence(subscription: Subscription, schedule: Schedule, now: number): Subscription {
  const occurrences = subscription.occurrences + 1;
  const done = { ...subscription, occurrences, declines: 0 };
  if (occurrences >= schedule.paymentsCount) return { ...done, ...stopped('finished') };
  const anchored = anchoredBy(done, schedule);
  const day = schedule.dayOfMonth ?? anchored.anchorDay;
  const rhythm = { unit: schedule.intervalUnit, length: schedule.intervalLength };
  let intervals = anchored.intervals + 1;
  let nextAt = momentAfter(anchored.anchorAt, day, rhythm, intervals);
  while (nextAt <= now) nextAt = momentAfter(anchored.anchorAt, day, rhythm, ++intervals);
  return { ...anchored, intervals, nextAt, dueAt: nextAt };
}

/** The last day of a short month may stand for a later one; any other day stands for itself. */
function dayMeant(moment: number, day: number): number {
  const date = new Date(moment);
  const isLast = new Date(moment + LIMITS.dayMs).getUTCDate() === 1;
  return isLast ? Math.max(day, date.getUTCDate()) : date.getUTCDate();
}

/** A schedule that was changed counts from the date of the charge that was made last. */
function anchoredBy(subscription: Subscription, { version }: Schedule): Subscription {
  if (subscription.scheduleVersion === version) return subscription;
  const anchorAt = subscription.nextAt ?? subscription.anchorAt;
  const anchorDay = dayMeant(anchorAt, subscription.anchorDay);
  return { ...subscription, anchorAt, anchorDay, intervals: 0, scheduleVersion: version };
}
