/** The state machine of a payment as one table; a transition that is not listed is refused. */

/** What happened to a payment; a state changes only through one of these events. */
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
  | 'chargedBack'
  /** The provider returned the money of a chargeback; the bank may take it once more. */
  | 'chargebackReversed'
  | 'secondChargedBack'
  /** An operator decided about a success that was reported after the payment had ended. */
  | 'acceptedLate'
  | 'lateRefunded';

interface State {
  /** The next state for each event; an event without an entry is refused. */
  on: Partial<Record<PaymentEvent, string>>;
  /** The next state if the whole captured amount is refunded, where it differs. */
  onIfRefunded?: Partial<Record<PaymentEvent, string>>;
  /** The field `result` in the response to a sale. */
  result: 'SUCCESS' | 'DECLINED' | 'REDIRECT' | 'UNDEFINED';
  /** Whether the order may be paid with a new payment. */
  retriable?: true;
}

/** Only an operator settles a payment that has ended without success. */
const LATE = { acceptedLate: 'SETTLED' } as const;

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
      // After the payment page has collected missing fields, the provider may redirect the payer again.
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
      // The payment page starts the authentication of a wallet's card, and the bank then wants a challenge.
      challenged: '3DS',
      // The provider authenticates the payer itself, on its own page.
      redirected: '3DS',
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
    on: {
      partlyRefunded: 'SETTLED',
      refunded: 'REFUND',
      chargedBack: 'CHARGEBACK',
      secondChargedBack: 'CHARGEBACK',
    },
    result: 'SUCCESS',
  },
  DECLINED: { on: { ...LATE, lateRefunded: 'DECLINED' }, result: 'DECLINED', retriable: true },
  VOID: { on: { ...LATE, lateRefunded: 'VOID' }, result: 'SUCCESS', retriable: true },
  REVERSAL: { on: { ...LATE, lateRefunded: 'REVERSAL' }, result: 'SUCCESS', retriable: true },
  REFUND: { on: {}, result: 'SUCCESS' },
  CHARGEBACK: {
    on: { chargebackReversed: 'SETTLED' },
    // A refund that was under way may have completed meanwhile.
    onIfRefunded: { chargebackReversed: 'REFUND' },
    result: 'SUCCESS',
  },
  EXPIRED: { on: { ...LATE, lateRefunded: 'EXPIRED' }, result: 'DECLINED', retriable: true },
} as const satisfies Record<string, State>;

export type StateName = keyof typeof STATES;

export const STATE_NAMES = Object.keys(STATES) as StateName[];

/** The next state after an event; undefined when the table does not allow it. */
export function nextState(from: StateName, event: PaymentEvent, isRefunded = false): StateName | undefined {
  const { on, onIfRefunded }: State = STATES[from];
  return ((isRefunded ? onIfRefunded?.[event] : undefined) ?? on[event]) as StateName | undefined;
}

/** The transitions from a state. */
export function transitionsFrom(state: StateName): [event: PaymentEvent, to: StateName][] {
  const { on, onIfRefunded = {} }: State = STATES[state];
  return [...Object.entries(on), ...Object.entries(onIfRefunded)] as [PaymentEvent, StateName][];
}

/** Whether the outcome of a payment is still open. */
export const isOpen = (state: StateName): boolean => 'settled' in STATES[state].on;

/** Whether money was refunded, in whole or in part. */
export const isRefund = (event: string): boolean => event === 'refunded' || event === 'partlyRefunded';

export const isRetriable = (state: StateName): boolean => (STATES[state] as State).retriable === true;

/** Checkout's names of the states: lower case, and `decline` for DECLINED. */
export const checkoutStatus = (state: StateName): string => (state === 'DECLINED' ? 'decline' : state.toLowerCase());

/** Every transition of the table as `FROM>TO`; a database constraint has the same list. */
export function legalTransitions(): string[] {
  const transitions = STATE_NAMES.flatMap((from) => transitionsFrom(from).map(([, to]) => `${from}>${to}`));
  return [...new Set(transitions)].sort();
}
