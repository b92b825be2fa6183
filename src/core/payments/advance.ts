/** The one door for state: what an event does to a payment, written with its history in one guarded statement. */
import { newSecret } from '../../lib/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { nextState, type PaymentEvent } from '../../rules/states.ts';
import type { Actor, CallRecord, Changes, Payment } from '../../store/payments.ts';
import type { Gateway } from '../context.ts';

/** Something that happened to a payment. */
export interface Happening {
  event: PaymentEvent;
  actor: Actor;
  /** The provider call that brought it. */
  call?: CallRecord;
  declineReason?: string;
  providerReference?: string | undefined;
  /** When the work loop has to look at the payment again, if it has to. */
  dueAt?: number;
}

/** What each event writes besides the state; the amounts follow from the event alone. */
const EFFECTS: Partial<Record<PaymentEvent, (payment: Payment) => Changes>> = {
  authorised: (payment) => ({ authorised: payment.amount, ...withRecurringToken(payment) }),
  settled: (payment) => ({ authorised: payment.amount, captured: payment.amount, ...withRecurringToken(payment) }),
  unanswered: () => ({ inDoubt: true }),
  captured: (payment) => ({ captured: payment.authorised }),
  refunded: (payment) => ({ refunded: payment.captured }),
};

const withRecurringToken = (payment: Payment): Changes =>
  payment.isRecurringInit && payment.recurringToken === null ? { recurringToken: newSecret() } : {};

/** Everything that an event changes in a payment besides its state. */
function changes(payment: Payment, happening: Happening): Changes {
  return {
    inDoubt: false,
    asked: 0,
    dueAt: happening.dueAt ?? null,
    declineReason: happening.declineReason ?? payment.declineReason,
    providerReference: happening.providerReference ?? payment.providerReference,
    ...EFFECTS[happening.event]?.(payment),
  };
}

/** Each lost try means that another event was written, so this many have to arrive together before one is given up. */
const TRIES_MOST = 100;

/**
 * Moves a payment by the table of states and returns it as it is afterwards. An event that the table does not
 * allow is noted in the history and changes nothing; one that lost a race is judged again by what it finds.
 */
export async function advance(gateway: Gateway, payment: Payment, happening: Happening): Promise<Payment> {
  let current = payment;
  for (let tries = 0; tries < TRIES_MOST; tries++) {
    const to = nextState(current.state, happening.event);
    const after = {
      ...current,
      ...(to === undefined ? undefined : changes(current, happening)),
      state: to ?? current.state,
      historyLength: current.historyLength + 1,
      updatedAt: gateway.clock.now(current.mid),
    };
    const { actor, call } = happening;
    const event = to === undefined ? (`noted ${happening.event}` as const) : happening.event;
    if (await gateway.payments.move({ before: current, after, event, actor, call })) {
      if (after.state !== current.state) gateway.metrics.entered(after.state);
      return after;
    }
    current = (await gateway.payments.find(current)) ?? current;
  }
  throw new Error(`The payment ${payment.paymentId} changed too often to be moved.`);
}

/** Notes that a provider was asked and still does not know; the pause before the next question grows. */
export async function noteAsked(gateway: Gateway, payment: Payment, call: CallRecord): Promise<void> {
  const pauses = LIMITS.askAgainMs;
  const pause = pauses[Math.min(payment.asked, pauses.length - 1)] as number;
  const at = gateway.clock.now(payment.mid);
  const after = {
    ...payment,
    asked: payment.asked + 1,
    dueAt: at + pause,
    historyLength: payment.historyLength + 1,
    updatedAt: at,
  };
  await gateway.payments.move({ before: payment, after, event: 'asked', actor: 'clock', call });
}
