/** Schedules: creates, changes and deletes them for merchants, and charges their subscriptions when due. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { pollUntil } from '../../lib/flow/poll.ts';
import { momentAfter } from '../../lib/time/calendar.ts';
import { CARD_REFUSED } from '../../rules/declines.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { SCHEDULE_STOPPED } from '../../rules/reasons.ts';
import { AFTER_CHARGEBACK, type AtProvider } from '../../rules/restores.ts';
import { isOpen } from '../../rules/states.ts';
import { CARD_REMOVED } from '../../store/erasure/erasure.ts';
import type { Restore } from '../../store/installation/restores.ts';
import type { Payment, PaymentWithDetails } from '../../store/payments/payments.ts';
import type {
  ListedSchedule,
  Schedule,
  ScheduleCursor,
  ScheduleTerms,
  Subscription,
} from '../../store/schedules/schedules.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { catchUp } from '../installation/catch-up.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { attemptId, attemptMoment, retryId } from '../payments/derived-ids.ts';
import { type Order, openOnce } from '../payments/open.ts';
import { findLost, NotAnswered, openFound } from '../payments/recover.ts';
import { isSeriesEnded, repetition, retryOrder } from '../payments/repeat.ts';
import { lostMoments, nextOccurrence, stopped } from './occurrences.ts';

/** Later dates do not fit the date format of the API. */
const LATEST_CHARGE_AT = Date.UTC(9999, 0, 1);

/** Refuses a day of the month without monthly intervals, and a last charge past the year 9999. */
function checkTerms(terms: ScheduleTerms, now: number): void {
  const { intervalUnit, intervalLength, paymentsCount, delays, dayOfMonth } = terms;
  if (dayOfMonth !== null && intervalUnit !== 'month') {
    throw invalidField('day_of_month', SENTENCES.monthsOnly, {
      expected: 'A day from 1 to 31, with interval_unit month.',
    });
  }
  const last = momentAfter(now, 31, { unit: intervalUnit, length: intervalLength }, paymentsCount + delays);
  if (!(last < LATEST_CHARGE_AT)) {
    const sentence = 'The last charge would be past the year 9999.';
    throw invalidField('payments_count', sentence);
  }
}

export async function createSchedule(
  gateway: Gateway,
  { mid }: Account,
  terms: ScheduleTerms,
  merchantsId: string,
): Promise<Schedule> {
  checkTerms(terms, gateway.clock.now(mid));
  const schedule: Schedule = {
    ...terms,
    mid,
    scheduleId: merchantsId === '' ? newId() : merchantsId.toLowerCase(),
    version: 1,
    deletedAt: null,
    createdAt: gateway.clock.now(mid),
  };
  if (await gateway.schedules.insert(schedule)) return schedule;
  const expected = 'A new UUID, or no schedule_id: the gateway then chooses one.';
  throw invalidField('schedule_id', 'This value is already used.', { expected });
}

export async function existingSchedule(gateway: Gateway, { mid }: Account, scheduleId: string): Promise<Schedule> {
  const schedule = await gateway.schedules.find(mid, scheduleId.toLowerCase());
  if (!schedule) throw new Refusal('unknownSchedule');
  return schedule;
}

/** Changes the given terms, from the next charge on. */
export async function updateSchedule(
  gateway: Gateway,
  account: Account,
  scheduleId: string,
  changes: Partial<ScheduleTerms>,
): Promise<Schedule> {
  for (;;) {
    const before = await existingSchedule(gateway, account, scheduleId);
    const after = { ...before, ...changes, version: before.version + 1 };
    checkTerms(after, gateway.clock.now(account.mid));
    if (await gateway.schedules.update(after)) return after;
  }
}

export async function deleteSchedule(gateway: Gateway, { mid }: Account, scheduleId: string): Promise<void> {
  const id = scheduleId.toLowerCase();
  if (!(await gateway.schedules.remove(mid, id, gateway.clock.now(mid)))) throw new Refusal('unknownSchedule');
  await awaitCharges(gateway, mid, id);
}

/**
 * Waits for the charges that are being made when a schedule is deleted, so that nothing is charged afterwards. A charge
 * that begins later finds that the schedule was deleted, and is not sent.
 */
