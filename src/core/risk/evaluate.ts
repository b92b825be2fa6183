/** Evaluates the risk rules and volume limits of an account on a payment, and records the decision. */
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { rangesAround } from '../../lib/http/address.ts';
import { brandOf, CARD, isWallet } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { RISK_REASONS } from '../../rules/reasons.ts';
import {
  type Decided,
  type DecisionTerms,
  decide,
  NOTHING_ASKED,
  type RecordedThreeDs,
  type ThreeDsRequest,
} from '../../rules/risk/actions.ts';
import { readUnits } from '../../rules/risk/conditions.ts';
import { isLowValue } from '../../rules/risk/exemptions.ts';
import type { Facts } from '../../rules/risk/fields.ts';
import { isAbove, quarterOf } from '../../rules/risk/fraud-rates.ts';
import { type RuleSet, ruleSetOf } from '../../rules/risk/rule-set.ts';
import { limitUnits } from '../../rules/risk/volume-limits.ts';
import { isDecidedInTurn, type NewDecision } from '../../store/risk/decisions.ts';
import type { Evaluation, Findings } from '../../store/risk/findings.ts';
import type { Keys } from '../../store/risk/velocities.ts';
import { NO_VOLUME, type Volume } from '../../store/risk/volumes.ts';
import { capabilitiesOf, holdsBrand } from '../connections/connectors.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { defined, factsOfPayment, inputOf, keysOf, lookupsOf, type Seen, withFindings } from './facts.ts';
import { volumeQuery } from './volume.ts';

/** The reason for which a payment is not submitted; undefined if it is. */
export const declineReasonOf = ({ decision, input }: Pick<NewDecision, 'decision' | 'input'>): string | undefined => {
  if (decision !== 'block') return undefined;
  return input.volume_limit === undefined ? RISK_REASONS.blocked : RISK_REASONS.overLimit;
};

/** Whether the provider can reserve the amount. The test brand behaves like a card. */
function canBeHeld({ routes }: Account, { brand, connector, details }: PaymentWithDetails): boolean {
  if (brand !== CARD && !isWallet(brand)) return brandOf(brand)?.isImmediate === true;
  const route = routes.find(({ connection }) => connection?.key === connector);
  return details.card !== undefined || holdsBrand(route?.connection, brand);
}

/** Only an amount is reserved, and captured after the review, unless the merchant captures it anyway. */
const isAuthorisedByReview = (account: Account, payment: PaymentWithDetails): boolean =>
  !payment.isAuthorisation && canBeHeld(account, payment);

const termsOf = ({ settings }: Account, facts: Facts, { lowValue, fraudRates }: Findings): DecisionTerms => ({
  reviewScore: settings['risk.review_score'],
  blockScore: settings['risk.block_score'],
  isExempt(reason) {
    const { currency, amount } = facts;
    if (reason === 'low_value') return isLowValue(amount as bigint, currency ?? '', lowValue);
    const rate = settings['risk.fraud_rate_limit'];
    if (rate !== '' && fraudRates.some(({ fraud, captured }) => isAbove(fraud, captured, rate))) return false;
    const limit = settings['risk.transaction_risk_limit'][currency ?? ''];
    return currency !== undefined && limit !== undefined && (amount as bigint) <= readUnits(limit, currency, 'limit');
  },
});

/** What the rules decide about a payment of which this is known and found. */
export const decideBy = (rules: RuleSet, account: Account, facts: Facts, found: Findings): Decided =>
  decide(rules.candidates(facts), rules.context(facts, found.measured, found.listed), termsOf(account, facts, found));

/** The account's volume limits that concern a payment. */
export const limitsFor = ({ settings }: Account, { brand, currency }: Pick<PaymentWithDetails, 'brand' | 'currency'>) =>
  settings.volume_limits.filter(
    (limit) => limit.currency === currency && (limit.brands.length === 0 || limit.brands.includes(brand)),
  );

/** Whether the account counts its payments in a currency. */
const hasPeriodicLimit = ({ settings }: Account, currency: string): boolean =>
  settings.volume_limits.some((limit) => limit.currency === currency && limit.per !== 'payment');

/** Whether a payment of this amount would exceed a limit. */
export function exceeds(limit: ReturnType<typeof limitsFor>[number], used: Volume, amount: bigint): boolean {
  const most = limitUnits(limit);
  if (limit.per === 'payment') return most !== undefined && amount > most;
  return (
    (most !== undefined && used.amount + amount > most) || (limit.count !== undefined && used.count + 1 > limit.count)
  );
}

