/** Reads Checkout.com's webhooks: verifies their signature, and interprets the events about payments. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject, isText } from '../../lib/text/json.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { NotificationMeaning, ProviderNotification } from '../connector.ts';
import { fromCheckout } from './amounts.ts';
import { type CheckoutEvent, eventOf } from './events.ts';
import { parseReference } from './requests.ts';

type Json = Record<string, unknown>;

const SIGNATURE = /^[\da-f]{64}$/i;

/** The signature has no time: a repeated webhook is recognised by the id of its event. */
function isSigned(signature: unknown, body: Buffer, secret: string): boolean {
  if (secret === '' || typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), createHmac('sha256', secret).update(body).digest());
}

/** `secrets` has the present key and, while it is changed, the former one: what was signed before arrives later. */
export function readWebhook(
  headers: Readonly<Json>,
  body: Buffer,
  secrets: readonly string[],
  channel: string,
): ProviderNotification[] | undefined {
  if (!secrets.some((secret) => isSigned(headers['cko-signature'], body, secret))) return undefined;
  try {
    const event: unknown = JSON.parse(body.toString('utf8'));
    return isObject(event) ? notificationsOf(event, channel) : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined => (isText(value, 255) && value !== '' ? value : undefined);

function notificationsOf({ id, type, data }: Json, channel: string): ProviderNotification[] {
  if (textOf(id) === undefined || textOf(type) === undefined || !isObject(data)) return [];
  // One webhook may serve several channels of an account.
  if (data.processing_channel_id !== undefined && data.processing_channel_id !== channel) return [];
  const event = eventOf(String(type));
  const stored = { type, amount: data.amount, currency: data.currency };
  if (event.about === 'nothing') return [];
  if (event.about === 'chargeback' || 'payment_id' in data) {
    const subject = parseReference(data.payment_reference);
    const dispute = { id: data.id, category: data.category, code: data.reason_code, due: data.evidence_required_by };
    const about = { reference: subject?.reference, providerReference: textOf(data.payment_id) };
    return [{ eventId: String(id), ...about, body: { ...stored, dispute } }];
  }
  const subject = parseReference(data.reference);
  const about = {
    eventId: String(id),
    reference: subject?.reference,
    providerReference: textOf(data.id),
    body: stored,
  };
  if (event.about !== 'operation') return [about];
  return [{ ...about, operation: subject?.operation, operationReference: textOf(data.action_id) }];
}

function chargebackOf(
  { about: _, ...event }: Extract<CheckoutEvent, { about: 'chargeback' }>,
  { amount, currency, dispute }: Json,
): NotificationMeaning {
  const { id, category, code, due } = isObject(dispute) ? dispute : ({} as Json);
  const endsAt = typeof due === 'string' ? Date.parse(due) : Number.NaN;
  const isAnswerable = event.kind === 'chargedBack';
  return {
    ...event,
    chargedBack: fromCheckout(amount, currency),
    respondBy: Number.isNaN(endsAt) ? (isAnswerable ? undefined : null) : endsAt,
    cause: [textOf(category)?.replaceAll('_', ' '), textOf(code)].filter(Boolean).join(', '),
    chargebackReference: textOf(id),
  };
}

function operationMeaning(
  { verb, isFailure }: Extract<CheckoutEvent, { about: 'operation' }>,
  { amount, currency }: Json,
): NotificationMeaning {
  if (isFailure) return { kind: 'operation', verb, outcome: { kind: 'declined', reason: REASONS.providerSaidNo } };
  // A void reports the amount of the payment.
  const reported = verb === 'void' ? {} : { reportedAmount: fromCheckout(amount, currency) };
  return { kind: 'operation', verb, outcome: { kind: 'done', ...reported } };
}

export function interpretNotification(body: Json): NotificationMeaning {
  const type = String(body.type);
  const event = eventOf(type);
  switch (event.about) {
    case 'payment':
      return { kind: 'ask' };
    case 'operation':
      return operationMeaning(event, body);
    case 'chargeback':
      return chargebackOf(event, body);
    case 'attention':
      return { kind: 'unhandled', event: type };
    case 'nothing':
      return undefined;
  }
}
