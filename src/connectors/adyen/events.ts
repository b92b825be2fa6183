/** The event codes of Adyen's webhooks, and what the gateway does with each; a new one is shown to the operator. */
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import { eventTable, type UnhandledEvent } from '../events.ts';

export type AdyenEvent =
  | { about: 'payment' }
  /** The token for repetitions, which the answer to the payment does not always have. */
  | { about: 'token' }
  /** The outcome of a capture, void or refund; `failure`: it fails after it had succeeded. */
  | { about: 'operation'; verb?: 'capture' | 'void' | 'refund'; isFailure?: true; hasAmount?: true }
  | { about: 'chargeback'; kind: 'chargedBack' | 'secondChargedBack' | 'chargebackReversed'; isFinal?: true }
  | { about: 'chargeback'; kind: 'chargebackReport'; stage?: ChargebackStage; state?: ChargebackState; isFinal?: true }
  /** The authorisation has ended without a capture. */
  | { about: 'expiry' };

const OURS = 'The gateway makes no such call.';
const NO_PAYMENT = 'It is not about a payment of the gateway.';
const MADE_ELSEWHERE = 'The gateway makes no such call: money may have moved.';

const EVENTS: Readonly<Record<string, AdyenEvent | UnhandledEvent>> = {
  AUTHORISATION: { about: 'payment' },
  RECURRING_CONTRACT: { about: 'token' },
  'recurring.token.created': { about: 'token' },
  'recurring.token.alreadyExisting': { about: 'token' },
  CAPTURE: { about: 'operation', verb: 'capture', hasAmount: true },
  CANCELLATION: { about: 'operation', verb: 'void' },
  // The void of a payment whose pspReference is not known.
  TECHNICAL_CANCEL: { about: 'operation', verb: 'void' },
  REFUND: { about: 'operation', verb: 'refund', hasAmount: true },
  CAPTURE_FAILED: { about: 'operation', isFailure: true },
  REFUND_FAILED: { about: 'operation', isFailure: true },
  // The bank sent a refund back, or settled money was taken away.
  REFUNDED_REVERSED: { about: 'operation', isFailure: true },
  SETTLED_REVERSED: { about: 'operation', isFailure: true },

  REQUEST_FOR_INFORMATION: { about: 'chargeback', kind: 'chargebackReport', stage: 'inquiry' },
  NOTIFICATION_OF_CHARGEBACK: { about: 'chargeback', kind: 'chargebackReport', stage: 'warning' },
  NOTIFICATION_OF_FRAUD: { about: 'chargeback', kind: 'chargebackReport', stage: 'warning', isFinal: true },
  CHARGEBACK: { about: 'chargeback', kind: 'chargedBack' },
  CHARGEBACK_REVERSED: { about: 'chargeback', kind: 'chargebackReversed' },
  SECOND_CHARGEBACK: { about: 'chargeback', kind: 'secondChargedBack', isFinal: true },
  PREARBITRATION_WON: { about: 'chargeback', kind: 'chargebackReversed' },
  PREARBITRATION_LOST: { about: 'chargeback', kind: 'secondChargedBack', isFinal: true },
  INFORMATION_SUPPLIED: { about: 'chargeback', kind: 'chargebackReport', state: 'answered' },
  ISSUER_RESPONSE_TIMEFRAME_EXPIRED: {
    about: 'nothing',
    because: 'CHARGEBACK_REVERSED or PREARBITRATION_WON reports the money.',
  },
  DISPUTE_DEFENSE_PERIOD_ENDED: { about: 'nothing', because: 'The chargeback was reported with its deadline.' },
  ISSUER_COMMENTS: { about: 'nothing', because: 'It is a comment of the issuer.' },

  EXPIRE: { about: 'expiry' },
  CANCEL_OR_REFUND: { about: 'attention', because: 'It does not say which of the two was done.' },
  REFUND_WITH_DATA: { about: 'attention', because: MADE_ELSEWHERE },
  POSTPONED_REFUND: { about: 'attention', because: MADE_ELSEWHERE },
  VOID_PENDING_REFUND: { about: 'attention', because: MADE_ELSEWHERE },
  AUTHORISATION_ADJUSTMENT: { about: 'attention', because: 'The authorised amount has changed.' },
  HANDLED_EXTERNALLY: { about: 'attention', because: MADE_ELSEWHERE },
  PROCESS_RETRY: { about: 'attention', because: MADE_ELSEWHERE },

  PENDING: { about: 'nothing', because: 'AUTHORISATION reports the outcome.' },
  OFFER_CLOSED: { about: 'nothing', because: 'The payer’s time is the gateway’s.' },
  MANUAL_REVIEW_ACCEPT: { about: 'nothing', because: 'AUTHORISATION reports the outcome.' },
  MANUAL_REVIEW_REJECT: { about: 'nothing', because: 'CANCELLATION or REFUND reports the outcome.' },
  ORDER_OPENED: { about: 'nothing', because: OURS },
  ORDER_CLOSED: { about: 'nothing', because: OURS },
  AUTORESCUE: { about: 'nothing', because: OURS },
  AUTORESCUE_NEXT_ATTEMPT: { about: 'nothing', because: OURS },
  CANCEL_AUTORESCUE: { about: 'nothing', because: OURS },
  DONATION: { about: 'nothing', because: OURS },
  'recurring.token.updated': { about: 'nothing', because: 'The token itself does not change.' },
  'recurring.token.disabled': { about: 'nothing', because: 'The next repetition is declined.' },
  REPORT_AVAILABLE: { about: 'nothing', because: NO_PAYMENT },
  PAYOUT_THIRDPARTY: { about: 'nothing', because: NO_PAYMENT },
  PAYOUT_DECLINE: { about: 'nothing', because: NO_PAYMENT },
  PAYOUT_EXPIRE: { about: 'nothing', because: NO_PAYMENT },
  PAIDOUT_REVERSED: { about: 'nothing', because: NO_PAYMENT },
};

/** A code that the table does not have, such as one of the many codes of pre-arbitration, goes to the operator. */
export const { eventOf, unhandled: UNHANDLED_EVENTS } = eventTable(EVENTS, ['']);
