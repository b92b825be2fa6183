/** Reviews: a person, or a deadline, decides about a payment that a rule holds. */
import { isUuid } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ReviewState } from '../../rules/risk/actions.ts';
import { isOpen } from '../../rules/states.ts';
import type { OperationRow, Transition } from '../../store/payments/payments.ts';
import type { DecisionRow } from '../../store/risk/decisions.ts';
import type { DecisionEnding, Review, ReviewCursor, ReviewFilter } from '../../store/risk/reviews.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { isHeld, mayBeOutdated } from '../installation/hold.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { withHistory, writeWithRetry } from '../payments/advance.ts';
import { checkAfterRestore } from '../payments/after-restore.ts';
import { captureReviewed, refund, refundPlan, voidPayment } from '../payments/change.ts';
import { reviewOperationId } from '../payments/derived-ids.ts';
import { entryBy, type Initiator, type OperationResult } from '../payments/operate.ts';
import { requireNoApproval, requireWithinLimit } from '../payments/refund-limit.ts';
import { readNote } from '../payments/resolve.ts';
import { mayApprove } from './reviewed.ts';

export const REVIEW_DECISIONS = ['approve', 'refuse'] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** Sets or removes the mark of a settled payment that is under review. */
async function mark(
  gateway: Gateway,
  payment: PaymentWithDetails,
  isMarked: boolean,
  entry: Pick<Transition, 'actor' | 'actorName' | 'note'>,
): Promise<PaymentWithDetails> {
  let current = payment;
  const written = await writeWithRetry(gateway, payment, (before, now): Transition | undefined => {
    current = before;
    const isDue = isMarked
      ? before.state === 'SETTLED' && before.attention === null
      : before.attention === 'risk_review';
    if (!isDue) return undefined;
    const after = { ...withHistory(before, now), attention: isMarked ? ('risk_review' as const) : null };
    return { before, after, event: isMarked ? 'held' : 'attended', call: undefined, ...entry };
  });
  return written?.after ?? current;
}

/** A payment under review whose brand settles at once goes on the attention list; the work loop marks later ones. */
export const markSettled = (gateway: Gateway, payment: PaymentWithDetails): Promise<PaymentWithDetails> =>
  payment.state === 'SETTLED' ? mark(gateway, payment, true, { actor: 'clock' }) : Promise.resolve(payment);

export const listReviews = (
  gateway: Gateway,
  filter: ReviewFilter,
  limit: number,
  after?: ReviewCursor,
): Promise<Review[]> =>
  filter.mid !== undefined && !sees(filter, filter.mid)
    ? Promise.resolve([])
    : gateway.reviews.list(filter, limit, after);

async function requireReview(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  paymentId: string,
): Promise<{ review: DecisionRow; payment: PaymentWithDetails; account: Account }> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  const review = payment && sees(principal, payment.mid) ? await gateway.riskDecisions.find(payment) : undefined;
  const account = payment && (await findAccount(gateway, payment.mid));
  if (!review?.reviewState || !payment || !account) throw new Refusal('noSuchReview');
  return { review, payment, account };
}

/** Refuses a decision that could not be carried out, such as a refund of a brand that has none. */
function requirePossible(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  decision: ReviewDecision,
): void {
  const { state, authorised, busy } = payment;
  const isAuthorised = state === 'PENDING' && authorised > 0n;
  if (!isAuthorised && state !== 'SETTLED')
    throw new Refusal('reviewEnded', [{ field: 'payment_id', sentence: `The payment is in the state ${state}.` }]);
  if (busy !== null)
    throw new Refusal('reviewEnded', [{ field: 'payment_id', sentence: `An operation is in progress: ${busy}.` }]);
  if (state === 'SETTLED' && decision === 'refuse') refundPlan(gateway, account, '', 'refund')(payment);
}

/**
 * Decides about a waiting payment, and carries it out: captures or voids an authorisation, or refunds what was settled. An
 * authorisation that the merchant asked for is released to it by the approval.
 */
