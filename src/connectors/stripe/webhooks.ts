/** Webhooks of Stripe: verifies their signature and age, and says what each event asks of the gateway. */
import type Stripe from 'stripe';
import { isObject } from '../../lib/text/json.ts';
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Connector, NotificationMeaning, ProviderNotification } from '../connector.ts';
import { fromStripe } from './amounts.ts';
import { stripeSdk } from './client.ts';
import { eventOf } from './events.ts';
import { METADATA } from './metadata.ts';
import { type RefundFields, refundOutcome } from './refunds.ts';

type Json = Record<string, unknown>;
type Subject = Omit<ProviderNotification, 'eventId' | 'body'>;
type About = ReturnType<typeof eventOf>['about'];

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What an event is about; undefined if it is not about a payment of this connector. */
function subjectOf(about: About, object: Json, connector: string): Subject | undefined {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const operation = textOf(metadata[METADATA.operation]);
  const reference = textOf(metadata[METADATA.reference]);
  // A dispute, a warning and what was made in the dashboard have no metadata of ours.
  const hasOurs = about === 'refund' ? operation !== undefined : about === 'payment' || reference !== undefined;
  if (!hasOurs) {
    const providerReference = textOf(object.payment_intent);
    return providerReference === undefined ? undefined : { providerReference };
  }
  if (reference === undefined || metadata[METADATA.connector] !== connector) return undefined;
  return about === 'refund' ? { reference, operation, operationReference: textOf(object.id) } : { reference };
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
    const { about } = eventOf(String(event.type));
    const subject = about !== 'nothing' && isObject(object) ? subjectOf(about, object, connector) : undefined;
    if (!subject || !isObject(object)) return [];
    const { id, status, amount, currency } = object;
    const refund = subject.operation !== undefined && { refund: { id, status, amount, currency } };
    const chargeback = (about === 'dispute' || about === 'warning') && { chargeback: chargebackFields(object) };
    return [{ eventId: event.id, ...subject, body: { type: event.type, ...refund, ...chargeback } }];
  };

/** What is stored of a dispute or an early fraud warning. */
function chargebackFields({ id, status, amount, currency, reason, fraud_type, evidence_details }: Json): Json {
  const dueBy = isObject(evidence_details) ? evidence_details.due_by : undefined;
  return { id, status, amount, currency, reason: reason ?? fraud_type, due_by: dueBy };
}

/** An update with one of these statuses says nothing that another event does not. */
const UNCHANGED: readonly string[] = ['needs_response', 'won', 'lost'];

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
  const unhandled = { kind: 'unhandled', event: `${type} ${textOf(status) ?? ''}`.trim() } as const;
  if (type === 'charge.dispute.funds_reinstated') return { kind: 'chargebackReversed', ...fields };
  if (type === 'charge.dispute.funds_withdrawn') return { kind: 'chargedBack', ...fields };
  if (type === 'charge.dispute.closed') {
    if (status === 'won') return { kind: 'chargebackReversed', ...fields };
    if (status === 'lost') return report({ state: 'lost' });
    return status === 'warning_closed' || status === 'prevented' ? report({ state: 'closed' }) : unhandled;
  }
  if (status === 'under_review' || status === 'warning_under_review') {
    return type === 'charge.dispute.updated' || isInquiry
      ? report({ ...(isInquiry && { stage: 'inquiry' }), state: 'answered' })
      : { kind: 'chargedBack', ...fields };
  }
  if (isInquiry) return report({ stage: 'inquiry' });
  // A dispute that was prevented, such as by a refund, takes no money.
  if (status === 'prevented') return report({ stage: 'warning', state: 'closed' });
  if (type === 'charge.dispute.created') return status === 'won' ? undefined : { kind: 'chargedBack', ...fields };
  return UNCHANGED.includes(textOf(status) ?? '') ? undefined : unhandled;
}

/** A new status may take back what was done. */
function refundMeaning(type: string, refund: RefundFields): NotificationMeaning {
  const outcome = refundOutcome(refund);
  return outcome.kind === 'unknown'
    ? { kind: 'unhandled', event: `${type} ${textOf(refund.status) ?? ''}`.trim() }
    : { kind: 'operation', outcome };
}

export function interpretNotification({ type, refund, chargeback }: Json): NotificationMeaning {
  switch (eventOf(String(type)).about) {
    case 'payment':
      return { kind: 'ask' };
    case 'refund':
      return isObject(refund) ? refundMeaning(String(type), refund as unknown as RefundFields) : { kind: 'ask' };
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
    case 'attention':
      return { kind: 'unhandled', event: String(type) };
    case 'nothing':
      return undefined;
  }
}
