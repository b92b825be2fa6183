/** The single writer of state: writes an event with its history and callback in one guarded statement. */
import type { Authentication } from '../../connectors/connector.ts';
import { newSecret } from '../../lib/crypto/id.ts';
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { lower } from '../../lib/money/decimal.ts';
import type { Attention } from '../../rules/attention.ts';
import { type ChargebackEvent, isChargebackEvent } from '../../rules/chargebacks.ts';
import { canRepeat } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen, isRetriable, nextState, type PaymentEvent } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  NextStep,
  OperationVerb,
  Payment,
  PaymentChanges,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import { composeCallback } from '../callbacks/compose.ts';
import { cardsAfter } from '../cards/vault.ts';
import { isOfAnother, isOnlyNoted, namedAs } from '../chargebacks/disputes.ts';
import type { Gateway } from '../context.ts';
import { hasReceipt } from '../receipts/receipts.ts';
import { isOutOfTime, payerDeadline, wasSubmitted, withDeadline } from './deadlines.ts';
import { markAfter, markBelow, strongerMark, takesBack } from './marks.ts';
import { partRecord } from './reported-amounts.ts';

/** An event with the data that it writes to the payment. */
export interface EventInput {
  event: PaymentEvent;
  actor: Actor;
  /** The provider call that reported the event. */
  call?: CallRecord;
  declineReason?: string;
  /** The result of the 3DS authentication; the callback includes it. */
  authentication?: Authentication | undefined;
  /** What the answer of the provider brought to be stored. */
  learned?: PaymentChanges;
  /** What the payer has to do now. */
  nextStep?: NextStep | undefined;
  attention?: Attention;
  /** What was captured of an authorisation, as the provider names it; the whole amount if omitted. Of `settled` only. */
  captured?: bigint | undefined;
  /** What the bank took, as the provider names it; everything that is left if omitted. Of chargebacks only. */
  chargedBack?: bigint | undefined;
  /** When the work loop processes the payment again; never if omitted. */
  dueAt?: number | undefined;
  /** The event is dropped if this is false for the payment as it is when the event is written. */
  onlyIf?: ((payment: PaymentWithDetails) => boolean) | undefined;
}

/** What each event writes besides the state; the amounts depend on the event only. */
const EFFECTS: Partial<Record<PaymentEvent, (payment: Payment, input: EventInput) => PaymentChanges>> = {
  authorised: (payment) => ({ authorised: payment.amount, ...withRecurringToken(payment) }),
  settled: (payment, { captured = payment.amount }) => ({
    authorised: payment.amount,
    captured,
    ...withRecurringToken(payment),
  }),
  unanswered: () => ({ inDoubt: true }),
  declined: () => WITHOUT_SERIES,
  abandoned: () => WITHOUT_SERIES,
  captured: (payment) => ({ captured: payment.authorised }),
  refunded: (payment) => ({ refunded: payment.captured }),
};

/** A payment that was declined begins no series, even if it was authorised before. */
const WITHOUT_SERIES: PaymentChanges = { recurringToken: null };

const withRecurringToken = (payment: Payment): PaymentChanges =>
  payment.isRecurringInit && payment.recurringToken === null && canRepeat(payment.brand, payment.connector)
    ? { recurringToken: newSecret() }
    : {};

/** Everything that an event changes in a payment besides its state. */
function changes(payment: Payment, input: EventInput): PaymentChanges {
  const changed: PaymentChanges = {
    inDoubt: false,
    queryCount: 0,
    dueAt: input.dueAt ?? null,
    declineReason: input.declineReason ?? payment.declineReason,
  };
  const then: PaymentChanges = {
    nextStep: input.nextStep ?? null,
    attention: markAfter(payment, input.event, input.attention),
  };
  return Object.assign(changed, input.learned, then, EFFECTS[input.event]?.(payment, input));
}

/** Whether money moved, or was reserved for the first time, after the payment had ended without success. */
export const isLateSuccess = ({ state, authorised }: Payment, event: PaymentEvent): boolean =>
  isRetriable(state) && (event === 'settled' || event === 'captured' || (event === 'authorised' && authorised === 0n));

/** An attempt fails only if another write succeeded, so this many concurrent writes are needed to exhaust them. */
const MAX_WRITE_ATTEMPTS = 100;

/**
 * Optimistic locking: writes a transition composed from the payment as last read; if the payment has changed since, it
 * is read and the transition composed again. `compose` may throw a refusal, or return undefined if there is nothing to
 * write; in both cases nothing is written.
 */
export async function writeWithRetry<Written extends Transition | undefined>(
  gateway: Gateway,
  payment: PaymentWithDetails,
  compose: (current: PaymentWithDetails, now: number) => MaybePromise<Written>,
  authentication?: Authentication,
): Promise<Written> {
  let current = payment;
  for (let attempts = 0; attempts < MAX_WRITE_ATTEMPTS; attempts++) {
    const composed = compose(current, gateway.clock.now(current.mid));
    const transition = composed instanceof Promise ? await composed : composed;
    if (!transition) return transition;
    if (await writeTransition(gateway, transition, authentication)) return transition;
    current = (await gateway.payments.find(current)) ?? current;
  }
  throw new Error(`The payment ${payment.paymentId} changed too often for its transition to be written.`);
}

