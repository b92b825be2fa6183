/** Calls the provider of a payment, queries it, and applies the answers. */
import type {
  Authentication,
  Connector,
  FirstPayment,
  Outcome,
  RateLimited,
  SettledFields,
  WithdrawalCause,
} from '../../connectors/connector.ts';
import { continueWith, type MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isOpen, type StateName } from '../../rules/states.ts';
import type {
  CallRecord,
  NextStep,
  Payment,
  PaymentChanges,
  PaymentWithDetails,
} from '../../store/payments/payments.ts';
import { applyChargeback, applyChargebacks } from '../chargebacks/report.ts';
import { capabilitiesOf, connectorOf } from '../connections/connectors.ts';
import { learned } from '../connections/provider-data.ts';
import type { Account, Gateway } from '../context.ts';
import { endReviewBefore } from '../risk/reviewed.ts';
import { abandon, advance, type EventInput } from './advance.ts';
import { authorisationEnd, endOfAuthorisation } from './authorisation-end.ts';
import { callProvider, hasPaused } from './call.ts';
import { wasSubmitted } from './deadlines.ts';
import { markAfter } from './marks.ts';
import { recordQuery, recordUnhandled, recordWrongAmount } from './record.ts';
import { isExpectedAmount, isPossibleCapture, wrongAmountRecord } from './reported-amounts.ts';
import { type CardFields, composeSubmission, firstOf, NO_CARD } from './submission.ts';

/** The outcome of a call in the history when the provider has no such payment. */
const NOT_FOUND = 'not found';

export type KnownOutcome = Exclude<Outcome, { kind: 'unknown' | 'notFound' }>;

/** The answer of a provider after the check of its amount. */
export type ProviderAnswer =
  /** The provider does not know the outcome, or did not answer; this is never a decline. */
  | { kind: 'unknown'; learned: PaymentChanges; call: CallRecord; newStatus?: string | undefined }
  /** The call was not sent. */
  | { kind: 'notSent'; call: CallRecord; limited?: RateLimited | undefined }
  | { kind: 'notFound'; call: CallRecord }
  | { kind: 'wrongAmount'; call: CallRecord }
  | { kind: 'outcome'; outcome: KnownOutcome; call: CallRecord };

interface PaymentCall {
  verb: 'submit' | 'query' | 'resume' | 'withdraw';
  deadline: Deadline;
  cardFields?: CardFields | undefined;
  /** What the payer brought back; of `resume` only. */
  returned?: Readonly<Record<string, string>>;
  /** Why the payment is ended; of `withdraw` only. */
  cause?: WithdrawalCause;
}

/** Calls the provider; an answer with another amount than that of the payment is no outcome. */
export const callAndCheck = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  call: PaymentCall,
): MaybePromise<ProviderAnswer> =>
  continueWith(payment.details.recurringOf === undefined ? undefined : firstOf(gateway, payment), (first) =>
    callWithFirst(gateway, payment, account, call, first),
  );

function callWithFirst(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  { verb, deadline, cardFields = NO_CARD, returned = {}, cause = 'cancelledByPayer' }: PaymentCall,
  first: FirstPayment | undefined,
): MaybePromise<ProviderAnswer> {
  const perform = (connector: Connector): MaybePromise<Outcome> => {
    const submission = composeSubmission(gateway, payment, account, cardFields, first);
    if (verb === 'resume' && connector.resume) return connector.resume(submission, returned, deadline);
    if (verb === 'withdraw' && connector.withdraw) return connector.withdraw(submission, cause, deadline);
    return verb === 'submit' ? connector.submit(submission, deadline) : connector.query(submission, deadline);
  };
  const isQuery = verb !== 'submit';
  return continueWith(
    callProvider<Outcome>(gateway, { payment, verb, isQuery, deadline, perform }),
    (reply): ProviderAnswer => {
      if (reply.kind === 'answered') return checkOutcome(gateway, payment, reply.result, reply.record);
      return reply.kind === 'notSent'
        ? { kind: 'notSent', call: reply.call, limited: reply.limited }
        : { kind: 'unknown', learned: {}, call: reply.call };
    },
  );
}

/** Queries the provider, if its connector supports queries. */
const query = async (
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  timeoutMs: number,
): Promise<ProviderAnswer> =>
  canQuery(gateway, payment)
    ? callAndCheck(gateway, payment, account, { verb: 'query', deadline: new Deadline(timeoutMs) })
    : {
        kind: 'unknown',
        learned: {},
        call: { verb: 'query', connector: payment.connector, outcome: 'cannot be asked', tookMs: 0 },
      };

