/** The event types of Checkout.com's webhooks, and what the gateway does with each; a new one goes to the operator. */
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import type { ProviderOperation } from '../connector.ts';
import { eventTable, type UnhandledEvent } from '../events.ts';

export type CheckoutEvent =
  /** The payment and its open operations are queried. */
  | { about: 'payment' }
  /** Of the gateway, or made in the dashboard. */
  | { about: 'operation'; verb: ProviderOperation['verb']; isFailure?: true }
  | { about: 'chargeback'; kind: 'chargedBack' | 'chargebackReversed' }
  | { about: 'chargeback'; kind: 'chargebackReport'; stage?: ChargebackStage; state?: ChargebackState };

const STEP = 'Another event reports the outcome.';
const OURS = 'The gateway makes no such call.';

const report = (state: ChargebackState): CheckoutEvent => ({ about: 'chargeback', kind: 'chargebackReport', state });

const EVENTS: Readonly<Record<string, CheckoutEvent | UnhandledEvent>> = {
  payment_approved: { about: 'payment' },
  payment_declined: { about: 'payment' },
  payment_canceled: { about: 'payment' },
  payment_expired: { about: 'payment' },
  payment_paid: { about: 'payment' },
  payment_authentication_failed: { about: 'payment' },
  payment_captured: { about: 'operation', verb: 'capture' },
  payment_refunded: { about: 'operation', verb: 'refund' },
  payment_voided: { about: 'operation', verb: 'void' },
  payment_capture_declined: { about: 'operation', verb: 'capture', isFailure: true },
  payment_refund_declined: { about: 'operation', verb: 'refund', isFailure: true },
  payment_void_declined: { about: 'operation', verb: 'void', isFailure: true },

  dispute_received: { about: 'chargeback', kind: 'chargebackReport', stage: 'warning' },
  // The account was debited.
  dispute_evidence_required: { about: 'chargeback', kind: 'chargedBack' },
  dispute_evidence_submitted: report('answered'),
  dispute_arbitration_evidence_submitted: report('answered'),
  dispute_arbitration_sent_to_scheme: report('answered'),
  dispute_accepted: report('lost'),
  dispute_expired: report('lost'),
  dispute_lost: report('lost'),
  dispute_arbitration_lost: report('lost'),
  // It had been refunded before.
  dispute_resolved: report('closed'),
  dispute_won: { about: 'chargeback', kind: 'chargebackReversed' },
  dispute_arbitration_won: { about: 'chargeback', kind: 'chargebackReversed' },
  dispute_canceled: { about: 'chargeback', kind: 'chargebackReversed' },
  dispute_evidence_acknowledged_by_scheme: { about: 'nothing', because: STEP },

  payment_returned: { about: 'attention', because: 'The bank sent money back after the payment.' },
  payment_authorization_incremented: { about: 'attention', because: 'The authorised amount has changed.' },
  payment_authorization_increment_declined: { about: 'nothing', because: OURS },
  payment_pending: { about: 'nothing', because: STEP },
  payment_capture_pending: { about: 'nothing', because: STEP },
  payment_refund_pending: { about: 'nothing', because: STEP },
  payment_compliance_review: { about: 'nothing', because: STEP },
  payment_retry_scheduled: { about: 'nothing', because: STEP },
  payment_instrument_created: { about: 'nothing', because: 'The answer to the payment has the token.' },
  payment_instrument_verification_failed: { about: 'nothing', because: OURS },
  payment_instrument_verification_passed: { about: 'nothing', because: OURS },
  payment_instrument_error: { about: 'nothing', because: OURS },
  card_verified: { about: 'nothing', because: OURS },
  card_verification_declined: { about: 'nothing', because: OURS },
};

export const { eventOf, unhandled: UNHANDLED_EVENTS } = eventTable(EVENTS, ['payment_', 'dispute_']);