async function awaitCharges(gateway: Gateway, mid: string, scheduleId: string): Promise<void> {
  const claimed = await gateway.schedules.dueUntil(mid, scheduleId, gateway.clock.now(mid) + LIMITS.leaseMs);
  const ids = claimed.map((charged) => attemptId(gateway, charged, charged.nextAt ?? charged.createdAt));
  if (ids.length === 0) return;
  const isUnderWay = async (): Promise<boolean> =>
    (await gateway.payments.findAll(ids)).some(({ state }) => state === 'PREPARE');
  await pollUntil(await isUnderWay(), isUnderWay, (found) => !found, { mostMs: LIMITS.submissionMs });
}

/** For the operator: schedules with their subscriptions. */
export const listSchedules = (
  gateway: Gateway,
  mid: string | undefined,
  mids: readonly string[] | null,
  limit: number,
  before?: ScheduleCursor,
): Promise<ListedSchedule[]> =>
  mid !== undefined && !sees({ mids }, mid) ? Promise.resolve([]) : gateway.schedules.list(mid, mids, limit, before);

/** For the operator: one schedule of an account, also a deleted one. */
export async function requireSchedule(
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  mid: string,
  scheduleId: string,
): Promise<ListedSchedule> {
  const isKnown = isUuid(mid) && isUuid(scheduleId) && sees({ mids }, mid.toLowerCase());
  const found = isKnown ? await gateway.schedules.listOne(mid.toLowerCase(), scheduleId.toLowerCase()) : undefined;
  if (!found) throw new Refusal('noSuchSchedule');
  return found;
}

/** Stops a schedule for the operator, as the merchant does with DELETE_SCHEDULE. */
export async function stopScheduleAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  mid: string,
  scheduleId: string,
): Promise<ListedSchedule> {
  const { schedule } = await requireSchedule(gateway, principal, mid, scheduleId);
  const { mid: owner, scheduleId: subject } = schedule;
  const audit = (name: string) => auditEntry(gateway, by, 'schedules.stop', { mid: owner, subject, before: { name } });
  if (!(await gateway.schedules.remove(owner, subject, gateway.clock.now(owner), audit))) {
    throw invalidField('schedule_id', 'The schedule was stopped already.');
  }
  await awaitCharges(gateway, owner, subject);
  return requireSchedule(gateway, principal, mid, scheduleId);
}

/** Ends one subscription; a charge that is being made is finished. */
export async function stopSubscriptionAs(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  mid: string,
  scheduleId: string,
  subscriptionId: string,
): Promise<void> {
  const { schedule } = await requireSchedule(gateway, principal, mid, scheduleId);
  const subject = subscriptionId.toLowerCase();
  const ended = invalidField('subscription_id', 'The schedule has no active subscription with this id.');
  if (!isUuid(subscriptionId)) throw ended;
  const before = { schedule_id: schedule.scheduleId };
  const entry = auditEntry(gateway, by, 'schedules.stop_subscription', { mid: schedule.mid, subject, before });
  if (!(await gateway.schedules.end({ ...schedule, subscriptionId: subject }, entry))) throw ended;
}

/** For the operator: the subscriptions of a schedule id, which several accounts may use; `mid` selects one account. */
export async function listSubscriptions(
  gateway: Gateway,
  scheduleId: string,
  mid: string | undefined,
  mids: readonly string[] | null,
  limit: number,
  before?: string,
): Promise<Subscription[]> {
  const isKnown = isUuid(scheduleId) && (await gateway.schedules.isKnown(scheduleId, mid, mids));
  if (!isKnown) throw new Refusal('noSuchSchedule');
  return gateway.schedules.listSubscriptions(scheduleId, mid, mids, limit, before);
}

/** Subscriptions claimed together; few, so that merchants' requests are not delayed. */
const MAX_CLAIMED = 12;
/** Portions in flight at the same time, so that a slow provider does not block all of them. */
const MAX_PORTIONS = 4;
/** After this time the next portion starts without waiting for the previous one. */
const SLOW_MS = 500;

