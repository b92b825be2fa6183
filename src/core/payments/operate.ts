/** Performs captures, voids and refunds: writes the intent, calls the provider, writes the outcome. */
import type { OperationOutcome, ProviderOperation } from '../../connectors/connector.ts';
import { newId } from '../../lib/crypto/id.ts';
import { isItemFault } from '../../lib/flow/faults.ts';
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import type { Attention } from '../../rules/attention.ts';
import { pendingDaysOf } from '../../rules/connectors.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { nextState, type PaymentEvent } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  OperationRow,
  OperationVerb,
  Payment,
  PaymentChanges,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import { isStorableState, memoryOf, referenceOf } from '../connections/provider-data.ts';
import type { Account, Gateway } from '../context.ts';
import { isHeld } from '../installation/hold.ts';
import { isLateSuccess, withHistory, writeWithRetry } from './advance.ts';
import { callProvider, type Reply, sendDeadline } from './call.ts';
import { markWithout, strongerMark } from './marks.ts';
import { type IdempotencyKey, resultOfRepeat } from './operation-ids.ts';
import { expireAfterRefusedVoid } from './provider.ts';
import { scheduleNextQuery } from './query-schedule.ts';
import { type Requester, requireNoApproval, requireWithinLimit } from './refund-limit.ts';
import { isExpectedAmount, wrongAmountRecord } from './reported-amounts.ts';
import { notifyUrlOf } from './submission.ts';

/** An operation that the payment allows. */
export interface OperationPlan {
  verb: OperationVerb;
  amount: bigint;
}

/** The payment and the operation after the call; the state `sent` means that the outcome is not known yet. */
export interface OperationResult {
  payment: PaymentWithDetails;
  operation: OperationRow;
}

interface OperationRule {
  /** What the intent blocks for other operations, and what the outcome releases. */
  hold: (payment: Payment, amount: bigint) => PaymentChanges;
  release: (payment: Payment, amount: bigint) => PaymentChanges;
  /** The event of the payment, and what it changes, when the provider has done the operation. */
  event: (payment: Payment, amount: bigint) => PaymentEvent;
  effect: (payment: Payment, amount: bigint) => PaymentChanges;
  /** The operation that is sent to the provider. */
  provider: ProviderOperation['verb'];
}

/** The payment has at most one of these operations in flight. */
const exclusive = (verb: OperationVerb): Pick<OperationRule, 'hold' | 'release'> => ({
  hold: () => ({ busy: verb }),
  release: () => ({ busy: null }),
});

const refund: OperationRule = {
  hold: ({ reserved }, amount) => ({ reserved: reserved + amount }),
  release: ({ reserved }, amount) => ({ reserved: reserved - amount }),
  event: ({ refunded, captured }, amount) => (refunded + amount === captured ? 'refunded' : 'partlyRefunded'),
  effect: ({ refunded }, amount) => ({ refunded: refunded + amount }),
  provider: 'refund',
};

/** The mark goes away when the money is back; a chargeback that came meanwhile is marked still. */
const late: Pick<OperationRule, 'event' | 'effect'> = {
  event: () => 'lateRefunded',
  effect: ({ attention }) => ({ dueAt: null, attention: attention === 'unexpected_chargeback' ? attention : null }),
};

const OPERATION_RULES: Readonly<Record<OperationVerb, OperationRule>> = {
  capture: {
    ...exclusive('capture'),
    event: () => 'captured',
    effect: (_, amount) => ({ captured: amount, dueAt: null }),
    provider: 'capture',
  },
  void: {
    ...exclusive('void'),
    event: () => 'voided',
    effect: () => ({ dueAt: null, nextStep: null }),
    provider: 'void',
  },
  reversal: { ...exclusive('reversal'), event: () => 'reversed', effect: () => ({ dueAt: null }), provider: 'void' },
  expiry: { ...exclusive('expiry'), event: () => 'expired', effect: () => ({ dueAt: null }), provider: 'void' },
  refund,
  credit: refund,
  late_refund: { ...exclusive('late_refund'), ...late, provider: 'refund' },
  late_void: { ...exclusive('late_void'), ...late, provider: 'void' },
};

/** The operations on a payment that has ended without success. */
export const LATE_OPERATIONS: readonly OperationVerb[] = ['late_refund', 'late_void'];

/** Who requested an operation; an operator has a name. `record` writes the request to the audit log. */
export type Initiator =
  | Actor
  | { actor: 'operator'; name: string; note?: string; requester: Requester; record: () => Promise<void> };

export const entryBy = (initiator: Initiator): Pick<Transition, 'actor' | 'actorName' | 'note'> =>
  typeof initiator === 'string'
    ? { actor: initiator }
    : { actor: initiator.actor, actorName: initiator.name, note: initiator.note };

