/** Provider notifications: stores each one once and applies it to its payment, with retries. */
import type { Connector, NotificationMeaning, ProviderNotification } from '../../connectors/connector.ts';
import { isText, storable } from '../../lib/text/json.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { NotificationCursor, NotificationRow } from '../../store/payments/notifications.ts';
import type { CallRecord, FormerSubmission, OperationRow, PaymentWithDetails } from '../../store/payments/payments.ts';
import { findAccount } from '../accounts/accounts.ts';
import {
  applyChargeback,
  applyChargebackReport,
  applyChargebacks,
  type ChargebackOutcome,
  chargebackProgress,
  isChargeback,
} from '../chargebacks/report.ts';
import { connectorOf } from '../connections/connectors.ts';
import { paymentIdOf, referenceOf } from '../connections/provider-data.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { applyElsewhere, applyRefunds } from './elsewhere.ts';
import { applyToFormer } from './former.ts';
import { applyOperationOutcome, queryOperation, resolveRefusedExpiry } from './operate.ts';
import { applyOutcome, queryAsNotified, queryProviderNow, resumeOnReturn } from './provider.ts';
import { nextBackoff } from './query-schedule.ts';
import {
  recordFailedOperation,
  recordFormerSuccess,
  recordPaymentMethod,
  recordUnhandled,
  recordWrongAmount,
} from './record.ts';
import { isExpectedAmount, wrongAmountRecord } from './reported-amounts.ts';

const MAX_CLAIMED = 100;

/** Reads the events of a webhook and verifies its signature; undefined if it is not valid. */
export async function readNotifications(
  connector: Connector,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
): Promise<ProviderNotification[] | undefined> {
  // Real time: the provider does not know the sandbox clock.
  const events = await connector.readNotifications(headers, body, Date.now());
  return events?.every(hasStorableNames)
    ? events.map((event) => ({ ...event, body: storable(event.body) }))
    : undefined;
}

const isName = (value: string | undefined): boolean => value === undefined || isText(value, 255);

const hasStorableNames = ({ body: _, eventId, isUnsigned: __, ...names }: ProviderNotification): boolean =>
  isText(eventId, 255) && eventId !== '' && Object.values(names).every(isName);

/** For the operator: notifications in a state, such as those for which no payment was found. */
export const listNotifications = (
  gateway: Gateway,
  state: NotificationRow['state'],
  most: number,
  before?: NotificationCursor,
): Promise<NotificationRow[]> => gateway.notifications.list(state, most, before);

const rowOf = (connector: string, event: ProviderNotification, now: number): NotificationRow => {
  const { eventId, body, reference = null, providerReference = null, operation = null } = event;
  const about = { reference, providerReference, operation, operationReference: event.operationReference ?? null };
  return { connector, eventId, body, ...about, state: 'new', attempts: 0, receivedAt: now };
};

/**
 * The events that are stored. Without a signature, those about unknown payments are not: they could fill the database.
 * Nothing is lost, because the work loop queries the payment that the provider may have meant.
 */
export async function acceptedEvents(
  gateway: Gateway,
  connector: string,
  events: readonly ProviderNotification[],
): Promise<ProviderNotification[]> {
  const accepted: ProviderNotification[] = [];
  for (const event of events) {
    const row = rowOf(connector, event, gateway.clock.now());
    if (!event.isUnsigned || (await findSubject(gateway, row))) accepted.push(event);
  }
  return accepted;
}

/** Stores the events of a webhook and applies them; once they are stored, a failure only delays them. */
export async function receiveNotifications(
  gateway: Gateway,
  connector: string,
  events: readonly ProviderNotification[],
): Promise<void> {
  const now = gateway.clock.now();
  const added: NotificationRow[] = [];
  for (const event of events) {
    const row = rowOf(connector, event, now);
    if (await gateway.notifications.keep(row, now, event.isUnsigned)) added.push(row);
  }
  for (const row of added) await processNotification(gateway, row);
}

