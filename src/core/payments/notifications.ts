/** News from providers: kept once, applied to the payment they are about, tried again until that worked. */
import type { ProviderNotification } from '../../connectors/connector.ts';
import { isUuid } from '../../lib/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { NotificationCursor, NotificationRow } from '../../store/notifications.ts';
import type { CallRecord, WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { apply, isExpectedAmount, queryProviderNow } from './provider.ts';
import { nextBackoff } from './query-schedule.ts';
import { recordWrongAmount } from './record.ts';

const CLAIM_MOST = 100;

/** Reads news that a provider sent; nothing when nobody we know signed them. */
export function readNotification(
  gateway: Gateway,
  connector: string,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
): ProviderNotification | undefined {
  const known = Object.hasOwn(gateway.connectors, connector) ? gateway.connectors[connector] : undefined;
  // Real time: the provider knows nothing of a clock that was moved.
  return known?.readNotification(headers, body, Date.now());
}

/** For the operator: news that wait for their payment, or that no payment was ever found for. */
export const listNotifications = (
  gateway: Gateway,
  state: NotificationRow['state'],
  most: number,
  before?: NotificationCursor,
): Promise<NotificationRow[]> => gateway.notifications.list(state, most, before);

/** Keeps news and applies them; once they are kept, nothing that goes wrong afterwards loses them. */
export async function receiveNotification(
  gateway: Gateway,
  connector: string,
  notifications: ProviderNotification,
): Promise<void> {
  const now = gateway.clock.now();
  const row: NotificationRow = { connector, ...notifications, state: 'new', attempts: 0, receivedAt: now };
  if (await gateway.notifications.keep(row, now)) await processNotification(gateway, row);
}

/** Applies the notifications that could not be applied when they came. */
export async function processDueNotifications(
  gateway: Gateway,
  connector: string,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const due = await gateway.notifications.claimDue(connector, CLAIM_MOST);
    if (due.length === 0) return;
    // Those of one payment build on each other and are applied in the order they came; payments do not wait for another.
    const byPayment = Map.groupBy(due, ({ reference }) => reference);
    await Promise.all(
      [...byPayment.values()].map(async (rows) => {
        for (const row of rows) await processNotification(gateway, row);
      }),
    );
  }
}

/** Applies the notifications that came before their payment was there; says whether there were any. */
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
    // What waits for another report is tried again for as long as its payment is open.
    const pause =
      applied === 'early' ? nextBackoff(LIMITS.notificationRetryMs, attempts) : LIMITS.notificationRetryMs[attempts];
    if (pause === undefined) {
      gateway.log.warn({ connector, event_id: eventId, reference }, 'news of a payment that nobody knows');
      return await gateway.notifications.finish(row, 'unmatched', null);
    }
    await gateway.notifications.finish(row, 'new', gateway.clock.now() + pause);
  } catch (error) {
    // The lease runs out and the news are due again.
    gateway.log.error({ err: error, connector, event_id: eventId }, 'news could not be applied');
  }
}

/** Applies a notification to its payment, unless there is no such payment yet, or something else has to come first. */
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
  if (meaning.kind === 'chargedBack' && isOpen(payment.state)) {
    return (await chargeBackEarly(gateway, payment, account, call)) ? 'done' : 'early';
  }
  if (isExpectedAmount(payment, meaning.reportedAmount)) await apply(gateway, payment, account, meaning, call);
  else await recordWrongAmount(gateway, payment, 'provider', { ...call, outcome: `${meaning.kind}, wrong amount` });
  return 'done';
}

/**
 * A chargeback came before the settlement that it takes back: the provider is asked for that. False while it is not settled
 * here, and the notification is tried again; until then the payment is on the operator's list.
 */
async function chargeBackEarly(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  call: CallRecord,
): Promise<boolean> {
  const chargedBack = { event: 'chargedBack', actor: 'provider', call } as const;
  const queried = await queryProviderNow(gateway, payment, account);
  const isNoted = queried.attention === 'unexpected_chargeback' && isOpen(queried.state);
  const after = isNoted ? queried : await advance(gateway, queried, chargedBack);
  return !isOpen(after.state);
}