const NO_REVIEW = { reviewState: null, reviewThen: null, reviewDueAt: null } as const;

/** What the provider of the payment gets of a request: nothing without a card, with a wallet token that it opens itself, and by telephone. */
function recordedThreeDs(
  gateway: Gateway,
  { connector, brand, details: { card, session } }: PaymentWithDetails,
  asked: ThreeDsRequest,
): RecordedThreeDs {
  if (asked.reason === null) return { ...asked, sent_as: null };
  const isSent = (brand === CARD || (isWallet(brand) && card !== undefined)) && !session?.isTelephoneOrder;
  const words = isSent ? capabilitiesOf(gateway, connector)?.threeDsRequests : undefined;
  return { ...asked, sent_as: words?.[asked.reason] ?? 'nothing' };
}

const decisionOf = (
  account: Account,
  decided: Decided,
  threeDs: RecordedThreeDs,
  facts: Facts,
  payment: PaymentWithDetails,
  at: number,
): NewDecision => ({
  decision: decided.decision,
  score: decided.score,
  rules: decided.rules,
  shadow: decided.shadow,
  threeDs,
  input: inputOf(facts),
  failure: null,
  ...(decided.review
    ? {
        reviewState: 'waiting',
        reviewThen: decided.review.then,
        reviewDueAt: at + decided.review.hours * LIMITS.hourMs,
      }
    : NO_REVIEW),
  isAuthorisation: decided.review !== null && isAuthorisedByReview(account, payment),
});

/** The decision about a payment that could not be evaluated. */
function failedDecision(
  account: Account,
  facts: Facts,
  payment: PaymentWithDetails,
  at: number,
  failure: string,
): NewDecision {
  const isReviewed = account.settings['risk.on_failure'] === 'review';
  return {
    decision: isReviewed ? 'review' : 'none',
    score: 0,
    rules: [],
    shadow: [],
    threeDs: NOTHING_ASKED,
    input: inputOf(facts),
    failure,
    ...(isReviewed
      ? { reviewState: 'waiting', reviewThen: 'refuse', reviewDueAt: at + 24 * LIMITS.hourMs }
      : NO_REVIEW),
    isAuthorisation: isReviewed && isAuthorisedByReview(account, payment),
  };
}

/** What the first evaluation of a payment knew, and the second does not. */
interface Former {
  keys: Keys;
  facts: Facts;
}

async function formerOf(gateway: Gateway, payment: PaymentWithDetails): Promise<Former | undefined> {
  const [row, keys] = await Promise.all([gateway.riskDecisions.find(payment), gateway.riskDecisions.keys(payment)]);
  if (!row || !keys) return undefined;
  const { ip_country, is_new_card } = row.input as Facts;
  return { keys, facts: { ip_country, is_new_card } as Facts };
}

/** Challenges that the previous version began do not keep the address: rules were evaluated with it before. */
const evaluableAgain = (set: RuleSet, { ip }: Facts, former: Former): RuleSet =>
  ip === undefined && former.keys.ip !== undefined && set.fields.has('ip')
    ? ruleSetOf(set.rules.filter(({ condition }) => !condition.fields.has('ip')))
    : set;

/** What is known of a payment before anything is looked up. */
function knownOf(gateway: Gateway, account: Account, payment: PaymentWithDetails, seen: Seen, former?: Former) {
  const at = gateway.clock.now(account.mid);
  const facts = defined({ ...former?.facts, ...factsOfPayment(gateway, payment, seen) });
  const { mid, paymentId, amount, currency, brand } = payment;
  const keys = { ...former?.keys, ...keysOf(gateway, facts) };
  const base = {
    ...{ mid, paymentId, at, amount, currency, brand, keys, values: inputOf(facts) },
    isAgain: former !== undefined,
    countsVolume: hasPeriodicLimit(account, currency),
  };
  return { at, facts, base };
}

/** What is read for a payment, and how it is decided from that. */
interface Prepared {
  item: Evaluation;
  decide(found: Findings): NewDecision;
}