/** Applies the notifications that could not be applied when they arrived. */
export async function processDueNotifications(
  gateway: Gateway,
  claim: (most: number) => Promise<NotificationRow[]>,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const due = await claim(MAX_CLAIMED);
    if (due.length === 0) return;
    // In order of arrival within a payment; payments are independent of each other.
    const byPayment = Map.groupBy(due, ({ reference, providerReference }) => reference ?? providerReference);
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
  const { connector, eventId, attempts } = row;
  try {
    const subject = await findSubject(gateway, row);
    // From now on the operator finds the notification with the payment.
    const named = { ...row, reference: row.reference ?? subject?.payment.paymentId ?? null };
    const applied = subject ? await applyNotification(gateway, row, subject) : 'unmatched';
    if (applied === 'done') return await gateway.notifications.finish(named, 'applied', null);
    // A notification that waits for another one is retried as long as its payment is open.
    const pause =
      applied === 'early' ? nextBackoff(LIMITS.notificationRetryMs, attempts) : LIMITS.notificationRetryMs[attempts];
    // The work loop queries an open payment in any case.
    if (pause === undefined && applied === 'unanswered')
      return await gateway.notifications.finish(named, 'applied', null);
    if (pause === undefined) {
      const { reference, providerReference } = row;
      gateway.log.warn(
        { connector, event_id: eventId, reference, provider_reference: providerReference ?? undefined },
        'notification for an unknown payment',
      );
      return await gateway.notifications.finish(named, 'unmatched', null);
    }
    await gateway.notifications.finish(named, 'new', gateway.clock.now() + pause);
  } catch (error) {
    // The notification is due again when its lease expires.
    gateway.log.error({ err: error, connector, event_id: eventId }, 'notification could not be applied');
  }
}

/** What a notification is about: a payment of its connector, or a submission of one that another connection took over. */
interface Subject {
  payment: PaymentWithDetails;
  former?: FormerSubmission | undefined;
  /** The notification names the payment and none of its submissions. */
  isOfPayment?: true;
}

/** Finds it by our reference or by the provider's. */
async function findSubject(
  gateway: Gateway,
  { connector, reference, providerReference }: NotificationRow,
): Promise<Subject | undefined> {
  const ours = reference?.toLowerCase();
  const paymentId = ours === undefined ? undefined : paymentIdOf(ours);
  if (paymentId !== undefined) {
    const payment = await gateway.payments.findAnywhere(paymentId);
    if (!payment) return undefined;
    if (payment.connector === connector && referenceOf(payment) === ours) return { payment };
    const former = (await gateway.payments.formerSubmissions(payment)).find(
      (each) => each.connector === connector && referenceOf({ paymentId, providerData: each }) === ours,
    );
    if (former) return { payment, former };
    // Another provider had the first submission, whose reference is the id of the payment.
    return payment.connector === connector && ours === paymentId ? { payment, isOfPayment: true } : undefined;
  }
  if (providerReference === null) return undefined;
  const payment = await gateway.payments.findByProviderReference(connector, providerReference);
  if (payment) return { payment };
  const former = await gateway.payments.findFormer(connector, providerReference);
  const moved = former && (await gateway.payments.find(former));
  return moved && { payment: moved, former };
}

/**
 * `unmatched`: it is about nothing that we know, or not yet. `early`: another notification has to come first, such as the
 * settlement of a chargeback. `unanswered`: the provider did not answer the query that the notification asks for.
 */
type Applied = 'done' | 'unmatched' | 'early' | 'unanswered';

