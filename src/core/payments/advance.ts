/** The one door for state: what an event does to a payment, written with its history in one guarded statement. */
import type { Authentication } from '../../connectors/connector.ts';
import { newSecret } from '../../lib/id.ts';
import { brandOf, UNCHOSEN } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen, nextState, type PaymentEvent, type StateName } from '../../rules/states.ts';
import type {
  Actor,
  Attention,
  CallRecord,
  Changes,
  Move,
  NextStep,
  Payment,
  PaymentDetails,
  WholePayment,
} from '../../store/payments.ts';
import { callbackOf } from '../callbacks/compose.ts';
import type { Gateway } from '../context.ts';
import { eraseAfterOutcome } from '../vault.ts';

/** Something that happened to a payment. */
export interface Happening {
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

/** Everything that an event changes in a payment besides its state. */
function changes(payment: Payment, happening: Happening): Changes {
  return {
    inDoubt: false,
    asked: 0,
    dueAt: happening.dueAt ?? null,
    declineReason: happening.declineReason ?? payment.declineReason,
    providerReference: happening.providerReference ?? payment.providerReference,
    nextStep: happening.nextStep ?? null,
    attention: happening.attention ?? null,
    ...EFFECTS[happening.event]?.(payment),
  };
}

const GIVEN_UP: readonly StateName[] = ['DECLINED', 'EXPIRED', 'VOID', 'REVERSAL'];

/** News of money that moved, or was reserved for the first time, although the payment had been given up. */
export const isLateSuccess = ({ state, authorised }: Payment, event: PaymentEvent): boolean =>
  GIVEN_UP.includes(state) &&
  (event === 'settled' || event === 'captured' || (event === 'authorised' && authorised === 0n));

type Awaiting = Pick<Payment, 'mid' | 'state' | 'payerUntil' | 'brand' | 'authorised'> &
  Partial<Pick<Payment, 'nextStep'>>;

/** Until when a payment waits for its payer; nothing when it does not. */
function payerDeadline({ state, payerUntil, brand, authorised, nextStep }: Awaiting): number | undefined {
  // Whose amount is reserved has done their part.
  if (payerUntil === null || authorised > 0n) return undefined;
  const isChoosing = state === 'PREPARE' && brand === UNCHOSEN;
  // Whom the bank knows has done their part, too: the card is being submitted.
  const isAtBank = state === '3DS' && nextStep !== null;
  const isWaiting =
    state === 'REDIRECT' || isAtBank || isChoosing || (state === 'PENDING' && brandOf(brand)?.payerTimeMs);
  if (!isWaiting) return undefined;
  return nextStep?.kind === 'challenge' ? Math.min(nextStep.until, payerUntil) : payerUntil;
}

/** Whether the payer did not finish in time; such a payment has ended, even if nobody has looked since. */
export function isOutOfTime({ clock }: Pick<Gateway, 'clock'>, payment: Awaiting): boolean {
  const deadline = payerDeadline(payment);
  return deadline !== undefined && clock.now(payment.mid) >= deadline;
}

/** The payment looks at the clock at its deadline at the latest. */
function withDeadline(payment: WholePayment): WholePayment {
  const deadline = payerDeadline(payment);
  if (deadline === undefined || (payment.dueAt !== null && payment.dueAt <= deadline)) return payment;
  return { ...payment, dueAt: deadline };
}

/** Each lost try means that another event was written, so this many have to arrive together before one is given up. */
const TRIES_MOST = 100;

/**
 * Writes a move that is composed from the payment as it is; when that has changed meanwhile, it is composed anew.
 * Whoever composes may refuse by throwing, or find that there is nothing to write: then nothing was written.
 */
export async function write<Written extends Move | undefined>(
  gateway: Gateway,
  payment: WholePayment,
  compose: (current: WholePayment, now: number) => Written | Promise<Written>,
  authentication?: Authentication,
): Promise<Written> {
  let current = payment;
  for (let tries = 0; tries < TRIES_MOST; tries++) {
    const move = await compose(current, gateway.clock.now(current.mid));
    if (!move) return move;
    if (await tellAndMove(gateway, move, authentication)) return move;
    current = (await gateway.payments.find(current)) ?? current;
  }
  throw new Error(`The payment ${payment.paymentId} changed too often to be moved.`);
}

/** Writes a move together with what the merchant is told of it; false when the payment is no longer as it was. */
async function tellAndMove(gateway: Gateway, move: Move, authentication?: Authentication): Promise<boolean> {
  const callback = await callbackOf(gateway, move, authentication);
  const isMoved = await gateway.payments.move(callback ? { ...move, callback } : move);
  if (isMoved && move.after.state !== move.before.state) gateway.metrics.entered(move.after.state);
  if (isMoved && callback && callback.dueAt !== null) gateway.deliverer.wake();
  if (isMoved && move.after.details.card) await eraseAfterOutcome(gateway, move);
  return isMoved;
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
export async function advance(gateway: Gateway, payment: WholePayment, happening: Happening): Promise<WholePayment> {
  const { actor, call, event } = happening;
  const compose = (before: WholePayment, now: number): Move => {
    const to = nextState(before.state, event);
    const moved = withHistory(before, event === 'abandoned' ? Math.min(now, payerDeadline(before) ?? now) : now);
    if (to !== undefined) {
      const after = withDeadline({ ...moved, ...changes(before, happening), state: to });
      return { before, after, event, actor, call };
    }
    const after: WholePayment = isLateSuccess(before, event)
      ? { ...moved, attention: 'late_success', dueAt: null }
      : moved;
    return { before, after, event: `noted ${event}`, actor, call };
  };
  let current = payment;
  const judged = async (found: WholePayment, now: number): Promise<Move | undefined> => {
    current = found;
    if (happening.onlyIf?.(found) === false) return undefined;
    // What comes after the payer's time is late, whether or not the work loop has been here.
    if (event !== 'abandoned' && isOutOfTime(gateway, found)) current = await abandon(gateway, found);
    // Time ends nothing that an operation is under way for: its outcome decides first.
    if (current.busy !== null && BY_TIME.includes(event)) return undefined;
    const composed = compose(current, now);
    if (event !== 'settled' || current.busy !== 'capture') return composed;
    // It is the capture under way that settled it, so what it takes is what was captured.
    const captured = await amountUnderWay(gateway, current);
    return { ...composed, after: { ...composed.after, captured: captured ?? composed.after.captured } };
  };
  const move = await write(gateway, payment, judged, happening.authentication);
  if (!move) return current;
  if (isLateSuccess(move.before, event)) {
    gateway.log.warn({ payment_id: current.paymentId, event }, 'late success: money moved after the end');
  }
  return move.after;
}

const BY_TIME: readonly PaymentEvent[] = ['expired', 'abandoned'];

/** What the capture takes that is under way. */
async function amountUnderWay(gateway: Gateway, payment: Payment): Promise<bigint | undefined> {
  const operations = await gateway.operations.of(payment);
  return operations.find(({ verb, state }) => verb === 'capture' && state === 'sent')?.amount;
}

/** Ends a payment whose payer did not finish in time; its provider is still asked, in case money moves late. */
export function abandon(gateway: Gateway, payment: WholePayment): Promise<WholePayment> {
  const wasSubmitted = payment.nextStep?.kind !== 'fields' && payment.brand !== UNCHOSEN;
  return advance(gateway, payment, {
    event: 'abandoned',
    actor: 'clock',
    declineReason: REASONS.outOfTime,
    // It may have gone on meanwhile, in time.
    onlyIf: (found) => found === payment || !isOpen(found.state) || isOutOfTime(gateway, found),
    dueAt: wasSubmitted ? gateway.clock.now(payment.mid) + LIMITS.askAfterwardsMs[0] : undefined,
  });
}

/** Writes something into the history that leaves the state as it is; nothing is written if the payment has moved. */
async function note(
  gateway: Gateway,
  payment: WholePayment,
  record: Pick<Move, 'event' | 'actor' | 'call'>,
  changed: Changes,
  authentication?: Authentication,
): Promise<WholePayment> {
  const at = gateway.clock.now(payment.mid);
  const after = withDeadline({ ...withHistory(payment, at), ...changed });
  return (await tellAndMove(gateway, { before: payment, after, ...record }, authentication)) ? after : payment;
}

/** The pause before the next question grows with each that was in vain. */
export const nextPause = (pauses: readonly number[], asked: number): number =>
  pauses[Math.min(asked, pauses.length - 1)] as number;

/** Notes that a provider was asked and the outcome is still to come; at last somebody has to look. */
export function noteAsked(
  gateway: Gateway,
  payment: WholePayment,
  call: CallRecord,
  changed: Changes = {},
): Promise<WholePayment> {
  const wasGivenUp = !isOpen(payment.state);
  const pauses: readonly number[] = wasGivenUp ? LIMITS.askAfterwardsMs : LIMITS.askAgainMs;
  const asked = payment.asked + 1;
  const isLadderDone = asked > pauses.length;
  const pause = nextPause(pauses, payment.asked);
  return note(
    gateway,
    payment,
    { event: 'asked', actor: 'clock', call },
    {
      asked,
      dueAt: wasGivenUp && isLadderDone ? null : gateway.clock.now(payment.mid) + pause,
      attention: payment.inDoubt && isLadderDone ? 'unresolved' : payment.attention,
      ...changed,
    },
  );
}

/** Notes that a provider told something that cannot be right; an operator can see it, and it is asked about soon. */
export function noteDoubt(
  gateway: Gateway,
  payment: WholePayment,
  actor: Actor,
  call: CallRecord,
): Promise<WholePayment> {
  // Of a payment that was given up, too, money may have moved; of one whose amount is reserved or taken all is known.
  const isOutcomeUnknown = payment.authorised === 0n;
  const asked = payment.asked + 1;
  const dueAt = gateway.clock.now(payment.mid) + nextPause(LIMITS.askAgainMs, payment.asked);
  return note(
    gateway,
    payment,
    { event: 'doubted', actor, call },
    { attention: 'wrong_amount', ...(isOutcomeUnknown && { asked, dueAt }) },
  );
}

/** The bank knows the payer; nothing when somebody else was told before, who goes on then. */
export async function noteAuthenticated(
  gateway: Gateway,
  payment: WholePayment,
  call: CallRecord,
  authentication: Authentication,
): Promise<WholePayment | undefined> {
  const changed = { nextStep: null, dueAt: gateway.clock.now(payment.mid) + LIMITS.submissionMs };
  const record = { event: 'authenticated', actor: 'provider', call } as const;
  const after = await note(gateway, payment, record, changed, authentication);
  return after === payment ? undefined : after;
}

/** An operator has looked at a payment and dealt with it. */
export const noteAttended = (gateway: Gateway, payment: WholePayment): Promise<WholePayment> =>
  note(gateway, payment, { event: 'attended', actor: 'operator', call: undefined }, { attention: null });

/** Keeps what the payer was asked for; nothing when somebody else was faster. */
export async function noteCollected(
  gateway: Gateway,
  payment: WholePayment,
  details: PaymentDetails,
  chosen: Pick<Payment, 'brand' | 'connector'> = payment,
): Promise<WholePayment | undefined> {
  const now = gateway.clock.now(payment.mid);
  // Some ways to pay leave the payer less time than the session has.
  const ownTimeMs = payment.brand === UNCHOSEN ? brandOf(chosen.brand)?.payerTimeMs : undefined;
  const payerUntil =
    ownTimeMs === undefined ? payment.payerUntil : Math.min(now + ownTimeMs, payment.payerUntil ?? now + ownTimeMs);
  const after: WholePayment = {
    ...withDeadline({
      ...payment,
      brand: chosen.brand,
      connector: chosen.connector,
      payerUntil,
      nextStep: null,
      dueAt: now + LIMITS.submissionMs,
      updatedAt: now,
    }),
    details,
    historyLength: payment.historyLength + 1,
  };
  return (await gateway.payments.collect(payment, after)) ? after : undefined;
}
