/** Composes the callback of a transition: which transitions have one, and its bytes. */
import { hash } from 'node:crypto';
import type { Authentication } from '../../connectors/connector.ts';
import { wireDate } from '../../lib/clock.ts';
import { wireHash } from '../../lib/hash.ts';
import { continueWith, type MaybePromise } from '../../lib/maybe-promise.ts';
import { amountText } from '../../lib/money.ts';
import { withPair, withPlainName } from '../../lib/url-encoded.ts';
import { isWallet } from '../../rules/brands.ts';
import {
  CALLBACK_ACTIONS,
  CALLBACK_EVENTS,
  CALLBACK_HASH_FIELDS,
  type CallbackEvent,
  type CallbackType,
  OPERATION_TYPES,
  s2sResult,
} from '../../rules/callbacks.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { checkoutStatus, isOpen } from '../../rules/states.ts';
import type { NewCallback, OperationRow, OperationVerb, PaymentWithDetails, Transition } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';

/** The fields of a callback, in order; empty ones are omitted. */
type Fields = Record<string, string | null | undefined>;

/** Every change of state and every outcome of an operation has a callback; a few steps without a new state do, too. */
function callbackEventOf({ before, after, event, operation }: Transition): CallbackEvent | undefined {
  const type = operation && operationType(operation);
  if (operation && type) {
    return operation.state === 'sent' ? undefined : { type, status: operation.state === 'done' ? 'success' : 'fail' };
  }
  // A chargeback of a payment that is not settled leaves its state, but the bank has taken money back.
  if (event === 'noted chargedBack' && !isOpen(after.state) && after.attention === 'unexpected_chargeback') {
    return CALLBACK_EVENTS.chargedBack;
  }
  const isReported = after.state !== before.state || isStepInState(before, event);
  const callbackEvent = isReported ? CALLBACK_EVENTS[event as keyof typeof CALLBACK_EVENTS] : undefined;
  const isRecurring = callbackEvent?.type === 'sale' && after.details.recurringOf !== undefined;
  return isRecurring ? { ...callbackEvent, type: 'recurring' } : callbackEvent;
}

/** The callback type of an operation; undefined if the merchant did not request it. */
const operationType = ({ verb }: OperationRow): CallbackType | undefined =>
  (OPERATION_TYPES as Partial<Record<OperationVerb, CallbackType>>)[verb];

/** Events that have a callback although the state stays: a redirect, a reserved amount, a partial refund. */
const isStepInState = ({ authorised }: PaymentWithDetails, event: Transition['event']): boolean =>
  STEPS_IN_STATE.includes(event) || (event === 'authorised' && authorised === 0n);

const STEPS_IN_STATE: readonly Transition['event'][] = ['authenticated', 'redirected', 'partlyRefunded'];

/** Composes the callback of a transition, if it has one. It is written with the transition and never changes afterwards. */
export function composeCallback(
  gateway: Gateway,
  transition: Transition,
  authentication: Authentication | undefined,
): MaybePromise<NewCallback | undefined> {
  const callbackEvent = callbackEventOf(transition);
  if (!callbackEvent) return undefined;
  return continueWith(
    findAccount(gateway, transition.after.mid),
    (account) => account && callbackOf(account, transition, callbackEvent, authentication),
  );
}

function callbackOf(
  account: Account,
  transition: Transition,
  callbackEvent: CallbackEvent,
  authentication: Authentication | undefined,
): NewCallback {
  const payment = transition.after;
  // An expiry is reported as an event of the payment, not as an operation: the merchant did not request it.
  const operation = transition.operation && operationType(transition.operation) ? transition.operation : undefined;
  const { callbackUrl } = payment.details;
  const { callback_url, callback_format, callback_hash_case } = account.settings;
  const isJson = callback_format === 'json';
  const unsigned =
    payment.protocol === 'checkout'
      ? checkoutFields(payment, callbackEvent, operation)
      : s2sFields(payment, callbackEvent, operation);
  const signed = CALLBACK_HASH_FIELDS[payment.protocol].map((name) => unsigned[name] ?? '');
  const signature = wireHash(signed, account.passwords()[0] as string, callback_hash_case);
  const fields = Object.assign(unsigned, { hash: signature }, threeDsFields(transition, authentication));
  return {
    type: callbackEvent.type,
    body: bodyOf(fields, payment.details.customData ?? {}, isJson),
    isJson,
    url: callbackUrl ?? null,
    endpoint: callbackUrl === undefined ? '' : endpointOf(callbackUrl),
    dueAt: (callbackUrl ?? callback_url) === '' ? null : payment.updatedAt,
  };
}

/** The most endpoints that the callback_urls of an account's payments make, however many different ones there are. */
const PAYMENT_ENDPOINTS = 256;

/** Addresses of one origin are one endpoint. */
const endpointOf = (url: string): string =>
  String(hash('sha256', new URL(url).origin, 'buffer').readUInt16BE() % PAYMENT_ENDPOINTS);