async function applyNotification(
  gateway: Gateway,
  row: NotificationRow,
  { payment, former, isOfPayment }: Subject,
): Promise<Applied> {
  const { connector, body } = row;
  const account = await findAccount(gateway, payment.mid);
  const about = { authoriseOnly: payment.isAuthorisation };
  const meaning = (await connectorOf(gateway, connector))?.interpretNotification(body, about);
  if (!account || !meaning || meaning.kind === 'unknown' || meaning.kind === 'notFound') return 'done';
  if (meaning.kind === 'unhandled') {
    await recordUnhandled(gateway, payment, { verb: 'notification', connector, outcome: meaning.event, tookMs: 0 });
    return 'done';
  }
  if (meaning.kind === 'stored') {
    const call: CallRecord = { verb: 'notification', connector, outcome: 'stored', tookMs: 0 };
    // Stored for the payment, whichever of its submissions brought it.
    if (payment.connector === connector) await recordPaymentMethod(gateway, payment, meaning.paymentMethod, call);
    return 'done';
  }
  if (isOfPayment) return 'unmatched';
  if (former) {
    // Nobody pays a former submission that waits for its payer.
    if (isForCurrentOnly(meaning) || meaning.kind === 'returned') return 'done';
    return (await applyToFormer(gateway, payment, account, former, meaning)) ? 'done' : 'unanswered';
  }
  if (meaning.kind === 'operation' || row.operation !== null || row.operationReference !== null)
    return applyToOperation(gateway, row, payment, account, meaning);
  if (meaning.kind === 'ask') return ask(gateway, payment, account);
  if (meaning.kind === 'returned') return resume(gateway, payment, account);
  if (meaning.kind === 'expired') return expire(gateway, payment, connector);
  if (meaning.kind === 'chargebackReport') {
    await applyChargebackReport(gateway, payment, meaning);
    return 'done';
  }
  const call: CallRecord = { verb: 'notification', connector, outcome: meaning.kind, tookMs: 0 };
  if (isChargeback(meaning)) return applyChargebackNotification(gateway, payment, account, meaning, call);
  if (isSecondPayment(payment, meaning)) {
    const reason = `Another payment: ${meaning.providerReference}`;
    await recordFormerSuccess(gateway, payment, meaning.kind, { ...call, reason });
  } else if (isExpectedAmount(payment, meaning.reportedAmount))
    await applyOutcome(gateway, payment, account, meaning, call);
  else {
    const wrong = wrongAmountRecord(payment, call, meaning.reportedAmount);
    await recordWrongAmount(gateway, payment, 'provider', wrong);
  }
  return 'done';
}

type Meaning = NonNullable<NotificationMeaning>;

/** Meanings that have no effect on a payment that another connection has taken over. */
const isForCurrentOnly = (
  meaning: Meaning,
): meaning is Extract<Meaning, { kind: 'operation' | 'chargebackReport' | 'expired' }> =>
  ['operation', 'chargebackReport', 'expired'].includes(meaning.kind);

/** The payer has paid once more: the provider reports a success under another reference than that of the money we know. */
const isSecondPayment = (
  { authorised, providerReference }: PaymentWithDetails,
  meaning: Meaning,
): meaning is Extract<Meaning, { kind: 'settled' | 'authorised' }> =>
  (meaning.kind === 'settled' || meaning.kind === 'authorised') &&
  authorised > 0n &&
  providerReference !== null &&
  meaning.providerReference !== undefined &&
  meaning.providerReference !== providerReference;

/** The provider has ended an authorisation. While an operation is under way, its outcome comes first. */
async function expire(gateway: Gateway, payment: PaymentWithDetails, connector: string): Promise<Applied> {
  if (payment.busy !== null) return 'unmatched';
  const call: CallRecord = { verb: 'notification', connector, outcome: 'expired', tookMs: 0 };
  if (payment.captured > 0n) {
    // Not what we know: the money was captured.
    await recordUnhandled(gateway, payment, call);
    return 'done';
  }
  await advance(gateway, payment, {
    event: 'expired',
    actor: 'provider',
    call,
    onlyIf: ({ state, authorised }) => state === 'PENDING' && authorised > 0n,
  });
  return 'done';
}

