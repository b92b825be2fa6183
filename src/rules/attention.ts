/** Why a payment needs an operator's attention, and what the operator may decide about it. */
import { isRetriable, type StateName } from './states.ts';

export const ATTENTIONS = [
  'late_success',
  'wrong_amount',
  'unresolved',
  'conflict',
  'unexpected_chargeback',
  'risk_review',
] as const;

export type Attention = (typeof ATTENTIONS)[number];

/** `accept`: the money counts; `refund`: it is sent back to the payer; `dismiss`: only the mark is removed. */
export const RESOLUTIONS = ['accept', 'refund', 'dismiss'] as const;

export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * The decisions that each mark allows. An amount that differs from that of the payment is never accepted: the order, the
 * merchant's books and `money_is_conserved` have the amount of the payment.
 */
const ALLOWED: Readonly<Record<Attention, readonly Resolution[]>> = {
  late_success: ['accept', 'refund', 'dismiss'],
  wrong_amount: ['refund', 'dismiss'],
  unresolved: ['dismiss'],
  conflict: ['dismiss'],
  unexpected_chargeback: ['dismiss'],
  // Decided in the review queue.
  risk_review: ['dismiss'],
};

/** The decisions about a payment; what is not settled can be accepted or sent back only after it has ended. */
export const possibleResolutions = (attention: Attention, state: StateName): Resolution[] =>
  ALLOWED[attention].filter((resolution) => resolution === 'dismiss' || isRetriable(state));

/** The longest note of a decision. */
export const NOTE_LENGTH = 1000;
