/** Records what happened to a payment without changing its state. */
import type { Authentication } from '../../connectors/connector.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import type { Attention } from '../../rules/attention.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  HistoryRow,
  OperationRow,
  Payment,
  PaymentChanges,
  PaymentDetails,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import type { UsedToken } from '../../store/wallets/wallet-tokens.ts';
import { learned } from '../connections/provider-data.ts';
import type { Gateway } from '../context.ts';
import { withHistory, writeTransition, writeWithRetry } from './advance.ts';
import { isOutOfTime, withDeadline } from './deadlines.ts';
import { strongerMark } from './marks.ts';
import { type QuerySchedule, scheduleNextQuery } from './query-schedule.ts';

/** Writes a history entry and these changes; returns the payment unchanged if it was changed concurrently. */
async function recordEntry(
  gateway: Gateway,
  payment: PaymentWithDetails,
  entry: Pick<Transition, 'event' | 'actor' | 'call'>,
  changed: PaymentChanges,
  authentication?: Authentication,
): Promise<PaymentWithDetails> {
  const at = gateway.clock.now(payment.mid);
  const recorded: PaymentWithDetails = { ...withHistory(payment, at), ...changed };
  // After the last query the payment is no longer due, even if its deadline is past.
  const after = changed.dueAt === null ? recorded : withDeadline(recorded);
  return (await writeTransition(gateway, { before: payment, after, ...entry }, authentication)) ? after : payment;
}

/** Whether the outcome should be known by now: no answer of the provider, or the payer or authorisation timed out. */
const isOutcomeOverdue = (gateway: Gateway, payment: PaymentWithDetails): boolean =>
  payment.inDoubt || payment.authorised > 0n || isOutOfTime(gateway, payment);

/** Records a query that brought no outcome and schedules the next; marks the payment when the backoff is exhausted. */
export function recordQuery(
  gateway: Gateway,
  payment: PaymentWithDetails,
  call: CallRecord,
  changed: PaymentChanges = {},
): Promise<PaymentWithDetails> {
  const { isBackoffExhausted, ...next } = scheduleNextQuery(
    payment.queryCount,
    gateway.clock.now(payment.mid),
    queryScheduleOf(payment),
  );
  const isMarked = isBackoffExhausted && isOutcomeOverdue(gateway, payment);
  const attention = isMarked ? strongerMark(payment.attention, 'unresolved') : payment.attention;
  const entry = { event: 'queried', actor: 'clock', call } as const;
  return recordEntry(gateway, payment, entry, { ...next, attention, ...changed });
}

const queryScheduleOf = ({ state }: Payment): QuerySchedule => (isOpen(state) ? 'open' : 'ended');

/**
 * Records an answer with a wrong amount: marks the payment for the operator and schedules a query. Retried after a
 * concurrent write, so that the mark is never lost.
 */
export async function recordWrongAmount(
  gateway: Gateway,
  payment: PaymentWithDetails,
  actor: Actor,
  call: CallRecord,
): Promise<PaymentWithDetails> {
  const transition = await writeWithRetry(gateway, payment, (before, now): Transition => {
    const { queryCount, dueAt } = scheduleNextQuery(before.queryCount, now, queryScheduleOf(before));
    // An ended payment is queried, too: money may have moved. An authorised one keeps its due time, unless this answer
    // belongs to its scheduled query.
    const isQueriedNext = before.authorised === 0n || actor === 'clock';
    const isConflictOver = before.attention === 'conflict' && before.busy === null;
    const marked: PaymentWithDetails = {
      ...withHistory(before, now),
      attention: strongerMark(isConflictOver ? null : before.attention, 'wrong_amount'),
      ...(isQueriedNext && { queryCount, dueAt }),
    };
    const after = isQueriedNext && dueAt === null ? marked : withDeadline(marked);
    return { before, after, event: 'doubted', actor, call };
  });
  return transition.after;
}

/**
 * Writes an entry of the provider with its mark, retried after a concurrent write. Returns false, and writes nothing, if the
 * history has it already.
 */
async function recordMarked(
  gateway: Gateway,
  payment: PaymentWithDetails,
  entry: Pick<Transition, 'event' | 'call'>,
  mark: Attention,
  isKnown?: (row: HistoryRow) => boolean,
): Promise<boolean> {
  const written = await writeWithRetry(gateway, payment, async (before, now): Promise<Transition | undefined> => {
    if (isKnown && (await gateway.payments.history(before)).some(isKnown)) return undefined;
    const after = { ...withHistory(before, now), attention: strongerMark(before.attention, mark) };
    return { before, after, actor: 'provider', ...entry };
  });
  return written !== undefined;
}

