/** Composes the callback of a transition: which transitions have one, and its bytes. */
import { hash } from 'node:crypto';
import type { Authentication } from '../../connectors/connector.ts';
import { type HashedPart, reversedHash, wireHash } from '../../lib/crypto/hash.ts';
import { continueWith, type MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { amountText } from '../../lib/money/money.ts';
import { withPair, withPlainName } from '../../lib/text/url-encoded.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { isWallet } from '../../rules/brands.ts';
import {
  CALLBACK_ACTIONS,
  CALLBACK_EVENTS,
  CALLBACK_HASH_FIELDS,
  type CallbackEvent,
  type CallbackType,
  isStep,
  isSuccess,
  OPERATION_TYPES,
  s2sResult,
} from '../../rules/callbacks.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { CARD_DIGITS, callbackParts, PASSWORD, partsOf, REVERSED_CARD_CALLBACK } from '../../rules/hash-recipes.ts';
import { checkoutStatus, isOpen, isRefund } from '../../rules/states.ts';
import type {
  NewCallback,
  OperationRow,
  OperationVerb,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { refundElsewhereId } from '../payments/derived-ids.ts';
import { kindOf, signedFacts } from '../requests/signed-facts.ts';

/** The fields of a callback, in order; empty ones are omitted. */
type Fields = Record<string, string | null | undefined>;

/** Every change of state and every outcome of an operation has a callback; a few steps without a new state do, too. */
function callbackEventOf({ before, after, event, operation }: Transition): CallbackEvent | undefined {
  const type = operation && operationType(operation);
  if (operation && type) {
    return operation.state === 'sent' ? undefined : { type, status: operation.state === 'done' ? 'success' : 'fail' };
  }
  // A chargeback of a payment that is not settled leaves its state, but the bank has taken money back.
  const isUnexpected = event === 'noted chargedBack' || event === 'noted secondChargedBack';
  if (isUnexpected && !isOpen(after.state) && after.attention === 'unexpected_chargeback') {
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
  return continueWith(findAccount(gateway, transition.after.mid), (account) =>
    account && !isOmitted(account, transition, callbackEvent)
      ? callbackOf(gateway, account, transition, callbackEvent, authentication)
      : undefined,
  );
}

const isOmitted = ({ settings }: Account, { event, after }: Transition, callbackEvent: CallbackEvent): boolean =>
  (event === 'chargebackReversed' && !settings.chargeback_reversal_callbacks) ||
  (settings['dialect.final_callbacks_only'] && isStep(after.protocol, callbackEvent, after.state));

/** What a callback says of an operation. */
type Reported = Pick<OperationRow, 'operationId' | 'amount' | 'orderId' | 'reason'>;

/** The operation of a transition; a refund that was made at the provider itself is none of ours, and has its own id. */
function reportedOperation(
  gateway: Gateway,
  { operation, after, event, call, moved }: Transition,
): Reported | undefined {
  // An expiry is reported as an event of the payment, not as an operation: the merchant did not request it.
  if (operation) return operationType(operation) && operation;
  if (!isRefund(event) || call?.operation === undefined || moved === undefined) return undefined;
  const operationId = refundElsewhereId(gateway, after, call.operation, after.updatedAt);
  return { operationId, amount: moved, orderId: null, reason: null };
}

function callbackOf(
  gateway: Gateway,
  account: Account,
  transition: Transition,
  callbackEvent: CallbackEvent,
  authentication: Authentication | undefined,
): NewCallback {
  const payment = transition.after;
  const operation = reportedOperation(gateway, transition);
  const { callbackUrl } = payment.details;
  const { callback_url, callback_format } = account.settings;
  const isJson = callback_format === 'json';
  const unsigned =
    payment.protocol === 'checkout'
      ? checkoutFields(payment, callbackEvent, operation, transition.moved)
      : s2sFields(payment, callbackEvent, operation, transition.moved);
  const later = threeDsFields(transition, authentication);
  const custom = Object.entries(payment.details.customData ?? {}).filter(([, value]) => value !== '');
  const fields = Object.assign(unsigned, { hash: '' }, later);
  fields.hash = callbackHash(account, payment, fields, custom);
  return {
    type: callbackEvent.type,
    body: bodyOf(fields, custom, isJson),
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

type Custom = readonly (readonly [name: string, value: string])[];

/** The field `hash` in the recipe of the account. Only callbacks in the format of `/post` have another than the specified one. */
function callbackHash(account: Account, payment: PaymentWithDetails, fields: Fields, custom: Custom): string {
  const { 'dialect.hash': recipe, 'dialect.digest': digest, callback_hash_case } = account.settings;
  const password = account.passwords()[0] as string;
  if (recipe === 'specified' || payment.protocol === 'checkout') {
    const signed = CALLBACK_HASH_FIELDS[payment.protocol].map((name) => fields[name] ?? '');
    return wireHash(signed, password, callback_hash_case, digest);
  }
  return reversedHash(reversedParts(payment, fields, custom, password), digest);
}

function reversedParts(payment: PaymentWithDetails, fields: Fields, custom: Custom, password: string): HashedPart[] {
  if (kindOf(payment) === 'card') {
    const { email, card } = signedFacts(payment);
    const facts: Fields = { payer_email: email, [CARD_DIGITS]: card, [PASSWORD]: password };
    return partsOf(REVERSED_CARD_CALLBACK, (name) => facts[name] ?? fields[name] ?? '');
  }
  const sent = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]));
  return callbackParts([...sent, ...custom.map(([name, value]) => [customName(name), value] as const)], password);
}

function bodyOf(fields: Fields, custom: Custom, isJson: boolean): string {
  if (isJson) {
    const filled = Object.entries(fields).filter(([, value]) => value);
    const nested = nest(custom.map(([name, value]) => [pathOf(name), value]));
    return JSON.stringify({ ...Object.fromEntries(filled), ...(custom.length > 0 && { custom_data: nested }) });
  }
  let body = '';
  for (const name in fields) if (fields[name]) body = withPlainName(body, name, fields[name]);
  for (const [name, value] of custom) body = withPair(body, customName(name), value);
  return body;
}

/** The name of a value in a form: `custom_data[cart][id]`. */
const customName = (name: string): string =>
  `custom_data${pathOf(name)
    .map((part) => `[${part}]`)
    .join('')}`;

/** The path of a stored name: `custom_data[cart][id]` of the request is stored as `cart[id]`. */
const pathOf = (name: string): string[] =>
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
const operationId = (payment: PaymentWithDetails, operation: Reported | undefined): string =>
  operation?.operationId ?? payment.paymentId;

/** A credit can have an order of its own; any other operation belongs to the order of the payment. */
const orderOf = (payment: PaymentWithDetails, operation: Reported | undefined): string =>
  operation?.orderId ?? payment.orderId;

/**
 * The amount of an operation, or a part that was charged back. The full amount is written as in the merchant's request, a
 * partial one in the currency's format.
 */
function operationAmount(
  payment: PaymentWithDetails,
  operation: Reported | undefined,
  moved: bigint | undefined,
): string | undefined {
  const amount = operation?.amount ?? moved;
  if (amount === undefined || amount === payment.amount) return operation && payment.amountText;
  return amountText(amount, exponentOf(payment.currency));
}

function checkoutFields(
  payment: PaymentWithDetails,
  callbackEvent: CallbackEvent,
  operation: Reported | undefined,
  moved: bigint | undefined,
): Fields {
  const { type, status } = callbackEvent;
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
    // Not `amount`, which receivers of the family take for that of the order.
    operation_amount: operationAmount(payment, operation, moved),
    reason: reasonOf(payment, operation),
    card: card?.masked,
    card_expiration_date: card?.expiry,
    card_token: isSuccess(callbackEvent) ? card?.token : undefined,
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
  operation: Reported | undefined,
  moved: bigint | undefined,
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
    amount: operationAmount(payment, operation, moved) ?? payment.amountText,
    currency: payment.currency,
    descriptor: payment.descriptor,
    card: card?.masked,
    card_token: isSuccess(callbackEvent) ? card?.token : undefined,
    recurring_token: payment.recurringToken,
    schedule_id: payment.scheduleId,
    digital_wallet: isWallet(payment.brand) ? payment.brand : undefined,
    decline_reason: reasonOf(payment, operation),
  };
}

const reasonOf = (payment: PaymentWithDetails, operation: Reported | undefined): string | null =>
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
