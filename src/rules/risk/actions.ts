/** The actions of risk rules, and the order in which those of the matching rules decide about a payment. */
import { isObject } from '../../lib/text/json.ts';
import { invalidField } from '../errors.ts';
import type { Condition, ConditionContext } from './conditions.ts';

export const ACTION_KINDS = ['block', 'review', 'allow', 'require_3ds', 'skip_3ds', 'exempt', 'score'] as const;
export const EXEMPTIONS = ['low_value', 'transaction_risk'] as const;
export const REVIEW_ENDS = ['refuse', 'approve'] as const;
export const RULE_STATES = ['off', 'shadow', 'on'] as const;
export const REVIEW_STATES = ['waiting', 'approved', 'refused', 'over'] as const;
export const DECISIONS = ['block', 'review', 'allow', 'none'] as const;

export type ActionKind = (typeof ACTION_KINDS)[number];
export type Exemption = (typeof EXEMPTIONS)[number];
export type ReviewEnd = (typeof REVIEW_ENDS)[number];
export type RuleState = (typeof RULE_STATES)[number];
export type ReviewState = (typeof REVIEW_STATES)[number];
export type RiskDecision = (typeof DECISIONS)[number];

export type Action =
  | { kind: 'block' | 'allow' | 'require_3ds' | 'skip_3ds' }
  | { kind: 'review'; hours: number; then: ReviewEnd }
  | { kind: 'exempt'; reason: Exemption }
  | { kind: 'score'; points: number };

/** Authorisations end after some days, so a review ends before. */
export const REVIEW_HOURS_MOST = 144;
export const POINTS_MOST = 1000;
export const DEFAULT_PRIORITY = 100;
export const PRIORITY_MOST = 10_000;

const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

const wrong = (field: string, expected: string) => invalidField(field, 'This value is not valid.', { expected });

export function readAction(value: unknown): Action {
  if (!isObject(value)) throw wrong('action', 'An object with the member kind, such as {"kind": "block"}.');
  const { kind, ...rest } = value;
  const known: Readonly<Record<ActionKind, readonly string[]>> = {
    block: [],
    allow: [],
    require_3ds: [],
    skip_3ds: [],
    review: ['hours', 'then'],
    exempt: ['reason'],
    score: ['points'],
  };
  const found = ACTION_KINDS.find((one) => one === kind);
  if (found === undefined) throw wrong('action.kind', `One of ${ACTION_KINDS.join(', ')}.`);
  const unknown = Object.keys(rest).find((name) => !known[found].includes(name));
  if (unknown !== undefined)
    throw invalidField('action', 'This object has a member that does not exist.', {
      expected: `Only ${['kind', ...known[found]].join(', ')}.`,
    });
  if (found === 'review') {
    const { hours, then } = rest;
    const end = REVIEW_ENDS.find((one) => one === then);
    if (!isWhole(hours, 1, REVIEW_HOURS_MOST))
      throw wrong('action.hours', `A whole number from 1 to ${REVIEW_HOURS_MOST}.`);
    if (end === undefined) throw wrong('action.then', `One of ${REVIEW_ENDS.join(', ')}.`);
    return { kind: found, hours, then: end };
  }
  if (found === 'exempt') {
    const reason = EXEMPTIONS.find((one) => one === rest.reason);
    if (reason === undefined) throw wrong('action.reason', `One of ${EXEMPTIONS.join(', ')}.`);
    return { kind: found, reason };
  }
  if (found === 'score') {
    if (!isWhole(rest.points, -POINTS_MOST, POINTS_MOST))
      throw wrong('action.points', `A whole number from -${POINTS_MOST} to ${POINTS_MOST}.`);
    return { kind: found, points: rest.points };
  }
  return { kind: found };
}

/** A rule that may match a payment. */
export interface ActiveRule {
  ruleId: string;
  version: number;
  name: string;
  /** Whether it is one of the installation, which applies to all accounts. */
  isOfInstallation: boolean;
  state: 'shadow' | 'on';
  priority: number;
  action: Action;
  condition: Condition;
}

/** A rule that matched, as it is recorded with the decision. */
export interface MatchedRule {
  rule_id: string;
  version: number;
  name: string;
  state: 'shadow' | 'on';
  action: Action;
  of_installation: boolean;
}

export interface ThreeDsRequest {
  /** Whether the issuer is asked for a challenge, asked for none, or asked nothing. */
  requested: 'challenge' | 'none' | null;
  reason: 'require_3ds' | 'skip_3ds' | Exemption | null;
}

