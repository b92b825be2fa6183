/** What is done to a payment after it was made: the intent is reserved, the provider called, the outcome written. */
import type { OperationOutcome, ProviderOperation } from '../../connectors/connector.ts';
import { Deadline } from '../../lib/deadline.ts';
import { isItemFault } from '../../lib/faults.ts';
import { newId } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { nextState, type PaymentEvent } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  Changes,
  OperationRow,
  OperationVerb,
  Payment,
  Transition,
  WholePayment,
} from '../../store/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { isLateSuccess, withHistory, write } from './advance.ts';
import { callProvider, type Reply, sendDeadline } from './call.ts';
import { type IdempotencyKey, resultOfRepeat } from './operation-ids.ts';
import { expireAfterRefusedVoid, isExpectedAmount } from './provider.ts';
import { scheduleNextQuery } from './query-schedule.ts';

/** What an operation shall do; made by somebody who has looked whether it may. */
export interface OperationPlan {
  verb: OperationVerb;
  amount: bigint;
}

/** What came of an operation, as far as is known: `sent` means that the outcome is still to come. */
export interface OperationResult {
  payment: WholePayment;
  operation: OperationRow;
}

interface Rule {
  /** What is held from the intent to the outcome, and given free by it. */
  hold: (payment: Payment, amount: bigint) => Changes;
  release: (payment: Payment, amount: bigint) => Changes;
  /** What happens to the payment when the provider has done it. */
  event: (payment: Payment, amount: bigint) => PaymentEvent;
  effect: (payment: Payment, amount: bigint) => Changes;
  /** What the provider is asked to do. */
  provider: ProviderOperation['verb'];
}

const alone = (verb: OperationVerb): Pick<Rule, 'hold' | 'release'> => ({
  hold: () => ({ busy: verb }),
  release: () => ({ busy: null }),
});

const refund: Rule = {
  hold: ({ reserved }, amount) => ({ reserved: reserved + amount }),
  release: ({ reserved }, amount) => ({ reserved: reserved - amount }),
  event: ({ refunded, captured }, amount) => (refunded + amount === captured ? 'refunded' : 'partlyRefunded'),
  effect: ({ refunded }, amount) => ({ refunded: refunded + amount }),
  provider: 'refund',
};

const RULES: Readonly<Record<OperationVerb, Rule>> = {
  capture: {
    ...alone('capture'),
    event: () => 'captured',
    effect: (_, amount) => ({ captured: amount, dueAt: null }),
    provider: 'capture',
  },
  void: { ...alone('void'), event: () => 'voided', effect: () => ({ dueAt: null, nextStep: null }), provider: 'void' },
  reversal: { ...alone('reversal'), event: () => 'reversed', effect: () => ({ dueAt: null }), provider: 'void' },
  expiry: { ...alone('expiry'), event: () => 'expired', effect: () => ({ dueAt: null }), provider: 'void' },
  refund,
  credit: refund,
};

/** Does to a payment what `plan` allows; it is asked again whenever the payment has changed, and may refuse. */
export async function operate(
  gateway: Gateway,
  payment: WholePayment,
  actor: Actor,
  plan: (current: Payment) => OperationPlan,
  /** Chosen before, and perhaps used already: by an earlier request, or in a process that died. */
  chosen?: IdempotencyKey,
): Promise<OperationResult> {
  const key = { mid: payment.mid, operationId: chosen?.operationId ?? newId() };
  let begun: OperationRow | undefined;
  const transition = await write(gateway, payment, async (before, now): Promise<Transition | undefined> => {
    // Looked for after the payment was read: if it is written meanwhile, the payment has changed and is read again.
    if (chosen) begun = await gateway.operations.find(key);
    if (begun) return undefined;
    const { verb, amount } = plan(before);
    const intent: OperationRow = {
      ...key,
      paymentId: before.paymentId,
      connector: before.connector,
      verb,
      amount,
      content: chosen?.content ?? null,
      orderId: chosen?.orderId ?? null,
      state: 'sent',
      reason: null,
      queryCount: 0,
      // If this process dies before the outcome is written, the work loop asks the provider then.
      dueAt: now + LIMITS.submissionMs,
      requestedAt: now,
      finishedAt: null,
    };
    const held = { ...withHistory(before, now), ...RULES[verb].hold(before, amount) };
    return { before, after: held, event: `requested ${verb}`, actor, call: undefined, operation: intent };
  }).catch(async (error) => {
    // At the same moment the id was written for another payment, of which the guard on this payment knows nothing.
    if (chosen && isItemFault(error)) begun = await gateway.operations.find(key);
    if (!begun) throw error;
    return undefined;
  });
  if (!transition) return resultOfRepeat(gateway, begun as unknown as OperationRow, chosen as IdempotencyKey);
  return perform(gateway, transition.after, transition.operation as OperationRow);
}