/** Charges every subscription that is due. */
export async function processDueSubscriptions(gateway: Gateway, isStopped: () => boolean = () => false): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    const due = isStopped() ? [] : await gateway.schedules.claimDue(MAX_CLAIMED);
    if (due.length > 0) {
      const portion = processPortion(gateway, due).finally(() => running.delete(portion));
      running.add(portion);
      // While portions are quick, they run one at a time.
      await Promise.race([portion, pause(SLOW_MS, undefined, { ref: false })]);
    }
    if (running.size === 0 && due.length === 0) return;
    if (running.size === MAX_PORTIONS || due.length === 0) await Promise.race(running);
  }
}

async function processPortion(gateway: Gateway, due: readonly Subscription[]): Promise<void> {
  try {
    await catchUp(gateway, due);
    const contextOf = await readContexts(gateway, due);
    const steps = await Promise.all(
      due.map(async (before) => ({ before, after: await processSubscription(gateway, before, contextOf(before)) })),
    );
    await gateway.schedules.proceed(steps);
  } catch (error) {
    // The subscriptions are due again when their leases expire; charges already made are found by their order id.
    gateway.log.error({ err: error }, 'scheduled charges could not be written');
  }
}

/** The rows that a charge depends on. */
interface ChargeContext {
  schedule: Schedule | undefined;
  first: PaymentWithDetails | undefined;
  account: Account | undefined;
  restore: Restore | undefined;
}

/** Reads the contexts of many charges at once. */
async function readContexts(
  gateway: Gateway,
  due: readonly Subscription[],
): Promise<(subscription: Subscription) => ChargeContext> {
  const key = ({ mid, scheduleId }: Pick<Schedule, 'mid' | 'scheduleId'>): string => `${mid} ${scheduleId}`;
  const schedules = new Map((await gateway.schedules.findFor(due)).map((schedule) => [key(schedule), schedule]));
  const payments = await gateway.payments.findAll(due.map(({ firstPaymentId }) => firstPaymentId));
  const firsts = new Map(payments.map((payment) => [payment.paymentId, payment]));
  const restore = await gateway.restores.last();
  const accounts = new Map<string, Account | undefined>();
  for (const mid of new Set(due.map((subscription) => subscription.mid)))
    accounts.set(mid, await findAccount(gateway, mid));
  return (subscription) => ({
    schedule: schedules.get(key(subscription)),
    first: firsts.get(subscription.firstPaymentId),
    account: accounts.get(subscription.mid),
    restore,
  });
}

/** The subscription after its charge; unchanged after an error, so that it is due again when its lease expires. */
async function processSubscription(
  gateway: Gateway,
  subscription: Subscription,
  context: ChargeContext,
): Promise<Subscription> {
  try {
    return await chargeOccurrence(gateway, subscription, context);
  } catch (error) {
    gateway.log.error({ err: error, schedule_id: subscription.scheduleId }, 'scheduled charge failed');
    return subscription;
  }
}

/** Charges the due occurrence and returns the subscription as it is afterwards. */
async function chargeOccurrence(
  gateway: Gateway,
  subscription: Subscription,
  { schedule, first, account, restore }: ChargeContext,
): Promise<Subscription> {
  const { mid } = subscription;
  const now = gateway.clock.now(mid);
  if (!schedule || !account || !first || hasFailed(first)) return { ...subscription, ...stopped('ended') };
  if (await isCardRemoved(gateway, first)) return { ...subscription, ...stopped('ended'), reason: CARD_REMOVED };
  if (subscription.occurrences >= schedule.paymentsCount) return { ...subscription, ...stopped('finished') };
  // A payment can be repeated once it has succeeded.
  if (!isRepeatable(first)) return waiting(subscription, now);
  // Charges of a connector that is down are postponed, so that they do not delay the others.
  if (gateway.health.isDown(first.connector)) return { ...subscription, dueAt: now + LIMITS.scheduleWaitMs };
  if (account.isSuspended) return waiting(subscription, now);
  // A restore that was marked after the claim.
  if (restore?.releasedAt === null) return subscription;
  const payment = await charge(
    gateway,
    account,
    first,
    subscription,
    lostMoments(gateway, subscription, schedule, restore),
  );
  if (!payment) return waiting(subscription, now);
  const { recovered } = payment.details;
  if (payment.declineReason === SCHEDULE_STOPPED) return { ...subscription, ...stopped('ended') };
  // After a charge that was found at the provider the next one may be there, too: none is skipped.
  const at = recovered === undefined ? now : attemptMoment(recovered, subscription.declines);
  const charged = { ...subscription, nextAt: recovered ?? subscription.nextAt };
  if (payment.state === 'DECLINED' && payment.providerData?.decline?.class === 'never')
    return { ...charged, failed: charged.failed + 1, ...stopped('ended'), reason: CARD_REFUSED };
  if (payment.state === 'DECLINED') return afterDecline(gateway, charged, schedule, at);
  const isUnknown = isOpen(payment.state) && payment.authorised === 0n;
  if (isUnknown) return waiting(subscription, now);
  return nextOccurrence(charged, schedule, at);
}

