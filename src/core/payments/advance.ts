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
};

const withRecurringToken = (payment: Payment): Changes =>
  payment.isRecurringInit && payment.recurringToken === null ? { recurringToken: newSecret() } : {};

const TRIES_MOST = 20;

/**
 * Moves a payment by the table of states and returns it as it is afterwards. An event that the table does not
 * allow is noted in the history and changes nothing; one that lost a race is judged again by what it finds.
 */
export async function advance(gateway: Gateway, payment: Payment, happening: Happening): Promise<Payment> {
  let current = payment;
  for (let tries = 0; tries < TRIES_MOST; tries++) {
    const at = gateway.clock.now(current.mid);
    const to = nextState(current.state, happening.event);
    const changes: Changes =
      to === undefined
        ? {}
        : {
            inDoubt: false,
            asked: 0,
            dueAt: happening.dueAt ?? null,
            ...(happening.declineReason === undefined ? {} : { declineReason: happening.declineReason }),
            ...(happening.providerReference === undefined ? {} : { providerReference: happening.providerReference }),
            ...EFFECTS[happening.event]?.(current),
          };
    const moved = await gateway.payments.move({
      payment: current,
      to: to ?? current.state,
      event: to === undefined ? 'noted' : happening.event,
      actor: happening.actor,
      changes,
      call: happening.call,
      at,
    });
    if (moved) {
      if (to !== undefined && to !== current.state) gateway.metrics.entered(to);
      return {
        ...current,
        ...changes,
        state: to ?? current.state,
        historyLength: current.historyLength + 1,
        updatedAt: at,
      };
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
  await gateway.payments.move({
    payment,
    to: payment.state,
    event: 'asked',
    actor: 'clock',
    changes: { asked: payment.asked + 1, dueAt: at + pause },
    call,
    at,
  });
}