/** Asks the provider about a payment that it may have, although this database says otherwise. */
export const askProvider = async (
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<ProviderAnswer | 'cannotBeAsked'> =>
  canQuery(gateway, payment) ? query(gateway, payment, account, LIMITS.providerTimeoutMs) : 'cannotBeAsked';

/** An outcome is used only if its amount is that of the payment. */
function checkOutcome(
  gateway: Gateway,
  payment: Payment,
  outcome: Outcome,
  record: (outcome: string) => CallRecord,
): ProviderAnswer {
  if (outcome.kind === 'unknown') {
    const { newStatus } = outcome;
    const call = { ...record('unknown'), ...(newStatus !== undefined && { reason: `new status ${newStatus}` }) };
    return { kind: 'unknown', learned: learned(gateway, payment, outcome), call, newStatus };
  }
  if (outcome.kind === 'notFound') return { kind: 'notFound', call: record(NOT_FOUND) };
  const call = record(outcome.kind);
  if (!isExpectedAmount(payment, outcome.reportedAmount))
    return { kind: 'wrongAmount', call: wrongAmountRecord(payment, call, outcome.reportedAmount) };
  if (outcome.kind === 'settled' && !isPossibleCapture(payment, outcome.captured))
    return { kind: 'wrongAmount', call: wrongAmountRecord(payment, call, outcome.captured) };
  return { kind: 'outcome', outcome, call: outcome.kind === 'declined' ? { ...call, reason: outcome.reason } : call };
}

/** The scheduled query of a payment without a known outcome. */
export async function queryProvider(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<void> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  const { call } = answer;
  if (answer.kind === 'wrongAmount') await recordWrongAmount(gateway, payment, 'clock', call);
  else if (answer.kind === 'outcome' && isLostRedirect(gateway, payment, answer.outcome)) {
    await abandon(gateway, payment);
  } else if (answer.kind === 'outcome' && !isKnownAlready(payment, answer.outcome)) {
    await applyOutcome(gateway, payment, account, answer.outcome, call);
  } else if (!isOpen(payment.state)) {
    const isConfirmed = answer.kind === 'notFound' || (answer.kind === 'outcome' && answer.outcome.kind === 'declined');
    await recordQuery(gateway, payment, call, isConfirmed ? { dueAt: null, ...withoutConflict(payment) } : {});
  } else if (answer.kind === 'outcome' && answer.outcome.kind === 'authorised') {
    const dueAt = await authorisationEnd(gateway, payment, account);
    await recordQuery(gateway, payment, call, { queryCount: 0, dueAt, ...withoutConflict(payment) });
  } else if (answer.kind === 'notFound') await recordNotFound(gateway, payment, call);
  else if (answer.kind === 'outcome')
    await recordQuery(gateway, payment, call, learned(gateway, payment, answer.outcome));
  else await recordQuery(gateway, payment, call, answer.kind === 'unknown' ? answer.learned : {});
}

/** Clears the mark of a conflict that the answer has resolved. */
const withoutConflict = ({ attention }: Payment): PaymentChanges =>
  attention === 'conflict' ? { attention: null } : {};

/** The events after which a payment is submitted. */
const SUBMISSION_INTENTS: readonly string[] = ['opened', 'collected', 'authenticated', 'rerouted'];

/**
 * Two consecutive "not found" answers, separated by a pause, mean that the provider never received the payment, if both
 * were requested when the last submission could no longer be in flight and the provider had had time to process it.
 */
async function recordNotFound(gateway: Gateway, payment: PaymentWithDetails, call: CallRecord): Promise<void> {
  const isFinal = capabilitiesOf(gateway, payment.connector)?.notFoundIsFinal === true;
  const history = isFinal ? await gateway.payments.history(payment) : [];
  const lastIntent = history.findLast(({ event }) => SUBMISSION_INTENTS.includes(event))?.at ?? payment.createdAt;
  const counts = (answer: CallRecord | null | undefined, at: number): boolean =>
    answer?.outcome === NOT_FOUND && at - answer.tookMs >= lastIntent + LIMITS.submissionMs + LIMITS.neverReceivedMs;
  const now = gateway.clock.now(payment.mid);
  const last = history.at(-1);
  if (!isFinal || !counts(call, now)) await recordQuery(gateway, payment, call);
  else if (last && counts(last.call, last.at)) await declineNeverReceived(gateway, payment, call);
  else await recordQuery(gateway, payment, call, { dueAt: now + LIMITS.notFoundPauseMs });
}

/** Schedules a further query: if the provider has the payment after all, that is a late success. */
const declineNeverReceived = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  call: CallRecord,
): Promise<PaymentWithDetails> =>
  advance(gateway, payment, {
    event: 'declined',
    actor: 'provider',
    call,
    declineReason: REASONS.neverReceived,
    dueAt: gateway.clock.now(payment.mid) + LIMITS.lateQueryBackoffMs[0],
  });