/** Sends an operation whose intent is durable. As with a submission, nothing leaves after its row may be asked about. */
async function perform(gateway: Gateway, payment: WholePayment, operation: OperationRow): Promise<OperationResult> {
  const reply = await callProvider<OperationOutcome>(gateway, {
    payment,
    verb: operation.verb,
    isQuery: false,
    deadline: sendDeadline(gateway, operation),
    perform: (connector, deadline) => connector.operate(providerOperation(payment, operation), deadline),
  });
  return finish(gateway, payment, operation, reply, true);
}

/** Asks about an operation whose outcome is not known; one that never arrived is sent again, where that is safe. */
export async function queryOperation(
  gateway: Gateway,
  payment: WholePayment,
  operation: OperationRow,
): Promise<OperationResult> {
  const wanted = providerOperation(payment, operation);
  const reply = await callProvider<OperationOutcome>(gateway, {
    payment,
    verb: operation.verb,
    isQuery: true,
    deadline: new Deadline(LIMITS.providerTimeoutMs),
    async perform(connector, deadline) {
      const outcome = await connector.queryOperation(wanted, deadline);
      const isLost = outcome.kind === 'notFound' && connector.capabilities.isIdempotent;
      return isLost ? connector.operate(wanted, deadline) : outcome;
    },
  });
  return finish(gateway, payment, operation, reply, false);
}

const providerOperation = ({ paymentId }: Payment, { verb, operationId, amount }: OperationRow): ProviderOperation => ({
  verb: RULES[verb].provider,
  reference: paymentId,
  operation: operationId,
  amount,
});

/** What a reply to an operation is worth: one about another amount than ours is not believed. */
type OperationVerdict = OperationOutcome | { kind: 'doubtful' };

function judge(
  payment: Payment,
  { amount }: OperationRow,
  reply: Reply<OperationOutcome>,
): [OperationVerdict, CallRecord] {
  if (reply.kind !== 'answered') return [{ kind: 'unknown' }, reply.call];
  const { result, record } = reply;
  const isDoubtful = 'reportedAmount' in result && !isExpectedAmount({ amount, currency: payment.currency }, result.reportedAmount);
  return isDoubtful ? [{ kind: 'doubtful' }, record(`${result.kind}, wrong amount`)] : [result, record(result.kind)];
}

/** Writes what came of an operation, together with what it means for the payment; once, however often it is told. */
async function finish(
  gateway: Gateway,
  payment: WholePayment,
  operation: OperationRow,
  reply: Reply<OperationOutcome>,
  isNew: boolean,
): Promise<OperationResult> {
  const [verdict, call] = judge(payment, operation, reply);
  let current = payment;
  let stored = operation;
  const transition = await write(gateway, payment, async (before, now) => {
    current = before;
    // No other process can have finished it as long as nothing was written since the intent.
    const isUntouched = isNew && before.historyLength === payment.historyLength;
    if (!isUntouched) stored = (await gateway.operations.find(operation)) ?? operation;
    return stored.state === 'sent' ? compose(before, stored, verdict, call, now) : undefined;
  });
  return transition
    ? { payment: transition.after, operation: transition.operation as OperationRow }
    : { payment: current, operation: stored };
}

/** What the verdict on an operation writes. */
function compose(
  before: WholePayment,
  operation: OperationRow,
  verdict: OperationVerdict,
  call: CallRecord,
  now: number,
): Transition {
  switch (verdict.kind) {
    case 'done':
      return done(before, operation, call, now);
    case 'declined':
      return refused(before, operation, verdict.reason, call, now);
    default:
      return unknown(before, operation, verdict.kind === 'doubtful', call, now);
  }
}

