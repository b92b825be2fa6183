/** The gate before every submission: a payment goes on, waits for a review, or is declined without a provider. */
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import type { ThreeDsRequest } from '../../rules/risk/actions.ts';
import type { RuleSet } from '../../rules/risk/rule-set.ts';
import type { NewDecision } from '../../store/risk/decisions.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { advance } from '../payments/advance.ts';
import { declineReasonOf, evaluate } from './evaluate.ts';
import type { Seen } from './facts.ts';
import { markSettled } from './reviews.ts';

/** Submits a payment that was let through. */
type Proceed = (payment: PaymentWithDetails, threeDs?: ThreeDsRequest) => Promise<PaymentWithDetails>;

/**
 * Evaluates the rules and submits the payment, or declines it. The intent of the payment is durable. If the process dies
 * before the submission, the work loop declines it: by the decision, if that is written and blocks it; otherwise it queries
 * the provider, which has no such payment. An account without rules and limits reads and writes nothing here.
 */
export function screened(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  seen: Seen,
  proceed: Proceed,
  isAgain = false,
): Promise<PaymentWithDetails> {
  const readRules = (): MaybePromise<RuleSet> =>
    isAgain ? newestRules(gateway, account) : gateway.ruleBook.rulesFor(account.mid);
  const rules = readRules();
  const isFree = (read: RuleSet): boolean => read.rules.length === 0 && account.settings.volume_limits.length === 0;
  if (!(rules instanceof Promise))
    return isFree(rules) ? proceed(payment) : apply(gateway, account, payment, () => rules, seen, proceed, isAgain);
  return rules.then(
    (read) => (isFree(read) ? proceed(payment) : apply(gateway, account, payment, () => read, seen, proceed, isAgain)),
    // Whether the account has rules is not known: the setting for failures decides.
    () => apply(gateway, account, payment, readRules, seen, proceed, isAgain),
  );
}

/** The statement that records a challenge does not see whether rules have changed, unlike one that opens a payment. */
async function newestRules({ ruleBook, riskRules }: Gateway, { mid }: Account): Promise<RuleSet> {
  ruleBook.saw(await riskRules.version());
  return ruleBook.rulesFor(mid);
}

/** The same before the submission that follows a challenge: meanwhile rules, lists and counts may have changed. */
export const screenedAgain = (
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  seen: Seen,
  proceed: Proceed,
): Promise<PaymentWithDetails> => screened(gateway, account, payment, seen, proceed, true);

async function apply(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  rules: () => MaybePromise<RuleSet>,
  seen: Seen,
  proceed: Proceed,
  isAgain: boolean,
): Promise<PaymentWithDetails> {
  return screenedBy(gateway, payment, await evaluate(gateway, account, payment, rules, seen, isAgain), proceed);
}

/** Declines a payment that the decision blocks. */
function declinedBy(
  gateway: Gateway,
  payment: PaymentWithDetails,
  decision: Parameters<typeof declineReasonOf>[0],
): Promise<PaymentWithDetails> | undefined {
  const declineReason = declineReasonOf(decision);
  if (declineReason === undefined) return undefined;
  return advance(gateway, payment, { event: 'declined', actor: 'merchant', declineReason });
}

/** Declines a payment whose process has died after it blocked it; no provider has it. False if it was not blocked. */
export async function declineBlocked(gateway: Gateway, payment: PaymentWithDetails): Promise<boolean> {
  const decision = await gateway.riskDecisions.find(payment);
  return decision !== undefined && (await declinedBy(gateway, payment, decision)) !== undefined;
}

/** Submits a payment that was evaluated already, or declines it. */
export async function screenedBy(
  gateway: Gateway,
  payment: PaymentWithDetails,
  verdict: NewDecision,
  proceed: Proceed,
): Promise<PaymentWithDetails> {
  gateway.metrics.riskDecided(verdict.decision);
  const { threeDs, reviewState } = verdict;
  const declined = declinedBy(gateway, payment, verdict);
  if (declined) return declined;
  const isAuthorisation = payment.isAuthorisation || verdict.isAuthorisation;
  const submitted = await proceed({ ...payment, isAuthorisation }, threeDs);
  return reviewState === null ? submitted : markSettled(gateway, submitted);
}
