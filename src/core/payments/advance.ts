/** The one door for state: what an event does to a payment, written with its history in one guarded statement. */
import type { Authentication } from '../../connectors/connector.ts';
import { newSecret } from '../../lib/id.ts';
import type { Attention } from '../../rules/attention.ts';
import { brandOf, NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen, nextState, type PaymentEvent, type StateName } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  Changes,
  NextStep,
  Payment,
  PaymentDetails,
  Transition,
  WholePayment,
} from '../../store/payments.ts';
import { callbackOf } from '../callbacks/compose.ts';
import type { Gateway } from '../context.ts';
import { eraseAfterOutcome } from '../vault.ts';

/** Something that happened to a payment. */
export interface PaymentEventRecord {
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
function changes(payment: Payment, record: PaymentEventRecord): Changes {
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

type Awaiting = Pick<Payment, 'mid' | 'state' | 'payerUntil' | 'brand' | 'authorised' | 'inDoubt' | 'createdAt'> &
  Partial<Pick<Payment, 'nextStep'>>;

/** Until when a payment waits for its payer; nothing when it does not. */
function payerDeadline(payment: Awaiting): number | undefined {
  const { state, payerUntil, brand, authorised, nextStep } = payment;
  // An authorised payment no longer waits for its payer.
  if (payerUntil === null || authorised > 0n) return undefined;
  if (state === 'PENDING') return pendingDeadline(payment, payerUntil);
  const isChoosing = state === 'PREPARE' && brand === NO_BRAND_YET;
  // Without a next step the payer has done their part, and the payment is being submitted.
  const isElsewhere = (state === 'REDIRECT' || state === '3DS') && nextStep !== null;
  if (!isChoosing && !isElsewhere) return undefined;
  return nextStep?.kind === 'challenge' ? Math.min(nextStep.until, payerUntil) : payerUntil;
}

/** The provider has the payment and waits for the payer. Time does not end a payment whose outcome is unknown. */
function pendingDeadline({ brand, inDoubt, createdAt }: Awaiting, payerUntil: number): number | undefined {
  const row = brandOf(brand);
  if (row?.payerTimeMs !== undefined) return payerUntil;
  return inDoubt || row?.pendingMs === undefined ? undefined : createdAt + row.pendingMs;
}

/** Whether the payer did not finish in time; such a payment has ended, even if nobody has looked since. */
export function isOutOfTime({ clock }: Pick<Gateway, 'clock'>, payment: Awaiting): boolean {
  const deadline = payerDeadline(payment);
  return deadline !== undefined && clock.now(payment.mid) >= deadline;
}

/** The payment is due at its deadline at the latest; once that is past, when the provider is to be asked again. */
function withDeadline(payment: WholePayment): WholePayment {
  const { dueAt, updatedAt } = payment;
  const deadline = payerDeadline(payment);
  const isSooner = deadline !== undefined && (dueAt === null || (deadline < dueAt && deadline > updatedAt));
  return isSooner ? { ...payment, dueAt: deadline } : payment;
}

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
async function writeTransition(
  gateway: Gateway,
  transition: Transition,
  authentication?: Authentication,
): Promise<boolean> {
  const callback = await callbackOf(gateway, transition, authentication);
  const isWritten = await gateway.payments.transition(callback ? { ...transition, callback } : transition);
  if (isWritten && transition.after.state !== transition.before.state) gateway.metrics.entered(transition.after.state);
  if (isWritten && callback && callback.dueAt !== null) gateway.deliverer.wake();
  if (isWritten && transition.after.details.card) await eraseAfterOutcome(gateway, transition);
  return isWritten;
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
export async function advance(
  gateway: Gateway,
  payment: WholePayment,
  record: PaymentEventRecord,
): Promise<WholePayment> {
  const { event, onlyIf } = record;
  let current = payment;
  const transition = await write(
    gateway,
    payment,
    async (found, now): Promise<Transition | undefined> => {
      current = found;
      if (onlyIf?.(found) === false) return undefined;
      // Time ends nothing that an operation is under way for: its outcome decides first.
      if (event === 'abandoned' && found.busy !== null) return undefined;
      if (event === 'settled' && found.busy !== null && isOpen(found.state))
        return settledWhileBusy(gateway, found, record, now);
      // A provider that reports a void as a decline tells what the operation under way will tell, too.
      if (event === 'declined' && isVoiding(found)) return recorded(found, record, now);
      return compose(found, record, now);
    },
    record.authentication,
  );
  if (!transition) return current;
  if (isLateSuccess(transition.before, event)) {
    gateway.log.warn({ payment_id: current.paymentId, event }, 'late success: money moved after the end');
  }
  return transition.after;
}

/** What an event does to a payment: a transition of the table of states, or a note that it came and changed nothing. */
function compose(before: WholePayment, record: PaymentEventRecord, now: number): Transition {
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
  { event, actor, call }: PaymentEventRecord,
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
  record: PaymentEventRecord,
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

/** Whether a provider may have the payment: not while the payer still chooses or fills in what is missing. */
export const wasSubmitted = ({ nextStep, brand }: Pick<Payment, 'nextStep' | 'brand'>): boolean =>
  nextStep?.kind !== 'fields' && brand !== NO_BRAND_YET;

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

/** Writes something into the history that leaves the state as it is; nothing is written if the payment has moved. */
async function note(
  gateway: Gateway,
  payment: WholePayment,
  record: Pick<Transition, 'event' | 'actor' | 'call'>,
  changed: Changes,
  authentication?: Authentication,
): Promise<WholePayment> {
  const at = gateway.clock.now(payment.mid);
  const recorded: WholePayment = { ...withHistory(payment, at), ...changed };
  // Without a further question nothing is due any more, not even a deadline that is past.
  const after = changed.dueAt === null ? recorded : withDeadline(recorded);
  return (await writeTransition(gateway, { before: payment, after, ...record }, authentication)) ? after : payment;
}

/** The pause before the next question grows with each that was in vain. */
export const nextBackoff = (pauses: readonly number[], queryCount: number): number =>
  pauses[Math.min(queryCount, pauses.length - 1)] as number;

/** Whether an outcome should be known by now: its provider did not answer, or time is over for payer or authorisation. */
const isOverdue = (gateway: Gateway, payment: WholePayment): boolean =>
  payment.inDoubt || payment.authorised > 0n || isOutOfTime(gateway, payment);

/** Notes that a provider was asked and the outcome is still to come; at last an operator has to look. */
export function recordQuery(
  gateway: Gateway,
  payment: WholePayment,
  call: CallRecord,
  changed: Changes = {},
): Promise<WholePayment> {
  const { isBackoffExhausted, ...question } = nextQuery(payment, gateway.clock.now(payment.mid));
  const attention = isBackoffExhausted && isOverdue(gateway, payment) ? 'unresolved' : payment.attention;
  return note(gateway, payment, { event: 'queried', actor: 'clock', call }, { ...question, attention, ...changed });
}

/** When the provider is asked next about a payment; never, when it was asked often enough. */
function nextQuery({ state, queryCount: before }: Payment, now: number) {
  const wasGivenUp = !isOpen(state);
  const pauses: readonly number[] = wasGivenUp ? LIMITS.lateQueryBackoffMs : LIMITS.queryBackoffMs;
  const queryCount = before + 1;
  const isBackoffExhausted = queryCount > pauses.length;
  const isLast = wasGivenUp ? isBackoffExhausted : queryCount > pauses.length + LIMITS.dailyQueries;
  return { queryCount, dueAt: isLast ? null : now + nextBackoff(pauses, before), isBackoffExhausted };
}

/**
 * Notes that a provider told something that cannot be right: an operator can see it, and it is asked about soon. It is
 * noted whatever else happens to the payment at the same moment.
 */
export async function recordDoubt(
  gateway: Gateway,
  payment: WholePayment,
  actor: Actor,
  call: CallRecord,
): Promise<WholePayment> {
  const transition = await write(gateway, payment, (before, now): Transition => {
    const { queryCount, dueAt } = nextQuery(before, now);
    // Of a payment that was given up, too, money may have moved; one whose amount is reserved or taken keeps its time,
    // unless it was due and its question is used up.
    const isAskedNext = before.authorised === 0n || actor === 'clock';
    const isConflict = before.attention === 'conflict' && before.busy !== null;
    const doubted: WholePayment = {
      ...withHistory(before, now),
      attention: isConflict ? 'conflict' : 'wrong_amount',
      ...(isAskedNext && { queryCount, dueAt }),
    };
    const after = isAskedNext && dueAt === null ? doubted : withDeadline(doubted);
    return { before, after, event: 'doubted', actor, call };
  });
  return transition.after;
}

/** The bank knows the payer; nothing when somebody else was told before, who goes on then. */
export async function recordAuthentication(
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
export const recordAttention = (gateway: Gateway, payment: WholePayment): Promise<WholePayment> =>
  note(gateway, payment, { event: 'attended', actor: 'operator', call: undefined }, { attention: null });

/** Keeps what the payer was asked for; nothing when somebody else was faster. */
export async function recordCollected(
  gateway: Gateway,
  payment: WholePayment,
  details: PaymentDetails,
  chosen: Pick<Payment, 'brand' | 'connector'> = payment,
): Promise<WholePayment | undefined> {
  const now = gateway.clock.now(payment.mid);
  // Some ways to pay leave the payer less time than the session has.
  const ownTimeMs = payment.brand === NO_BRAND_YET ? brandOf(chosen.brand)?.payerTimeMs : undefined;
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