function done(before: WholePayment, operation: OperationRow, call: CallRecord, now: number): Transition {
  const { verb, amount } = operation;
  const { release, event: eventOf, effect } = RULES[verb];
  const event = eventOf(before, amount);
  const to = nextState(before.state, event);
  const free: WholePayment = { ...withHistory(before, now), ...release(before, amount) };
  const finished: OperationRow = { ...operation, state: 'done', dueAt: null, finishedAt: now };
  const written = { before, actor: verb === 'expiry' ? 'clock' : 'provider', call, operation: finished } as const;
  if (to !== undefined) {
    const cleared = { ...free, ...effect(before, amount), ...withoutMarksOf(operation, before) };
    const after = { ...cleared, ...afterConflict(before, now), state: to };
    return { ...written, after, event };
  }
  // Other reports came first: what was held is free all the same, and what was paid back counts.
  const counted = RULES[verb] === refund ? { ...free, ...effect(before, amount) } : free;
  const attention = isLateSuccess(before, event) ? 'late_success' : counted.attention;
  return { ...written, after: { ...counted, attention, ...afterConflict(before, now) }, event: `noted ${event}` };
}

function refused(
  before: WholePayment,
  operation: OperationRow,
  reason: string,
  call: CallRecord,
  now: number,
): Transition {
  const { verb, amount } = operation;
  // The provider settled it by itself and refuses the part: then everything was taken.
  const isWhole = verb === 'capture' && before.state === 'SETTLED';
  const after: WholePayment = {
    ...withHistory(before, now),
    ...RULES[verb].release(before, amount),
    ...askedAfterRefusal(verb, now),
    ...afterConflict(before, now),
    ...withoutMarksOf(operation, before),
    ...(isWhole && { captured: before.authorised }),
  };
  const finished: OperationRow = { ...operation, state: 'declined', reason, dueAt: null, finishedAt: now };
  return { before, after, event: `refused ${verb}`, actor: 'provider', call, operation: finished };
}

function unknown(
  before: WholePayment,
  operation: OperationRow,
  isDoubtful: boolean,
  call: CallRecord,
  now: number,
): Transition {
  const { queryCount, dueAt, isBackoffExhausted } = scheduleNextQuery(operation.queryCount, now);
  const mark = isDoubtful ? 'wrong_amount' : isBackoffExhausted ? 'unresolved' : before.attention;
  // That a settlement was reported has to be known when the operation ends.
  const attention = before.attention === 'conflict' ? before.attention : mark;
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
 * A provider that refuses to void a payment has settled, declined or voided it already, so it is asked which. An expiry
 * asks by itself, and is sent again only when that question has ended.
 */
function askedAfterRefusal(verb: OperationVerb, now: number): Changes {
  if (verb === 'expiry') return { dueAt: now + LIMITS.leaseMs };
  return verb === 'void' || verb === 'reversal' ? { dueAt: now } : {};
}

/** The marks that a payment got because an operation had no outcome go away with its outcome. */
const withoutMarksOf = ({ queryCount }: OperationRow, { attention }: Payment): Changes =>
  queryCount > 0 && (attention === 'unresolved' || attention === 'wrong_amount') ? { attention: null } : {};

/** The provider reported a settlement while the operation was under way: now it is asked which of the two happened. */
const afterConflict = ({ attention }: WholePayment, now: number): Changes =>
  attention === 'conflict' ? { dueAt: now } : {};

/** Ends an authorisation whose time is over: it is voided at the provider, and then it is expired. */
export async function expireAuthorisation(gateway: Gateway, payment: WholePayment, account: Account): Promise<void> {
  const operated = await operate(gateway, payment, 'clock', (current): OperationPlan => {
    if (current.state !== 'PENDING' || current.busy !== null) throw new Refusal('actionNotSupported');
    return { verb: 'expiry', amount: current.authorised };
  });
  await resolveRefusedExpiry(gateway, operated, account);
}

/** If this process dies before it, the payment is due and its authorisation is voided once more. */
export async function resolveRefusedExpiry(
  gateway: Gateway,
  { payment, operation }: OperationResult,
  account: Account,
): Promise<void> {
  const isRefused = operation.verb === 'expiry' && operation.state === 'declined' && payment.state === 'PENDING';
  if (isRefused) await expireAfterRefusedVoid(gateway, payment, account);
}
