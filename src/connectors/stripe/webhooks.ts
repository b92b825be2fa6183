/** Webhooks of Stripe: verifies their signature and age, and says what each event asks of the gateway. */
import type Stripe from 'stripe';
import { isObject } from '../../lib/json.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Connector, NotificationMeaning, ProviderNotification } from '../connector.ts';
import { stripeSdk } from './client.ts';
import { METADATA } from './intents.ts';
import { type RefundFields, refundOutcome } from './operations.ts';

type Json = Record<string, unknown>;
type Subject = Omit<ProviderNotification, 'eventId' | 'body'>;

/**
 * The kinds of events that are used. `payment`: what happened is read from Stripe, because the version of the API in
 * which an event is written is that of the webhook endpoint, and events arrive in any order.
 */
const KINDS: Readonly<Partial<Record<Stripe.Event.Type, 'payment' | 'refund' | 'dispute'>>> = {
  'payment_intent.succeeded': 'payment',
  'payment_intent.payment_failed': 'payment',
  'payment_intent.amount_capturable_updated': 'payment',
  'payment_intent.canceled': 'payment',
  'checkout.session.completed': 'payment',
  'checkout.session.expired': 'payment',
  'checkout.session.async_payment_succeeded': 'payment',
  'checkout.session.async_payment_failed': 'payment',
  'charge.refunded': 'payment',
  'refund.updated': 'refund',
  'refund.failed': 'refund',
  'charge.dispute.created': 'dispute',
  // An inquiry that became a chargeback.
  'charge.dispute.funds_withdrawn': 'dispute',
};

const kindOf = (type: unknown): 'payment' | 'refund' | 'dispute' | undefined =>
  typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type as Stripe.Event.Type] : undefined;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What an event is about; undefined if it is not about a payment of this connector. */
function subjectOf(kind: 'payment' | 'refund' | 'dispute', object: Json, connector: string): Subject | undefined {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  if (kind === 'dispute') {
    // It has no metadata of ours. An inquiry of the issuer moves no money.
    const providerReference = textOf(object.payment_intent);
    const isInquiry = textOf(object.status)?.startsWith('warning_');
    return providerReference === undefined || isInquiry ? undefined : { providerReference };
  }
  const reference = textOf(metadata[METADATA.reference]);
  if (reference === undefined || metadata[METADATA.connector] !== connector) return undefined;
  if (kind === 'payment') return { reference };
  const operation = textOf(metadata[METADATA.operation]);
  return operation === undefined ? undefined : { reference, operation, operationReference: textOf(object.id) };
}

export const webhookReader =
  (secret: string, connector: string): Connector['readNotifications'] =>
  async (headers, body, now) => {
    const { webhooks } = await stripeSdk();
    const signature = textOf(headers['stripe-signature']) ?? '';
    let event: Stripe.Event;
    try {
      event = webhooks.constructEvent(body, signature, secret, LIMITS.signatureToleranceMs / 1000, undefined, now);
    } catch {
      return undefined;
    }
    const object: unknown = event.data?.object;
    const kind = kindOf(event.type);
    const subject = kind && isObject(object) ? subjectOf(kind, object, connector) : undefined;
    if (!subject || !isObject(object)) return [];
    const { id, status, amount, currency } = object;
    const refund = kind === 'refund' && { refund: { id, status, amount, currency } };
    return [{ eventId: event.id, ...subject, body: { type: event.type, ...refund } }];
  };

export function interpretNotification({ type, refund }: Json): NotificationMeaning {
  switch (kindOf(type)) {
    case 'payment':
      return { kind: 'ask' };
    case 'refund':
      return { kind: 'operation', outcome: refundOutcome(refund as RefundFields) };
    case 'dispute':
      // Its amount is not compared: after a refund, less than the amount of the payment is charged back.
      return { kind: 'chargedBack' };
    default:
      return undefined;
  }
}