/**
 * Performs an operation. `plan` checks the payment and returns the operation or throws a refusal; it is called again
 * whenever the payment has changed.
 */
export async function operate(
  gateway: Gateway,
  payment: PaymentWithDetails,
  initiator: Initiator,
  plan: (current: Payment) => OperationPlan,
  /** May be used already: by an earlier request, or by a process that died. */
  idempotencyKey?: IdempotencyKey,
): Promise<OperationResult> {
  const key = { mid: payment.mid, operationId: idempotencyKey?.operationId ?? newId() };
  let existing: OperationRow | undefined;
  const transition = await writeWithRetry(gateway, payment, async (before, now): Promise<Transition | undefined> => {
    // Read after the payment: an operation that is written in between changes the payment, which is then read again.
    if (idempotencyKey) existing = await gateway.operations.find(key);
    if (existing) return undefined;
    const { verb, amount } = plan(before);
    if (typeof initiator === 'object') {
      await requireWithinLimit(gateway, before, initiator.requester, { verb, amount });
      requireNoApproval(before, initiator.requester, { verb, amount });
      // After the checks, so that the log has no refused request, and before the intent, so that it has every other one.
      await initiator.record();
    }
    const intent: OperationRow = {
      ...key,
      paymentId: before.paymentId,
      connector: before.connector,
      verb,
      amount,
      content: idempotencyKey?.content ?? null,
      orderId: idempotencyKey?.orderId ?? null,
      requestedBy: typeof initiator === 'object' ? initiator.requester.id : null,
      state: 'sent',
      reason: null,
      providerReference: null,
      providerState: null,
      queryCount: 0,
      // If this process dies before the outcome is written, the work loop queries the provider then.
      dueAt: now + LIMITS.submissionMs,
      requestedAt: now,
      finishedAt: null,
    };
    const held = { ...withHistory(before, now), ...OPERATION_RULES[verb].hold(before, amount) };
    return {
      before,
      after: held,
      event: `requested ${verb}`,
      ...entryBy(initiator),
      call: undefined,
      operation: intent,
    };
  }).catch(async (error) => {
    // A concurrent request used the id for another payment, which the guard on this payment does not detect.
    if (idempotencyKey && isItemFault(error)) existing = await gateway.operations.find(key);
    if (!existing) throw error;
    return undefined;
  });
  if (!transition)
    return resultOfRepeat(gateway, existing as unknown as OperationRow, idempotencyKey as IdempotencyKey);
  return sendOperation(gateway, transition.after, transition.operation as OperationRow);
}

/** Sends an operation whose intent is durable; like a submission, it is not sent once its row may be queried. */
async function sendOperation(
  gateway: Gateway,
  payment: PaymentWithDetails,
  operation: OperationRow,
): Promise<OperationResult> {
  const reply = await callProvider<OperationOutcome>(gateway, {
    payment,
    verb: operation.verb,
    isQuery: false,
    deadline: sendDeadline(gateway, operation),
    perform: (connector, deadline) => connector.operate(providerOperation(gateway, payment, operation), deadline),
  });
  return writeOutcome(gateway, payment, operation, reply, true);
}

/**
 * Queries an operation without a known outcome. One that never arrived is sent again if the provider is idempotent, but
 * not while a restore is held.
 */
export async function queryOperation(
  gateway: Gateway,
  payment: PaymentWithDetails,
  operation: OperationRow,
): Promise<OperationResult> {
  const request = providerOperation(gateway, payment, operation);
  const reply = await callProvider<OperationOutcome>(gateway, {
    payment,
    verb: operation.verb,
    isQuery: true,
    deadline: new Deadline(LIMITS.providerTimeoutMs),
    async perform(connector, deadline) {
      const outcome = await connector.queryOperation(request, deadline);
      const isSentAgain =
        outcome.kind === 'notFound' && connector.capabilities.isIdempotent && !(await isHeld(gateway));
      return isSentAgain ? connector.operate(request, deadline) : outcome;
    },
  });
  return writeOutcome(gateway, payment, operation, reply, false);
}

const providerOperation = (
  gateway: Gateway,
  payment: Payment,
  { verb, operationId, amount, providerReference, providerState, requestedAt }: OperationRow,
): ProviderOperation => ({
  verb: OPERATION_RULES[verb].provider,
  reference: referenceOf(payment),
  ...memoryOf(gateway, payment),
  operation: operationId,
  amount,
  brand: payment.brand,
  currency: payment.currency,
  paymentAmount: payment.amount,
  notifyUrl: notifyUrlOf(gateway, payment.connector),
  requestedAt,
  operationReference: providerReference ?? undefined,
  operationState: providerState ?? {},
});

