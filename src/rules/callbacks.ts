/** Callbacks to merchants: which payment events they report, under which names, and how they are retried. */
import { type PaymentEvent, STATES, type StateName } from './states.ts';

export type CallbackType =
  | 'sale'
  | 'recurring'
  | 'redirect'
  | '3ds'
  | 'capture'
  | 'void'
  | 'reversal'
  | 'refund'
  | 'chargeback'
  | 'expiry';

/** The reason of a callback that is parked because neither the payment nor the account has an address. */
export const NO_CALLBACK_ADDRESS = 'No callback_url is set.';

/** The delivery states of a callback. */
export const CALLBACK_STATES = ['waiting', 'delivered', 'parked'] as const;

export type CallbackStatus = 'success' | 'fail' | 'waiting' | 'undefined';

/** What a callback reports: the operation and its outcome. */
export interface CallbackEvent {
  type: CallbackType;
  status: CallbackStatus;
}

/** The types of the steps before the outcome of a sale. Some receivers take any success for a payment. */
const STEP_TYPES: readonly CallbackType[] = ['redirect', '3ds'];
const STEP_STATES: readonly StateName[] = ['PREPARE', 'REDIRECT', '3DS'];

/** Whether a callback reports a step in between, in the words of its protocol; `dialect.final_callbacks_only` omits it. */
export const isStep = (protocol: 'checkout' | 's2s', { type }: CallbackEvent, state: StateName): boolean =>
  protocol === 'checkout' ? STEP_TYPES.includes(type) : STEP_STATES.includes(state);

/** Whether a callback reports that money was taken or reserved, or an operation was done: not a step in between. */
export const isSuccess = ({ type, status }: CallbackEvent): boolean =>
  status === 'success' && !STEP_TYPES.includes(type);

const event = (type: CallbackType, status: CallbackStatus): CallbackEvent => ({ type, status });

/** The events without a callback: the merchant was told that the payment failed, and that is still so. */
type SilentEvent = 'lateRefunded';

/** The callback that is sent for each payment event. */
export const CALLBACK_EVENTS: Readonly<Record<Exclude<PaymentEvent, SilentEvent> | 'authenticated', CallbackEvent>> = {
  redirected: event('redirect', 'waiting'),
  challenged: event('3ds', 'waiting'),
  authenticated: event('3ds', 'success'),
  accepted: event('sale', 'waiting'),
  unanswered: event('sale', 'undefined'),
  authorised: event('sale', 'success'),
  settled: event('sale', 'success'),
  declined: event('sale', 'fail'),
  abandoned: event('sale', 'fail'),
  captured: event('capture', 'success'),
  voided: event('void', 'success'),
  reversed: event('reversal', 'success'),
  partlyRefunded: event('refund', 'success'),
  refunded: event('refund', 'success'),
  expired: event('expiry', 'success'),
  chargedBack: event('chargeback', 'success'),
  secondChargedBack: event('chargeback', 'success'),
  // Sent if the account has `chargeback_reversal_callbacks`.
  chargebackReversed: event('chargeback', 'fail'),
  acceptedLate: event('sale', 'success'),
};

/**
 * The callback type of each operation; what the gateway or its operator does without the merchant has none. A credit is a
 * refund that the merchant requests with a card token.
 */
export const OPERATION_TYPES = {
  capture: 'capture',
  void: 'void',
  reversal: 'reversal',
  refund: 'refund',
  credit: 'refund',
} as const satisfies Record<string, CallbackType>;

/** The `action` of each callback type in the `/post` format; steps of the sale itself are reported as the sale. */
export const CALLBACK_ACTIONS: Readonly<Record<CallbackType, string>> = {
  sale: 'SALE',
  recurring: 'RECURRING_SALE',
  redirect: 'SALE',
  '3ds': 'SALE',
  capture: 'CAPTURE',
  void: 'VOID',
  reversal: 'CREDITVOID',
  refund: 'CREDITVOID',
  chargeback: 'CHARGEBACK',
  expiry: 'EXPIRY',
};

/** The field `result` of a callback in the `/post` format. */
export function s2sResult({ status }: CallbackEvent, state: StateName): string {
  if (status === 'undefined') return 'UNDEFINED';
  if (status === 'fail') return 'DECLINED';
  return status === 'waiting' ? STATES[state].result : 'SUCCESS';
}

/** The fields that the hash of a callback covers, before the password. */
export const CALLBACK_HASH_FIELDS = {
  checkout: ['id', 'order_number', 'order_amount', 'order_currency', 'order_description'],
  s2s: ['trans_id', 'order_id', 'status'],
} as const;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pauses before each retry of a failed callback; after the last retry fails it is parked. */
export const RETRY_SCHEDULE_MS: readonly number[] = [
  10 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];

/** Jitter: each pause is up to this share shorter or longer, so that callbacks that failed together spread out. */
export const RETRY_JITTER = 0.2;

/** The longest pause that a receiver can request with `Retry-After`. */
export const RETRY_AFTER_MOST_MS = HOUR;

/** A failing callback blocks the later ones of its payment for this many attempts; then they are sent before it. */
export const BLOCKING_ATTEMPTS = 3;
