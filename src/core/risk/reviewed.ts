/** What a review means for the capture of a payment: who captures it, and that it waits meanwhile. */
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Gateway, PaymentWithDetails, RiskDecisionRow } from '../context.ts';
import type { Principal } from '../operators/principal.ts';

/** Whether a payment may not be captured because it waits for a review, or was refused by one. */
export const isHeldByReview = (decision: Pick<RiskDecisionRow, 'reviewState'> | undefined): boolean =>
  decision?.reviewState === 'waiting' || decision?.reviewState === 'refused';

/**
 * Whether somebody may approve a payment under review: one that a rule of the installation sent there, only those who are
 * not restricted to accounts. Others can refuse it.
 */
export const mayApprove = ({ mids }: Pick<Principal, 'mids'>, { rules }: Pick<RiskDecisionRow, 'rules'>): boolean =>
  mids === null || !rules.some(({ of_installation, action }) => of_installation && action.kind === 'review');

/** Whether the work loop is to decide about a payment now, or to carry out what was decided. */
export async function isReviewDue(gateway: Gateway, payment: PaymentWithDetails): Promise<boolean> {
  if (!payment.isAuthorisation) return false;
  const { reviewState = null, reviewDueAt = null } = (await gateway.riskDecisions.find(payment)) ?? {};
  return reviewDueAt !== null && (reviewState !== 'waiting' || reviewDueAt <= gateway.clock.now(payment.mid));
}

/**
 * Moves the deadline of a review before the end of the authorisation, so that it can still be captured then. Called before
 * the authorisation is written: if the process dies in between, the outcome is applied again.
 */
export async function endReviewBefore(gateway: Gateway, payment: PaymentWithDetails, end: number): Promise<void> {
  if (!payment.isAuthorisation || payment.details.isCardCheck) return;
  // Without rules there are no reviews, and a sale pays nothing for them.
  if (gateway.ruleBook.current(payment.mid)?.rules.length === 0) return;
  const now = gateway.clock.now(payment.mid);
  const margin = Math.min(LIMITS.captureMarginMs, (end - now) / 2);
  await gateway.reviews.bringForward(payment, Math.floor(end - margin));
}

/** Refuses the capture of a payment that a review holds. */
export async function requireReviewed(gateway: Gateway, payment: PaymentWithDetails): Promise<void> {
  if (!payment.isAuthorisation || payment.state !== 'PENDING') return;
  if (isHeldByReview(await gateway.riskDecisions.find(payment)))
    throw new Refusal('captureNotPending', [{ field: 'trans_id', sentence: 'The payment waits for a review.' }]);
}

/** Whether the merchant asked to authorise a payment only; a review makes other payments authorisations, too. */
export const isMerchantsAuthorisation = async (gateway: Gateway, payment: PaymentWithDetails): Promise<boolean> =>
  payment.isAuthorisation && (await gateway.riskDecisions.find(payment))?.reviewCaptures !== true;
