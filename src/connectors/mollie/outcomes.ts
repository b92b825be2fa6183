/** What the objects of Mollie mean for the gateway: amounts, and the outcomes of payments, refunds and captures. */
import type { Capture, CardFailureReason, Chargeback, Payment, Refund } from '@mollie/api-client';
import { Secret } from '../../lib/crypto/secret.ts';
import { amountText, minorUnits } from '../../lib/money/money.ts';
import { isObject } from '../../lib/text/json.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { type DeclineCause, REASONS } from '../../rules/reasons.ts';
import {
  declineOf,
  type OperationOutcome,
  type Outcome,
  type ProviderState,
  type RefundElsewhere,
  type ReportedChargeback,
  unknownDecline,
} from '../connector.ts';
import { leftOpen } from '../events.ts';

type Amount = Payment['amount'];

/** The length of descriptions. */
export const TEXT_LENGTH = 255;

/** Mollie wants exactly as many decimals as the currency has. */
export function amountOf(minor: bigint, currency: string): Amount {
  const exponent = exponentOf(currency);
  return { currency, value: exponent === 0 ? String(minor) : amountText(minor, exponent) };
}

function readAmount({ currency, value }: Amount): { amount: bigint; currency: string } | 'invalid' {
  const amount = minorUnits(value, exponentOf(currency));
  return typeof amount === 'bigint' ? { amount, currency } : 'invalid';
}

/** Why a card payment failed. */
const CARD_FAILURES: Readonly<Record<CardFailureReason, DeclineCause>> = {
  authentication_abandoned: 'cancelledByPayer',
  authentication_failed: 'notAuthenticated',
  authentication_required: 'notAuthenticated',
  authentication_unavailable_acs: 'bankUnavailable',
  card_declined: 'refusedByBank',
  card_expired: 'expiredCard',
  inactive_card: 'notPermitted',
  insufficient_funds: 'insufficientFunds',
  invalid_cvv: 'wrongSecurityCode',
  invalid_card_holder_name: 'invalidCard',
  invalid_card_number: 'invalidCard',
  invalid_card_type: 'notPermitted',
  possible_fraud: 'suspectedFraud',
  refused_by_issuer: 'refusedByBank',
  unknown_reason: 'refusedByBank',
};

function failureOf({ details, statusReason }: Payment): Extract<Outcome, { kind: 'declined' }> {
  const reason = details && 'failureReason' in details ? details.failureReason : statusReason?.code;
  if (reason === undefined) return declineOf('refusedByBank');
  return Object.hasOwn(CARD_FAILURES, reason)
    ? declineOf(CARD_FAILURES[reason as CardFailureReason], { own: reason })
    : unknownDecline({ own: reason });
}

/** What is stored with a payment. */
export interface MollieState extends ProviderState {
  /** The customer of a series of payments. */
  customer?: string;
}

export const customerOf = (state: ProviderState | undefined): string | undefined =>
  typeof state?.customer === 'string' ? state.customer : undefined;

export function outcomeOf(payment: Payment): Outcome {
  const { id, customerId, mandateId, details, status } = payment;
  const fee = details && 'paypalFee' in details && details.paypalFee ? readAmount(details.paypalFee) : 'invalid';
  const answered = {
    providerReference: id,
    reportedAmount: readAmount(payment.amount),
    ...(customerId && { state: { customer: customerId } satisfies MollieState }),
    ...(mandateId && { paymentMethod: new Secret(mandateId) }),
    ...(payment.captureBefore && { captureBefore: Date.parse(payment.captureBefore) }),
    // Other fees are known to the settlement only.
    ...(fee !== 'invalid' && { fee }),
  };
  switch (status as `${typeof status}`) {
    case 'open': {
      const url = payment._links.checkout?.href;
      // A repetition has no page; it is open until the bank answers.
      if (url === undefined) return { kind: 'accepted', ...answered };
      return /^https?:\/\//.test(url)
        ? { kind: 'redirected', url, method: 'GET', params: {}, ...answered }
        : { kind: 'unknown', ...answered };
    }
    case 'pending':
      return { kind: 'accepted', ...answered };
    case 'authorized':
      return { kind: 'authorised', ...answered };
    case 'paid':
      return { ...settledOf(payment), ...answered };
    case 'canceled':
      return { ...declineOf('cancelledByPayer'), ...answered };
    case 'expired':
      return { ...declineOf('outOfTime'), ...answered };
    case 'failed':
      return { ...failureOf(payment), ...answered };
    default:
      return { ...leftOpen(status), ...answered };
  }
}

/**
 * The outcome of a payment that the payer was sent to. A bank transfer is open until the money arrives: the payer has the
 * account to transfer to, and does not come back to the page.
 */
export function queriedOutcomeOf(payment: Payment): Outcome {
  const outcome = outcomeOf(payment);
  const isTransfer = payment.details !== undefined && 'transferReference' in payment.details;
  if (outcome.kind !== 'redirected' || !isTransfer) return outcome;
  const { url: _, method: __, params: ___, ...answered } = outcome;
  return { ...answered, kind: 'accepted' };
}

/** Mollie decides about chargebacks with the bank: there is nothing to answer. */
const chargebackOf = ({ id, amount, reason, reversedAt }: Chargeback): ReportedChargeback => ({
  chargebackReference: id,
  chargedBack: readAmount(amount),
  respondBy: null,
  cause: reason?.description,
  isReversed: Boolean(reversedAt),
});

/**
 * What was captured of an authorisation, the refunds that were made in the web app of Mollie, those that failed, and the
 * chargebacks.
 */
function settledOf({ captureMode, amountCaptured, _embedded }: Payment) {
  const refunds = _embedded?.refunds ?? [];
  const chargebacks = (_embedded?.chargebacks ?? []).toSorted(
    (a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt),
  );
  return {
    kind: 'settled',
    ...(captureMode === 'manual' && amountCaptured && { captured: readAmount(amountCaptured) }),
    ...(refunds.length > 0 && { refunds: refunds.flatMap(reportedRefund).toReversed() }),
    ...(chargebacks.length > 0 && { chargebacks: chargebacks.map(chargebackOf) }),
  } as const;
}

function reportedRefund({ id, amount, status, metadata }: Refund): RefundElsewhere[] {
  const kind = Object.hasOwn(OPERATION_KINDS, status) ? OPERATION_KINDS[status] : undefined;
  const isElsewhere = !(isObject(metadata) && metadata.operation !== undefined);
  const isReported = kind === 'declined' || (kind === 'done' && isElsewhere);
  return isReported ? [{ reference: id, amount: readAmount(amount), isFailed: kind === 'declined' }] : [];
}

/** The states of refunds and captures; any other state leaves the outcome unknown. */
const OPERATION_KINDS: Readonly<Record<`${Refund['status'] | Capture['status']}`, 'done' | 'accepted' | 'declined'>> = {
  succeeded: 'done',
  refunded: 'done',
  // Waits until the balance at Mollie is high enough.
  queued: 'accepted',
  pending: 'accepted',
  processing: 'accepted',
  failed: 'declined',
  canceled: 'declined',
};

export function operationOutcomeOf({
  id,
  status,
  amount,
}: Pick<Refund | Capture, 'id' | 'status' | 'amount'>): OperationOutcome {
  const kind = Object.hasOwn(OPERATION_KINDS, status) ? OPERATION_KINDS[status] : undefined;
  const answered = { operationReference: id };
  if (kind === undefined) return { kind: 'unknown', ...answered };
  return kind === 'declined'
    ? { kind, reason: REASONS.providerSaidNo, ...answered }
    : { kind, reportedAmount: readAmount(amount), ...answered };
}