export async function decideReview(
  gateway: Gateway,
  principal: Pick<Principal, 'mids' | 'refundLimit'>,
  by: Caller,
  paymentId: string,
  decision: ReviewDecision,
  givenNote: string,
): Promise<PaymentWithDetails> {
  const { review, payment, account } = await requireReview(gateway, principal, paymentId);
  const note = readNote(givenNote) || null;
  if (review.reviewState !== 'waiting')
    throw new Refusal('reviewEnded', [{ field: 'decision', sentence: `The review is ${review.reviewState}.` }]);
  if (decision === 'approve' && !mayApprove(principal, review)) throw new Refusal('installationReview');
  requirePossible(gateway, account, payment, decision);
  const { refundLimit } = principal;
  const requester = { id: by.id, refundLimit, approvalFrom: account.settings.refund_approval_from };
  if (payment.state === 'SETTLED' && decision === 'refuse') {
    const plan = refundPlan(gateway, account, '', 'refund')(payment);
    await requireWithinLimit(gateway, payment, requester, plan);
    // The payment is refunded on its own page then, by two persons; the review ends with that.
    requireNoApproval(payment, requester, plan);
  }
  const { mid } = payment;
  const at = gateway.clock.now(mid);
  const state = decision === 'approve' ? 'approved' : 'refused';
  const audit = auditEntry(gateway, by, 'risk.review', {
    mid,
    subject: payment.paymentId,
    before: { review: 'waiting' },
    after: { review: state, note },
  });
  const ending: DecisionEnding = { state, at, by: by.name, note, dueAt: at + LIMITS.leaseMs };
  if (!(await gateway.reviews.end(payment, ending, audit))) throw new Refusal('reviewEnded');
  const record = async (): Promise<void> => undefined;
  return carryOut(gateway, account, payment, decided(review, ending), {
    actor: 'operator',
    name: by.name,
    requester,
    record,
    ...(note !== null && { note }),
  });
}

/** A review after its decision. */
type DecidedReview = DecisionRow & { reviewState: 'approved' | 'refused' };

const isDecided = (review: DecisionRow): review is DecidedReview =>
  review.reviewState === 'approved' || review.reviewState === 'refused';

const decided = (review: DecisionRow, { state, at, dueAt }: DecisionEnding): DecidedReview => ({
  ...review,
  reviewState: state,
  reviewedAt: at,
  reviewDueAt: dueAt,
});

const operationIdOf = (gateway: Gateway, review: DecidedReview): string =>
  reviewOperationId(gateway, review, review.reviewedAt);

/** The operation that carries out a decision, if it was requested. */
const requestedOperation = (gateway: Gateway, review: DecidedReview): Promise<OperationRow | undefined> =>
  gateway.operations.find({ mid: review.mid, operationId: operationIdOf(gateway, review) });

/** Requests the operation that a decision asks for; undefined if it asks for none. */
async function requestOperation(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  review: DecidedReview,
  initiator: Initiator,
): Promise<OperationResult | undefined> {
  const { reviewState, reviewCaptures } = review;
  const id = operationIdOf(gateway, review);
  const isAuthorised = payment.state === 'PENDING' && payment.authorised > 0n;
  if (isAuthorised && reviewState === 'approved' && reviewCaptures !== false)
    return captureReviewed(gateway, account, payment, initiator, '', id);
  if (isAuthorised && reviewState === 'refused') return voidPayment(gateway, payment, initiator, id);
  if (payment.state === 'SETTLED' && reviewState === 'refused')
    return refund(gateway, account, payment, '', initiator, 'refundOnly', id);
  return undefined;
}

/**
 * Carries out a decision that is durable. If the process dies meanwhile, the work loop does it again, and finds an operation
 * that was requested. The review stays in the queue until the outcome of its operation is known; a person has to look at it
 * again if the provider declines that, or the payment does not allow it any more.
 */
async function carryOut(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  review: DecidedReview,
  initiator: Initiator,
): Promise<PaymentWithDetails> {
  const { reviewState } = review;
  const lookAgain = (state: ReviewState, ms: number): Promise<boolean> =>
    gateway.reviews.reschedule(review, state, gateway.clock.now(payment.mid) + ms);
  const requested = await requestedOperation(gateway, review);
  if (!requested && payment.busy !== null) {
    await lookAgain(reviewState, LIMITS.leaseMs);
    return payment;
  }
  const result = requested
    ? { operation: requested, payment: (await gateway.payments.find(payment)) ?? payment }
    : await requestOperation(gateway, account, payment, review, initiator).catch(async (error) => {
        if (error instanceof Refusal) await lookAgain('waiting', LIMITS.dayMs);
        throw error;
      });
  const { operation, payment: after } = { operation: undefined, payment, ...result };
  if (operation?.state === 'sent') {
    await lookAgain(reviewState, LIMITS.leaseMs);
    return after;
  }
  // A provider declines to capture what it has settled on its own.
  const isDone = reviewState === 'approved' && after.state === 'SETTLED';
  if (operation?.state === 'declined' && !isDone) {
    await lookAgain('waiting', LIMITS.dayMs);
    return after;
  }
  const isFinished = await gateway.reviews.reschedule(review, reviewState, null);
  return isFinished ? mark(gateway, after, false, entryBy(initiator)) : after;
}

