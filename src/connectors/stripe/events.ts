/** The types of Stripe's events, and what the gateway does with each; a new one about a payment goes to the operator. */
import type Stripe from 'stripe';
import { eventTable, type Unhandled, type UnhandledEvent, unhandledStatuses } from '../events.ts';

/**
 * `payment`: what happened is read from Stripe, because the version of the API in which an event is written is that of the
 * webhook endpoint, and events arrive in any order.
 */
export interface StripeEvent {
  about: 'payment' | 'refund' | 'dispute' | 'warning';
}

const FAMILIES = [
  'payment_intent.',
  'charge.',
  'refund.',
  'checkout.session.',
  'radar.early_fraud_warning.',
  'review.',
] as const;

/** Every event about payments that the SDK knows has an entry. */
type PaymentEvent = Extract<Stripe.Event.Type, `${(typeof FAMILIES)[number]}${string}`>;

const PAYMENT: StripeEvent = { about: 'payment' };
const REFUND: StripeEvent = { about: 'refund' };
const DISPUTE: StripeEvent = { about: 'dispute' };
const nothing = (because: string): UnhandledEvent => ({ about: 'nothing', because });
const STEP = nothing('It is a step before the outcome, which another event reports.');
const OF_CHARGE = nothing('The event of its PaymentIntent reports it.');
const OF_REVIEW = nothing(
  'The operator makes the review at Stripe; the event of the PaymentIntent reports what came of it.',
);

const EVENTS: Readonly<Record<PaymentEvent, StripeEvent | UnhandledEvent>> = {
  'payment_intent.succeeded': PAYMENT,
  'payment_intent.payment_failed': PAYMENT,
  'payment_intent.amount_capturable_updated': PAYMENT,
  'payment_intent.canceled': PAYMENT,
  'checkout.session.completed': PAYMENT,
  'checkout.session.expired': PAYMENT,
  'checkout.session.async_payment_succeeded': PAYMENT,
  'checkout.session.async_payment_failed': PAYMENT,
  'charge.refunded': PAYMENT,
  'refund.updated': REFUND,
  // The former name of refund.updated, which older versions of the API send.
  'charge.refund.updated': REFUND,
  'refund.failed': REFUND,
  'charge.dispute.created': DISPUTE,
  'charge.dispute.updated': DISPUTE,
  'charge.dispute.funds_withdrawn': DISPUTE,
  'charge.dispute.funds_reinstated': DISPUTE,
  'charge.dispute.closed': DISPUTE,
  'radar.early_fraud_warning.created': { about: 'warning' },

  'payment_intent.created': STEP,
  'payment_intent.processing': STEP,
  'payment_intent.requires_action': STEP,
  'payment_intent.partially_funded': {
    about: 'attention',
    because: 'The payer has transferred less than the amount.',
  },
  'charge.captured': OF_CHARGE,
  'charge.expired': OF_CHARGE,
  'charge.failed': OF_CHARGE,
  'charge.pending': OF_CHARGE,
  'charge.succeeded': OF_CHARGE,
  'charge.updated': nothing('It changes no money.'),
  'refund.created': nothing('The answer to the refund, charge.refunded or refund.updated reports it.'),
  'radar.early_fraud_warning.updated': nothing('The warning was reported when it was created.'),
  'review.opened': OF_REVIEW,
  'review.closed': OF_REVIEW,
};

const { eventOf, unhandled } = eventTable<StripeEvent>(EVENTS, FAMILIES);

const APPEAL = 'The gateway does not know appeals against disputes that were lost: they are made at Stripe.';

/** All statuses of PaymentIntents, Checkout Sessions and refunds are handled, and these of disputes are not. */
export const UNHANDLED: readonly Unhandled[] = [
  ...unhandled,
  { name: 'appeal_needs_response', effect: 'attention', because: APPEAL },
  { name: 'appeal_under_review', effect: 'attention', because: APPEAL },
  ...unhandledStatuses(),
];

export { eventOf };