/** Whether the card of a series was removed; a repetition may not know it yet. */
async function isCardRemoved({ payments }: Gateway, first: PaymentWithDetails): Promise<boolean> {
  const { recurringOf: paymentId } = first.details;
  if (isSeriesEnded(first)) return true;
  return paymentId !== undefined && isSeriesEnded(await payments.find({ mid: first.mid, paymentId }));
}

/** Waits for an outcome, with growing pauses. */
function waiting(subscription: Subscription, now: number): Subscription {
  const waited = now - (subscription.nextAt ?? now);
  return { ...subscription, dueAt: now + Math.max(LIMITS.scheduleWaitMs, Math.min(waited, LIMITS.dayMs)) };
}

/** A first payment has a token once it succeeded; a repetition can be repeated by the token of its first payment. */
const isRepeatable = ({ recurringToken, details, authorised }: PaymentWithDetails): boolean =>
  recurringToken !== null || (details.recurringOf !== undefined && authorised > 0n);

const FAILED: readonly Payment['state'][] = ['DECLINED', 'VOID', 'REVERSAL', 'EXPIRED', 'CHARGEBACK'];
const hasFailed = ({ state }: PaymentWithDetails): boolean => FAILED.includes(state);

/** Each occurrence has its own order id, so that concurrent processes cannot charge it twice. */
const occurrenceOrders = ({ orderId, paymentId }: Payment, occurrence: number): string[] =>
  [`${orderId}:${occurrence}`, `${paymentId}:${occurrence}`].filter((order) => order.length <= LIMITS.orderIdLength);

const contentOf = ({ subscriptionId, occurrences }: Subscription, attempt: number): string =>
  `${subscriptionId} ${occurrences + 1} ${attempt}`;

/** The order of the next attempt, under the id that it has if it is planned for this moment. */
function attemptOrder(
  gateway: Gateway,
  first: PaymentWithDetails,
  subscription: Subscription,
  orderId: string,
  plannedAt: number,
): Order {
  const { scheduleId, subscriptionId, declines } = subscription;
  const amountText = first.details.session?.scheduleAmount ?? first.amountText;
  const content = contentOf(subscription, declines);
  const paymentId = attemptId(gateway, subscription, plannedAt);
  return { ...repetition(first, { orderId, scheduleId, amountText, content }), subscriptionId, paymentId };
}

/** The payments that the provider may have of a due occurrence: a retry by the merchant, and the next attempt. */
function lostOrders(
  gateway: Gateway,
  first: PaymentWithDetails,
  subscription: Subscription,
  moments: readonly number[],
  orderId: string,
  newest: PaymentWithDetails | undefined,
): Order[] {
  const recovered = (order: Order, plannedAt: number): Order => ({
    ...order,
    details: { ...order.details, recovered: plannedAt },
  });
  const retries = newest ? [{ ...retryOrder(newest), paymentId: retryId(gateway, newest) }] : [];
  return [
    ...retries.map((order) => recovered(order, moments[0] as number)),
    ...moments.map((moment) => recovered(attemptOrder(gateway, first, subscription, orderId, moment), moment)),
  ];
}

