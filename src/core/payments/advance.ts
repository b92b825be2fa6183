/** The single writer of state: what an event does to a payment, written with its history in one guarded statement. */
import type { Authentication } from '../../connectors/connector.ts';
import { newSecret } from '../../lib/id.ts';
import type { Attention } from '../../rules/attention.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen, nextState, type PaymentEvent, type StateName } from '../../rules/states.ts';
import type { Actor, CallRecord, Changes, NextStep, Payment, Transition, WholePayment } from '../../store/payments.ts';
import { composeCallback } from '../callbacks/compose.ts';
import type { Gateway } from '../context.ts';
import { eraseAfterOutcome } from '../vault.ts';
import { isOutOfTime, payerDeadline, wasSubmitted, withDeadline } from './deadlines.ts';

/** Something that happened to a payment. */
export interface EventInput {
  event: PaymentEvent;
  actor: Actor;
  /** The provider call that brought it. */
  call?: CallRecord;
  declineReason?: string;
  /** What the card's bank said of the payer; the merchant is told with it. */
  authentication?: Authentication | undefined;
  providerReference?: string | undefined;
  /** What the payer has to do now. */
  nextStep?: NextStep | undefined;
  attention?: Attention;
  /** When the work loop has to look at the payment again, if it has to. */
  dueAt?: number | undefined;
  /** It means something only to a payment that is like this; to one that has gone on meanwhile it is no news. */
  onlyIf?: ((payment: WholePayment) => boolean) | undefined;
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
  payment.isRecurringInit && payment.recurringToken === null && brandOf(payment.brand)?.recurs
    ? { recurringToken: newSecret() }
    : {};

/**
 * What an operator has to know outlives other events: a reported settlement until the provider was asked about it, and a
 * chargeback until it is applied.
 */
function keptAttention({ attention, busy }: Payment, event: PaymentEvent): Attention | null {
  if (attention === 'conflict' && busy !== null && event !== 'settled') return attention;
  return attention === 'unexpected_chargeback' && event !== 'chargedBack' ? attention : null;
}

/** Everything that an event changes in a payment besides its state. */
function changes(payment: Payment, record: EventInput): Changes {
  return {
    inDoubt: false,
    queryCount: 0,
    dueAt: record.dueAt ?? null,
    declineReason: record.declineReason ?? payment.declineReason,
    providerReference: record.providerReference ?? payment.providerReference,
    nextStep: record.nextStep ?? null,
    attention: record.attention ?? keptAttention(payment, record.event),
    ...EFFECTS[record.event]?.(payment),
  };
}

const GIVEN_UP: readonly StateName[] = ['DECLINED', 'EXPIRED', 'VOID', 'REVERSAL'];

/** News of money that moved, or was reserved for the first time, although the payment had been given up. */
export const isLateSuccess = ({ state, authorised }: Payment, event: PaymentEvent): boolean =>
  GIVEN_UP.includes(state) &&
  (event === 'settled' || event === 'captured' || (event === 'authorised' && authorised === 0n));

/** Each lost try means that another event was written, so this many have to arrive together before one is given up. */
const ATTEMPTS_MOST = 100;

/**
 * Writes a move that is composed from the payment as it is; when that has changed meanwhile, it is composed anew.
 * Whoever composes may refuse by throwing, or find that there is nothing to write: then nothing was written.
 */
export async function write<Written extends Transition | undefined>(
  gateway: Gateway,
  payment: WholePayment,
  compose: (current: WholePayment, now: number) => Written | Promise<Written>,
  authentication?: Authentication,
): Promise<Written> {
  let current = payment;
  for (let tries = 0; tries < ATTEMPTS_MOST; tries++) {
    const transition = await compose(current, gateway.clock.now(current.mid));
    if (!transition) return transition;
    if (await writeTransition(gateway, transition, authentication)) return transition;
    current = (await gateway.payments.find(current)) ?? current;
  }
  throw new Error(`The payment ${payment.paymentId} changed too often to be moved.`);
}

/** Writes a move together with what the merchant is told of it; false when the payment is no longer as it was. */
export async function writeTransition(
  gateway: Gateway,
  transition: Transition,
  authentication?: Authentication,
): Promise<boolean> {
  const callback = await composeCallback(gateway, transition, authentication);
  const isWritten = await gateway.payments.transition(callback ? { ...transition, callback } : transition);
  if (!isWritten) return false;
  if (transition.after.state !== transition.before.state) gateway.metrics.entered(transition.after.state);
  if (callback && callback.dueAt !== null) gateway.deliverer.wake();
  if (transition.after.details.card) await eraseAfterOutcome(gateway, transition);
  return true;
}

/** The payment with one more row in its history. */
export const withHistory = (payment: WholePayment, at: number): WholePayment => ({
  ...payment,
  historyLength: payment.historyLength + 1,
  updatedAt: at,
});

/**
 * Moves a payment by the table of states and returns it as it is afterwards. An event that the table does not
 * allow is noted in the history and changes nothing; one that lost a race is judged again by what it finds.
 */
export async function advance(gateway: Gateway, payment: WholePayment, record: EventInput): Promise<WholePayment> {
  let current = payment;
  const transition = await write(
    gateway,
    payment,
    (found, now) => {
      current = found;
      return decide(gateway, found, record, now);
    },
    record.authentication,
  );
  if (!transition) return current;
  if (isLateSuccess(transition.before, record.event)) {
    const fields = { payment_id: current.paymentId, event: record.event };
    gateway.log.warn(fields, 'late success: money moved after the end');
  }
  return transition.after;
}

/** What an event does to the payment as it is now; nothing when it does not apply to it any more. */
function decide(
  gateway: Gateway,
  found: WholePayment,
  record: EventInput,
  now: number,
): Transition | undefined | Promise<Transition> {
  const { event, onlyIf } = record;
  if (onlyIf?.(found) === false) return undefined;
  // Time ends nothing that an operation is under way for: its outcome decides first.
  if (event === 'abandoned' && found.busy !== null) return undefined;
  if (event === 'settled' && found.busy !== null && isOpen(found.state))
    return settledWhileBusy(gateway, found, record, now);
  // A provider that reports a void as a decline tells what the operation under way will tell, too.
  if (event === 'declined' && isVoiding(found)) return recorded(found, record, now);
  return compose(found, record, now);
}

/** What an event does to a payment: a transition of the table of states, or a note that it came and changed nothing. */
function compose(before: WholePayment, record: EventInput, now: number): Transition {
  const { actor, call, event } = record;
  const to = nextState(before.state, event);
  if (to === undefined) return recorded(before, record, now, attentionFor(before, event));
  const at = event === 'abandoned' ? Math.min(now, payerDeadline(before) ?? now) : now;
  const after = withDeadline({ ...withHistory(before, at), ...changes(before, record), state: to });
  return { before, after, event, actor, call };
}

/** The event came, and the state stays as it is. */
const recorded = (
  before: WholePayment,
  { event, actor, call }: EventInput,
  now: number,
  changed: Changes = {},
): Transition => ({
  before,
  after: { ...withHistory(before, now), ...changed },
  event: `noted ${event}`,
  actor,
  call,
});

const VOIDING: readonly Payment['busy'][] = ['void', 'reversal', 'expiry'];
const isVoiding = ({ state, busy }: Payment): boolean => isOpen(state) && VOIDING.includes(busy);

/** Whether an event that the table does not allow means that money may be elsewhere than our state says. */
function attentionFor(before: WholePayment, event: PaymentEvent): Changes {
  if (isLateSuccess(before, event)) return { attention: 'late_success', dueAt: null };
  if (event === 'chargedBack' && before.state !== 'CHARGEBACK') return { attention: 'unexpected_chargeback' };
  return {};
}

/** The provider reports a settlement while an operation is under way. */
async function settledWhileBusy(
  gateway: Gateway,
  before: WholePayment,
  record: EventInput,
  now: number,
): Promise<Transition> {
  if (before.busy === 'capture') {
    // It is the capture under way that settled it, so what it takes is what was captured.
    const composed = compose(before, record, now);
    const captured = await amountUnderWay(gateway, before);
    return { ...composed, after: { ...composed.after, captured: captured ?? composed.after.captured } };
  }
  // A void decides first. When it has its outcome, the provider is asked which of the two happened.
  return recorded(before, record, now, { attention: 'conflict' });
}

/** What the capture takes that is under way. */
async function amountUnderWay(gateway: Gateway, payment: Payment): Promise<bigint | undefined> {
  const operations = await gateway.operations.of(payment);
  return operations.find(({ verb, state }) => verb === 'capture' && state === 'sent')?.amount;
}

/** Ends a payment whose payer did not finish in time; its provider is still asked, in case money moves late. */
export const abandon = (gateway: Gateway, payment: WholePayment): Promise<WholePayment> =>
  advance(gateway, payment, {
    event: 'abandoned',
    actor: 'clock',
    declineReason: REASONS.outOfTime,
    // It may have gone on meanwhile, in time.
    onlyIf: (found) => found === payment || !isOpen(found.state) || isOutOfTime(gateway, found),
    dueAt: wasSubmitted(payment) ? gateway.clock.now(payment.mid) + LIMITS.lateQueryBackoffMs[0] : undefined,
  });
