/** The page on adjustments: proposes them, and approves or refuses those of others. */
import { adjustmentsCsv } from '../../../core/exports/ledger.ts';
import {
  type Adjustment,
  decideAdjustment,
  listAdjustments,
  proposeAdjustment,
} from '../../../core/ledger/adjustments.ts';
import { isAuthor } from '../../../core/operators/principal.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { ADJUSTMENT_STATES, type AdjustmentState } from '../../../rules/ledger.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames, downloadLink } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  empty,
  field,
  idCursor,
  money,
  notice,
  pager,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { ledgerTabs, PATHS } from './parts.ts';

const PAGE_SIZE = 25;
const text = panelTexts.ledger;
const TONES = { waiting: 'wait', approved: 'good', refused: 'bad' } as const satisfies Record<AdjustmentState, string>;

function proposal(
  { session, form }: PanelRequest,
  names: ReadonlyMap<string, string>,
  problems: readonly Problem[],
): Html {
  const errorOf = (name: string): string | undefined => problems.find((one) => one.field === name)?.sentence;
  return html`<section class="card narrow"><h2>${text.propose}</h2><p class="soft">${text.proposeHint}</p><form method="post" action="${PATHS.adjustments}">${formToken(session)}
${choiceField({ name: 'mid', label: text.account, value: form.get('mid'), error: errorOf('mid') }, [...names])}
${field({ name: 'currency', label: text.currency, value: form.get('currency'), error: errorOf('currency'), attributes: html`required maxlength="3" autocomplete="off"` })}
${field({ name: 'amount', label: text.signedAmount, value: form.get('amount'), hint: text.signedAmountHint, error: errorOf('amount'), attributes: html`required autocomplete="off"` })}
${field({ name: 'reason', label: text.reason, value: form.get('reason'), hint: text.reasonHint, error: errorOf('reason'), attributes: html`required autocomplete="off"` })}
<div class="actions"><button>${text.proposeButton}</button></div></form></section>`;
}

async function showAdjustments(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, caller, query } = request;
  const { mids, role } = session.principal;
  const names = await accountNames(request);
  const state = ADJUSTMENT_STATES.find((one) => one === query.state);
  const before = idCursor(query);
  const { items, last } = keysetPage(await listAdjustments(gateway, { mids, state }, PAGE_SIZE + 1, before), PAGE_SIZE);
  const mayManage = isAllowed(role, 'adjustments.manage');
  const button = ({ adjustmentId }: Adjustment, path: string, label: string, kind: string): Html =>
    html`<form method="post" action="${PATHS.adjustments}/${adjustmentId}/${path}">${formToken(session)}<button class="${kind} whole">${label}</button></form>`;
  const decision = (one: Adjustment): Html | false => {
    if (one.state !== 'waiting' || !mayManage) return false;
    if (isAuthor(one, caller)) return html`<span class="soft small">${text.own}</span>`;
    return html`<div class="actions">${button(one, 'approve', text.approve, '')}${button(one, 'refuse', text.refuse, 'quiet')}</div>`;
  };
  const columns: Column<Adjustment>[] = [
    {
      label: text.proposedBy,
      cell: ({ authorName, proposedAt }) => html`${authorName}<p class="soft small">${time(proposedAt)}</p>`,
    },
    {
      label: text.account,
      cell: ({ mid }) => html`<a href="${PATHS.balances}?mid=${mid}">${names.get(mid) ?? mid}</a>`,
    },
    { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    { label: text.reason, cell: ({ reason }) => reason },
    { label: text.state, cell: ({ state: one }) => badge(text.states[one], TONES[one]) },
    { label: text.decidedBy, cell: (one) => one.decidedBy ?? (decision(one) || null) },
  ];
  const done: Readonly<Record<string, string>> = {
    proposed: text.proposed,
    approved: text.approved,
    refused: text.refused,
  };
  return {
    title: text.adjustments,
    status: problems.length > 0 ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}<div class="head"><h1>${text.adjustments}</h1><div class="actions">${downloadLink(`${PATHS.adjustments}.csv`, {})}</div></div>
${ledgerTabs(request, 'adjustments')}
${mayManage && proposal(request, names, problems)}
<section class="card flush"><h2 class="inset">${text.adjustments}</h2>${
      items.length > 0 ? table(text.adjustments, columns, items) : empty(text.noAdjustments, text.noAdjustmentsHint)
    }${pager(PATHS.adjustments, query, last?.adjustmentId)}</section>`,
  };
}

async function propose(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const [mid, currency, amount, reason] = ['mid', 'currency', 'amount', 'reason'].map((name) => form.get(name) ?? '');
  try {
    const input = { mid, currency: currency?.toUpperCase(), amount, reason };
    await proposeAdjustment(gateway, session.principal, caller, input);
    return { redirect: `${PATHS.adjustments}?done=proposed` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return showAdjustments(request, error.problems);
  }
}

const decide =
  (state: Exclude<AdjustmentState, 'waiting'>) =>
  async ({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> => {
    await decideAdjustment(gateway, session.principal, caller, params.adjustmentId ?? '', state);
    return { redirect: `${PATHS.adjustments}?done=${state}` };
  };

async function download({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const { mids } = session.principal;
  return {
    download: await adjustmentsCsv(gateway, (limit, before) => listAdjustments(gateway, { mids }, limit, before)),
  };
}

const page = { method: 'GET', permission: 'adjustments.view', scope: 'accounts' } as const;
const form = {
  method: 'POST',
  permission: 'adjustments.manage',
  scope: 'accounts',
  confirmFor: PATHS.adjustments,
} as const;

export const adjustmentPages: readonly PanelRoute[] = [
  { ...page, path: PATHS.adjustments, handle: (request) => showAdjustments(request) },
  { ...page, path: `${PATHS.adjustments}.csv`, isDownload: true, handle: download },
  { ...form, path: PATHS.adjustments, handle: propose },
  { ...form, path: `${PATHS.adjustments}/:adjustmentId/approve`, handle: decide('approved') },
  { ...form, path: `${PATHS.adjustments}/:adjustmentId/refuse`, handle: decide('refused') },
];