/**
 * Records once that the provider reports money besides that of the payment, however often it does: the operator has to look
 * at it.
 */
export async function recordFormerSuccess(
  gateway: Gateway,
  payment: PaymentWithDetails,
  event: 'settled' | 'authorised',
  call: CallRecord,
): Promise<void> {
  const noted = `noted ${event}` as const;
  const isKnown = (row: HistoryRow): boolean =>
    row.event === noted &&
    row.call?.connector === call.connector &&
    row.call.submission === call.submission &&
    row.call.reason === call.reason;
  if (await recordMarked(gateway, payment, { event: noted, call }, 'late_success', isKnown))
    gateway.log.warn({ payment_id: payment.paymentId, event }, 'the provider reports the payment as paid once more');
}

/**
 * Records that the provider took back the success of a capture, void or refund: the operator has to look at it. One of ours is
 * recorded once, with its amount, however often the provider reports it.
 */
export async function recordFailedOperation(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { verb, operationId, amount }: Partial<OperationRow> = {},
): Promise<void> {
  const call: CallRecord = {
    verb: 'notification',
    connector: payment.connector,
    outcome: `${verb ?? 'operation'} failed`,
    tookMs: 0,
    ...(amount !== undefined && { reported: { amount: String(amount), currency: payment.currency } }),
    operation: operationId,
  };
  const isKnown = ({ event, call: other }: HistoryRow): boolean =>
    event === 'doubted' && other?.operation !== undefined && other.operation === operationId;
  if (await recordMarked(gateway, payment, { event: 'doubted', call }, 'unresolved', isKnown))
    gateway.log.warn({ payment_id: payment.paymentId }, 'an operation that the provider had done failed afterwards');
}

/** Records an event of the provider that the gateway does not handle: the operator has to look at it. */
export async function recordUnhandled(gateway: Gateway, payment: PaymentWithDetails, call: CallRecord): Promise<void> {
  await recordMarked(gateway, payment, { event: 'doubted', call }, 'unresolved');
  gateway.log.warn(
    { payment_id: payment.paymentId, event: call.outcome },
    'the provider reports an event that is not handled',
  );
}

/** Stores the provider's token of the payment method of a series; not if the data of its payer was erased meanwhile. */
export async function recordPaymentMethod(
  gateway: Gateway,
  payment: PaymentWithDetails,
  paymentMethod: Secret,
  call: CallRecord,
): Promise<void> {
  await writeWithRetry(gateway, payment, (before, now): Transition | undefined => {
    if (!before.isRecurringInit || before.details.erasedAt !== undefined) return undefined;
    const brought = learned(gateway, before, { kind: 'unknown', paymentMethod });
    return { before, after: { ...withHistory(before, now), ...brought }, event: 'stored', actor: 'provider', call };
  });
}

/** Records that the payer passed the challenge; undefined if another copy of the result was recorded first. */
export async function recordAuthentication(
  gateway: Gateway,
  payment: PaymentWithDetails,
  call: CallRecord,
  authentication: Authentication,
): Promise<PaymentWithDetails | undefined> {
  const changed = { nextStep: null, dueAt: gateway.clock.now(payment.mid) + LIMITS.submissionMs };
  const entry = { event: 'authenticated', actor: 'provider', call } as const;
  const after = await recordEntry(gateway, payment, entry, changed, authentication);
  return after === payment ? undefined : after;
}

/** Stores the payer's choice and the fields that the payer filled in; undefined if a concurrent request was first. */
export async function recordPayerInput(
  gateway: Gateway,
  payment: PaymentWithDetails,
  details: PaymentDetails,
  chosen: Pick<Payment, 'brand' | 'connector' | 'routeReason'> & { payerTimeMs?: number | undefined } = payment,
  token?: UsedToken,
): Promise<PaymentWithDetails | undefined> {
  const now = gateway.clock.now(payment.mid);
  // Some methods give the payer less time than the session.
  const brandTimeMs = payment.brand === NO_BRAND_YET ? chosen.payerTimeMs : undefined;
  const payerUntil =
    brandTimeMs === undefined
      ? payment.payerUntil
      : Math.min(now + brandTimeMs, payment.payerUntil ?? now + brandTimeMs);
  const after: PaymentWithDetails = {
    ...withDeadline({
      ...payment,
      brand: chosen.brand,
      connector: chosen.connector,
      routeReason: chosen.routeReason,
      payerUntil,
      nextStep: null,
      dueAt: now + LIMITS.submissionMs,
      updatedAt: now,
    }),
    details,
    historyLength: payment.historyLength + 1,
  };
  return (await gateway.payments.collect(payment, after, token)) ? after : undefined;
}
