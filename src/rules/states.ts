/** The whole life of a payment as one table: what is not in it is refused. */

/** What happened to a payment; the only reasons for which a state changes. */
export type PaymentEvent =
  | 'redirected'
  | 'challenged'
  | 'accepted'
  | 'unanswered'
  | 'authorised'
  | 'settled'
  | 'declined'
  | 'abandoned'
  | 'captured'
  | 'voided'
  | 'reversed'
  | 'expired'
  | 'partlyRefunded'
  | 'refunded'
  | 'chargedBack';

interface State {
  /** Where each event leads from here; an event without an entry changes nothing. */
  on: Partial<Record<PaymentEvent, string>>;
  /** The word `result` of a sale-shaped answer. */
  result: 'SUCCESS' | 'DECLINED' | 'REDIRECT' | 'UNDEFINED';
  /** Whether the order may be tried again with a new payment. */
  retriable?: true;
}

export const STATES = {
  PREPARE: {
    on: {
      redirected: 'REDIRECT',
      challenged: '3DS',
      accepted: 'PENDING',
      unanswered: 'PENDING',
      authorised: 'PENDING',
      settled: 'SETTLED',
      declined: 'DECLINED',
      abandoned: 'DECLINED',
    },
    result: 'UNDEFINED',
  },
  REDIRECT: {
    on: {
      // After our own page has asked for what was missing, the provider may need the payer on another one.
      redirected: 'REDIRECT',
      accepted: 'PENDING',
      unanswered: 'PENDING',
      authorised: 'PENDING',
      settled: 'SETTLED',
      declined: 'DECLINED',
      abandoned: 'DECLINED',
    },
    result: 'REDIRECT',
  },
  '3DS': {
    on: {
      accepted: 'PENDING',
      unanswered: 'PENDING',
      authorised: 'PENDING',
      settled: 'SETTLED',
      declined: 'DECLINED',
      abandoned: 'DECLINED',
    },
    result: 'REDIRECT',
  },
  PENDING: {
    on: {
      authorised: 'PENDING',
      settled: 'SETTLED',
      captured: 'SETTLED',
      declined: 'DECLINED',
      abandoned: 'DECLINED',
      voided: 'VOID',
      reversed: 'REVERSAL',
      expired: 'EXPIRED',
    },
    result: 'SUCCESS',
  },
  SETTLED: {
    on: { partlyRefunded: 'SETTLED', refunded: 'REFUND', chargedBack: 'CHARGEBACK' },
    result: 'SUCCESS',
  },
  DECLINED: { on: {}, result: 'DECLINED', retriable: true },
  VOID: { on: {}, result: 'SUCCESS', retriable: true },
  REVERSAL: { on: {}, result: 'SUCCESS', retriable: true },
  REFUND: { on: {}, result: 'SUCCESS' },
  CHARGEBACK: { on: {}, result: 'SUCCESS' },
  EXPIRED: { on: {}, result: 'DECLINED', retriable: true },
} as const satisfies Record<string, State>;

export type StateName = keyof typeof STATES;

export const STATE_NAMES = Object.keys(STATES) as StateName[];

/** Where an event leads from a state, or nothing when the table does not allow it. */
export function nextState(from: StateName, event: PaymentEvent): StateName | undefined {
  const state: State = STATES[from];
  return state.on[event] as StateName | undefined;
}

/** Whether the outcome of a payment is still to come. */
export const isOpen = (state: StateName): boolean => 'settled' in STATES[state].on;

export const isRetriable = (state: StateName): boolean => (STATES[state] as State).retriable === true;

/** Checkout says the states in lower case, and of a decline it says what happened. */
export const checkoutStatus = (state: StateName): string => (state === 'DECLINED' ? 'decline' : state.toLowerCase());

/** Every move the table allows, as `FROM>TO`; the database holds the same list as a constraint. */
export function legalTransitions(): string[] {
  const transitions = STATE_NAMES.flatMap((from) =>
    Object.values((STATES[from] as State).on).map((to) => `${from}>${to}`),
  );
  return [...new Set(transitions)].sort();
}
