/** Decisions of risk rules as they are read and shown: to merchants without what the rules of the installation are. */
import { wireDate } from '../../lib/time/clock.ts';
import type { MatchedRule, ThreeDsRequest } from '../../rules/risk/actions.ts';
import type { DecisionRow } from '../../store/risk/decisions.ts';
import type { Gateway, Payment } from '../context.ts';

/** A caller that is restricted to accounts learns that a rule of the installation matched, not which. */
export const shownRules = (rules: readonly MatchedRule[], mids: readonly string[] | null) =>
  rules.map(({ rule_id, version, name, state, action, of_installation }) =>
    of_installation && mids !== null
      ? { rule_id, version, name: null, state, action, of_installation }
      : { rule_id, version, name, state, action, of_installation },
  );

/** Whether a review is decided, and the outcome of its capture, void or refund is not known yet. */
export const isInProgress = ({ reviewState, reviewDueAt }: Pick<DecisionRow, 'reviewState' | 'reviewDueAt'>): boolean =>
  (reviewState === 'approved' || reviewState === 'refused') && reviewDueAt !== null;

export const reviewView = (row: DecisionRow) =>
  row.reviewState === null
    ? null
    : {
        state: row.reviewState,
        in_progress: isInProgress(row),
        then: row.reviewThen,
        due_at: row.reviewState === 'waiting' && row.reviewDueAt !== null ? wireDate(row.reviewDueAt) : null,
        decided_at: row.reviewedAt === null ? null : wireDate(row.reviewedAt),
        decided_by: row.reviewedBy,
        note: row.reviewNote,
      };

/** What the rules asked 3-D Secure for; undefined if none were evaluated. */
export const askedThreeDs = async (gateway: Gateway, payment: Payment): Promise<ThreeDsRequest | undefined> =>
  (await gateway.riskDecisions.find(payment))?.threeDs;

/** The decision about a payment; null if no rules were evaluated. */
export async function riskView(gateway: Gateway, payment: Payment, mids: readonly string[] | null) {
  const row = await gateway.riskDecisions.find(payment);
  if (!row) return null;
  return {
    decision: row.decision,
    score: row.score,
    rules: shownRules(row.rules, mids),
    shadow: shownRules(row.shadow, mids),
    three_ds: row.threeDs,
    failure: row.failure,
    input: row.input,
    at: wireDate(row.at),
    evaluated_again_at: row.evaluatedAgainAt === null ? null : wireDate(row.evaluatedAgainAt),
    review: reviewView(row),
  };
}