/**
 * The provider declined to void an expired authorisation: it has settled it, released it already, or still holds it. In
 * the last case the payment is marked for the operator.
 */
export async function expireAfterRefusedVoid(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<void> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  const { call } = answer;
  if (answer.kind === 'wrongAmount') await recordWrongAmount(gateway, payment, 'clock', call);
  else if (answer.kind === 'outcome' && answer.outcome.kind === 'settled') {
    await applyOutcome(gateway, payment, account, answer.outcome, call);
  } else if (answer.kind === 'outcome' || answer.kind === 'notFound') {
    const isHeld = answer.kind === 'outcome' && answer.outcome.kind !== 'declined';
    await advance(gateway, payment, {
      event: 'expired',
      actor: 'clock',
      call,
      ...(isHeld && { attention: 'unresolved' }),
    });
  } else await recordQuery(gateway, payment, call);
}

/**
 * Asks the provider whether it still has an authorisation as this database says, and writes what it says otherwise. A
 * provider that cannot be asked, or does not find the payment, refuses to void what it does not hold.
 */
export async function checkAuthorisation(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<{ kind: 'authorised' | 'changed' | 'unanswered'; call: CallRecord }> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  const { call } = answer;
  if (answer.kind === 'wrongAmount') {
    await recordWrongAmount(gateway, payment, 'clock', call);
    return { kind: 'changed', call };
  }
  const isUnanswered = answer.kind === 'unknown' || answer.kind === 'notSent';
  if (isUnanswered && canQuery(gateway, payment)) return { kind: 'unanswered', call };
  if (answer.kind !== 'outcome' || isKnownAlready(payment, answer.outcome)) return { kind: 'authorised', call };
  await applyOutcome(gateway, payment, account, answer.outcome, call);
  return { kind: 'changed', call };
}

