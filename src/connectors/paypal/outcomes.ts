/** Reads PayPal's orders, authorisations, captures and refunds as outcomes. */
import { Secret } from '../../lib/crypto/secret.ts';
import { REASONS } from '../../rules/reasons.ts';
import {
  declineOf,
  type OperationOutcome,
  type Outcome,
  type ProviderState,
  type ReportedAmount,
} from '../connector.ts';
import { leftOpen, type OpenStatuses } from '../events.ts';
import { fromPaypal } from './amounts.ts';
import { declinedBy } from './declines.ts';
import type { Authorization, Capture, Order, Refund } from './types.ts';

/** What is stored with a payment. */
export interface PaypalState extends ProviderState {
  order: string;
  /** The issue by which it was declined: the order is not captured after that. */
  ended?: string;
  authorization?: string;
  capture?: string;
}

const textIn = (state: ProviderState, name: keyof PaypalState): string | undefined => {
  const value = state[name];
  return typeof value === 'string' ? value : undefined;
};
export const orderIn = (state: ProviderState | undefined): string | undefined => state && textIn(state, 'order');
export const endIn = (state: ProviderState): string | undefined => textIn(state, 'ended');
export const authorizationIn = (state: ProviderState): string | undefined => textIn(state, 'authorization');
export const captureIn = (state: ProviderState): string | undefined => textIn(state, 'capture');

/** PayPal's token of the payer's wallet, once it is stored. */
export const vaultIdOf = ({ payment_source: source }: Order): string | undefined =>
  source?.paypal?.attributes?.vault?.id;

type Kind = 'settled' | 'authorised' | 'accepted' | 'declined';

const CAPTURE_KINDS: Readonly<Record<string, Kind>> = {
  COMPLETED: 'settled',
  // Refunded after it was paid.
  PARTIALLY_REFUNDED: 'settled',
  REFUNDED: 'settled',
  PENDING: 'accepted',
  DECLINED: 'declined',
  FAILED: 'declined',
};

const AUTHORIZATION_KINDS: Readonly<Record<string, Kind>> = {
  CREATED: 'authorised',
  PENDING: 'accepted',
  CAPTURED: 'settled',
  PARTIALLY_CAPTURED: 'settled',
  DENIED: 'declined',
  // Released by us or the merchant, or after PayPal's 29 days.
  VOIDED: 'declined',
};

/** The statuses of orders that leave the outcome open. */
export const OPEN_STATUSES: OpenStatuses = {
  APPROVED:
    'The payer has approved; the gateway captures the order when the payer returns, or when the webhook says so.',
  COMPLETED: 'An order without a capture or authorisation has no outcome yet.',
  SAVED: 'The gateway saves no orders.',
};

const kindIn = (kinds: Readonly<Record<string, Kind>>, status: string): Kind | undefined =>
  Object.hasOwn(kinds, status) ? kinds[status] : undefined;

const paymentsOf = ({ purchase_units: [unit] = [] }: Order) => unit?.payments ?? {};

/** A capture that failed may be followed by another one. */
export const captureOf = (order: Order): Capture | undefined => {
  const { captures = [] } = paymentsOf(order);
  return captures.find(({ status }) => CAPTURE_KINDS[status] !== 'declined') ?? captures.at(-1);
};

export const refundsOf = (order: Order): readonly Refund[] => paymentsOf(order).refunds ?? [];

/** What was captured of an authorisation, in parts perhaps. */
function capturedAmount(order: Order): ReportedAmount {
  const { captures = [] } = paymentsOf(order);
  const amounts = captures
    .filter(({ status }) => CAPTURE_KINDS[status] === 'settled')
    .map(({ amount }) => fromPaypal(amount));
  const [first] = amounts;
  if (first === undefined || first === 'invalid') return 'invalid';
  const sum = amounts.reduce((total, amount) => total + (amount === 'invalid' ? 0n : amount.amount), 0n);
  return { ...first, amount: sum };
}

const feeOf = ({ seller_receivable_breakdown: breakdown }: Capture) => {
  const fee = breakdown?.paypal_fee ? fromPaypal(breakdown.paypal_fee) : 'invalid';
  return fee === 'invalid' || fee.currency === undefined ? {} : { fee: { amount: fee.amount, currency: fee.currency } };
};