/**
 * Writes a transition together with its callback, its receipt and the erasure of its card; returns false if the payment has
 * changed since it was read.
 */
export async function writeTransition(
  gateway: Gateway,
  transition: Transition,
  authentication?: Authentication,
): Promise<boolean> {
  const composed = composeCallback(gateway, transition, authentication);
  const callback = composed instanceof Promise ? await composed : composed;
  const cards = cardsAfter(transition);
  const reported = callback || cards ? { ...transition, callback, cards } : transition;
  const isMailed = gateway.mailer !== undefined && (await hasReceipt(gateway, transition));
  const isWritten = await gateway.payments.transition(isMailed ? { ...reported, hasReceipt: true } : reported);
  if (!isWritten) return false;
  if (transition.after.state !== transition.before.state) gateway.metrics.entered(transition.after.state);
  if (callback && callback.dueAt !== null) gateway.deliverer.wake();
  return true;
}

/** The payment with one more history entry. */
export const withHistory = (payment: PaymentWithDetails, at: number): PaymentWithDetails => ({
  ...payment,
  historyLength: payment.historyLength + 1,
  updatedAt: at,
});

/**
 * Applies an event by the table of states and returns the payment as it is afterwards. An event that the table does not
 * allow is recorded in the history only. After a concurrent write the event is applied to the new state.
 */
export async function advance(
  gateway: Gateway,
  payment: PaymentWithDetails,
  input: EventInput,
): Promise<PaymentWithDetails> {
  let current = payment;
  const transition = await writeWithRetry(
    gateway,
    payment,
    (found, now) => {
      current = found;
      return composeCurrent(gateway, found, input, now);
    },
    input.authentication,
  );
  if (!transition) return current;
  if (isLateSuccess(transition.before, input.event) && transition.after.attention === 'late_success') {
    const fields = { payment_id: current.paymentId, event: input.event };
    gateway.log.warn(fields, 'late success: money moved after the payment had ended');
  }
  return transition.after;
}

/** Composes the transition of an event from the payment as it is now; undefined if the event no longer applies. */
function composeCurrent(
  gateway: Gateway,
  found: PaymentWithDetails,
  input: EventInput,
  now: number,
): MaybePromise<Transition | undefined> {
  const { event, onlyIf } = input;
  if (onlyIf?.(found) === false) return undefined;
  // A deadline does not end a payment while an operation is in flight: the outcome of the operation comes first.
  if (event === 'abandoned' && found.busy !== null) return undefined;
  if (event === 'settled' && found.busy !== null && isOpen(found.state))
    return settledWhileBusy(gateway, found, input, now);
  if (event === 'settled' && input.captured !== undefined && isOpen(found.state) && found.authorised > 0n)
    return composeCaptured(found, input, input.captured, now);
  if (isLateSuccess(found, event)) return composeLateSuccess(gateway, found, input, now);
  // Some providers report a void as a decline; the outcome of the void in flight changes the state.
  if (event === 'declined' && isVoiding(found)) return composeNoted(found, input, now);
  if (isChargebackEvent(event)) return composeChargeback(gateway, found, { ...input, event }, now);
  return composeTransition(found, input, now);
}

/** An authorisation was captured at the provider itself, perhaps in part. */
function composeCaptured(before: PaymentWithDetails, input: EventInput, captured: bigint, now: number): Transition {
  const composed = composeTransition(before, { ...input, event: 'captured' }, now);
  return { ...composed, after: { ...composed.after, captured }, moved: captured };
}

/** A chargeback takes at most what is left of the payment; a reversal returns what was taken last, if it is of that. */
async function composeChargeback(
  gateway: Gateway,
  before: PaymentWithDetails,
  input: EventInput & { event: ChargebackEvent },
  now: number,
): Promise<Transition> {
  const history = await gateway.payments.history(before);
  const { call } = input;
  const composed = isOfAnother(history, input.event, call)
    ? composeNoted(before, input, now)
    : composeTransition(before, input, now);
  if (composed.event !== input.event) {
    // The bank has taken a part, and takes another one by a chargeback of its own: the operator has to look at it. One without
    // a name may be a repetition.
    const isSeparate =
      takesBack(input.event) &&
      before.state === 'CHARGEBACK' &&
      call?.chargeback !== undefined &&
      namedAs(history, call).length === 0;
    if (isSeparate) return { ...composed, after: { ...composed.after, attention: 'unexpected_chargeback' } };
    return isReturned(before, input.event) && isOnlyNoted(history, call)
      ? { ...composed, after: { ...composed.after, attention: await markBelow(gateway, before) } }
      : composed;
  }
  const left = before.captured - before.refunded;
  if (input.event !== 'chargebackReversed') {
    const { chargedBack = left } = input;
    // The chargeback may have been marked until the payment was settled.
    const isResolved = before.attention === 'unexpected_chargeback' && isOnlyNoted(history, call);
    const attention = isResolved ? await markBelow(gateway, before) : composed.after.attention;
    return { ...composed, after: { ...composed.after, attention }, moved: lower(chargedBack, left) };
  }
  const taken = history.findLast(({ toState, fromState }) => toState !== fromState);
  return { ...composed, moved: taken?.amount ?? left };
}

