/** Reviews: a person, or a deadline, decides about a payment that a rule holds. */
import { isUuid } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ReviewState } from '../../rules/risk/actions.ts';
import type { Transition } from '../../store/payments/payments.ts';
import type { DecisionRow } from '../../store/risk/decisions.ts';
import type { Review, ReviewCursor, ReviewFilter } from '../../store/risk/reviews.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { isHeld, mayBeOutdated } from '../installation/hold.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { withHistory, writeWithRetry } from '../payments/advance.ts';
import { checkAfterRestore } from '../payments/after-restore.ts';
import { captureReviewed, refund, refundPlan, voidPayment } from '../payments/change.ts';
import type { Initiator, OperationResult } from '../payments/operate.ts';
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
  const ending = { state, at, by: by.name, note, dueAt: at + LIMITS.leaseMs } as const;
  if (!(await gateway.reviews.end(payment, ending, audit))) throw new Refusal('reviewEnded');
  const record = async (): Promise<void> => undefined;
  return carryOut(gateway, account, payment, review, state, {
    actor: 'operator',
    name: by.name,
    requester,
    record,
    ...(note !== null && { note }),
  });
}

/**
 * Carries out a decision that is durable. If the process dies meanwhile, the work loop does it again; an operation that was
 * sent is then found in the state of the payment.
 */
async function carryOut(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  { reviewCaptures }: DecisionRow,
  state: 'approved' | 'refused',
  initiator: Initiator,
): Promise<PaymentWithDetails> {
  const isAuthorised = payment.state === 'PENDING' && payment.authorised > 0n && payment.busy === null;
  const isSettled = payment.state === 'SETTLED' && payment.busy === null;
  const entry =
    typeof initiator === 'string'
      ? { actor: initiator }
      : { actor: initiator.actor, actorName: initiator.name, note: initiator.note };
  let result: OperationResult | undefined;
  if (isAuthorised && state === 'approved' && reviewCaptures !== false)
    result = await captureReviewed(gateway, account, payment, initiator);
  if (isAuthorised && state === 'refused') result = await voidPayment(gateway, payment, initiator);
  if (isSettled && state === 'refused') result = await refund(gateway, account, payment, '', initiator, 'refundOnly');
  const isDeclined = result?.operation.state === 'declined';
  const at = gateway.clock.now(payment.mid);
  // The provider refused: a person has to look at the payment again.
  if (isDeclined) await gateway.reviews.reschedule(payment, 'waiting', at + LIMITS.dayMs);
  else await gateway.reviews.reschedule(payment, state, null);
  return isDeclined ? (result as OperationResult).payment : mark(gateway, result?.payment ?? payment, false, entry);
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
  const { mid, reviewState, reviewThen, reviewDueAt } = review;
  const now = gateway.clock.now(mid);
  const payment = await gateway.payments.find(review);
  const account = await findAccount(gateway, mid);
  if (!payment || !account) return;
  const isDue = reviewDueAt !== null && reviewDueAt <= now;
  if (reviewState === 'approved' || reviewState === 'refused') {
    if (isDue && (await isAsKnown(gateway, account, payment, review, reviewState)))
      await carryOut(gateway, account, payment, review, reviewState, 'clock');
    return;
  }
  const hasMoney = (payment.state === 'PENDING' && payment.authorised > 0n) || payment.state === 'SETTLED';
  const ending = { at: now, by: BY_DEADLINE, note: null } as const;
  if (!hasMoney) {
    const isOpen = ['PREPARE', 'REDIRECT', '3DS', 'PENDING'].includes(payment.state);
    if (isOpen && isDue) await gateway.reviews.reschedule(review, 'waiting', now + LIMITS.hourMs);
    if (!isOpen) await gateway.reviews.end(review, { ...ending, state: 'over', dueAt: null });
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
  if (await gateway.reviews.end(review, { ...ending, state, dueAt: now + LIMITS.leaseMs }))
    await carryOut(gateway, account, payment, review, state, 'clock');
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
  // The clocks of sandbox accounts may be ahead.
  const before = gateway.clock.real() + (gateway.environment === 'sandbox' ? LIMITS.reportMostMs : 0);
  const due = await gateway.reviews.due(before, LIMITS.decisionsAtATime);
  if (due.length > 0 && (await isHeld(gateway))) return;
  for (const review of due) {
    if (isStopped()) return;
    await processReview(gateway, review).catch((error) =>
      gateway.log.error({ err: error, payment_id: review.paymentId }, 'a review could not be processed'),
    );
  }
}
