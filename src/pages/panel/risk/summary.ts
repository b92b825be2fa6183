/** The decision of the risk rules about a payment, in words. */
import type { RiskDecisionRow } from '../../../core/context.ts';
import { shownRules } from '../../../core/risk/decisions.ts';
import { BY_DEADLINE } from '../../../core/risk/reviews.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { fill } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { decisionMoment, type Moment } from '../payments/timeline.ts';

/** Operators that are restricted to accounts do not learn the names of the installation's rules. */
export const ruleNames = (rules: RiskDecisionRow['rules'], mids: readonly string[] | null): string =>
  shownRules(rules, mids)
    .map(({ name }) => name ?? panelTexts.risk.ofInstallation)
    .join(', ');

export function riskSummary(risk: RiskDecisionRow, mids: readonly string[] | null): Html {
  const text = panelTexts.risk;
  const namesOf = (rules: RiskDecisionRow['rules']): string => ruleNames(rules, mids);
  const deciding = risk.rules.filter(({ action }) => action.kind === risk.decision);
  const decided = fill(text.decisions[risk.decision], { rules: namesOf(deciding) || text.limit });
  const parts = [
    risk.decision !== 'none' && decided,
    risk.decision !== 'block' && askedFor(risk.threeDs),
    risk.score !== 0 && `${text.score}: ${risk.score}`,
    risk.shadow.length > 0 && `${text.shadow}: ${namesOf(risk.shadow)}`,
    risk.failure,
  ].filter((part) => typeof part === 'string');
  return html`${(parts.length > 0 ? parts : [decided]).map((part, index) => html`${index > 0 && html`<br>`}${part}`)}`;
}

/** What 3-D Secure was asked for, and what the provider did not get of it. */
function askedFor({ reason, sent_as }: RiskDecisionRow['threeDs']): string | undefined {
  if (reason === null) return undefined;
  const { asked, sentAs } = panelTexts.risk;
  return sent_as === 'nearest' || sent_as === 'nothing' ? `${asked[reason]} (${sentAs[sent_as]})` : asked[reason];
}

const TONES: Readonly<Record<string, string>> = { block: 'bad', review: 'wait', allow: 'good' };
const ENDS = { approved: 'good', refused: 'bad', over: '' } as const;

/**
 * The entries of the timeline: what a rule decided, asked for or watched, after that of the opened payment, and how its review
 * ended, before what was done then.
 */
export function riskMoments(risk: RiskDecisionRow | undefined, mids: readonly string[] | null): Moment[] {
  if (!risk) return [];
  const { at, decision, threeDs, shadow, failure } = risk;
  if (decision === 'none' && threeDs.reason === null && shadow.length === 0 && failure === null) return [];
  const decided = { at, order: 1, what: html`<h3>${riskSummary(risk, mids)}</h3>`, tone: TONES[decision] ?? '' };
  return [decided, ...reviewMoments(risk)];
}

function reviewMoments({ reviewState, reviewedAt, reviewedBy, reviewNote }: RiskDecisionRow): Moment[] {
  if (reviewState === null || reviewState === 'waiting' || reviewedAt === null) return [];
  const { payment, risk } = panelTexts;
  const by = reviewedBy === BY_DEADLINE ? payment.actors.clock : reviewedBy;
  return [decisionMoment(reviewedAt, risk.reviewed[reviewState], by, ENDS[reviewState], reviewNote)];
}
