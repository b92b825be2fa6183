/** What the objects of Mollie mean for the gateway: amounts, and the outcomes of payments, refunds and captures. */
import type { Capture, CardFailureReason, Payment, Refund } from '@mollie/api-client';
import { amountText, minorUnits } from '../../lib/money.ts';
import { Secret } from '../../lib/secret.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { type DeclineCause, REASONS } from '../../rules/reasons.ts';
import { declineOf, type OperationOutcome, type Outcome, type ProviderState } from '../connector.ts';

type Amount = Payment['amount'];

/** The length of descriptions. */
export const TEXT_LENGTH = 255;

const exponentOf = (currency: string): number => CURRENCIES[currency]?.exponent ?? 2;

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

function causeOfFailure({ details, statusReason }: Payment): DeclineCause {
  const reason = details && 'failureReason' in details ? details.failureReason : statusReason?.code;
  return reason !== undefined && Object.hasOwn(CARD_FAILURES, reason)
    ? CARD_FAILURES[reason as CardFailureReason]
    : 'refusedByBank';
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
      return { kind: isChargedBack(payment) ? 'chargedBack' : 'settled', ...answered };
    case 'canceled':
      return { ...declineOf('cancelledByPayer'), ...answered };
    case 'expired':
      return { ...declineOf('outOfTime'), ...answered };
    case 'failed':
      return { ...declineOf(causeOfFailure(payment)), ...answered };
    default:
      return { kind: 'unknown', ...answered };
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

/** A chargeback that was reversed does not count. */
const isChargedBack = ({ _embedded }: Payment): boolean =>
  (_embedded?.chargebacks ?? []).some(({ reversedAt }) => !reversedAt);

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