/** Writes the outcome of an operation that a notification reports. */
export const applyOperationOutcome = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  operation: OperationRow,
  result: OperationOutcome,
): Promise<OperationResult> => {
  const record = (outcome: string): CallRecord => ({
    verb: 'notification',
    connector: payment.connector,
    outcome: `${operation.verb} ${outcome}`,
    tookMs: 0,
  });
  return writeOutcome(gateway, payment, operation, { kind: 'answered', result, record }, false);
};

/** The operation with what an answer brought to be stored. */
function withAnswer(operation: OperationRow, outcome: CheckedOutcome): OperationRow {
  if (outcome.kind === 'notFound' || outcome.kind === 'wrongAmount') return operation;
  const { operationReference, operationState } = outcome;
  const isStorable = operationState !== undefined && isStorableState(operationState);
  return {
    ...operation,
    ...(operationReference !== undefined && { providerReference: operationReference }),
    ...(isStorable && { providerState: operationState }),
  };
}

/** An outcome with a wrong amount is not applied. */
type CheckedOutcome = OperationOutcome | { kind: 'wrongAmount' };

function checkReply(
  payment: Payment,
  { amount }: OperationRow,
  reply: Reply<OperationOutcome>,
): [CheckedOutcome, CallRecord] {
  if (reply.kind !== 'answered') return [{ kind: 'unknown' }, reply.call];
  const { result, record } = reply;
  const call = record(result.kind);
  const reported = 'reportedAmount' in result ? result.reportedAmount : undefined;
  return isExpectedAmount({ amount, currency: payment.currency }, reported)
    ? [result, call]
    : [{ kind: 'wrongAmount' }, wrongAmountRecord(payment, call, reported)];
}

/** Writes the outcome of an operation together with its effect on the payment, once, however often it is reported. */
async function writeOutcome(
  gateway: Gateway,
  payment: PaymentWithDetails,
  operation: OperationRow,
  reply: Reply<OperationOutcome>,
  isNew: boolean,
): Promise<OperationResult> {
  const [outcome, call] = checkReply(payment, operation, reply);
  let current = payment;
  let stored = operation;
  const transition = await writeWithRetry(gateway, payment, async (before, now) => {
    current = before;
    // As long as nothing was written since the intent, no other process can have written the outcome.
    const isUntouched = isNew && before.historyLength === payment.historyLength;
    if (!isUntouched) stored = (await gateway.operations.find(operation)) ?? operation;
    if (stored.state !== 'sent') return undefined;
    const mark = await markWithoutOutcome(gateway, before, stored);
    const composed = composeOutcome(before, mark, withAnswer(stored, outcome), outcome, call, now);
    return outcome.kind === 'declined' && (await isAmountAssumed(gateway, before, stored))
      ? { ...composed, after: { ...composed.after, captured: before.authorised } }
      : composed;
  });
  return transition
    ? { payment: transition.after, operation: transition.operation as OperationRow }
    : { payment: current, operation: stored };
}

/** `mark` is that of the payment once the outcome is known. */
function composeOutcome(
  before: PaymentWithDetails,
  mark: Attention | null,
  operation: OperationRow,
  outcome: CheckedOutcome,
  call: CallRecord,
  now: number,
): Transition {
  switch (outcome.kind) {
    case 'done':
      return composeDone(before, mark, operation, call, now);
    case 'declined':
      return composeDeclined(before, mark, operation, outcome.reason, call, now);
    default:
      return composeUnknown(before, mark, operation, outcome.kind, call, now);
  }
}

/**
 * Whether the captured amount is that of a capture only because it was in flight when the provider reported the settlement
 * without an amount. If the provider declines the capture, it has settled the payment by itself, in full.
 */
async function isAmountAssumed(
  { payments }: Gateway,
  before: PaymentWithDetails,
  { verb, amount }: OperationRow,
): Promise<boolean> {
  if (verb !== 'capture' || before.state !== 'SETTLED' || before.captured !== amount) return false;
  const settlement = (await payments.history(before)).find(({ event }) => event === 'settled');
  return settlement !== undefined && settlement.call?.reported === undefined;
}

