/** What merchants are told of a payment: which events, under which names, and how they are tried again. */
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

/** What became of a callback itself. */
export const CALLBACK_STATES = ['waiting', 'delivered', 'parked'] as const;

export type CallbackStatus = 'success' | 'fail' | 'waiting' | 'undefined';

/** What became of what. */
export interface CallbackEvent {
  type: CallbackType;
  status: CallbackStatus;
}

const event = (type: CallbackType, status: CallbackStatus): CallbackEvent => ({ type, status });

/** How each event is told; `status` says what became of `type`. */
export const CALLBACK_EVENTS: Readonly<Record<PaymentEvent | 'authenticated', CallbackEvent>> = {
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
};

/** Under which type the outcome of an operation is sent; a credit is a refund that was asked for by naming the card. */
export const OPERATION_TYPES = {
  capture: 'capture',
  void: 'void',
  reversal: 'reversal',
  refund: 'refund',
  credit: 'refund',
} as const satisfies Record<string, CallbackType>;

/** What `/post` calls them; what belongs to the sale itself is told as the sale. */
export const S2S_ACTIONS: Readonly<Record<CallbackType, string>> = {
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

/** The word `result` of `/post` for what was told. */
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

/** The pauses before a callback is sent again; after the last one it is parked. */
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

/** Each pause is up to this share shorter or longer, so that what failed together does not come back together. */
export const RETRY_JITTER = 0.2;

/** A receiver that asks for a longer pause gets it, up to this. */
export const RETRY_AFTER_MOST_MS = HOUR;

/** A callback that fails holds the later ones of its payment back for this many tries; after them they pass it. */
export const BLOCKING_ATTEMPTS = 3;
