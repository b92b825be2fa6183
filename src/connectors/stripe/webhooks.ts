/** Webhooks of Stripe: verifies their signature and age, and says what each event asks of the gateway. */
import type Stripe from 'stripe';
import { isObject } from '../../lib/text/json.ts';
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Connector, NotificationMeaning, ProviderNotification } from '../connector.ts';
import { fromStripe } from './amounts.ts';
import { stripeSdk } from './client.ts';
import { METADATA } from './metadata.ts';
import { type RefundFields, refundOutcome } from './refunds.ts';

type Json = Record<string, unknown>;
type Subject = Omit<ProviderNotification, 'eventId' | 'body'>;

/**
 * The kinds of events that are used. `payment`: what happened is read from Stripe, because the version of the API in
 * which an event is written is that of the webhook endpoint, and events arrive in any order.
 */
const KINDS: Readonly<Partial<Record<Stripe.Event.Type, Kind>>> = {
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
  'charge.dispute.updated': 'dispute',
  'charge.dispute.funds_withdrawn': 'dispute',
  'charge.dispute.funds_reinstated': 'dispute',
  'charge.dispute.closed': 'dispute',
  'radar.early_fraud_warning.created': 'warning',
  // Steps before the outcome, which another event reports.
  'payment_intent.created': 'nothing',
  'payment_intent.processing': 'nothing',
  'payment_intent.requires_action': 'nothing',
  'charge.captured': 'nothing',
  'charge.expired': 'nothing',
  'charge.failed': 'nothing',
  'charge.pending': 'nothing',
  'charge.succeeded': 'nothing',
  'charge.updated': 'nothing',
  'charge.refund.updated': 'nothing',
  'refund.created': 'nothing',
  // An update of a warning that was shown; a review that the operator makes at Stripe.
  'radar.early_fraud_warning.updated': 'nothing',
  'review.opened': 'nothing',
  'review.closed': 'nothing',
};

type Kind = 'payment' | 'refund' | 'dispute' | 'warning' | 'nothing' | 'unhandled';

/** The families of events that are about payments; a new event of one of them goes to the operator. */
const FAMILIES = /^(payment_intent|charge|refund|checkout\.session|radar\.early_fraud_warning|review)\./;

function kindOf(type: unknown): Kind {
  if (typeof type !== 'string') return 'nothing';
  const known = Object.hasOwn(KINDS, type) ? KINDS[type as Stripe.Event.Type] : undefined;
  return known ?? (FAMILIES.test(type) ? 'unhandled' : 'nothing');
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What an event is about; undefined if it is not about a payment of this connector. */
function subjectOf(kind: Kind, object: Json, connector: string): Subject | undefined {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  if (kind === 'dispute' || kind === 'warning') {
    // It has no metadata of ours.
    const providerReference = textOf(object.payment_intent);
    return providerReference === undefined ? undefined : { providerReference };
  }
  const operation = textOf(metadata[METADATA.operation]);
  if (kind === 'refund' && operation === undefined) {
    // Made in the dashboard.
    const providerReference = textOf(object.payment_intent);
    return providerReference === undefined ? undefined : { providerReference };
  }
  const reference = textOf(metadata[METADATA.reference]);
  if (reference === undefined || metadata[METADATA.connector] !== connector) return undefined;
  return kind === 'refund' ? { reference, operation, operationReference: textOf(object.id) } : { reference };
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
    const subject = kind !== 'nothing' && isObject(object) ? subjectOf(kind, object, connector) : undefined;
    if (!subject || !isObject(object)) return [];
    const { id, status, amount, currency } = object;
    const refund = subject.operation !== undefined && { refund: { id, status, amount, currency } };
    const chargeback = (kind === 'dispute' || kind === 'warning') && { chargeback: chargebackFields(object) };
    return [{ eventId: event.id, ...subject, body: { type: event.type, ...refund, ...chargeback } }];
  };

/** What is stored of a dispute or an early fraud warning. */
function chargebackFields({ id, status, amount, currency, reason, fraud_type, evidence_details }: Json): Json {
  const dueBy = isObject(evidence_details) ? evidence_details.due_by : undefined;
  return { id, status, amount, currency, reason: reason ?? fraud_type, due_by: dueBy };
}

/** A dispute by its event and status; an inquiry has a status that begins with `warning_`. */
function disputeMeaning(type: string, chargeback: Json): NotificationMeaning {
  const { id, status, amount, currency, reason, due_by } = chargeback;
  const fields = {
    chargedBack: fromStripe(amount, currency),
    // Zero if the bank takes no answer.
    respondBy: typeof due_by === 'number' ? (due_by === 0 ? null : due_by * 1000) : undefined,
    cause: textOf(reason)?.replaceAll('_', ' '),
    chargebackReference: textOf(id),
  };
  const isInquiry = textOf(status)?.startsWith('warning_') === true;
  const report = (changes: { stage?: ChargebackStage; state?: ChargebackState }): NotificationMeaning => ({
    kind: 'chargebackReport',
    ...fields,
    ...changes,
  });
  if (type === 'charge.dispute.funds_reinstated') return { kind: 'chargebackReversed', ...fields };
  if (type === 'charge.dispute.funds_withdrawn') return { kind: 'chargedBack', ...fields };
  if (type === 'charge.dispute.closed') {
    if (status === 'won') return { kind: 'chargebackReversed', ...fields };
    return report({ state: status === 'lost' ? 'lost' : 'closed' });
  }
  if (status === 'under_review' || status === 'warning_under_review') {
    return type === 'charge.dispute.updated' || isInquiry
      ? report({ ...(isInquiry && { stage: 'inquiry' }), state: 'answered' })
      : { kind: 'chargedBack', ...fields };
  }
  if (isInquiry) return report({ stage: 'inquiry' });
  // A dispute that was prevented, such as by a refund, takes no money.
  if (status === 'prevented') return report({ stage: 'warning', state: 'closed' });
  return type === 'charge.dispute.created' && status !== 'won' ? { kind: 'chargedBack', ...fields } : undefined;
}

export function interpretNotification({ type, refund, chargeback }: Json): NotificationMeaning {
  switch (kindOf(type)) {
    case 'payment':
      return { kind: 'ask' };
    case 'refund':
      return isObject(refund)
        ? { kind: 'operation', outcome: refundOutcome(refund as unknown as RefundFields) }
        : { kind: 'ask' };
    case 'dispute':
      // Stored by an earlier version without the dispute.
      return isObject(chargeback) ? disputeMeaning(String(type), chargeback) : { kind: 'chargedBack' };
    case 'warning':
      return {
        kind: 'chargebackReport',
        stage: 'warning',
        respondBy: null,
        cause: isObject(chargeback) ? textOf(chargeback.reason)?.replaceAll('_', ' ') : undefined,
      };
    case 'unhandled':
      return { kind: 'unhandled', event: String(type) };
    default:
      return undefined;
  }
}