/**
 * A report of money that was sent back is recorded only: a provider may repeat it, and a report of an authorisation may
 * arrive after the void, which has released it.
 */
async function composeLateSuccess(
  gateway: Gateway,
  before: PaymentWithDetails,
  input: EventInput,
  now: number,
): Promise<Transition> {
  const operations = await gateway.operations.of(before);
  const isSentBack = operations.some(
    ({ verb, state }) =>
      state === 'done' && (verb === 'late_refund' || (VOIDS.includes(verb) && input.event === 'authorised')),
  );
  const reported = withPart(before, input);
  return isSentBack ? composeNoted(before, reported, now) : composeTransition(before, reported, now);
}

/** The event with the record of what was captured, if that is a part. */
const withPart = (before: PaymentWithDetails, input: EventInput): EventInput =>
  input.call ? { ...input, call: partRecord(before, input.call, input.captured) } : input;

/** The voids of a payment that is not known to be authorised. */
const VOIDS: readonly OperationVerb[] = ['void', 'late_void'];

/** A transition of the table of states, or a history entry without one if the table does not allow the event. */
function composeTransition(before: PaymentWithDetails, input: EventInput, now: number): Transition {
  const { actor, call, event } = input;
  const to = nextState(before.state, event, before.refunded === before.captured);
  if (to === undefined) return composeNoted(before, input, now, attentionFor(before, event));
  const at = event === 'abandoned' ? Math.min(now, payerDeadline(before) ?? now) : now;
  const after = withDeadline(Object.assign(withHistory(before, at), changes(before, input), { state: to }));
  return { before, after, event, actor, call };
}

/** A history entry for an event that leaves the state. */
const composeNoted = (
  before: PaymentWithDetails,
  { event, actor, call }: EventInput,
  now: number,
  changed: PaymentChanges = {},
): Transition => ({
  before,
  after: { ...withHistory(before, now), ...changed },
  event: `noted ${event}`,
  actor,
  call,
});

const VOIDING: readonly Payment['busy'][] = ['void', 'reversal', 'expiry'];
const isVoiding = ({ state, busy }: Payment): boolean => isOpen(state) && VOIDING.includes(busy);

/** Marks a payment for the operator if an event that the table does not allow means that money has moved. */
function attentionFor(before: PaymentWithDetails, event: PaymentEvent): PaymentChanges {
  if (isLateSuccess(before, event)) return { attention: strongerMark(before.attention, 'late_success'), dueAt: null };
  return takesBack(event) && before.state !== 'CHARGEBACK' ? { attention: 'unexpected_chargeback' } : {};
}

/** Whether the bank returned the money of a chargeback that is marked and was never applied. */
const isReturned = ({ state, attention }: Payment, event: PaymentEvent): boolean =>
  event === 'chargebackReversed' && !isOpen(state) && attention === 'unexpected_chargeback';

/** The provider reports a settlement while an operation is in flight. */
async function settledWhileBusy(
  gateway: Gateway,
  before: PaymentWithDetails,
  input: EventInput,
  now: number,
): Promise<Transition> {
  if (before.busy === 'capture') {
    // The capture in flight settled the payment, so the captured amount is that of the capture, unless the provider names it.
    const composed = composeTransition(before, withPart(before, input), now);
    const captured = input.captured ?? (await captureInFlight(gateway, before));
    return { ...composed, after: { ...composed.after, captured: captured ?? composed.after.captured } };
  }
  // The outcome of the void comes first; then the provider is queried to resolve the conflict.
  return composeNoted(before, input, now, { attention: strongerMark(before.attention, 'conflict') });
}

/** The amount of the capture that is in flight. */
async function captureInFlight(gateway: Gateway, payment: Payment): Promise<bigint | undefined> {
  const operations = await gateway.operations.of(payment);
  return operations.find(({ verb, state }) => verb === 'capture' && state === 'sent')?.amount;
}

/** Ends a payment whose payer did not finish in time. Its provider is still queried later, to detect a late success. */
export const abandon = (gateway: Gateway, payment: PaymentWithDetails): Promise<PaymentWithDetails> =>
  advance(gateway, payment, {
    event: 'abandoned',
    actor: 'clock',
    declineReason: REASONS.outOfTime,
    // The payer may have finished in time meanwhile.
    onlyIf: (found) => found === payment || !isOpen(found.state) || isOutOfTime(gateway, found),
    dueAt: wasSubmitted(payment) ? gateway.clock.now(payment.mid) + LIMITS.lateQueryBackoffMs[0] : undefined,
  });
