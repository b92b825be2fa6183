/** The event types of PayPal's webhooks, and what the gateway does with each; a new one about a payment goes to the operator. */
import { eventTable, type UnhandledEvent } from '../events.ts';

export type PaypalEvent =
  /** The payment and its open operations are queried. */
  | { about: 'payment' }
  /** The payer has approved the order, and perhaps does not come back: it is captured. */
  | { about: 'approval' }
  /** Of an authorisation it is an operation; that of a sale is its payment. */
  | { about: 'capture' }
  | { about: 'refund' }
  /** An authorisation was released, by PayPal after its time or by anybody. */
  | { about: 'void' }
  | { about: 'dispute' };

const EVENTS: Readonly<Record<string, PaypalEvent | UnhandledEvent>> = {
  'CHECKOUT.ORDER.APPROVED': { about: 'approval' },
  'CHECKOUT.ORDER.DECLINED': { about: 'payment' },
  'CHECKOUT.ORDER.VOIDED': { about: 'payment' },
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED': { about: 'payment' },
  'PAYMENT.AUTHORIZATION.CREATED': { about: 'payment' },
  'PAYMENT.AUTHORIZATION.VOIDED': { about: 'void' },
  'PAYMENT.CAPTURE.COMPLETED': { about: 'capture' },
  'PAYMENT.CAPTURE.PENDING': { about: 'capture' },
  'PAYMENT.CAPTURE.DECLINED': { about: 'capture' },
  'PAYMENT.CAPTURE.DENIED': { about: 'capture' },
  'PAYMENT.CAPTURE.REFUNDED': { about: 'refund' },
  'PAYMENT.REFUND.PENDING': { about: 'refund' },
  'PAYMENT.REFUND.FAILED': { about: 'refund' },
  'PAYMENT.CAPTURE.REVERSED': {
    about: 'attention',
    because: 'It is the money of a dispute, or that of a bank that took a debit back without one.',
  },
  'CUSTOMER.DISPUTE.CREATED': { about: 'dispute' },
  'CUSTOMER.DISPUTE.UPDATED': { about: 'dispute' },
  'CUSTOMER.DISPUTE.RESOLVED': { about: 'dispute' },

  'CHECKOUT.ORDER.COMPLETED': {
    about: 'nothing',
    because: 'The event of its capture or authorisation reports the money.',
  },
  'CHECKOUT.ORDER.PROCESSED': {
    about: 'nothing',
    because: 'The event of its capture or authorisation reports the money.',
  },
  'CHECKOUT.ORDER.SAVED': { about: 'nothing', because: 'The gateway saves no orders.' },
  'RISK.DISPUTE.CREATED': { about: 'nothing', because: 'It is the former name of CUSTOMER.DISPUTE.CREATED.' },
  'VAULT.PAYMENT-TOKEN.CREATED': {
    about: 'nothing',
    because: 'The order has the token, and is read when it is needed.',
  },
  'VAULT.PAYMENT-TOKEN.DELETED': { about: 'nothing', because: 'The next repetition is declined as revoked.' },
  'VAULT.PAYMENT-TOKEN.DELETION-INITIATED': {
    about: 'nothing',
    because: 'The next repetition is declined as revoked.',
  },
};

export const { eventOf, unhandled: UNHANDLED_EVENTS } = eventTable(EVENTS, [
  'CHECKOUT.',
  'PAYMENT.',
  'CUSTOMER.DISPUTE.',
]);

/** The events that a webhook has to be subscribed to. */
export const NEEDED_EVENTS: readonly string[] = Object.keys(EVENTS).filter((type) => eventOf(type).about !== 'nothing');
