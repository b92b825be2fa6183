/** Applies what a provider reports about a chargeback: first the list of chargebacks, then the payment. */
import type { ChargebackFields, Outcome, ReportedAmount, ReportedChargeback } from '../../connectors/connector.ts';
import { cut } from '../../lib/text/cut.ts';
import {
  CAUSE_LENGTH,
  CHARGEBACK_EVENTS,
  type ChargebackEvent,
  type ChargebackStage,
  type ChargebackState,
  isChargebackEvent,
  RESPONSE_DAYS,
} from '../../rules/chargebacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type {
  CallRecord,
  Payment,
  PaymentChanges,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';
import { advance, withHistory, writeWithRetry } from '../payments/advance.ts';
import { markBelow, takesBack } from '../payments/marks.ts';
import { hasTaken, isOfAnother, isOnlyNoted, namedAs } from './disputes.ts';

export type ChargebackOutcome = Extract<Outcome, { kind: ChargebackEvent }>;

export const isChargeback = (outcome: { kind: string }): outcome is ChargebackOutcome =>
  isChargebackEvent(outcome.kind);

/** The amount as the provider names it, if it is one of this payment. */
const namedAmount = ({ currency }: Payment, reported: ReportedAmount | undefined): bigint | undefined =>
  typeof reported === 'object' && reported.amount > 0n && (reported.currency ?? currency) === currency
    ? reported.amount
    : undefined;

/** Puts a chargeback on the list, or into a later stage there. */
export async function recordChargeback(
  gateway: Gateway,
  payment: Payment,
  { chargedBack, respondBy, cause = '' }: ChargebackFields,
  stage: ChargebackStage = 'chargeback',
): Promise<void> {
  const { mid, paymentId, amount, captured, refunded } = payment;
  const receivedAt = gateway.clock.now(mid);
  await gateway.chargebacks.record({
    mid,
    paymentId,
    stage,
    amount: namedAmount(payment, chargedBack) ?? (captured > refunded ? captured - refunded : amount),
    reason: cut(cause, CAUSE_LENGTH),
    receivedAt,
    respondBy: respondBy === undefined ? receivedAt + RESPONSE_DAYS * LIMITS.dayMs : respondBy,
  });
}

/** A provider announces a chargeback, or reports its state; no money moves. */
export async function applyChargebackReport(
  gateway: Gateway,
  payment: Payment,
  { stage, state, ...fields }: ChargebackFields & { stage?: ChargebackStage; state?: ChargebackState },
): Promise<void> {
  if (stage) await recordChargeback(gateway, payment, fields, stage);
  if (state) await gateway.chargebacks.report(payment, state, gateway.clock.now(payment.mid));
}

/**
 * Whether the history has this chargeback of the provider already, or has nothing that could be reversed. What has not come
 * back since its first chargeback is not taken a second time.
 */
export async function chargebackProgress(
  gateway: Gateway,
  payment: Payment,
  { kind, chargebackReference }: ChargebackOutcome,
): Promise<'new' | 'repeated' | 'early'> {
  const history = await gateway.payments.history(payment);
  if (kind === 'chargebackReversed') return hasTaken(history, undefined) ? 'new' : 'early';
  const isKept = payment.state === 'CHARGEBACK' && kind === 'secondChargedBack';
  const isKnown = namedAs(history, { chargeback: chargebackReference }).some(
    ({ event }) => event === kind || (isKept && isChargebackEvent(event)),
  );
  return isKnown ? 'repeated' : 'new';
}

/**
 * Puts the chargeback on the list before its payment changes: a payment that was charged back is always on it. If the
 * process dies in between, the notification is applied again.
 */
export async function applyChargeback(
  gateway: Gateway,
  payment: PaymentWithDetails,
  outcome: ChargebackOutcome,
  call: CallRecord,
  learned: PaymentChanges = {},
): Promise<PaymentWithDetails> {
  const { kind, chargedBack, chargebackReference } = outcome;
  const stage = CHARGEBACK_EVENTS[kind];
  if (!isOfAnother(await gateway.payments.history(payment), kind, { chargeback: chargebackReference })) {
    if (stage) await recordChargeback(gateway, payment, outcome, stage);
    else await gateway.chargebacks.report(payment, 'won', gateway.clock.now(payment.mid));
  }
  return advance(gateway, payment, {
    event: kind,
    actor: 'provider',
    call: { ...call, ...(chargebackReference !== undefined && { chargeback: chargebackReference }) },
    chargedBack: namedAmount(payment, chargedBack),
    learned,
  });
}

/** What a query says of chargebacks that the history does not have. One that came and went between two queries is left out. */
export async function newReports(
  gateway: Gateway,
  payment: Payment,
  chargebacks: readonly ReportedChargeback[],
  submission?: number,
): Promise<ChargebackOutcome[]> {
  const history = chargebacks.length === 0 ? [] : await gateway.payments.history(payment);
  return chargebacks.flatMap(({ isReversed, ...fields }): ChargebackOutcome[] => {
    const chargeback = fields.chargebackReference;
    const known = namedAs(history, { chargeback, submission });
    if (known.length === 0) return isReversed ? [] : [{ kind: 'chargedBack', ...fields }];
    const isNews = isReversed && !known.some(({ event }) => event.endsWith('chargebackReversed'));
    return isNews ? [{ kind: 'chargebackReversed', chargebackReference: chargeback }] : [];
  });
}

/** Applies the chargebacks that a query reports, each once; those of a payment that is still open wait for the next query. */
export async function applyChargebacks(
  gateway: Gateway,
  payment: PaymentWithDetails,
  chargebacks: readonly ReportedChargeback[],
  call: CallRecord,
): Promise<PaymentWithDetails> {
  if (isOpen(payment.state)) return payment;
  let current = payment;
  for (const outcome of await newReports(gateway, payment, chargebacks))
    current = await applyChargeback(gateway, current, outcome, { ...call, outcome: outcome.kind });
  return current;
}

/**
 * Records a chargeback of a former submission, or its reversal, once, and marks the payment: whether the money that was there
 * belongs to the payment is for the operator to say.
 */
export async function recordFormerChargeback(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { kind, chargebackReference }: ChargebackOutcome,
  record: CallRecord,
): Promise<void> {
  const call = { ...record, ...(chargebackReference !== undefined && { chargeback: chargebackReference }) };
  const event = `noted ${kind}` as const;
  const written = await writeWithRetry(gateway, payment, async (before, now): Promise<Transition | undefined> => {
    const history = await gateway.payments.history(before);
    if (namedAs(history, call).some((row) => row.event === event)) return undefined;
    const isReturned = before.attention === 'unexpected_chargeback' && isOnlyNoted(history, call);
    const kept = isReturned ? await markBelow(gateway, before) : before.attention;
    const attention = takesBack(kind) ? ('unexpected_chargeback' as const) : kept;
    return { before, after: { ...withHistory(before, now), attention }, event, actor: 'provider', call };
  });
  if (written) gateway.log.warn({ payment_id: payment.paymentId, event: kind }, 'a chargeback of a former submission');
}
