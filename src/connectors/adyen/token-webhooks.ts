/** Reads Adyen's webhooks about stored payment methods, which have a form, a key and a signature of their own. */
import { isObject, isText } from '../../lib/text/json.ts';
import type { ProviderNotification } from '../connector.ts';
import { eventOf } from './events.ts';
import { isPlainName, loadValidator, type StoredItem, usableKeys } from './notifications.ts';

const SIGNATURE = 'hmacsignature';

/** Webhooks with items have their signatures in the body. */
export const isTokenWebhook = (headers: Readonly<Record<string, unknown>>): boolean => headers[SIGNATURE] !== undefined;

/** The event of a webhook, or undefined if it is not signed with one of the keys. */
export function readTokenEvent(
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
  hmacKeys: readonly string[],
  merchantAccount: string,
): ProviderNotification[] | undefined {
  const signature = headers[SIGNATURE];
  const text = body.toString('utf8');
  if (!isText(signature, 255) || signature === '') return undefined;
  const validator = loadValidator();
  if (!usableKeys(hmacKeys).some((key) => validator.validateHMACSignature(key, signature, text))) return undefined;
  try {
    const event: unknown = JSON.parse(text);
    return isObject(event) && isObject(event.data) && event.data.merchantAccount === merchantAccount
      ? notificationsOf(event, event.data)
      : [];
  } catch {
    return undefined;
  }
}

/** The shopper of a stored method is the first payment of its series. */
function notificationsOf(
  { type, eventId }: Record<string, unknown>,
  { shopperReference: reference, storedPaymentMethodId }: Record<string, unknown>,
): ProviderNotification[] {
  if (!isPlainName(type) || !isPlainName(eventId) || !isPlainName(reference)) return [];
  if (eventOf(type).about === 'nothing') return [];
  const body: StoredItem = {
    eventCode: type,
    success: isPlainName(storedPaymentMethodId),
    pspReference: eventId,
    amount: {},
    reason: '',
    additionalData: { 'tokenization.storedPaymentMethodId': storedPaymentMethodId },
  };
  return [{ eventId: `${type}:${eventId}`, reference, body }];
}