/**
 * Charges under the first of the order ids that no other payment uses. With `moments` the provider is asked first; if it
 * has the payment, that is opened and nothing is charged. Undefined if the provider did not answer.
 */
async function charge(
  gateway: Gateway,
  account: Account,
  first: PaymentWithDetails,
  subscription: Subscription,
  moments: readonly number[],
): Promise<PaymentWithDetails | undefined> {
  const { scheduleId, occurrences, declines, nextAt, createdAt } = subscription;
  const earlier = Array.from({ length: declines }, (_, attempt) => contentOf(subscription, attempt));
  for (const orderId of occurrenceOrders(first, occurrences + 1)) {
    const recover = async (newest: PaymentWithDetails | undefined): Promise<boolean> => {
      const orders = lostOrders(gateway, first, subscription, moments, orderId, newest);
      const found = await findLost(gateway, account, orders);
      if (typeof found === 'string') return false;
      await openFound(gateway, account, found, (newest?.attempt ?? 0) + 1);
      return true;
    };
    const order = attemptOrder(gateway, first, subscription, orderId, nextAt ?? createdAt);
    try {
      const payment = await openOnce(gateway, account, order, earlier, moments.length > 0 ? recover : undefined);
      if (payment) return payment;
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      gateway.log.warn({ mid: subscription.mid, schedule_id: scheduleId }, error.message);
      return undefined;
    }
  }
  throw new Error(`All order ids of a charge of schedule ${scheduleId} are used.`);
}

/** What the provider says about a charge that is due. */
export interface CheckedCharge {
  subscription: Subscription;
  /** The order and the payment that the charge has, or would get. */
  order: Order;
  atProvider: AtProvider;
}

/** For the operator, while a restore is held: asks the provider about the charges that are due, and changes nothing. */
export async function checkDueCharges(
  gateway: Gateway,
  restore: Restore,
  most: number,
): Promise<{ due: number; checked: CheckedCharge[] }> {
  const { due, subscriptions } = await gateway.schedules.listDue(most);
  if (due === 0) return { due, checked: [] };
  const contextOf = await readContexts(gateway, subscriptions);
  const checks = subscriptions.map(async (subscription): Promise<CheckedCharge | undefined> => {
    const { schedule, first, account } = contextOf(subscription);
    if (!schedule || !account || !first || hasFailed(first)) return undefined;
    const moments = lostMoments(gateway, subscription, schedule, restore);
    const orderId = occurrenceOrders(first, subscription.occurrences + 1)[0] as string;
    const newest = await gateway.payments.findByOrder({ mid: subscription.mid, orderId });
    const orders = lostOrders(gateway, first, subscription, moments, orderId, newest);
    const order = orders.at(newest ? 1 : 0) as Order;
    const found = await findLost(gateway, account, orders).catch((error): 'notAnswered' => {
      if (!(error instanceof NotAnswered)) throw error;
      return 'notAnswered';
    });
    if (typeof found === 'string') return { subscription, order, atProvider: found };
    const { answer } = found;
    const kind = answer.kind === 'outcome' ? answer.outcome.kind : answer.kind;
    const atProvider = kind === 'secondChargedBack' || kind === 'chargebackReversed' ? AFTER_CHARGEBACK[kind] : kind;
    return { subscription, order: found.order, atProvider };
  });
  return { due, checked: (await Promise.all(checks)).filter((check) => check !== undefined) };
}

/** Schedules a retry of a declined charge; after the last one, the occurrence has failed and the next one follows. */
function afterDecline(gateway: Gateway, subscription: Subscription, schedule: Schedule, at: number): Subscription {
  const pause = LIMITS.scheduleRetryMs[subscription.declines];
  if (pause !== undefined) return { ...subscription, declines: subscription.declines + 1, dueAt: at + pause };
  const { mid, scheduleId, firstPaymentId } = subscription;
  const occurrence = subscription.occurrences + 1;
  gateway.log.warn(
    { mid, schedule_id: scheduleId, payment_id: firstPaymentId, occurrence },
    'scheduled charge declined, no retries left',
  );
  return nextOccurrence({ ...subscription, failed: subscription.failed + 1 }, schedule, at);
}