/** Who decided a review whose time was over. */
export const BY_DEADLINE = 'turnpike';

/** Whether the clock may capture, void or refund a payment now. If not, its review is looked at again later. */
async function isAsKnown(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  review: DecisionRow,
  state: 'approved' | 'refused',
): Promise<boolean> {
  if (payment.state === 'SETTLED' && state === 'refused') {
    if (!(await mayBeOutdated(gateway, payment.createdAt))) return true;
    // It may have been refunded since the backup, which the query of a payment does not tell: a person decides.
    await gateway.reviews.reschedule(review, 'waiting', gateway.clock.now(payment.mid) + LIMITS.dayMs);
    return false;
  }
  if (payment.state !== 'PENDING') return true;
  const { kind } = await checkAfterRestore(gateway, payment, account);
  if (kind === 'authorised') return true;
  // If the payment was captured or voided since the backup, a person sees it before the deadline decides.
  const pauseMs = kind === 'changed' ? LIMITS.dayMs : LIMITS.heldPauseMs;
  const dueAt = gateway.clock.now(payment.mid) + pauseMs;
  await gateway.reviews.reschedule(review, review.reviewState as ReviewState, dueAt);
  return false;
}

async function processReview(gateway: Gateway, review: DecisionRow): Promise<void> {
  const { mid, reviewThen, reviewDueAt } = review;
  const now = gateway.clock.now(mid);
  const payment = await gateway.payments.find(review);
  const account = await findAccount(gateway, mid);
  if (!payment || !account) return;
  const isDue = reviewDueAt !== null && reviewDueAt <= now;
  if (isDecided(review)) {
    const mayBegin = async (): Promise<boolean> =>
      (await requestedOperation(gateway, review)) !== undefined ||
      (await isAsKnown(gateway, account, payment, review, review.reviewState));
    if (isDue && (await mayBegin())) await carryOut(gateway, account, payment, review, 'clock');
    return;
  }
  const hasMoney = (payment.state === 'PENDING' && payment.authorised > 0n) || payment.state === 'SETTLED';
  const ending = { at: now, by: BY_DEADLINE, note: null } as const;
  if (!hasMoney) {
    if (isOpen(payment.state)) {
      if (isDue) await gateway.reviews.reschedule(review, 'waiting', now + LIMITS.hourMs);
      return;
    }
    // The mark first: if the process dies in between, the review is ended again.
    await mark(gateway, payment, false, { actor: 'clock' });
    await gateway.reviews.end(review, { ...ending, state: 'over', dueAt: null });
    return;
  }
  if (!isDue) return;
  const state = reviewThen === 'approve' ? 'approved' : 'refused';
  try {
    requirePossible(gateway, account, payment, state === 'approved' ? 'approve' : 'refuse');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Nothing can be sent back without a person; the mark on the attention list stays.
    await gateway.reviews.reschedule(review, 'waiting', now + LIMITS.dayMs);
    return;
  }
  if (!(await isAsKnown(gateway, account, payment, review, state))) return;
  const decision: DecisionEnding = { ...ending, state, dueAt: now + LIMITS.leaseMs };
  if (await gateway.reviews.end(review, decision))
    await carryOut(gateway, account, payment, decided(review, decision), 'clock');
}

/**
 * Marks settled payments under review, decides about those whose time is over, and carries out what was decided. While a
 * restore is held, nothing is decided or carried out.
 */
export async function processDueReviews(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  for (const key of await gateway.reviews.unmarked(LIMITS.decisionsAtATime)) {
    const payment = await gateway.payments.find(key);
    if (payment) await markSettled(gateway, payment);
  }
  for (let last: DecisionRow | undefined; !isStopped(); ) {
    const due = await gateway.reviews.due(LIMITS.dueAtATime, last);
    last = due.at(-1);
    if (!last || (await isHeld(gateway))) return;
    await Promise.all(due.map((review) => tryReview(gateway, review)));
  }
}

const tryReview = (gateway: Gateway, review: DecisionRow): Promise<void> =>
  processReview(gateway, review).catch((error) =>
    gateway.log.error({ err: error, payment_id: review.paymentId }, 'a review could not be processed'),
  );
