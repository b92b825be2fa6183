/** Reads Adyen's webhooks: verifies the signature of each item, and interprets the events that concern payments. */
import { createRequire } from 'node:module';
import type Hmac from '@adyen/api-library/lib/src/utils/hmacValidator.js';
import { Secret } from '../../lib/crypto/secret.ts';
import { cut } from '../../lib/text/cut.ts';
import { isObject, isText } from '../../lib/text/json.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { NotificationMeaning, ProviderNotification, Submission } from '../connector.ts';
import { fromAdyen } from './amounts.ts';
import { DECLINE_DATA, refusalOf } from './declines.ts';
import { type AdyenEvent, eventOf } from './events.ts';
import { paidKind, recurringData } from './outcomes.ts';

const require = createRequire(import.meta.url);
export const loadValidator = () =>
  new (require('@adyen/api-library/lib/src/utils/hmacValidator.js') as typeof Hmac).default();

type Json = Record<string, unknown>;
type SignedItem = Parameters<InstanceType<(typeof Hmac)['default']>['validateHMAC']>[0];

/** An item as it is stored: what the signature covers, the reason of a refusal, and what repetitions need. */
export interface StoredItem extends Json {
  eventCode: string;
  success: boolean;
  pspReference: string;
  amount: Json;
  reason: string;
  additionalData: Json;
}

/** The signature does not separate its fields unambiguously if one of them contains the separator. */
export const isPlainName = (value: unknown): value is string => isText(value, 255) && !value.includes(':');

const STORED_DATA = [
  'networkTxReference',
  'tokenization.storedPaymentMethodId',
  'recurring.recurringDetailReference',
  ...DECLINE_DATA,
  'defensePeriodEndsAt',
  'defendable',
];
const REASON_LENGTH = 255;

/** A key of any other form would be read as a shorter one, or as none. */
const HMAC_KEY = /^(?:[\da-f]{2}){16,}$/i;
export const usableKeys = (hmacKeys: readonly string[]): string[] => hmacKeys.filter((key) => HMAC_KEY.test(key));

/**
 * The events of a webhook, or undefined if an item is not signed with one of the keys: after a change Adyen goes on signing
 * with the former key for a while. Events about nothing are left out.
 */
export function readItems(
  body: Buffer,
  hmacKeys: readonly string[],
  merchantAccount: string,
): ProviderNotification[] | undefined {
  const items = itemsOf(body);
  const keys = usableKeys(hmacKeys);
  if (!items) return undefined;
  const validator = loadValidator();
  const isSigned = items.every(
    (item) =>
      isObject(item.additionalData) &&
      isText(item.additionalData.hmacSignature, 255) &&
      item.additionalData.hmacSignature !== '' &&
      keys.some((key) => validator.validateHMAC(item as unknown as SignedItem, key)),
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
  if (!isPlainName(eventCode) || !isPlainName(pspReference) || !isPlainName(merchantReference)) return [];
  const { about } = eventOf(eventCode);
  if (about === 'nothing') return [];
  if (originalReference !== undefined && originalReference !== '' && !isPlainName(originalReference)) return [];
  const success = item.success === 'true';
  const original = isText(originalReference, 255) && originalReference !== '' ? originalReference : undefined;
  const data = isObject(additionalData) ? additionalData : {};
  const body: StoredItem = {
    eventCode,
    success,
    pspReference,
    amount: { currency: amount.currency, value: amount.value },
    // The reason of an authorisation holds parts of the card.
    reason: (!success || about === 'chargeback') && isText(reason, 2048) ? cut(reason, REASON_LENGTH) : '',
    additionalData: Object.fromEntries(STORED_DATA.filter((name) => name in data).map((name) => [name, data[name]])),
  };
  const eventId = `${eventCode}:${pspReference}:${success}`;
  // What is about an operation perhaps has the reference of that operation.
  if (about === 'attention' && original !== undefined) return [{ eventId, providerReference: original, body }];
  if (about !== 'operation')
    return [{ eventId, reference: merchantReference, providerReference: original ?? pspReference, body }];
  // The reference of an operation is its id, if Adyen repeats the one of the request. That of a void without a
  // pspReference names the payment as well.
  const [reference, operation] = merchantReference.split('/');
  const ours = operation === undefined ? { operation: reference } : { reference, operation };
  return [{ eventId, providerReference: original, ...ours, operationReference: pspReference, body }];
}

/** The reference of a void of a payment whose pspReference is not known: its webhook has nothing else to find the payment by. */
export const cancelReference = (reference: string, operation: string): string => `${reference}/${operation}`;

/** What an item says about a chargeback. After the last stage, or without a defence, no answer is possible. */
function chargebackOf(
  { about: _, isFinal, ...event }: Extract<AdyenEvent, { about: 'chargeback' }>,
  { pspReference, amount, reason, additionalData }: StoredItem,
): NotificationMeaning {
  const { defensePeriodEndsAt, defendable } = additionalData;
  const endsAt = typeof defensePeriodEndsAt === 'string' ? Date.parse(defensePeriodEndsAt) : Number.NaN;
  const respondBy = isFinal || defendable === 'false' ? null : Number.isNaN(endsAt) ? undefined : endsAt;
  return {
    ...event,
    chargedBack: fromAdyen(amount),
    respondBy,
    cause: reason,
    chargebackReference: pspReference,
  };
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
  const event = eventOf(item.eventCode);
  if (event.about === 'operation') {
    if (event.isFailure || !item.success)
      return { kind: 'operation', outcome: { kind: 'declined', reason: item.reason || REASONS.providerSaidNo } };
    // A cancellation reports the amount of the payment.
    return {
      kind: 'operation',
      verb: event.verb,
      outcome: { kind: 'done', ...(event.hasAmount && { reportedAmount: fromAdyen(item.amount) }) },
    };
  }
  if (event.about === 'chargeback') return item.success ? chargebackOf(event, item) : undefined;
  if (event.about === 'attention') return { kind: 'unhandled', event: item.eventCode };
  if (event.about === 'expiry') return item.success ? { kind: 'expired' } : undefined;
  if (event.about === 'nothing') return undefined;
  if (event.about === 'token') {
    // Older webhooks have the token in place of a reference.
    const { paymentMethod = new Secret(item.pspReference) } = recurringData(item.additionalData);
    return item.success ? { kind: 'stored', paymentMethod } : undefined;
  }
  const { pspReference: providerReference } = item;
  if (!item.success)
    return isHosted ? undefined : { ...refusalOf(undefined, item.reason, item.additionalData), providerReference };
  return {
    kind: paidKind(payment),
    providerReference,
    reportedAmount: fromAdyen(item.amount),
    ...recurringData(item.additionalData),
  };
}
