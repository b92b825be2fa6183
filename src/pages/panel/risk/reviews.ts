/** The page of the review queue, which a person works through by its buttons or by keys. */
import type { Review, RiskDecisionRow } from '../../../core/context.ts';
import { isInProgress } from '../../../core/risk/decisions.ts';
import { mayApprove } from '../../../core/risk/reviewed.ts';
import { decideReview, listReviews, REVIEW_DECISIONS } from '../../../core/risk/reviews.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, empty, moneyText, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { riskHead } from './head.ts';
import { ruleNames } from './summary.ts';

const PATH = '/admin/risk';
const text = panelTexts.risk;

/** What each key does; the script reads the same keys from `data-key`. */
const KEYS = [
  ['j', text.keys.next],
  ['k', text.keys.previous],
  ['a', text.approve],
  ['r', text.refuse],
  ['Enter', text.keys.open],
  ['?', text.keys.help],
] as const;

const keysHelp = (): Html =>
  html`<details class="keys no-print" data-keys><summary>${text.keys.title} <kbd>?</kbd></summary><dl class="facts">${KEYS.map(
    ([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`,
  )}</dl></details>`;

/** Approves or refuses; `then` is the page that the operator comes back to. */
const decisionForm = (
  { session }: PanelRequest,
  decision: RiskDecisionRow,
  then: 'queue' | 'payment' = 'queue',
): Html =>
  html`<form method="post" action="${PATH}/${decision.paymentId}">${formToken(session)}<input type="hidden" name="then" value="${then}"><div class="actions">${
    mayApprove(session.principal, decision) &&
    html`<button name="decision" value="approve" data-key="a">${text.approve}</button>`
  }<button name="decision" value="refuse" class="quiet" data-key="r" data-confirm="${text.keys.confirm}">${text.refuse}</button></div></form>`;

/** That a decision is made, and that the outcome of its operation is not known yet. */
const inProgress = (risk: RiskDecisionRow): string | false =>
  isInProgress(risk) && text.inProgress[risk.reviewState === 'approved' ? 'approved' : 'refused'];

/** That a payment waits for a review, on its page, and the decision for those who may make it. */
export function reviewNotice(request: PanelRequest, risk: RiskDecisionRow | undefined): Html | false {
  const decided = risk && inProgress(risk);
  if (decided) return notice(decided, 'wait');
  if (risk?.reviewState !== 'waiting' || risk.reviewThen === null) return false;
  const { principal } = request.session;
  const mayDecide = isAllowed(principal.role, 'risk.review');
  return html`<div class="notice wait" role="status"><h2>${text.waits.title}</h2><p>${text.waits[risk.reviewThen]} ${time(risk.reviewDueAt)}</p>${
    mayDecide && !mayApprove(principal, risk) && html`<p>${text.waits.ofInstallation}</p>`
  }${mayDecide && decisionForm(request, risk, 'payment')}</div>`;
}

/** What the page of the payment says after a decision. */
export const reviewDone: Readonly<Record<string, string>> = {
  review_approve: text.approved,
  review_refuse: text.refused,
};

async function showReviews(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { mids, role } = session.principal;
  const names = await accountNames(request);
  const reviews = await listReviews(gateway, { state: 'waiting', mids }, LIMITS.adminPageSize);
  const mayDecide = isAllowed(role, 'risk.review');
  const columns: Column<Review>[] = [
    {
      label: text.order,
      cell: (one) => html`<a href="/admin/payments/${one.paymentId}" data-key="Enter">${one.orderId}</a>`,
    },
    { label: text.amount, isNumber: true, cell: (one) => moneyText(one.amountText, one.currency) },
    { label: text.rule, cell: ({ rules }) => ruleNames(rules, mids) || null },
    { label: text.account, cell: ({ mid }) => names.get(mid) ?? mid },
    { label: text.until, cell: (one) => (isInProgress(one) ? null : time(one.reviewDueAt)) },
  ];
  if (mayDecide || reviews.some(isInProgress)) {
    const form = (one: Review): Html | null => (mayDecide ? decisionForm(request, one) : null);
    columns.push({ label: text.decide, cell: (one) => inProgress(one) || form(one) });
  }
  return {
    title: text.title,
    body: html`${notice(query.done && reviewDone[query.done])}${riskHead('reviews', mids)}<div class="card flush">${
      reviews.length > 0
        ? html`<div data-queue>${table(text.tabs.reviews, columns, reviews)}</div>`
        : empty(text.noReviews, text.noReviewsHint)
    }</div>${reviews.length > 0 && mayDecide && keysHelp()}`,
  };
}

async function decide({ gateway, session, caller, params, form }: PanelRequest): Promise<PanelAnswer> {
  const decision = REVIEW_DECISIONS.find((one) => one === form.get('decision')) ?? 'refuse';
  await decideReview(gateway, session.principal, caller, params.paymentId ?? '', decision, '');
  const page = form.get('then') === 'payment' ? `/admin/payments/${params.paymentId}` : PATH;
  return { redirect: `${page}?done=review_${decision}` };
}

export const riskReviewPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'risk.view', scope: 'accounts', handle: showReviews },
  {
    method: 'POST',
    path: `${PATH}/:paymentId`,
    permission: 'risk.review',
    scope: 'accounts',
    confirmFor: PATH,
    handle: decide,
  },
];