/** `others` are further fingerprints of the card. */
function preparedBy(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  { at, facts, base }: ReturnType<typeof knownOf>,
  rules: RuleSet,
  seen: Seen,
  others: readonly string[],
): Prepared {
  const limits = limitsFor(account, payment);
  const periodic = limits.filter(({ per }) => per !== 'payment');
  const { amount, details } = payment;
  const isSavedCard = details.recurringOf !== undefined || seen.isSaved === true;
  const item: Evaluation = {
    ...base,
    measurements: rules.measurements,
    lookups: lookupsOf(rules, facts, others),
    ...dataFor(facts, rules),
    fraudRate: fraudRateOf(gateway, account, payment.connector, rules),
    volumes: periodic.map((limit) => volumeQuery(gateway, limit, at)),
  };
  return {
    item,
    decide(found) {
      const known = withFindings(facts, found, isSavedCard);
      const over = limits.find((limit) => exceeds(limit, found.volumes[periodic.indexOf(limit)] ?? NO_VOLUME, amount));
      const decided = decideBy(rules, account, known, found);
      const threeDs = recordedThreeDs(gateway, payment, decided.threeDs);
      const made = decisionOf(account, decided, threeDs, known, payment, at);
      if (decided.decision === 'block' || !over) return made;
      const input = { ...made.input, volume_limit: over };
      return { ...made, ...NO_REVIEW, decision: 'block', input, isAuthorisation: false };
    },
  };
}

/**
 * Opens a payment and evaluates it in the same transaction. Undefined if nothing was written: there are no rules, or they
 * take more than that. Without a verdict the payment is open, and is to be evaluated by itself.
 */
export function openEvaluated(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
): Promise<{ isOpened: boolean; made: NewDecision | undefined } | undefined> | undefined {
  const { mid } = account;
  const rules = gateway.ruleBook.current(mid);
  if (!rules || rules.rules.length === 0) return undefined;
  const known = knownOf(gateway, account, payment, {});
  const { item, decide } = preparedBy(gateway, account, payment, known, rules, {}, []);
  if (isDecidedInTurn(item)) return undefined;
  // The statement that opens the payment sees whether rules have changed.
  return gateway.riskOpenings.open(payment, item, (found) =>
    gateway.ruleBook.current(mid) === rules ? decide(found) : undefined,
  );
}

/**
 * Evaluates a payment whose intent is durable. Its own keys count for later payments from then on. With `isAgain` the
 * payment was evaluated before, and is about to be submitted after a challenge.
 */
export async function evaluate(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  readRules: () => MaybePromise<RuleSet>,
  seen: Seen,
  isAgain = false,
): Promise<NewDecision> {
  const former = isAgain ? await formerOf(gateway, payment) : undefined;
  const known = knownOf(gateway, account, payment, seen, former);
  const { at, facts, base } = known;
  try {
    const all = await readRules();
    const rules = former ? evaluableAgain(all, facts, former) : all;
    const others = await otherFingerprints(gateway, payment, rules);
    const { item, decide } = preparedBy(gateway, account, payment, known, rules, seen, others);
    return await gateway.riskDecisions.evaluate(item, decide);
  } catch (error) {
    gateway.log.error({ err: error, payment_id: payment.paymentId }, 'the risk rules could not be evaluated');
    gateway.metrics.riskFailed();
    const failed = failedDecision(account, facts, payment, at, 'The rules could not be evaluated.');
    return gateway.riskDecisions.record({ ...base, measurements: [], lookups: [], volumes: [] }, failed);
  }
}

/** The fingerprint of the card within its account, under which it may be listed, too. */
async function otherFingerprints(
  gateway: Gateway,
  { mid, details }: PaymentWithDetails,
  { lists }: RuleSet,
): Promise<string[]> {
  const isAsked = lists.some(({ field }) => field === 'card');
  const found = isAsked && details.card && (await gateway.cards.findFingerprint(mid, details.card.id));
  return found ? [found] : [];
}

/** The connection whose fraud rate may stop an exemption, if a rule asks for it. */
export function fraudRateOf(
  { clock }: Gateway,
  { settings }: Account,
  connector: string,
  { exemptions }: RuleSet,
): Evaluation['fraudRate'] {
  if (!exemptions.has('transaction_risk') || settings['risk.fraud_rate_limit'] === '') return undefined;
  return { connector, since: quarterOf(clock.real()).before };
}

/** What is looked up in the imported data and among earlier payments, if a rule asks for it. */
export function dataFor(
  { bin, ip }: Facts,
  { fields, exemptions }: RuleSet,
): Pick<Evaluation, 'bin' | 'networks' | 'asksForCard' | 'asksForLowValue'> {
  const isBinAsked = fields.has('bin_country') || fields.has('funding') || fields.has('network');
  return {
    bin: typeof bin === 'string' && isBinAsked ? bin : undefined,
    networks: typeof ip === 'string' && fields.has('ip_country') ? rangesAround(ip) : undefined,
    asksForCard: fields.has('is_new_card'),
    asksForLowValue: exemptions.has('low_value'),
  };
}