/** The outcome of an order; `notFound` if it has no payer, as that of a repetition, and was not captured. */
export function outcomeOf(order: Order): Outcome {
  const state: PaypalState = { order: order.id };
  const vaultId = vaultIdOf(order);
  const stored = vaultId === undefined ? {} : { paymentMethod: new Secret(vaultId) };
  const [authorization] = paymentsOf(order).authorizations ?? [];
  const capture = captureOf(order);
  if (authorization) return { ...authorizationOutcome(order, authorization, capture, state), ...stored };
  if (capture) return { ...captureOutcome(capture, state), ...stored };
  const answered = { providerReference: order.id, state };
  if (order.status === 'VOIDED') return { ...declineOf('outOfTime'), ...answered };
  if (order.status === 'CREATED') return { kind: 'notFound' };
  if (order.status !== 'PAYER_ACTION_REQUIRED') return { ...leftOpen(order.status, OPEN_STATUSES), ...answered };
  const url = order.links?.find(({ rel }) => rel === 'payer-action')?.href ?? '';
  return /^https?:\/\//.test(url)
    ? { kind: 'redirected', url, method: 'GET', params: {}, ...answered }
    : { kind: 'unknown', ...answered };
}

function captureOutcome(capture: Capture, state: PaypalState): Outcome {
  const { id, status, amount, processor_response: processor } = capture;
  const answered = {
    providerReference: id,
    reportedAmount: fromPaypal(amount),
    state: { ...state, capture: id },
    ...feeOf(capture),
  };
  const kind = kindIn(CAPTURE_KINDS, status);
  if (kind === undefined) return { ...leftOpen(status), ...answered };
  if (kind !== 'declined') return { kind, ...answered };
  const codes = { own: processor?.response_code, advice: processor?.payment_advice_code };
  return { ...declineOf('refusedByBank', codes), ...answered };
}

function authorizationOutcome(
  order: Order,
  { id, status, amount, processor_response: processor }: Authorization,
  capture: Capture | undefined,
  state: PaypalState,
): Outcome {
  const kind = kindIn(AUTHORIZATION_KINDS, status);
  const answered = {
    providerReference: id,
    state: { ...state, authorization: id, ...(capture && { capture: capture.id }) },
  };
  const reportedAmount = fromPaypal(amount);
  if (kind === 'settled') return { kind, ...answered, reportedAmount, captured: capturedAmount(order) };
  if (kind === undefined) return { ...leftOpen(status), ...answered };
  if (kind !== 'declined') return { kind, ...answered, reportedAmount };
  if (status === 'VOIDED') return { ...declineOf('outOfTime'), ...answered };
  const codes = { own: processor?.response_code, advice: processor?.payment_advice_code };
  return { ...declineOf('refusedByBank', codes), ...answered };
}

/** The outcome of a payment that PayPal declined by this issue. */
export const endedBy = (issue: string, order: string): Outcome => ({
  ...declinedBy(issue),
  providerReference: order,
  state: { order, ended: issue } satisfies PaypalState,
});

/** The statuses of captures and refunds that were requested; any other one leaves the outcome unknown. */
const OPERATION_KINDS: Readonly<Record<string, 'done' | 'accepted' | 'declined'>> = {
  COMPLETED: 'done',
  PARTIALLY_REFUNDED: 'done',
  REFUNDED: 'done',
  PENDING: 'accepted',
  DECLINED: 'declined',
  FAILED: 'declined',
  CANCELLED: 'declined',
};

export function operationOutcomeOf({ id, status, amount }: Pick<Refund, 'id' | 'status' | 'amount'>): OperationOutcome {
  const kind = Object.hasOwn(OPERATION_KINDS, status) ? OPERATION_KINDS[status] : undefined;
  if (kind === undefined) return { kind: 'unknown', operationReference: id };
  return kind === 'declined'
    ? { kind, reason: REASONS.providerSaidNo, operationReference: id }
    : { kind, reportedAmount: fromPaypal(amount), operationReference: id };
}