/** Queries the provider while a request waits; writes only an answer that changes the payment. */
export async function queryProviderNow(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<PaymentWithDetails> {
  if (!isOpen(payment.state) || !wasSubmitted(payment)) return payment;
  const answer = await query(gateway, payment, account, LIMITS.outcomeTimeoutMs);
  return applyIfNew(gateway, payment, account, answer);
}

/** The payer came back: passes what the payer brought to the connector, or queries the provider. */
export async function resumeOnReturn(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  returned: Readonly<Record<string, string>>,
): Promise<PaymentWithDetails> {
  const isAtProvider = payment.nextStep?.kind === 'redirect';
  const connector = isAtProvider ? await connectorOf(gateway, payment.connector) : undefined;
  if (!connector?.resume) return queryProviderNow(gateway, payment, account);
  // What the payer brought is not stored: a call that was not processed is repeated while the payer waits.
  const whole = new Deadline(LIMITS.providerTimeoutMs);
  for (let limited = 0; ; limited++) {
    const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
    const answer = await callAndCheck(gateway, payment, account, { verb: 'resume', deadline, returned });
    if (!(await hasPaused(answer, limited, whole))) return applyIfNew(gateway, payment, account, answer);
  }
}

/**
 * Queries the provider because a notification says that something changed; undefined without an answer. Returns the refunds
 * that were made at the provider itself, and the chargebacks with the call that reports them.
 */
export async function queryAsNotified(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<
  (Pick<SettledFields, 'refunds' | 'chargebacks'> & { payment: PaymentWithDetails; call: CallRecord }) | undefined
> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  if (answer.kind === 'unknown' && answer.newStatus !== undefined) {
    // One mark is enough, however often the provider notifies.
    const isNew = payment.attention === null;
    if (isNew) await recordUnhandled(gateway, payment, { ...answer.call, outcome: answer.newStatus });
    return { payment, call: answer.call };
  }
  if (answer.kind !== 'outcome' && answer.kind !== 'wrongAmount') return undefined;
  const settled = answer.kind === 'outcome' && answer.outcome.kind === 'settled' ? answer.outcome : undefined;
  const isRepeated = settled !== undefined && payment.captured > 0n;
  if (isRepeated) await markOtherCapture(gateway, payment, capturedAmount(settled), answer.call);
  const after = isRepeated ? payment : await applyIfNew(gateway, payment, account, answer);
  const { refunds, chargebacks } = settled ?? {};
  return { payment: after, call: answer.call, refunds, chargebacks };
}

/** Marks a payment, once, if the provider has captured another amount than the one that was booked. */
async function markOtherCapture(
  gateway: Gateway,
  payment: PaymentWithDetails,
  captured: bigint | undefined,
  call: CallRecord,
): Promise<void> {
  if (captured === undefined || captured === payment.captured || payment.busy !== null) return;
  const history = await gateway.payments.history(payment);
  const isKnown = history.some((row) => row.event === 'doubted' && row.call?.reported?.amount === String(captured));
  const wrong = wrongAmountRecord(payment, call, { amount: captured });
  if (!isKnown) await recordWrongAmount(gateway, payment, 'provider', wrong);
}

/** Writes an answer only if it changes the payment. */
export async function applyIfNew(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  answer: ProviderAnswer,
): Promise<PaymentWithDetails> {
  if (answer.kind === 'wrongAmount') return recordWrongAmount(gateway, payment, 'provider', answer.call);
  if (answer.kind !== 'outcome' || isKnownAlready(payment, answer.outcome)) return payment;
  return applyOutcome(gateway, payment, account, answer.outcome, answer.call);
}

/**
 * Ends a payment whose payer did not finish in time. The provider is queried first, since the payment may have
 * succeeded; where it would stay payable, the provider ends it. Without an answer the payment stays open and the work loop
 * tries again, unless the deadline is hard; so it does if this process dies before the answer is written.
 */
export async function endOutOfTime(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  caller: 'request' | 'work loop' = 'request',
): Promise<PaymentWithDetails> {
  if (!wasSubmitted(payment) || !canQuery(gateway, payment)) return abandon(gateway, payment);
  const isDue = caller === 'work loop';
  const deadline = new Deadline(isDue ? LIMITS.providerTimeoutMs : LIMITS.outcomeTimeoutMs);
  const verb = capabilitiesOf(gateway, payment.connector)?.staysPayable ? 'withdraw' : 'query';
  const answer = await callAndCheck(gateway, payment, account, { verb, deadline, cause: 'outOfTime' });
  if (answer.kind === 'wrongAmount') {
    return recordWrongAmount(gateway, payment, isDue ? 'clock' : 'provider', answer.call);
  }
  const isUnanswered = answer.kind === 'unknown' || answer.kind === 'notSent';
  if (isUnanswered && !hasHardDeadline(payment)) return isDue ? recordQuery(gateway, payment, answer.call) : payment;
  const isOutcome = answer.kind === 'outcome' && !['accepted', 'redirected'].includes(answer.outcome.kind);
  return isOutcome ? applyOutcome(gateway, payment, account, answer.outcome, answer.call) : abandon(gateway, payment);
}

/** Some brands give the payer a fixed time; and a card is not submitted before its challenge is passed. */
const hasHardDeadline = ({ brand, nextStep }: Payment): boolean =>
  brandOf(brand)?.payerTimeMs !== undefined || nextStep?.kind === 'challenge';

/** The states in which a payment that is being submitted can still be redirected. */
const REDIRECTABLE: readonly StateName[] = ['REDIRECT', '3DS'];

/** Whether an outcome adds nothing to what the payment shows already. */
function isKnownAlready({ state, nextStep, inDoubt, authorised }: Payment, { kind }: KnownOutcome): boolean {
  if (kind === 'redirected') return REDIRECTABLE.includes(state) ? nextStep !== null : state !== 'PREPARE';
  if (kind === 'accepted') return state === 'PENDING' ? !inDoubt : !isOpen(state);
  if (kind === 'authorised') return authorised > 0n;
  return kind === 'declined' && !isOpen(state);
}

/** The answer with the redirect was lost, so the payer never got it, and the payer's time is over. */
const isLostRedirect = (gateway: Gateway, { state, payerUntil, mid }: Payment, { kind }: KnownOutcome): boolean =>
  kind === 'redirected' &&
  (state === 'PENDING' || state === '3DS') &&
  payerUntil !== null &&
  gateway.clock.now(mid) >= payerUntil;

/** Advances the payment by an outcome. */
export function applyOutcome(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  outcome: KnownOutcome,
  call: CallRecord,
  authentication?: Authentication,
): Promise<PaymentWithDetails> {
  const { kind } = outcome;
  const now = gateway.clock.now(payment.mid);
  const brought = learned(gateway, payment, outcome);
  const input: EventInput = { event: kind, actor: 'provider', call, learned: brought, authentication };
  switch (kind) {
    case 'declined':
      return decline(gateway, payment, input, outcome);
    case 'authorised':
      return authorise(gateway, payment, input, endOfAuthorisation({ ...payment, ...brought }, account, now));
    case 'accepted':
    case 'redirected': {
      // The notification of the outcome may get lost, so the provider is queried as well.
      const dueAt = canQuery(gateway, payment) ? now + LIMITS.queryBackoffMs[0] : undefined;
      const nextStep = nextStepOf(payment, outcome);
      const isDoubtResolved = kind === 'accepted' && payment.state === 'PENDING' && payment.inDoubt;
      if (isDoubtResolved) {
        const attention = markAfter(payment, kind, undefined);
        const resolved = { ...brought, inDoubt: false, attention, nextStep: nextStep ?? null };
        return recordQuery(gateway, payment, call, resolved);
      }
      return advance(gateway, payment, { ...input, dueAt, nextStep });
    }
    case 'chargedBack':
    case 'secondChargedBack':
    case 'chargebackReversed':
      return applyChargeback(gateway, payment, outcome, call, brought);
    case 'settled':
      return settle(gateway, payment, input, outcome, call);
  }
}

/**
 * A series and its card are refused before the payment is declined, so that no repetition follows, even if this process dies
 * in between.
 */
async function decline(
  gateway: Gateway,
  payment: PaymentWithDetails,
  input: EventInput,
  { reason, decline }: Extract<KnownOutcome, { kind: 'declined' }>,
): Promise<PaymentWithDetails> {
  const { mid, details } = payment;
  if (decline?.class === 'never') {
    const now = gateway.clock.now(mid);
    if (details.recurringOf !== undefined) await gateway.schedules.refuseSeries(mid, details.recurringOf, now);
    if (details.card) await gateway.schedules.refuseCard(mid, details.card.id, now);
  }
  return advance(gateway, payment, { ...input, declineReason: reason });
}

/** A repeated report does not extend the authorisation. */
async function authorise(
  gateway: Gateway,
  payment: PaymentWithDetails,
  input: EventInput,
  end: number,
): Promise<PaymentWithDetails> {
  if (payment.authorised > 0n) return advance(gateway, payment, { ...input, dueAt: payment.dueAt ?? end });
  await endReviewBefore(gateway, payment, end);
  return advance(gateway, payment, { ...input, dueAt: end });
}

/** The provider may report a payment as paid after it was charged back. */
async function settle(
  gateway: Gateway,
  payment: PaymentWithDetails,
  input: EventInput,
  outcome: SettledFields,
  call: CallRecord,
): Promise<PaymentWithDetails> {
  const settled = await advance(gateway, payment, { ...input, captured: capturedAmount(outcome) });
  return applyChargebacks(gateway, settled, outcome.chargebacks ?? [], call);
}

export const capturedAmount = ({ captured }: SettledFields): bigint | undefined =>
  typeof captured === 'object' ? captured.amount : undefined;

const canQuery = (gateway: Gateway, payment: Payment): boolean =>
  capabilitiesOf(gateway, payment.connector)?.supportsQueries === true;

function nextStepOf(payment: Payment, outcome: KnownOutcome): NextStep | undefined {
  if (outcome.kind === 'redirected') {
    return { kind: 'redirect', url: outcome.url, method: outcome.method, params: outcome.params };
  }
  if (outcome.kind !== 'accepted') return undefined;
  const { code, instructions } = outcome;
  const codeTimeMs = brandOf(payment.brand)?.codeTimeMs ?? LIMITS.payerMs;
  if (code !== undefined) return { kind: 'code', text: code, until: payment.updatedAt + codeTimeMs };
  return instructions && { kind: 'transfer', instructions: Object.entries(instructions) };
}