function composeDone(
  before: PaymentWithDetails,
  mark: Attention | null,
  operation: OperationRow,
  call: CallRecord,
  now: number,
): Transition {
  const { verb, amount } = operation;
  const { release, event: eventOf, effect } = OPERATION_RULES[verb];
  const event = eventOf(before, amount);
  const to = nextState(before.state, event);
  const released: PaymentWithDetails = { ...withHistory(before, now), ...release(before, amount), attention: mark };
  const finished: OperationRow = { ...operation, state: 'done', dueAt: null, finishedAt: now };
  const written = { before, actor: verb === 'expiry' ? 'clock' : 'provider', call, operation: finished } as const;
  if (to !== undefined) {
    const after = { ...released, ...effect(before, amount), ...queriedAfterConflict(before, now), state: to };
    return { ...written, after, event };
  }
  // Other events changed the state first: the hold is released, and a refund still counts.
  const counted = OPERATION_RULES[verb] === refund ? { ...released, ...effect(before, amount) } : released;
  const { attention: kept } = counted;
  const attention = isLateSuccess(before, event) ? strongerMark(kept, 'late_success') : kept;
  const after = { ...counted, attention, ...queriedAfterConflict(before, now) };
  return { ...written, after, event: `noted ${event}` };
}

function composeDeclined(
  before: PaymentWithDetails,
  mark: Attention | null,
  operation: OperationRow,
  reason: string,
  call: CallRecord,
  now: number,
): Transition {
  const { verb, amount } = operation;
  const after: PaymentWithDetails = {
    ...withHistory(before, now),
    ...OPERATION_RULES[verb].release(before, amount),
    ...queriedAfterDecline(verb, now),
    ...queriedAfterConflict(before, now),
    attention: mark,
  };
  const finished: OperationRow = { ...operation, state: 'declined', reason, dueAt: null, finishedAt: now };
  return { before, after, event: `refused ${verb}`, actor: 'provider', call, operation: finished };
}

function composeUnknown(
  before: PaymentWithDetails,
  resolved: Attention | null,
  operation: OperationRow,
  kind: 'accepted' | 'unknown' | 'notFound' | 'wrongAmount',
  call: CallRecord,
  now: number,
): Transition {
  // Pending is a known state: the provider may take days.
  const pendingDays = kind === 'accepted' ? pendingDaysOf(before.connector).operations : 0;
  const next = scheduleNextQuery(operation.queryCount, now, 'open', pendingDays);
  const { queryCount, dueAt, isBackoffExhausted } = next;
  const kept = kind === 'accepted' && before.attention === 'unresolved' ? resolved : before.attention;
  const mark = kind === 'wrongAmount' ? 'wrong_amount' : isBackoffExhausted ? 'unresolved' : undefined;
  // A late refund keeps the mark that it is about.
  const isMarked = mark !== undefined && !LATE_OPERATIONS.includes(operation.verb);
  const attention = isMarked ? strongerMark(kept, mark) : kept;
  return {
    before,
    after: { ...withHistory(before, now), attention },
    event: `unanswered ${operation.verb}`,
    actor: 'provider',
    call,
    operation: { ...operation, queryCount, dueAt },
  };
}

/**
 * A provider that declines a void has already settled, declined or voided the payment, so the payment is queried at
 * once. After an expiry, `resolveRefusedExpiry` queries it; the due time only counts if that does not complete.
 */
function queriedAfterDecline(verb: OperationVerb, now: number): PaymentChanges {
  if (verb === 'expiry') return { dueAt: now + LIMITS.leaseMs };
  return verb === 'void' || verb === 'reversal' ? { dueAt: now } : {};
}

/** The outcome of an operation clears the mark that the payment got while it was unknown; not the one that a late refund is about. */
const markWithoutOutcome = (
  gateway: Gateway,
  before: Payment,
  operation: OperationRow,
): MaybePromise<Attention | null> =>
  LATE_OPERATIONS.includes(operation.verb) ? before.attention : markWithout(gateway, before, operation);

/** The provider reported a settlement while the operation was in flight: a query resolves the conflict. */
const queriedAfterConflict = ({ attention }: PaymentWithDetails, now: number): PaymentChanges =>
  attention === 'conflict' ? { dueAt: now } : {};

/**
 * Ends an authorisation that was not captured in time: voids it at the provider, then expires the payment. If another
 * operation came first, its outcome decides.
 */
export async function expireAuthorisation(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<void> {
  const result = await operate(gateway, payment, 'clock', (current): OperationPlan => {
    if (current.state !== 'PENDING' || current.busy !== null) throw new Refusal('actionNotSupported');
    return { verb: 'expiry', amount: current.authorised };
  }).catch((error): undefined => {
    if (!(error instanceof Refusal)) throw error;
  });
  if (result) await resolveRefusedExpiry(gateway, result, account);
}

/** Expires a payment whose void was declined. If this process dies first, the payment falls due and is voided again. */
export async function resolveRefusedExpiry(
  gateway: Gateway,
  { payment, operation }: OperationResult,
  account: Account,
): Promise<void> {
  const isRefused = operation.verb === 'expiry' && operation.state === 'declined' && payment.state === 'PENDING';
  if (isRefused) await expireAfterRefusedVoid(gateway, payment, account);
}