/** A reason to ask the issuer for a challenge, or for none. */
export type ThreeDsReason = NonNullable<ThreeDsRequest['reason']>;

/** Whether a provider has words for a request, or only something near it. */
export type ThreeDsWords = Readonly<Partial<Record<ThreeDsReason, 'exact' | 'nearest'>>>;

/** A request as it is recorded: `sent_as` says what the provider got of it; null without a request. */
export interface RecordedThreeDs extends ThreeDsRequest {
  sent_as: 'exact' | 'nearest' | 'nothing' | null;
}

export const NOTHING_ASKED: RecordedThreeDs = { requested: null, reason: null, sent_as: null };

export interface Decided {
  decision: RiskDecision;
  score: number;
  rules: MatchedRule[];
  shadow: MatchedRule[];
  threeDs: ThreeDsRequest;
  review: { hours: number; then: ReviewEnd } | null;
}

/** The settings of the account that a decision depends on. */
export interface DecisionTerms {
  /** The scores from which payments are reviewed and blocked; 0 means never. */
  reviewScore: number;
  blockScore: number;
  /** Whether an exemption may be requested for this payment. */
  isExempt(reason: Exemption): boolean;
}

/** How long a payment waits that its score sent to the review. */
const SCORE_REVIEW = { hours: 24, then: 'refuse' } as const;

type Verdict = Pick<Decided, 'decision' | 'review'>;

/** The steps in their order; the first one that decides ends it. */
function verdict(matched: readonly MatchedRule[], score: number, terms: DecisionTerms): Verdict {
  const first = (kind: ActionKind, ofInstallation: boolean): MatchedRule | undefined =>
    matched.find(({ action, of_installation }) => action.kind === kind && of_installation === ofInstallation);
  const reviewBy = ({ action }: MatchedRule): Verdict => ({
    decision: 'review',
    review: action.kind === 'review' ? { hours: action.hours, then: action.then } : SCORE_REVIEW,
  });
  const block: Verdict = { decision: 'block', review: null };
  if (first('block', true)) return block;
  const isAllowed = first('allow', true) !== undefined || first('allow', false) !== undefined;
  const reviewed = first('review', true) ?? (isAllowed ? undefined : first('review', false));
  if (reviewed?.of_installation) return reviewBy(reviewed);
  if (isAllowed) return { decision: 'allow', review: null };
  if (first('block', false)) return block;
  if (reviewed) return reviewBy(reviewed);
  if (terms.blockScore > 0 && score >= terms.blockScore) return block;
  if (terms.reviewScore > 0 && score >= terms.reviewScore) return { decision: 'review', review: SCORE_REVIEW };
  return { decision: 'none', review: null };
}

function threeDsOf(matched: readonly MatchedRule[], terms: DecisionTerms): ThreeDsRequest {
  if (matched.some(({ action }) => action.kind === 'require_3ds'))
    return { requested: 'challenge', reason: 'require_3ds' };
  for (const { action } of matched) {
    if (action.kind === 'exempt' && terms.isExempt(action.reason)) return { requested: 'none', reason: action.reason };
    if (action.kind === 'skip_3ds') return { requested: 'none', reason: 'skip_3ds' };
  }
  return { requested: null, reason: null };
}

/** Rules in the order in which they are named: by priority, then the older one first. */
export const byPriority = (one: ActiveRule, other: ActiveRule): number =>
  one.priority - other.priority || (one.ruleId < other.ruleId ? -1 : 1);

/** Decides about a payment. The same rules, facts and terms give the same decision; `rules` are in their order. */
export function decide(rules: readonly ActiveRule[], context: ConditionContext, terms: DecisionTerms): Decided {
  const all = rules
    .filter(({ condition }) => condition.matches(context))
    .map(
      ({ ruleId, version, name, state, action, isOfInstallation }): MatchedRule => ({
        rule_id: ruleId,
        version,
        name,
        state,
        action,
        of_installation: isOfInstallation,
      }),
    );
  const matched = all.filter(({ state }) => state === 'on');
  const score = matched.reduce((sum, { action }) => sum + (action.kind === 'score' ? action.points : 0), 0);
  return {
    ...verdict(matched, score, terms),
    score,
    rules: matched,
    shadow: all.filter(({ state }) => state === 'shadow'),
    threeDs: threeDsOf(matched, terms),
  };
}