function bodyOf(fields: Fields, customData: Record<string, string>, isJson: boolean): string {
  const custom = Object.entries(customData).filter(([, value]) => value !== '');
  if (isJson) {
    const filled = Object.entries(fields).filter(([, value]) => value);
    const nested = nest(custom.map(([name, value]) => [partsOf(name), value]));
    return JSON.stringify({ ...Object.fromEntries(filled), ...(custom.length > 0 && { custom_data: nested }) });
  }
  let body = '';
  for (const name in fields) if (fields[name]) body = withPlainName(body, name, fields[name]);
  for (const [name, value] of custom) {
    const path = partsOf(name).map((part) => `[${part}]`);
    body = withPair(body, `custom_data${path.join('')}`, value);
  }
  return body;
}

/** The path of a stored name: `custom_data[cart][id]` of the request is stored as `cart[id]`. */
const partsOf = (name: string): string[] =>
  /^[^[\]]+(\[[^[\]]*\])+$/.test(name) ? name.replaceAll(']', '').split('[') : [name];

interface Nested {
  [name: string]: string | Nested;
}

function nest(values: [parts: string[], value: string][]): Nested {
  const groups = Map.groupBy(values, ([[first]]) => first as string);
  return Object.fromEntries(
    [...groups].map(([name, members]): [string, string | Nested] => {
      const below = members.filter(([parts]) => parts.length > 1).map(([[, ...rest], value]) => [rest, value]);
      return [name, below.length > 0 ? nest(below as [string[], string][]) : (members[0]?.[1] as string)];
    }),
  );
}

/** The id of the operation, or of the payment when the callback is about the sale itself. */
const operationId = (payment: PaymentWithDetails, operation: OperationRow | undefined): string =>
  operation?.operationId ?? payment.paymentId;

/** A credit can have an order of its own; any other operation belongs to the order of the payment. */
const orderOf = (payment: PaymentWithDetails, operation: OperationRow | undefined): string =>
  operation?.orderId ?? payment.orderId;

/** The full amount is written as in the merchant's request, a partial one in the currency's format. */
function operationAmount(payment: PaymentWithDetails, operation: OperationRow | undefined): string | undefined {
  if (!operation || operation.amount === payment.amount) return operation && payment.amountText;
  return amountText(operation.amount, CURRENCIES[payment.currency]?.exponent ?? 2);
}

function checkoutFields(
  payment: PaymentWithDetails,
  { type, status }: CallbackEvent,
  operation: OperationRow | undefined,
): Fields {
  const { card, recurringOf, description } = payment.details;
  return {
    id: payment.paymentId,
    order_number: orderOf(payment, operation),
    order_amount: payment.amountText,
    order_currency: payment.currency,
    order_description: description,
    order_status: checkoutStatus(payment.state),
    type,
    status,
    date: wireDate(payment.updatedAt),
    operation_id: operationId(payment, operation),
    amount: operationAmount(payment, operation),
    reason: reasonOf(payment, operation),
    card: card?.masked,
    card_expiration_date: card?.expiry,
    card_token: card?.token,
    recurring_init_trans_id: recurringOf ?? (payment.recurringToken === null ? undefined : payment.paymentId),
    recurring_token: payment.recurringToken,
    schedule_id: payment.scheduleId,
    digital_wallet: isWallet(payment.brand) ? payment.brand : undefined,
    ...customerFields(payment),
  };
}

function s2sFields(
  payment: PaymentWithDetails,
  callbackEvent: CallbackEvent,
  operation: OperationRow | undefined,
): Fields {
  const { card, recurringOf } = payment.details;
  const action = CALLBACK_ACTIONS[callbackEvent.type];
  return {
    action: action === 'SALE' && recurringOf !== undefined ? CALLBACK_ACTIONS.recurring : action,
    result: s2sResult(callbackEvent, payment.state),
    status: payment.state,
    order_id: orderOf(payment, operation),
    trans_id: payment.paymentId,
    trans_date: wireDate(payment.updatedAt),
    operation_id: operationId(payment, operation),
    amount: operationAmount(payment, operation) ?? payment.amountText,
    currency: payment.currency,
    descriptor: payment.descriptor,
    card: card?.masked,
    card_token: card?.token,
    recurring_token: payment.recurringToken,
    schedule_id: payment.scheduleId,
    digital_wallet: isWallet(payment.brand) ? payment.brand : undefined,
    decline_reason: reasonOf(payment, operation),
  };
}

const reasonOf = (payment: PaymentWithDetails, operation: OperationRow | undefined): string | null =>
  operation ? operation.reason : payment.declineReason;

function customerFields({ details: { payer } }: PaymentWithDetails): Fields {
  const { first_name, last_name, ...rest } = payer;
  const named = Object.entries(rest).map(([name, value]) => [`customer_${name}`, value]);
  return { customer_name: [first_name, last_name].filter(Boolean).join(' '), ...Object.fromEntries(named) };
}

/** When a challenge starts, only its protocol version is known; the bank's result comes later. */
function threeDsFields({ event, after }: Transition, authentication: Authentication | undefined): Fields {
  if (event === 'challenged' && after.nextStep?.kind === 'challenge') {
    return { transStatus: 'C', protocolVersion: after.nextStep.version };
  }
  return {
    transStatus: authentication?.transStatus,
    eci: authentication?.eci,
    protocolVersion: authentication?.protocolVersion,
  };
}
