/** Provider notifications: stores each one once and applies it to its payment, with retries. */
import type { ProviderNotification } from '../../connectors/connector.ts';
import { isUuid } from '../../lib/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { NotificationCursor, NotificationRow } from '../../store/notifications.ts';
import type { CallRecord, PaymentWithDetails } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import { recordChargeback } from '../chargebacks.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { applyOutcome, isExpectedAmount, queryProviderNow, wrongAmountRecord } from './provider.ts';
import { nextBackoff } from './query-schedule.ts';
import { recordWrongAmount } from './record.ts';

const MAX_CLAIMED = 100;

/** Reads a notification and verifies its signature; undefined if it is not valid. */
export function readNotification(
  gateway: Gateway,
  connector: string,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
): ProviderNotification | undefined {
  const known = Object.hasOwn(gateway.connectors, connector) ? gateway.connectors[connector] : undefined;
  // Real time: the provider does not know the sandbox clock.
  return known?.readNotification(headers, body, Date.now());
}

/** For the operator: notifications in a state, such as those for which no payment was found. */
export const listNotifications = (
  gateway: Gateway,
  state: NotificationRow['state'],
  most: number,
  before?: NotificationCursor,
): Promise<NotificationRow[]> => gateway.notifications.list(state, most, before);

/** Stores a notification and applies it; once it is stored, a failure only delays it. */
export async function receiveNotification(
  gateway: Gateway,
  connector: string,
  notification: ProviderNotification,
): Promise<void> {
  const now = gateway.clock.now();
  const row: NotificationRow = { connector, ...notification, state: 'new', attempts: 0, receivedAt: now };
  if (await gateway.notifications.keep(row, now)) await processNotification(gateway, row);
}

/** Applies the notifications that could not be applied when they arrived. */
export async function processDueNotifications(
  gateway: Gateway,
  connector: string,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const due = await gateway.notifications.claimDue(connector, MAX_CLAIMED);
    if (due.length === 0) return;
    // In order of arrival within a payment; payments are independent of each other.
    const byPayment = Map.groupBy(due, ({ reference }) => reference);
    await Promise.all(
      [...byPayment.values()].map(async (rows) => {
        for (const row of rows) await processNotification(gateway, row);
      }),
    );
  }
}

/** Applies the notifications that arrived before their payment was written; returns whether there were any. */
export async function applyNotificationsOf(gateway: Gateway, paymentId: string): Promise<boolean> {
  const waiting = (await gateway.notifications.about(paymentId)).filter(({ state }) => state === 'new');
  for (const row of waiting) await processNotification(gateway, row);
  return waiting.length > 0;
}

async function processNotification(gateway: Gateway, row: NotificationRow): Promise<void> {
  const { connector, eventId, reference, attempts } = row;
  try {
    const applied = await applyNotification(gateway, row);
    if (applied === 'done') return await gateway.notifications.finish(row, 'applied', null);
    // A notification that waits for another one is retried as long as its payment is open.
    const pause =
      applied === 'early' ? nextBackoff(LIMITS.notificationRetryMs, attempts) : LIMITS.notificationRetryMs[attempts];
    if (pause === undefined) {
      gateway.log.warn({ connector, event_id: eventId, reference }, 'notification for an unknown payment');
      return await gateway.notifications.finish(row, 'unmatched', null);
    }
    await gateway.notifications.finish(row, 'new', gateway.clock.now() + pause);
  } catch (error) {
    // The notification is due again when its lease expires.
    gateway.log.error({ err: error, connector, event_id: eventId }, 'notification could not be applied');
  }
}

/** Applies a notification; `early` means that another one has to come first, such as the settlement of a chargeback. */
async function applyNotification(
  gateway: Gateway,
  { connector, reference, body }: NotificationRow,
): Promise<'done' | 'unknown payment' | 'early'> {
  const payment = isUuid(reference) ? await gateway.payments.findAnywhere(reference) : undefined;
  if (payment?.connector !== connector) return 'unknown payment';
  const account = await findAccount(gateway, payment.mid);
  const meaning = gateway.connectors[connector]?.interpretNotification(body);
  if (!account || !meaning || meaning.kind === 'unknown' || meaning.kind === 'notFound') return 'done';
  const call: CallRecord = { verb: 'notification', connector, outcome: meaning.kind, tookMs: 0 };
  if (meaning.kind === 'chargedBack') await recordChargeback(gateway, payment, meaning);
  if (meaning.kind === 'chargedBack' && isOpen(payment.state)) {
    return (await chargeBackEarly(gateway, payment, account, call)) ? 'done' : 'early';
  }
  if (isExpectedAmount(payment, meaning.reportedAmount)) await applyOutcome(gateway, payment, account, meaning, call);
  else {
    const wrong = wrongAmountRecord(payment, meaning, (outcome) => ({ ...call, outcome }));
    await recordWrongAmount(gateway, payment, 'provider', wrong);
  }
  return 'done';
}

/**
 * A chargeback arrived before the settlement: queries the provider for the settlement. Returns false while the payment
 * is open; the notification is then retried, and the payment is on the operator's attention list meanwhile.
 */
async function chargeBackEarly(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  call: CallRecord,
): Promise<boolean> {
  const chargedBack = { event: 'chargedBack', actor: 'provider', call } as const;
  const queried = await queryProviderNow(gateway, payment, account);
  const isMarked = queried.attention === 'unexpected_chargeback' && isOpen(queried.state);
  const after = isMarked ? queried : await advance(gateway, queried, chargedBack);
  return !isOpen(after.state);
}
