/** Applies what a provider reports about a chargeback: first the list of chargebacks, then the payment. */
import type { ChargebackFields, Outcome, ReportedAmount } from '../../connectors/connector.ts';
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
import type { CallRecord, Payment, PaymentChanges, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';
import { advance } from '../payments/advance.ts';
import { isOfAnother, isTaken } from './disputes.ts';

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

/** Whether the history has this chargeback of the provider already, or has nothing that could be reversed. */
export async function chargebackProgress(
  gateway: Gateway,
  payment: Payment,
  { kind, chargebackReference }: ChargebackOutcome,
): Promise<'new' | 'repeated' | 'early'> {
  const history = await gateway.payments.history(payment);
  if (kind === 'chargebackReversed') return history.some(isTaken) ? 'new' : 'early';
  const isKnown = history.some(({ event, call }) => event === kind && call?.chargeback === chargebackReference);
  return chargebackReference !== undefined && isKnown ? 'repeated' : 'new';
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
  if (!isOfAnother(await gateway.payments.history(payment), kind, chargebackReference)) {
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