/** The webhook carries no outcome: queries the open operations of the payment, and the payment. */
async function ask(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<Applied> {
  const open = (await gateway.operations.of(payment)).filter(({ state }) => state === 'sent');
  for (const operation of open) await queryOperation(gateway, payment, operation);
  const current = open.length === 0 ? payment : ((await gateway.payments.find(payment)) ?? payment);
  const answered = await queryAsNotified(gateway, current, account);
  if (!answered) return 'unanswered';
  const { refunds = [], chargebacks = [], call } = answered;
  if (refunds.length > 0) await applyRefunds(gateway, answered.payment, refunds);
  await applyChargebacks(gateway, answered.payment, chargebacks, call);
  return 'done';
}

/** The payer has finished at the provider: resumes a payment that still waits for that. */
async function resume(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<Applied> {
  if (payment.nextStep?.kind !== 'redirect') return 'done';
  const { nextStep } = await resumeOnReturn(gateway, payment, account, {});
  return nextStep?.kind === 'redirect' ? 'unanswered' : 'done';
}

/** Whether the answer that has the provider's reference of one of ours may not be written yet. */
const hasUnanswered = (operations: readonly OperationRow[]): boolean =>
  operations.some(({ state, providerReference }) => state === 'sent' && providerReference === null);

/** The provider reports the outcome of a capture, void or refund. */
async function applyToOperation(
  gateway: Gateway,
  row: NotificationRow,
  payment: PaymentWithDetails,
  account: Account,
  meaning: NonNullable<NotificationMeaning>,
): Promise<Applied> {
  const operations = await gateway.operations.of(payment);
  const operation = operations.find(
    ({ operationId, providerReference }) =>
      operationId === row.operation || (providerReference !== null && providerReference === row.operationReference),
  );
  const isFailure = meaning.kind === 'operation' && meaning.outcome.kind === 'declined';
  if (!operation && !isFailure && meaning.kind === 'operation' && meaning.verb !== undefined) {
    const { operationReference } = row;
    if (hasUnanswered(operations) || operationReference === null) return 'unmatched';
    const { verb, outcome } = meaning;
    const applied = await applyElsewhere(gateway, payment, account, verb, operationReference, outcome);
    return applied === 'done' ? 'done' : 'unmatched';
  }
  // The capture of a sale is no operation of ours. One whose answer is not written yet may have this reference.
  const isOurs = hasUnanswered(operations) || payment.captured === 0n;
  if (!operation && (!isFailure || isOurs)) return 'unmatched';
  if (!operation || (operation.state === 'done' && isFailure)) {
    await recordFailedOperation(gateway, payment, operation);
    return 'done';
  }
  if (operation.state !== 'sent') return 'done';
  const isAsked = meaning.kind === 'ask';
  if (!isAsked && (meaning.kind !== 'operation' || !FINAL.includes(meaning.outcome.kind))) return 'done';
  const result = isAsked
    ? await queryOperation(gateway, payment, operation)
    : await applyOperationOutcome(gateway, payment, operation, meaning.outcome);
  await resolveRefusedExpiry(gateway, result, account);
  return result.operation.state === 'sent' && isAsked ? 'unanswered' : 'done';
}

const FINAL: readonly string[] = ['done', 'declined'];

/** A chargeback of an open payment waits for its settlement, and a reversal for its chargeback. */
async function applyChargebackNotification(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  outcome: ChargebackOutcome,
  call: CallRecord,
): Promise<Applied> {
  const progress = await chargebackProgress(gateway, payment, outcome);
  if (progress === 'repeated') return 'done';
  if (progress === 'early') return 'unmatched';
  if (isOpen(payment.state)) return chargeBackEarly(gateway, payment, account, outcome, call);
  await applyChargeback(gateway, payment, outcome, call);
  return 'done';
}

/**
 * A chargeback arrived before the settlement: queries the provider for the settlement. While the payment is open, the
 * notification is retried, and the payment is on the operator's attention list.
 */
async function chargeBackEarly(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  outcome: ChargebackOutcome,
  call: CallRecord,
): Promise<Applied> {
  const queried = await queryProviderNow(gateway, payment, account);
  const isMarked = queried.attention === 'unexpected_chargeback' && isOpen(queried.state);
  const after = isMarked ? queried : await applyChargeback(gateway, queried, outcome, call);
  return isOpen(after.state) ? 'early' : 'done';
}
