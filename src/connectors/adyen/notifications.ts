/** Reads Adyen's webhooks: verifies the signature of each item, and interprets the events that concern payments. */
import { createRequire } from 'node:module';
import type Hmac from '@adyen/api-library/lib/src/utils/hmacValidator.js';
import { isObject, isText } from '../../lib/json.ts';
import { REASONS } from '../../rules/reasons.ts';
import { declineOf, type NotificationMeaning, type ProviderNotification, type Submission } from '../connector.ts';
import { fromAdyen } from './amounts.ts';
import { causeOfRefusal } from './declines.ts';
import { paidKind, recurringData } from './outcomes.ts';

const require = createRequire(import.meta.url);
const loadValidator = () => new (require('@adyen/api-library/lib/src/utils/hmacValidator.js') as typeof Hmac).default();

type Json = Record<string, unknown>;
type SignedItem = Parameters<InstanceType<(typeof Hmac)['default']>['validateHMAC']>[0];

/** An item as it is stored: what the signature covers, the reason of a refusal, and what repetitions need. */
interface StoredItem extends Json {
  eventCode: string;
  success: boolean;
  pspReference: string;
  amount: Json;
  reason: string;
  additionalData: Json;
}

/** The events that are about a capture, void or refund, and what they report. */
const OPERATION_EVENTS: Readonly<Record<string, (item: StoredItem) => boolean>> = {
  CAPTURE: ({ success }) => success,
  CANCELLATION: ({ success }) => success,
  REFUND: ({ success }) => success,
  CAPTURE_FAILED: () => false,
  REFUND_FAILED: () => false,
};
const PAYMENT_EVENTS = ['AUTHORISATION', 'CHARGEBACK'];

/** The signature does not separate its fields unambiguously if one of them contains the separator. */
const isPlainName = (value: unknown): value is string => isText(value, 255) && !value.includes(':');

const STORED_DATA = ['networkTxReference', 'tokenization.storedPaymentMethodId', 'recurring.recurringDetailReference'];
const REASON_LENGTH = 255;

/** A key of any other form would be read as a shorter one, or as none. */
const HMAC_KEY = /^(?:[\da-f]{2}){16,}$/i;

/** The events of a webhook, or undefined if an item is not signed with the key. Other events are left out. */
export function readItems(body: Buffer, hmacKey: string, merchantAccount: string): ProviderNotification[] | undefined {
  const items = itemsOf(body);
  if (!items || !HMAC_KEY.test(hmacKey)) return undefined;
  const validator = loadValidator();
  const isSigned = items.every(
    (item) =>
      isObject(item.additionalData) &&
      isText(item.additionalData.hmacSignature, 255) &&
      item.additionalData.hmacSignature !== '' &&
      validator.validateHMAC(item as unknown as SignedItem, hmacKey),
  );
  if (!isSigned) return undefined;
  return items.filter((item) => item.merchantAccountCode === merchantAccount).flatMap(notificationOf);
}

/** The items of a webhook, each with the members that its signature covers. */
function itemsOf(body: Buffer): (Json & { amount: Json })[] | undefined {
  try {
    const { notificationItems } = JSON.parse(body.toString('utf8')) as Json;
    if (!Array.isArray(notificationItems) || notificationItems.length === 0) return undefined;
    const items = notificationItems.map((each) => (isObject(each) ? each.NotificationRequestItem : undefined));
    return items.every(isItem) ? items : undefined;
  } catch {
    return undefined;
  }
}

const isItem = (item: unknown): item is Json & { amount: Json } => isObject(item) && isObject(item.amount);

function notificationOf(item: Json & { amount: Json }): ProviderNotification[] {
  const { eventCode, pspReference, originalReference, merchantReference, amount, additionalData, reason } = item;
  const isPayment = PAYMENT_EVENTS.includes(eventCode as string);
  const isOperation = isText(eventCode, 255) && Object.hasOwn(OPERATION_EVENTS, eventCode);
  if ((!isPayment && !isOperation) || !isPlainName(pspReference) || !isPlainName(merchantReference)) return [];
  if (originalReference !== undefined && originalReference !== '' && !isPlainName(originalReference)) return [];
  const success = item.success === 'true';
  const original = isText(originalReference, 255) && originalReference !== '' ? originalReference : undefined;
  const data = isObject(additionalData) ? additionalData : {};
  const body: StoredItem = {
    eventCode: eventCode as string,
    success,
    pspReference,
    amount: { currency: amount.currency, value: amount.value },
    // The reason of a success holds parts of the card.
    reason: !success && isText(reason, 2048) ? reason.slice(0, REASON_LENGTH) : '',
    additionalData: Object.fromEntries(STORED_DATA.filter((name) => name in data).map((name) => [name, data[name]])),
  };
  const eventId = `${eventCode}:${pspReference}:${success}`;
  // The reference of an operation is its id, if Adyen repeats the one of the request.
  return isPayment
    ? [{ eventId, reference: merchantReference, providerReference: original ?? pspReference, body }]
    : [{ eventId, providerReference: original, operation: merchantReference, operationReference: pspReference, body }];
}

/**
 * What an item means for its payment. On Adyen's page a payer may try again after a refusal, so it is not the outcome
 * of the payment there.
 */
export function interpretItem(
  body: Json,
  payment: Pick<Submission, 'authoriseOnly'>,
  isHosted: boolean,
): NotificationMeaning {
  const item = body as StoredItem;
  const operation = Object.hasOwn(OPERATION_EVENTS, item.eventCode) ? OPERATION_EVENTS[item.eventCode] : undefined;
  if (operation) {
    if (!operation(item))
      return { kind: 'operation', outcome: { kind: 'declined', reason: item.reason || REASONS.providerSaidNo } };
    // A cancellation reports the amount of the payment.
    const reported = item.eventCode === 'CANCELLATION' ? {} : { reportedAmount: fromAdyen(item.amount) };
    return { kind: 'operation', outcome: { kind: 'done', ...reported } };
  }
  if (item.eventCode === 'CHARGEBACK') return item.success ? { kind: 'chargedBack' } : undefined;
  if (item.eventCode !== 'AUTHORISATION') return undefined;
  const { pspReference: providerReference } = item;
  if (!item.success)
    return isHosted ? undefined : { ...declineOf(causeOfRefusal(undefined, item.reason)), providerReference };
  return {
    kind: paidKind(payment),
    providerReference,
    reportedAmount: fromAdyen(item.amount),
    ...recurringData(item.additionalData),
  };
}
